/**
 * The records that a source of a mapping names, as rows: all that are there, or with `since` what changed and
 * what is there no more, each as it was last.
 */
import { ServiceError } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../base/json/json.js';
import { parseOquery } from '../../base/languages/oquery.js';
import { queryOf, type RecordQuery } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { RecordStore } from '../../store/record-store.js';
import { readJsonLines } from '../exporting/json-lines.js';
import type { FormatRow } from './print-value.js';

export interface FormatSource {
  readonly collection: string;
  readonly where?: string | undefined;
  readonly each?: string | undefined;
  readonly only?: string | undefined;
  readonly distinct?: string | undefined;
}

export interface FormatSourceRow extends FormatRow {
  readonly collection: string;
  readonly isRemoved: boolean;
}

export interface ReadFormatOptions {
  readonly store: RecordStore;
  readonly scope: Scope;
  readonly since: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws NOT_FOUND, FORBIDDEN for the collection; MALFORMED_FILTER for `where` */
export async function* readFormatRows(
  source: FormatSource,
  options: ReadFormatOptions,
): AsyncGenerator<FormatSourceRow, void> {
  const { collection } = source;
  // Sessions and classes do not change with the records in them: their rows are always whole.
  const isWhole = options.since === undefined || source.distinct !== undefined;
  const records = isWhole ? present(source, options) : changed(source, options);
  const seen = new Set<string>();
  for await (const { data, isRemoved } of records) {
    if (source.distinct !== undefined) {
      const value = JSON.stringify(data[source.distinct] ?? null);
      if (value === 'null' || seen.has(value)) continue;
      seen.add(value);
    }
    yield* elementRows(data, source).map((row) => ({ ...row, collection, isRemoved }));
  }
}

/** A row for each element of a list, which stands there in its place. */
export function elementRows(
  data: JsonObject,
  { each, only }: Pick<FormatSource, 'each' | 'only'>,
): FormatRow[] {
  const rows = each === undefined ? [{ data, position: 1 }] : elementsOf(data, each);
  return only === undefined ? rows : rows.filter((row) => hasValue(row.data, only.split('.')));
}

function elementsOf(data: JsonObject, each: string): FormatRow[] {
  const list = data[each];
  if (!Array.isArray(list)) return [];
  return list.map((element: JsonValue, index) => ({
    data: { ...data, [each]: element },
    position: index + 1,
  }));
}

/** Something other than nothing, null, an empty text and the number 0. */
function hasValue(data: JsonObject, [name = '', ...rest]: readonly string[]): boolean {
  const value = data[name];
  if (rest.length > 0) return isJsonObject(value) && hasValue(value, rest);
  return value !== undefined && value !== null && value !== '' && Number(value) !== 0;
}

interface ReadRecord {
  readonly data: JsonObject;
  readonly isRemoved: boolean;
}

async function* present(source: FormatSource, options: ReadFormatOptions): AsyncGenerator<ReadRecord, void> {
  const { store, scope, signal } = options;
  const lines = store.find(scope, queryFor(source)).stream('ndjson', signal);
  for await (const data of parsed(lines)) yield { data, isRemoved: false };
}

/** A record that changed so that it is no longer meant counts as removed. */
async function* changed(source: FormatSource, options: ReadFormatOptions): AsyncGenerator<ReadRecord, void> {
  const { store, scope, signal, since = '' } = options;
  const meant = new Set<string>();
  if (source.where !== undefined) {
    const lines = store.find(scope, queryFor(source)).streamChanges(since, { format: 'ndjson', signal });
    for await (const { _id, $removed } of parsed(lines)) if ($removed === undefined) meant.add(String(_id));
  }
  const all = store
    .find(scope, queryOf(source.collection))
    .streamChanges(since, { format: 'ndjson', signal });
  for await (const data of parsed(all)) {
    const id = String(data._id);
    if (typeof data.$removed === 'string') {
      yield { data: await lastState(source.collection, id, data.$removed, options), isRemoved: true };
    } else {
      yield { data, isRemoved: source.where !== undefined && !meant.has(id) };
    }
  }
}

/** The last values of a removed record; its id alone where values are not kept. */
async function lastState(
  collection: string,
  id: string,
  removedAt: string,
  { store, scope }: ReadFormatOptions,
): Promise<JsonObject> {
  const at = new Date(Date.parse(removedAt) - 1);
  const past = await store.getPast(scope, collection, id, { at }).catch((fault: unknown) => {
    if (fault instanceof ServiceError && ['GONE', 'NOT_FOUND'].includes(fault.code)) return undefined;
    throw fault;
  });
  const data = past === undefined ? undefined : parseExactJson(past.json);
  return { ...(isJsonObject(data) ? data : {}), _id: id };
}

function queryFor({ collection, where = '' }: FormatSource): RecordQuery {
  return { ...queryOf(collection), filter: parseOquery(where) };
}

async function* parsed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject, void> {
  for await (const lines of readJsonLines(chunks)) {
    for (const line of lines) {
      const data = line === '' ? undefined : parseExactJson(line);
      if (isJsonObject(data)) yield data;
    }
  }
}
