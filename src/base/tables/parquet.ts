/**
 * A table as an Apache Parquet file, streamed in groups of rows. Columns keep their types, so that programs
 * compute with numbers, days and instants as they are.
 *
 *   text, month, json     STRING                    whole             INT64
 *   flag                  BOOLEAN                   number, percent   DOUBLE
 *   day                   DATE                      money             DECIMAL(38, 2)
 *   instant               TIMESTAMP in UTC          decimal           DECIMAL(38, 10)
 *
 * A list is a LIST of these, an object with declared members a struct. Everything may be null.
 */
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { invariant } from '../errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonValue,
  memberOf,
  parseExactJson,
  printExactJson,
  toPlainNumber,
} from '../json/json.js';
import type { CellType, TableColumn, TableLine } from './cell.js';

/** A group is encoded in one go while other work waits: this many cells take 5 to 12 ms. */
const GROUP_CELLS = 10_000;
/** Long texts end a group before. */
const GROUP_CHARACTERS = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;
const DECIMAL_DIGITS = 38;

/** How a type is stored. */
interface Stored {
  readonly schema: Omit<SchemaElement, 'name'>;
  readonly toScalar: (text: string) => unknown;
  /** The digits after the point, if they are limited. */
  readonly places?: number;
}

const STRING: Stored = { schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, toScalar: (text) => text };
const DOUBLE: Stored = { schema: { type: 'DOUBLE' }, toScalar: Number };

const STORED: Readonly<Record<CellType, Stored>> = {
  text: STRING,
  month: STRING,
  json: STRING,
  flag: { schema: { type: 'BOOLEAN' }, toScalar: (text) => text === 'true' },
  whole: { schema: { type: 'INT64' }, toScalar: BigInt },
  number: DOUBLE,
  percent: DOUBLE,
  day: {
    schema: { type: 'INT32', converted_type: 'DATE' },
    toScalar: (text) => Date.parse(`${text}T00:00:00Z`) / DAY_MS,
  },
  instant: {
    schema: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    toScalar: (text) => BigInt(Date.parse(text)),
  },
  money: decimal(2),
  decimal: decimal(10),
};

function decimal(places: number): Stored {
  const length = { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 } as const;
  return {
    schema: { ...length, converted_type: 'DECIMAL', precision: DECIMAL_DIGITS, scale: places },
    toScalar: (text) => {
      const unscaled = toUnscaled(text, places);
      invariant(unscaled !== undefined, `${text} fits its column`);
      return unscaled;
    },
    places,
  };
}

export async function* printParquet(
  columns: readonly TableColumn[],
  batches: AsyncIterable<readonly TableLine[]>,
): AsyncGenerator<Uint8Array, void> {
  const bytes = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(schemaOf),
  ];
  const file = new ParquetWriter({ writer: bytes, schema, createdBy: 'campus-gateway' });
  const maxRows = Math.ceil(GROUP_CELLS / Math.max(1, columns.length));
  let rows: unknown[][] = [];
  let characters = 0;
  for await (const batch of batches) {
    for (const line of batch) {
      rows.push(columns.map((column, index) => toValue(column, line[index] ?? null)));
      for (const text of line) characters += text?.length ?? 0;
      if (rows.length < maxRows && characters < GROUP_CHARACTERS) continue;
      await file.write(groupOf(columns, rows));
      yield taken(bytes);
      rows = [];
      characters = 0;
    }
  }
  if (rows.length > 0) await file.write(groupOf(columns, rows));
  await file.finish();
  yield taken(bytes);
}

/** The values of the rows, column by column. */
function groupOf(columns: readonly TableColumn[], rows: readonly unknown[][]) {
  // No reader needs the offsets of pages, and all of them would stay in memory to the end.
  const columnData = columns.map(({ heading: name }, index) => {
    return { name, data: rows.map((row) => row[index]), offsetIndex: false };
  });
  return { columnData, rowGroupSize: rows.length };
}

/** Whether a column of this type holds the value of the text without rounding. */
export function parquetHolds(type: CellType, text: string): boolean {
  if (type === 'number' || type === 'percent') return typeof toPlainNumber(text) === 'number';
  const { places } = STORED[type];
  return places === undefined || toUnscaled(text, places) !== undefined;
}

/** The bytes written since the last call. */
function taken(bytes: ByteWriter): Uint8Array {
  const copy = bytes.getBytes().slice();
  bytes.index = 0;
  return copy;
}

function schemaOf({ heading, isList, ...element }: TableColumn): SchemaElement[] {
  if (!isList) return elementOf(heading, element);
  return [
    { name: heading, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...elementOf('element', element),
  ];
}

function elementOf(name: string, { type, members }: Pick<TableColumn, 'type' | 'members'>): SchemaElement[] {
  if (!members) return [{ name, repetition_type: 'OPTIONAL', ...STORED[type].schema }];
  return [{ name, repetition_type: 'OPTIONAL', num_children: members.length }, ...members.flatMap(schemaOf)];
}

function toValue(column: TableColumn, text: string | null): unknown {
  if (text === null) return null;
  const isPlain = !column.isList && !column.members;
  return isPlain ? STORED[column.type].toScalar(text) : memberValue(column, parseExactJson(text));
}

function memberValue({ type, isList, members }: Omit<TableColumn, 'heading'>, value: JsonValue): unknown {
  if (value === null) return null;
  if (isList) {
    invariant(Array.isArray(value), 'a cell of a list is one');
    return value.map((element: JsonValue) => memberValue({ type, isList: false, members }, element));
  }
  if (!members) {
    const text = type === 'json' ? printExactJson(value) : String(isExactNumber(value) ? value.value : value);
    return STORED[type].toScalar(text);
  }
  invariant(isJsonObject(value), 'a cell with members is an object');
  return Object.fromEntries(
    members.map((member) => [member.heading, memberValue(member, memberOf(value, member.heading) ?? null)]),
  );
}

/** The number times ten to the power of `places`; `undefined` if that is not whole, or too large. */
function toUnscaled(text: string, places: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  if (/[1-9]/.test(fraction.slice(places))) return undefined;
  const digits = `${whole}${fraction.slice(0, places).padEnd(places, '0')}`.replace(/^0+(?=\d)/, '');
  return digits.length > DECIMAL_DIGITS ? undefined : BigInt(`${sign}${digits}`);
}
