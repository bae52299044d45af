/**
 * The files of a format as records of our collections, to be imported like any other file: what is checked,
 * tried and written is the import's.
 */

import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import { ExactNumber, type JsonObject, type JsonValue } from '../../base/json/json.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { openRowSource } from '../importing/reading/open-row-source.js';
import { ZipParts } from '../importing/reading/xlsx-source.js';
import {
  type FormatContext,
  type FormatIncoming,
  type FormatJoin,
  type FormatMapping,
  type FormatTable,
  printValue,
  type Value,
  valueAt,
} from './format-mapping.js';

export interface Converted {
  /** In the order in which they are imported: what is pointed to comes first. */
  readonly collections: ReadonlyMap<string, readonly JsonObject[]>;
  /** Columns with values for which our records have no place, and how many rows have one. */
  readonly homeless: ReadonlyMap<string, number>;
  /** Rows of something that no longer exists and that no record mentions, by file. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** @throws INVALID_VALUE where none of the rows of a file that has some becomes a record */
export function convertBundle(incoming: FormatIncoming, bundle: Bundle, context: FormatContext): Converted {
  const lookup = new Lookup(bundle);
  const collections = new Map<string, readonly JsonObject[]>();
  const leftOut = new Map<string, number>();
  for (const table of incoming.tables) {
    const records = (bundle.get(table.from) ?? []).flatMap((row): JsonObject[] => {
      const data = joined(row, table.joins ?? {}, lookup);
      if (!isMeant(data, table.only, context)) return [];
      const isGone = row[incoming.status.column] === incoming.status.removed;
      if (isGone && table.removed === undefined) {
        leftOut.set(table.from, (leftOut.get(table.from) ?? 0) + 1);
        return [];
      }
      const record = {
        ...valuesOf(table.values, data, context),
        ...listsOf(row, table, { lookup, context, incoming }),
      };
      return [typed(isGone ? { ...record, ...table.removed } : record, table.types ?? {})];
    });
    if (records.length > 0) collections.set(table.collection, records);
  }
  for (const { from } of incoming.tables) {
    const rows = bundle.get(from)?.length ?? 0;
    const isUsed = incoming.tables.some((one) => one.from === from && collections.has(one.collection));
    if (rows > 0 && !isUsed && !leftOut.has(from)) throw nothingFound(from, rows, incoming, bundle);
  }
  return { collections, homeless: homelessOf(incoming, bundle), leftOut };
}

function nothingFound(from: string, rows: number, incoming: FormatIncoming, bundle: Bundle): ServiceError {
  const joined = incoming.tables
    .filter((one) => one.from === from)
    .flatMap(({ joins = {} }) => Object.values(joins).map(({ file }) => file));
  const missing = [...new Set(joined)].filter((file) => !bundle.has(file)).map((file) => `${file}.csv`);
  const reason =
    missing.length > 0
      ? `the bundle lacks ${missing.join(', ')}`
      : 'no row is of a kind that the format reads';
  return new ServiceError(
    'INVALID_VALUE',
    `None of the ${rows} rows of ${from}.csv becomes a record: ${reason}. Check the version of the format.`,
  );
}

/** The files that a mapping reads. */
export function filesOf({ tables }: FormatIncoming): readonly string[] {
  const names = tables.flatMap(({ from, joins = {}, lists = {} }) => [
    from,
    ...Object.values(joins).map(({ file }) => file),
    ...Object.values(lists).flatMap((list) => [
      list.file,
      ...Object.values(list.joins ?? {}).map(({ file }) => file),
    ]),
  ]);
  return [...new Set(names)];
}

class Lookup {
  readonly #bundle: Bundle;
  readonly #indexes = new Map<string, Map<string, BundleRow[]>>();

  constructor(bundle: Bundle) {
    this.#bundle = bundle;
  }

  rows(file: string, on: string, value: string): readonly BundleRow[] {
    const index = getOrMake(this.#indexes, `${file}.${on}`, () => {
      const rows = new Map<string, BundleRow[]>();
      for (const row of this.#bundle.get(file) ?? []) getOrMake(rows, row[on] ?? '', () => []).push(row);
      return rows;
    });
    return value === '' ? [] : (index.get(value) ?? []);
  }
}

function joined(row: BundleRow, joins: Readonly<Record<string, FormatJoin>>, lookup: Lookup): JsonObject {
  const data: Record<string, JsonValue> = { ...row };
  for (const [name, { file, on, by = 'sourcedId', where = {} }] of Object.entries(joins)) {
    const [column = '', member] = by.split('.');
    const place = member === undefined ? data : (data[column] as JsonObject | undefined);
    const value =
      String(place?.[member ?? column] ?? '')
        .split(',')[0]
        ?.trim() ?? '';
    const found = lookup
      .rows(file, on, value)
      .find((other) => Object.entries(where).every(([key, expected]) => other[key] === expected));
    if (found !== undefined) data[name] = found;
  }
  return data;
}

function isMeant(data: JsonObject, only: FormatTable['only'], context: FormatContext): boolean {
  if (only === undefined) return true;
  const value = String(valueAt(only.field, { data, position: 1 }, context) ?? '');
  return (only.values?.includes(value) ?? value !== '') && only.except?.includes(value) !== true;
}

/** A value that is neither a number nor a boolean stays a text, which the import refuses with its reason. */
function typed(record: JsonObject, types: NonNullable<FormatTable['types']>): JsonObject {
  const entries = Object.entries(record).map(([name, value]): [string, JsonValue] => {
    const type = types[name];
    if (type === 'boolean' && (value === 'true' || value === 'false')) return [name, value === 'true'];
    const isNumber = type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
    return [name, isNumber ? new ExactNumber(value) : value];
  });
  return Object.fromEntries(entries);
}

/** A value that is not there is no member: what a record has already stays. */
function valuesOf(
  values: Readonly<Record<string, Value>>,
  data: JsonObject,
  context: FormatContext,
): JsonObject {
  const texts = Object.entries(values).map(([name, value]) => {
    const text = printValue(value, { data, position: 1 }, context).replace(/\s+/g, ' ');
    return [name, text] as const;
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

function listsOf(
  row: BundleRow,
  { lists = {} }: FormatTable,
  { lookup, context, incoming }: { lookup: Lookup; context: FormatContext; incoming: FormatIncoming },
): JsonObject {
  const { column, removed } = incoming.status;
  const made = Object.entries(lists).map(([name, { file, on, joins = {}, value, values = {} }]) => {
    const rows = lookup.rows(file, on, row.sourcedId ?? '').filter((other) => other[column] !== removed);
    const elements = rows.map((other): JsonValue => {
      const data = joined(other, joins, lookup);
      if (value !== undefined) return printValue(value, { data, position: 1 }, context);
      return valuesOf(values, data, context);
    });
    return [name, value === undefined ? elements : [...new Set(elements)]] as const;
  });
  return Object.fromEntries(made.filter(([, elements]) => elements.length > 0));
}

/** Columns that no value of the mapping reads, though rows have something there. */
function homelessOf({ status, tables }: FormatIncoming, bundle: Bundle): ReadonlyMap<string, number> {
  const read = new Set<string>();
  const note = (values: unknown, from: string, joins: Readonly<Record<string, FormatJoin>>): void => {
    const paths = [...JSON.stringify(values).matchAll(/\{([a-z][\w.]*)\}|"field":"([a-z][\w.]*)"/gi)];
    for (const [, filled, field] of paths) {
      const [first = '', second] = (filled ?? field ?? '').split('.');
      read.add(second === undefined ? `${from}.${first}` : `${joins[first]?.file}.${second}`);
    }
    for (const { file, on, where = {} } of Object.values(joins)) {
      for (const column of [on, ...Object.keys(where)]) read.add(`${file}.${column}`);
    }
  };
  for (const { from, joins = {}, values, only, lists = {} } of tables) {
    note([values, only], from, joins);
    for (const list of Object.values(lists)) {
      read.add(`${list.file}.${list.on}`);
      note([list.value, list.values], list.file, list.joins ?? {});
    }
    for (const { by } of Object.values(joins)) note({ field: by ?? 'sourcedId' }, from, joins);
  }
  const counts = new Map<string, number>();
  for (const [file, rows] of bundle) {
    for (const row of rows) {
      for (const [column, cell] of Object.entries(row)) {
        const isRead = read.has(`${file}.${column}`) || column === status.column || column === 'sourcedId';
        if (cell !== '' && !isRead)
          counts.set(`${file}.${column}`, (counts.get(`${file}.${column}`) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** The rows of each file by its name without `.csv`; cells by the name of their column. */
type Bundle = ReadonlyMap<string, readonly BundleRow[]>;
type BundleRow = Readonly<Record<string, string>>;

/** A file is joined with others, and so in memory: a district has fewer rows. */
const MOST_ROWS = 500_000;

/**
 * Reads the files that are there of these, in a folder of the zip file too; others are no concern of the
 * mapping.
 *
 * @throws MALFORMED_REQUEST where it is no zip file or a row is broken, LIMIT_EXCEEDED, NOT_FOUND for none of
 * the files, INVALID_VALUE for another version of the format
 */
export async function readBundle(
  zipFile: string,
  names: readonly string[],
  manifest?: FormatMapping['manifest'],
): Promise<Bundle> {
  const folder = await mkdtemp(path.join(tmpdir(), 'campus-bundle-'));
  try {
    await using parts = await ZipParts.open(zipFile);
    const inside = folderOf(parts.names(), [...names.map((name) => `${name}.csv`), manifest?.file ?? '']);
    const rowsOf = async (name: string) => {
      if (!parts.has(inside + name)) return undefined;
      const file = path.join(folder, name);
      await pipeline(Readable.from(parts.read(inside + name)), createWriteStream(file));
      return await readRowsOf(file, name);
    };
    if (manifest !== undefined) assertVersion(manifest, (await rowsOf(manifest.file)) ?? []);
    const bundle = new Map<string, readonly BundleRow[]>();
    for (const name of names) {
      const rows = await rowsOf(`${name}.csv`);
      if (rows !== undefined) bundle.set(name, rows);
    }
    if (bundle.size > 0) return bundle;
    throw new ServiceError('NOT_FOUND', `${zipFile} has none of the files ${names.join(', ')}.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folder of the zip file that has the files; `''` for none. @throws INVALID_VALUE for several */
function folderOf(paths: readonly string[], files: readonly string[]): string {
  const found = paths.filter((one) => files.includes(path.posix.basename(one)));
  const folders = [...new Set(found.map((one) => one.slice(0, -path.posix.basename(one).length)))];
  if (folders.length <= 1) return folders[0] ?? '';
  const named = folders.slice(0, 5).map((one) => `"${one || '/'}"`);
  throw new ServiceError(
    'INVALID_VALUE',
    `The zip file has such files in several folders (${named.join(', ')}). Send the files of one folder.`,
  );
}

/** Other versions have other columns, so nobody would be found in them. */
function assertVersion(
  { properties }: NonNullable<FormatMapping['manifest']>,
  rows: readonly BundleRow[],
): void {
  for (const { propertyName = '', value = '' } of rows) {
    const expected = propertyName.startsWith('manifest.') ? undefined : properties[propertyName];
    if (expected === undefined || value === expected || value.startsWith(`${expected}.`)) continue;
    throw new ServiceError(
      'INVALID_VALUE',
      `The bundle has ${propertyName} ${value}, and ${expected} is read. Export it as version ${expected}.`,
    );
  }
}

async function readRowsOf(file: string, name: string): Promise<readonly BundleRow[]> {
  const source = await openRowSource({ path: file, name }, { format: 'csv', header: 1, delimiter: ',' });
  const rows: BundleRow[] = [];
  for await (const batch of source.rows()) {
    for (const { number, values, fault } of batch) {
      if (fault !== undefined)
        throw new ServiceError('MALFORMED_REQUEST', `${name}, row ${number}: ${fault}`);
      const cells = Object.entries(values).map(
        ([column, cell]) => [column, typeof cell === 'string' ? cell.trim() : ''] as const,
      );
      rows.push(Object.fromEntries(cells));
    }
    if (rows.length > MOST_ROWS) {
      throw new ServiceError('LIMIT_EXCEEDED', `${name} has more than ${MOST_ROWS} rows.`);
    }
  }
  return rows;
}
