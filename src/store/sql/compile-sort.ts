/**
 * Orders records by values, as jsonb orders them: texts, numbers, false, true, lists, objects. Records
 * without the value come last in both directions. The next key orders them among themselves. A value is
 * missing if the field is absent, null or an empty list, which a b-tree sorts below null. A reference is
 * ordered by its id, and its `.label` by the label. `_id` breaks ties, in the direction of the last key.
 *
 * @see decisions 3, 11
 */

import { createHash } from 'node:crypto';
import { invalidAt, ServiceError } from '../../base/errors.js';
import { parseExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { placeInRecord } from '../../base/model/place.js';
import type { SortKey } from '../../base/model/record-query.js';
import { isIndexedPath } from '../database/declared-indexes.js';
import { type Sql, sql } from '../sql.js';
import { fieldJson } from './names.js';
import { storable, storableJson } from './storable-json.js';

/** One key of a total order. */
export interface OrderKey {
  /** Over the alias `r`: jsonb, or the text `r.id`. */
  readonly expression: Sql;
  readonly direction: 'ascending' | 'descending';
  /** Whether the key is `_id`, which is text and never missing. Others are jsonb, and null if missing. */
  readonly isId: boolean;
  /** Whether a b-tree stores the values in this order. */
  readonly isIndexed: boolean;
  /** The place of records without the value: `last`, or `first` if the order is read from its end. */
  readonly missing: 'last' | 'first';
}

/** A total order. Its last key, and no other, is `_id`. */
export interface RecordOrder {
  readonly keys: readonly OrderKey[];
  /** The expressions after `order by`. */
  readonly orderBy: Sql;
  /** The same order, read from its end. */
  readonly reversedOrderBy: Sql;
  /** Identifies the order and its collection. A cursor is valid only for the order that it names. */
  readonly description: string;
}

/**
 * @throws INVALID_VALUE (400) for a key in a list. A record has many values there, and no single place by
 * them.
 */
export function compileSort(
  sort: readonly SortKey[],
  { collection }: { readonly collection: Collection },
): RecordOrder {
  const keys: OrderKey[] = [];
  const names: string[] = [];
  for (const { path, direction } of sort) {
    const name = JSON.stringify(path);
    if (names.includes(name)) continue;
    names.push(name);
    keys.push(orderKey(path, direction, collection));
    if (keys.at(-1)?.isId) break;
  }
  const last = keys.at(-1);
  if (!last?.isId) keys.push(idKey(last?.direction ?? 'ascending'));
  return {
    keys,
    orderBy: orderByOf(keys),
    reversedOrderBy: orderByOf(reversed(keys)),
    description: JSON.stringify([collection.name, names, keys.map(({ direction }) => direction[0])]),
  };
}

/** The expressions after `order by`. */
export function orderByOf(keys: readonly OrderKey[]): Sql {
  return sql.join(keys.map(ordered), ', ');
}

/** The same order, read from its end. */
export function reversed(keys: readonly OrderKey[]): readonly OrderKey[] {
  return keys.map((key) => ({
    ...key,
    direction: key.direction === 'ascending' ? 'descending' : 'ascending',
    missing: key.missing === 'last' ? 'first' : 'last',
  }));
}

/** `order by` for records that have a value of the first key, in the form that its index supports. */
export function orderByOfPresent([first, ...rest]: readonly OrderKey[]): Sql {
  if (first === undefined) return sql.empty;
  const way = first.direction === 'ascending' ? ASCENDING : DESCENDING;
  return sql.join([sql`${first.expression}${way}`, ...rest.map(ordered)], ', ');
}

/** Whether a record has a value, as one range of a b-tree: null and the empty list are the least. */
export function isPresent({ expression }: OrderKey): Sql {
  return sql`${expression} > 'null'::jsonb`;
}

/** Whether a record has no value of the key, as two ranges of a b-tree. */
export function isMissing({ expression }: OrderKey): Sql {
  return sql`(${expression} is null or ${expression} <= 'null'::jsonb)`;
}

const RECORD_ID = sql.raw('r.id');
const ASCENDING = sql.raw(' asc');
const DESCENDING = sql.raw(' desc');
const NULLS = { last: sql.raw(' nulls last'), first: sql.raw(' nulls first') };

function idKey(direction: SortKey['direction']): OrderKey {
  return { expression: RECORD_ID, direction, isId: true, isIndexed: true, missing: 'last' };
}

function orderKey(path: Path, direction: SortKey['direction'], collection: Collection): OrderKey {
  const target = placeInRecord(collection, path);
  if (target.form === 'id') return idKey(direction);
  if (target.form === 'path' && target.type !== 'any') throw sortedByList(path);
  const valuePath = target.type === 'reference' ? [...path, 'value'] : path;
  valuePath.forEach(storable);
  return {
    expression: fieldJson(collection, valuePath),
    direction,
    isId: false,
    isIndexed: isIndexedPath(collection, valuePath),
    missing: 'last',
  };
}

function ordered(key: OrderKey): Sql {
  const way = key.direction === 'ascending' ? ASCENDING : DESCENDING;
  if (key.isId) return sql`${key.expression}${way}`;
  return sql`case when ${isPresent(key)} then ${key.expression} end${way}${NULLS[key.missing]}`;
}

function sortedByList(path: Path): ServiceError {
  const field = path.join('.');
  const detail = `Records cannot be sorted by "${field}": it is a list, or inside one, and has many values.`;
  return invalidAt(detail, { expected: 'a field with one value', sent: field });
}

/** The gateway creates no longer cursor for any useful sort key. */
const MAX_CURSOR_LENGTH = 65_536;

/** A text expression over the alias `r`: the cursor of that record. */
export function cursorExpression(order: RecordOrder): Sql {
  const values = order.keys.map(({ expression, isId }) => (isId ? expression : sql`${expression}::text`));
  const json = sql`json_build_array(${fingerprint(order)}::text, ${sql.join(values, ', ')})`;
  // This is base64url, which Postgres does not support itself.
  return sql`translate(encode(convert_to(${json}::text, 'UTF8'), 'base64'), E'+/=\n', '-_')`;
}

/**
 * One value for each key of the order: its JSON text, or the text of `_id`. `undefined` if the record has no
 * value.
 * @see compileSort
 */
export type Position = readonly (string | undefined)[];

/**
 * @throws MALFORMED_REQUEST (400) for a text that is not a cursor, or for a cursor of another order or
 * collection.
 */
export function parseCursor(cursor: string, order: RecordOrder): Position {
  const [made, ...values] = decode(cursor);
  if (made !== fingerprint(order) || values.length !== order.keys.length) throw strangeCursor();
  return values.map((value, index) => {
    const isId = order.keys[index]?.isId === true;
    if (value === null && !isId) return undefined;
    if (typeof value !== 'string') throw strangeCursor();
    return isId ? checked(() => storable(value)) : checked(() => valueIn(value));
  });
}

function decode(cursor: string): readonly unknown[] {
  if (cursor.length > MAX_CURSOR_LENGTH || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw strangeCursor();
  const parts: unknown = checked(() => JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  if (!Array.isArray(parts)) throw strangeCursor();
  return parts;
}

/** Refuses what Postgres cannot store: a caller may have forged it. Null and `[]` are no values. */
function valueIn(text: string): string | undefined {
  const value = parseExactJson(text);
  storableJson(value);
  const isMissing = value === null || (Array.isArray(value) && value.length === 0);
  return isMissing ? undefined : text;
}

function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw strangeCursor(cause);
  }
}

function fingerprint({ description }: RecordOrder): string {
  return createHash('sha256').update(description).digest('base64url').slice(0, 8);
}

function strangeCursor(cause?: unknown): ServiceError {
  const detail =
    'The cursor is not one of this collection in this order. Take it from a page of the same query.';
  return new ServiceError('MALFORMED_REQUEST', detail, { errors: [{ detail }], cause });
}
