/**
 * Cursors: the place of a record in an order, as opaque text. A cursor holds the values of the sort keys and
 * the `_id`, so that it stays valid after the record is removed. Postgres prints it together with the
 * record, so that no value is converted to a JavaScript number.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { parseExactJson } from '../../base/json/json.js';
import { type Sql, sql } from '../sql.js';
import type { RecordOrder } from './compile-sort.js';
import { storable, storableJson } from './storable-json.js';

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

/**
 * Accepts only JSON that Postgres can store, because a caller may have forged the cursor. Null and the empty
 * list are not values of an order.
 */
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
