/**
 * Records as the file of a table, written as they are read: memory is bounded by a batch, or by a group of
 * rows of Parquet, whatever their number.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { invariant, ServiceError } from '../../base/errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  parseKeepingDigits,
  printExactJson,
} from '../../base/json/json.js';
import { localText } from '../../base/model/calendar.js';
import { isList } from '../../base/model/compare-json.js';
import { SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import type { Path } from '../../base/model/path.js';
import type { CellType, TableColumn, TableLine } from '../../base/tables/cell.js';
import { printCsvLine } from '../../base/tables/csv-line.js';
import { type Format, isTableFormat, type TableFormat } from '../../base/tables/format.js';
import { parquetHolds, printParquet } from '../../base/tables/parquet.js';
import {
  MAX_SHEET_LINES,
  printCell,
  printRow,
  printWorkbook,
  STYLE,
  textCell,
  workbookHolds,
} from '../../base/tables/workbook.js';
import { isStoredInstant } from '../../base/text/stored-instant.js';
import type { RecordSet, RecordStream } from '../../store/reading/record-set.js';
import { columnsOfRecords, REST_HEADING, type RecordColumn } from './record-columns.js';

/** The rows that a sheet has room for below its heading. */
export const MAX_SHEET_RECORDS = MAX_SHEET_LINES - 1;

export interface RecordFile {
  readonly format: TableFormat;
  readonly columns: readonly RecordColumn[];
  /** CSV: a byte order mark, which spreadsheet programs take as "this is UTF-8". Default `without`. */
  readonly byteOrderMark?: 'with' | 'without' | undefined;
  /** CSV and XLSX: prints instants as days and times of this zone. Default: in UTC. */
  readonly timeZone?: string | undefined;
  /** A list of objects that is given as rows of their own, one for each element. */
  readonly expanded?: string | undefined;
}

/** The records printed in one turn of the event loop: a millisecond or two of processor. */
const SLICE_RECORDS = 50;

const REST: TableColumn = { heading: REST_HEADING, type: 'json', isList: false };

/** `batches`: the JSON texts of records as Postgres prints them. */
export function printRecords(
  file: RecordFile,
  batches: AsyncIterable<readonly string[]>,
): AsyncIterable<string | Uint8Array> {
  const columns = [...file.columns, REST];
  switch (file.format) {
    case 'csv':
      return printCsv(columns, linesOf(file, batches, holdsAll), file.byteOrderMark ?? 'without');
    case 'xlsx':
      return printWorkbook([
        {
          name: 'Records',
          firstLine: 'frozen',
          rows: sheetRows(columns, linesOf(file, batches, workbookHolds)),
        },
      ]);
    case 'parquet':
      return printParquet(columns, linesOf(file, batches, parquetHolds));
  }
}

/**
 * Refuses, before the first byte, more records than a sheet has room for.
 *
 * @throws LIMIT_EXCEEDED (400)
 */
export function assertFitsSheet(recordCount: number): void {
  if (recordCount > MAX_SHEET_RECORDS) throw tooLong(`${recordCount.toLocaleString('en')} records match`);
}

function tooLong(found: string): ServiceError {
  const limit = MAX_SHEET_RECORDS.toLocaleString('en');
  const detail =
    `${found}; a sheet of XLSX holds ${limit} below its heading. Request fewer with oquery, or ` +
    'parts with limit and skip, or csv, ndjson or parquet, which have no such limit.';
  return new ServiceError('LIMIT_EXCEEDED', detail, {
    errors: [{ detail, parameter: 'format', expected: `at most ${limit} records`, sent: 'xlsx' }],
  });
}

const holdsAll: Holds = () => true;

async function* linesOf(
  { format, columns, timeZone, expanded }: RecordFile,
  batches: AsyncIterable<readonly string[]>,
  holds: Holds,
): AsyncGenerator<readonly TableLine[], void> {
  // Only Parquet has columns of objects; elsewhere they are JSON text.
  const printed = format === 'parquet' ? columns : columns.map((one) => ({ ...one, members: undefined }));
  const print = createLinePrinter(printed, holds, timeZone);
  for await (const texts of batches) {
    for (let start = 0; start < texts.length; start += SLICE_RECORDS) {
      if (start > 0) await nextTurn();
      yield texts.slice(start, start + SLICE_RECORDS).flatMap((text) => {
        const record = parseKeepingDigits(text);
        invariant(isJsonObject(record), 'a record is an object');
        return expand(record, expanded).map(print);
      });
    }
  }
}

/** The record once for each element of the list, and once if there is none. */
function expand(record: JsonObject, name: string | undefined): readonly JsonObject[] {
  const list = name === undefined ? undefined : memberOf(record, name);
  if (name === undefined || !isList(list) || list.length === 0) return [record];
  return list.map((element) => Object.fromEntries([...Object.entries(record), [name, element]]));
}

async function* printCsv(
  columns: readonly TableColumn[],
  batches: AsyncIterable<readonly TableLine[]>,
  byteOrderMark: 'with' | 'without',
): AsyncGenerator<string, void> {
  const mark = byteOrderMark === 'with' ? '\uFEFF' : '';
  yield mark + printCsvLine(columns.map(({ heading }) => heading));
  for await (const lines of batches) yield lines.map((line) => printCsvLine(line)).join('');
}

/** @throws LIMIT_EXCEEDED in mid-stream if more records come than were counted */
async function* sheetRows(
  columns: readonly TableColumn[],
  batches: AsyncIterable<readonly TableLine[]>,
): AsyncGenerator<string, void> {
  yield printRow(columns.map(({ heading }) => textCell(heading, STYLE.heading)));
  let count = 0;
  for await (const lines of batches) {
    count += lines.length;
    if (count > MAX_SHEET_RECORDS) throw tooLong('more records came than fit');
    const cellsOf = (line: TableLine) =>
      columns.map(({ type, isList }, index) => printCell(isList ? 'json' : type, line[index] ?? null));
    yield lines.map((line) => printRow(cellsOf(line))).join('');
  }
}

/**
 * Yields the lines of NDJSON from chunks of bytes, one batch for each chunk. A line may span several chunks.
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[], void> {
  let begun = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
}

/** The formats of files that a command writes. */
export type ExportFormat = Exclude<Format, 'json'>;

interface ExportOptions extends TableOptions {
  readonly format: Format;
  /** Reads the records, or their changes. */
  readonly open: (lines: 'json' | 'ndjson') => RecordStream;
  /** The fields of each record in the file. Default: all. */
  readonly projection?: readonly Path[] | undefined;
}

/** The options of `RecordFile` for tables. */
type TableOptions = Pick<RecordFile, 'byteOrderMark' | 'timeZone' | 'expanded'>;

/** @throws LIMIT_EXCEEDED for more records than a sheet of XLSX can hold */
export async function countExported(
  records: RecordSet,
  { format, since }: { readonly format: Format; readonly since: string | undefined },
): Promise<number> {
  const count = since === undefined ? await records.count() : await records.countChanges(since);
  if (format === 'xlsx') assertFitsSheet(count);
  return count;
}

/** The bytes of a file of records. */
export interface RecordContent extends AsyncIterable<string | Uint8Array> {
  /** How many records were read so far. */
  readonly rowCount: number;
}

/** The text printed of records. */
export function contentOf(
  records: RecordStream,
  print: (records: RecordStream) => AsyncIterable<string | Uint8Array>,
): RecordContent {
  const text = print(records);
  return {
    [Symbol.asyncIterator]: () => text[Symbol.asyncIterator](),
    get rowCount() {
      return records.rowCount;
    },
  };
}

/** The bytes of the file. A tombstone is a record with `_id` and `$removed`, the last column of a table. */
export function exportRecords(
  { collection, hiddenFields }: Pick<RecordSet, 'collection' | 'hiddenFields'>,
  { format, open, projection, ...table }: ExportOptions,
): RecordContent {
  if (!isTableFormat(format)) return open(format);
  const columns = columnsOfRecords(collection, projection, hiddenFields, table.expanded);
  const file = { ...table, format, columns };
  return contentOf(open('ndjson'), (records) => printRecords(file, readJsonLines(records)));
}

/** Whether the format can represent this text as a value of the type. */
type Holds = (type: CellType, text: string) => boolean;

type LinePrinter = (record: JsonObject) => TableLine;

/**
 * Makes a printer of lines with one cell for each column and one for the rest. A value that its column cannot
 * represent, such as null, a text where a number is declared, or a number that the format would round, leaves
 * its cell empty and goes into the rest, at its path. Merging the rest into the values of the columns gives
 * the record again. With a time zone, instants are local days and times.
 */
function createLinePrinter(columns: readonly RecordColumn[], holds: Holds, timeZone?: string): LinePrinter {
  const root = treeOf(columns);
  return (record) => {
    const cells: (string | null)[] = columns.map(() => null);
    const rest = fill(record, root, { cells, holds, timeZone });
    return [...cells, rest === undefined ? null : printExactJson(rest)];
  };
}

/** The columns of an object: each member is a column, or an object whose members are columns. */
interface Tree {
  readonly members: Map<string, Tree | Place>;
}

interface Place {
  readonly index: number;
  readonly column: RecordColumn;
}

interface Filling {
  readonly cells: (string | null)[];
  readonly holds: Holds;
  readonly timeZone: string | undefined;
}

function treeOf(columns: readonly RecordColumn[]): Tree {
  const root: Tree = { members: new Map() };
  for (const [index, column] of columns.entries()) {
    let tree = root;
    for (const step of column.path.slice(0, -1)) {
      const known = tree.members.get(step);
      const inner: Tree = known !== undefined && 'members' in known ? known : { members: new Map() };
      tree.members.set(step, inner);
      tree = inner;
    }
    tree.members.set(column.path.at(-1) ?? '', { index, column });
  }
  return root;
}

/** Fills the cells from the object. Returns what is left of it, or `undefined` if nothing is left. */
function fill(object: JsonObject, tree: Tree, filling: Filling): JsonObject | undefined {
  const left: [string, JsonValue][] = [];
  for (const name of Object.keys(object)) {
    const value = memberOf(object, name);
    if (value === undefined) continue;
    const rest = fillMember(value, tree.members.get(name), filling);
    if (rest !== undefined) left.push([name, rest]);
  }
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function fillMember(
  value: JsonValue,
  place: Tree | Place | undefined,
  filling: Filling,
): JsonValue | undefined {
  if (place === undefined) return value;
  if ('members' in place) {
    // Nothing else would distinguish an object without members from a missing one.
    const isFilled = isJsonObject(value) && Object.keys(value).length > 0;
    return isFilled ? fill(value, place, filling) : value;
  }
  const text = printMember(value, place.column, filling.holds);
  if (text === undefined) return value;
  const isLocal = filling.timeZone !== undefined && place.column.kind === 'datetime' && !place.column.isList;
  filling.cells[place.index] = isLocal ? localText(text, filling.timeZone) : text;
  return undefined;
}

function printMember(value: JsonValue, column: RecordColumn, holds: Holds): string | undefined {
  if (column.kind === 'json' && !column.members) return printExactJson(value);
  if (!column.isList && !column.members) return printScalar(value, column, holds);
  return isHeld(value, column, holds) ? printExactJson(value) : undefined;
}

function isHeld(value: JsonValue, column: RecordColumn, holds: Holds): boolean {
  const { members, isList: isOfList } = column;
  if (isOfList)
    return isList(value) && value.every((element) => isHeld(element, { ...column, isList: false }, holds));
  if (!members) return printScalar(value, column, holds) !== undefined;
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([name, inner]) => {
    const member = members.find(({ heading }) => heading === name);
    return member !== undefined && (inner === null || isHeld(inner, member, holds));
  });
}

function printScalar(value: JsonValue, { kind, type }: RecordColumn, holds: Holds): string | undefined {
  if (!isOfKind(value, kind)) return undefined;
  const text = isExactNumber(value) ? value.value : String(value);
  return holds(type, text) ? text : undefined;
}

function isOfKind(value: JsonValue, kind: RecordColumn['kind']): boolean {
  if (kind === 'json') return true;
  if (kind === 'datetime') return typeof value === 'string' && isStoredInstant(value);
  return value !== null && SCALAR_TYPES[kind].toStored(value, 'UTC') === value;
}
