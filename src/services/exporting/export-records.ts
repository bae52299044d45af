/** Exports a collection: all of its records, or those that changed since an instant. */
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Path } from '../../base/model/path.js';
import { type Format, isTableFormat } from '../../base/tables/format.js';
import type { RecordSet } from '../../store/reading/record-set.js';
import { readJsonLines } from './json-lines.js';
import { assertFitsSheet, printRecords, type RecordFile } from './print-records.js';
import { columnsOfRecords } from './record-columns.js';

/** The formats of files that a command writes. */
export type ExportFormat = Exclude<Format, 'json'>;

export interface ExportOptions extends TableOptions {
  readonly format: Format;
  /** Only what changed then or later, and what was removed, as `RecordSet.streamChanges` gives it. */
  readonly since: string | undefined;
  readonly signal: EndSignal;
  /** The fields of each record in the file. Default: all. */
  readonly projection?: readonly Path[] | undefined;
}

/** The options of `RecordFile` for tables. */
type TableOptions = Pick<RecordFile, 'byteOrderMark' | 'timeZone' | 'expanded'>;

/** @throws LIMIT_EXCEEDED for more records than a sheet of XLSX can hold */
export async function countExported(
  records: RecordSet,
  { format, since }: Pick<ExportOptions, 'format' | 'since'>,
): Promise<number> {
  const count = since === undefined ? await records.count() : await records.countChanges(since);
  if (format === 'xlsx') assertFitsSheet(count);
  return count;
}

/** The bytes of the file. A tombstone is a record with `_id` and `$removed`, the last column of a table. */
export function exportRecords(
  records: RecordSet,
  { format, since, signal, projection, ...table }: ExportOptions,
): AsyncIterable<string | Uint8Array> {
  if (!isTableFormat(format)) return open(format);
  const columns = columnsOfRecords(records.collection, projection, records.hiddenFields, table.expanded);
  return printRecords({ ...table, format, columns }, readJsonLines(open('ndjson')));

  function open(lines: 'json' | 'ndjson') {
    if (since === undefined) return records.stream(lines, signal);
    return records.streamChanges(since, { format: lines, signal });
  }
}
