/** Reads exported files as a stranger would, by what the documentation says of them, into records again. */
import { DuckDBInstance } from '@duckdb/node-api';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../src/base/json/json.js';
import { REST_HEADING, type RecordColumn } from '../../src/services/exporting/record-columns.js';
import { readCsv } from '../services/exporting/read-csv.js';

/** The apostrophe that keeps a spreadsheet from running a text is the first one, before a formula. */
function withoutGuard(cell: string): string {
  if (!cell.startsWith("'")) return cell;
  const inner = cell.replace(/^'+/, '');
  const [first = ''] = inner.replace(/^[\s\p{Cc}\p{Cf}\p{Z}]+/u, '');
  const isSigned = /^[+-]\d[\d.,]*(e[+-]?\d+)?$/i.test(inner) || /^[+-][\d ()-]+$/.test(inner);
  const isGuarded = /^[\t\r\n]/.test(inner) || (/[=+@-]/.test(first.normalize('NFKC')) && !isSigned);
  return isGuarded ? cell.slice(1) : cell;
}

export function recordsOfCsv(text: string, columns: readonly RecordColumn[]): JsonObject[] {
  const [headings, ...lines] = readCsv(text);
  expectHeadings(headings ?? [], columns);
  return lines.map((cells) => {
    const texts = cells.map((cell) => (cell === null ? null : withoutGuard(cell)));
    return merged(
      columns.map((column, index) => [column, valueOfText(column, texts[index] ?? null)]),
      texts.at(-1),
    );
  });
}

function valueOfText({ kind, isList }: RecordColumn, text: string | null): JsonValue | undefined {
  if (text === null) return undefined;
  if (isList || kind === 'json') return parseExactJson(text);
  if (kind === 'number' || kind === 'decimal') return parseExactJson(text);
  return kind === 'boolean' ? text === 'true' : text;
}

/** What DuckDB says of each column, and of each row as JSON; decimals with their digits as text. */
export async function readParquet(path: string): Promise<{
  readonly types: Readonly<Record<string, string>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run(`set timezone = 'UTC'`);
    const described = await connection.runAndReadAll(`describe select * from read_parquet('${path}')`);
    const types = Object.fromEntries(
      described.getRowObjects().map((row) => [String(row.column_name), String(row.column_type)]),
    );
    const read = await connection.runAndReadAll(`select * from read_parquet('${path}')`);
    return { types, rows: read.getRowObjectsJson() };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export function recordsOfParquet(
  { types, rows }: Awaited<ReturnType<typeof readParquet>>,
  columns: readonly RecordColumn[],
): JsonObject[] {
  expectHeadings(Object.keys(types), columns);
  return rows.map((row) =>
    merged(
      columns.map((column) => [column, ofDuckDb(column, row[column.heading])]),
      row[REST_HEADING] as string | null,
    ),
  );
}

function ofDuckDb(column: RecordColumn, value: unknown): JsonValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value))
    return value.map((element) => ofDuckDb({ ...column, isList: false }, element) ?? null);
  if (!column.members) return scalarOf(column, value);
  const object = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    column.members.flatMap((member) => {
      const inner = ofDuckDb(member, object[member.heading]);
      return inner === undefined ? [] : [[member.heading, inner]];
    }),
  );
}

function scalarOf({ kind, isList }: RecordColumn, value: unknown): JsonValue {
  const text = String(value);
  switch (kind) {
    case 'json':
      return isList ? text : parseExactJson(text);
    case 'boolean':
      return value === true;
    case 'number':
    case 'decimal':
      return parseExactJson(text);
    case 'datetime':
      return new Date(`${text.replace(' ', 'T').replace(/\+00$/, '')}Z`).toISOString();
    default:
      return text;
  }
}

function expectHeadings(found: readonly (string | null)[], columns: readonly RecordColumn[]): void {
  const expected = [...columns.map(({ heading }) => heading), REST_HEADING];
  if (found.join('|') !== expected.join('|')) throw new Error(`columns: ${found.join(', ')}`);
}

/** The record of the cells and of the rest. */
function merged(
  cells: readonly (readonly [RecordColumn, JsonValue | undefined])[],
  rest: string | null | undefined,
): JsonObject {
  let record: JsonObject = {};
  for (const [{ path }, value] of cells) {
    if (value !== undefined) record = mergedObjects(record, nested(path, value));
  }
  const left = typeof rest === 'string' ? parseExactJson(rest) : {};
  return isJsonObject(left) ? mergedObjects(record, left) : record;
}

function nested([name = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  return Object.fromEntries([[name, rest.length === 0 ? value : nested(rest, value)]]);
}

function mergedObjects(one: JsonObject, other: JsonObject): JsonObject {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const a = Object.hasOwn(one, name) ? one[name] : undefined;
      const b = Object.hasOwn(other, name) ? other[name] : undefined;
      return [name, isJsonObject(a) && isJsonObject(b) ? mergedObjects(a, b) : (b ?? a ?? null)];
    }),
  );
}
