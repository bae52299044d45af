import type { Manifest } from '../services/backup/archive-writer.js';
import { printLine } from './console-output.js';
import { printTable } from './print-table.js';

export interface BackupSummary {
  readonly file: string;
  readonly bytes: number;
  /** The start of the command, by `performance.now()`. */
  readonly startedAt: number;
  readonly isJson: boolean;
}

/** The contents of a backup, as a table and a line, or as one line of JSON. */
export function printBackupSummary(
  manifest: Manifest,
  { file, bytes, startedAt, isJson }: BackupSummary,
): void {
  const seconds = Math.max(performance.now() - startedAt, 1) / 1000;
  const { createdAt, gatewayVersion, domains, tables, files } = manifest;
  const migration = manifest.migrations.at(-1);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (isJson) {
    const counts = tables.map(({ name, collection, rows }) => ({ name, collection, rows }));
    const summary = { file, bytes, seconds, createdAt, gatewayVersion, migration, domains, rows };
    printLine(JSON.stringify({ ...summary, tables: counts, files: files.length }));
    return;
  }
  const counts = new Map<string, number>();
  for (const { name, rows } of tables) counts.set(name, (counts.get(name) ?? 0) + rows);
  printTable(
    ['table', 'rows'],
    [...counts].filter(([, count]) => count > 0).map(([name, count]) => [name, count.toLocaleString('en')]),
  );
  printLine(
    `${file}: ${rows.toLocaleString('en')} rows of ` +
      `${domains.map(({ id }) => id).join(', ') || 'no domain'} ` +
      `in ${bytes.toLocaleString('en')} bytes, as of ${createdAt}, ` +
      `version ${gatewayVersion}, migration ${migration}; ` +
      `${seconds.toFixed(1)} s, ${Math.round(rows / seconds).toLocaleString('en')} rows/s`,
  );
}
