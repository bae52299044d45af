import path from 'node:path';
import type { Command } from 'commander';
import { ServiceError } from '../base/errors.js';
import { type JsonObject, printExactJson } from '../base/json/json.js';
import { makeFolder, saveWhole } from '../services/backup/save-backup.js';
import { convertBundle, filesOf, readBundle } from '../services/formats/convert-bundle.js';
import { readFormatMapping } from '../services/formats/format-mapping.js';
import { actInDomain, type CommandLine } from './command-line.js';
import { printLine } from './console-output.js';
import { contextOf } from './export-command.js';
import { printTable } from './print-table.js';

/** `campus convert`: the files of another program as files that are imported. */
export function registerConvertCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--out <folder>', 'where the files go', '.')
    .option('--json', 'print what was written as JSON');
  actInDomain<{ readonly out: string; readonly json?: boolean }>(
    command,
    commandLine,
    async ({ services, scope, options }, format = '', file = '') => {
      const { in: incoming, manifest, tables = {} } = await readFormatMapping(format);
      if (incoming === undefined) {
        throw new ServiceError('INVALID_VALUE', `${format} is written, by campus export --as, and not read.`);
      }
      const bundle = await readBundle(file, filesOf(incoming), manifest);
      const context = { ...contextOf(services, scope, new Date()), tables };
      const { collections, homeless, leftOut } = convertBundle(incoming, bundle, context);
      const files = await saveAll(collections, options.out);
      if (options.json) {
        const maps = { homeless: Object.fromEntries(homeless), leftOut: Object.fromEntries(leftOut) };
        printLine(JSON.stringify({ files, ...maps }));
        return;
      }
      const counted = (count: number) => count.toLocaleString('en');
      printTable(
        ['collection', 'records', 'file'],
        files.map(({ collection, records, file: name }) => [collection, counted(records), name]),
      );
      if (homeless.size > 0) {
        printTable(
          ['column without a place here', 'rows'],
          [...homeless].map(([column, count]) => [column, counted(count)]),
        );
      }
      for (const [name, count] of leftOut) printLine(`left out, there no more: ${count} of ${name}`);
      printLine('they are imported in this order, by=_id: POST /imports?collection=<collection>');
    },
  );
}

async function saveAll(collections: ReadonlyMap<string, readonly JsonObject[]>, folder: string) {
  await makeFolder(folder);
  const files: { collection: string; records: number; file: string }[] = [];
  for (const [collection, records] of collections) {
    const file = path.join(folder, `${collection}.ndjson`);
    await saveWhole(file, linesOf(records));
    files.push({ collection, records: records.length, file });
  }
  return files;
}

async function* linesOf(records: readonly JsonObject[]): AsyncGenerator<string, void> {
  for (const record of records) yield `${printExactJson(record)}\n`;
}
