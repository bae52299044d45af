/** What of a collection is exported: all of its records, or what has changed since an instant. */
import type { RecordSet } from '../store/reading/record-set.js';
import { type Format, isTableFormat } from '../tables/format.js';
import { readJsonLines } from './json-lines.js';
import { assertFitsSheet, printRecords } from './print-records.js';
import { columnsOfRecords } from './record-columns.js';

export type ExportFormat = Exclude<Format, 'json'>;

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Only what changed then or later, and what was removed, as `RecordSet.streamChanges` gives it. */
  readonly since: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws LIMIT_EXCEEDED where that is more than a sheet of XLSX holds */
export async function countExported(
  records: RecordSet,
  { format, since }: Omit<ExportOptions, 'signal'>,
): Promise<number> {
  const count = since === undefined ? await records.count() : await records.countChanges(since);
  if (format === 'xlsx') assertFitsSheet(count);
  return count;
}

/** The bytes of the file. A tombstone is a record with `_id` and `$removed`, which a table has in `…`. */
export function exportRecords(
  records: RecordSet,
  { format, since, signal }: ExportOptions,
): AsyncIterable<string | Uint8Array> {
  const lines = since === undefined ? records.stream('ndjson', signal) : records.streamChanges(since, signal);
  if (!isTableFormat(format)) return lines;
  const columns = columnsOfRecords(records.collection, undefined, records.hiddenFields);
  return printRecords({ format, columns }, readJsonLines(lines));
}
