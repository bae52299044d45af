/**
 * The FROM item of a read: the records in reach, starting at a cursor. It implements keyset paging: the
 * b-tree of the first sort key leads to the place of the cursor directly, at any depth.
 *
 * Missing values make this difficult. They come last in both directions, whereas a b-tree sorts null before
 * all values and absent fields after them. Neither direction of the b-tree yields the order. The records
 * with the value and those without are therefore two scans, each over ranges of the index. The second scan
 * starts only if the first does not fill the page.
 */
import { allHold, type Sql, sql } from '../sql.js';
import {
  isMissing,
  isPresent,
  type OrderKey,
  orderByOf,
  orderByOfPresent,
  type Position,
  parseCursor,
  type RecordOrder,
  reversed,
} from './compile-sort.js';

export interface RecordSourceOptions {
  /** Over the alias `r`: the domain, collection, live records and filter. */
  readonly where: Sql;
  readonly order: RecordOrder;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Whether to read the order from its end. */
  readonly fromEnd: boolean;
  /** The most records that the read needs, including those that it skips. */
  readonly limit: number | undefined;
}

/** `select … from ${from} where ${where} order by ${orderBy} limit …`, all over the alias `r`. */
export interface RecordSource {
  readonly from: Sql;
  readonly where: Sql;
  /** Reversed if the order is read from its end. The caller must then reverse the page. */
  readonly orderBy: Sql;
}

/** A contiguous part of an order: all records that satisfy the condition, in the order of the part. */
export interface OrderPart {
  readonly where: Sql;
  readonly orderBy: Sql;
}

/** @throws MALFORMED_REQUEST (400) for a cursor of another order. */
export function compileRecordSource(options: RecordSourceOptions): RecordSource {
  const { order, fromEnd, limit } = options;
  const orderBy = fromEnd ? order.reversedOrderBy : order.orderBy;
  const { keys, start, conditions, parts } = readPlaces(options);
  const [first, second] = parts;
  if (first !== undefined && second === undefined) {
    return { from: RECORDS, where: allHold([...conditions, first.where]), orderBy: first.orderBy };
  }
  if (first !== undefined && second !== undefined && limit !== undefined) {
    const near = { ...first, where: allHold([...conditions, first.where]) };
    const far = { ...second, where: allHold([...conditions, second.where]) };
    return { from: nearAndFar({ near, far, limit }), where: sql.raw('true'), orderBy };
  }
  if (start !== undefined) conditions.push(placedAfter(keys, start));
  return { from: RECORDS, where: allHold(conditions), orderBy };
}

/**
 * The same for a reader of all records: one source, or two that the caller reads one after the other. The
 * first record then does not wait for a sort of all records. A single statement would not work, because
 * Postgres may read the halves of a `union all` in any order.
 *
 * @throws MALFORMED_REQUEST (400) for a cursor of another order
 */
export function compileRecordSources(options: Omit<RecordSourceOptions, 'limit'>): readonly RecordSource[] {
  const { conditions, parts } = readPlaces(options);
  if (parts.length < 2) return [compileRecordSource({ ...options, limit: undefined })];
  return parts.map(({ where, orderBy }) => ({
    from: RECORDS,
    where: allHold([...conditions, where]),
    orderBy,
  }));
}

/** The places where a read begins and ends, in reading order. */
function readPlaces({ where, order, after, before, fromEnd }: Omit<RecordSourceOptions, 'limit'>) {
  const keys = fromEnd ? reversed(order.keys) : order.keys;
  const [startCursor, endCursor] = fromEnd ? [before, after] : [after, before];
  const conditions = [where];
  if (endCursor !== undefined) conditions.push(placedAfter(reversed(keys), parseCursor(endCursor, order)));
  const start = startCursor === undefined ? undefined : parseCursor(startCursor, order);
  return { keys, start, conditions, parts: listParts(keys, start) };
}

/**
 * An order as the consecutive parts that an index supports: the records with a value of the first key, then
 * those without. One part if no record can lack the value, or if there is no index.
 */
export function partsOfOrder({ keys, orderBy }: RecordOrder): readonly OrderPart[] {
  const parts = listParts(keys, undefined);
  return parts.length > 0 ? parts : [{ where: sql.raw('true'), orderBy }];
}

/** The parts after the position. None if the order has no parts. */
function listParts(keys: readonly OrderKey[], start: Position | undefined): readonly OrderPart[] {
  const [key, ...rest] = keys;
  if (key === undefined || key.isId || !key.isIndexed) return [];
  const present = { where: isPresent(key), orderBy: orderByOfPresent(keys) };
  const missing = { where: isMissing(key), orderBy: orderByOf(rest) };
  const isMissingLast = key.missing === 'last';
  if (start === undefined) return isMissingLast ? [present, missing] : [missing, present];
  if (start[0] === undefined) {
    const where = sql`${missing.where} and ${placedAfter(rest, start.slice(1))}`;
    return isMissingLast ? [{ ...missing, where }] : [{ ...missing, where }, present];
  }
  const after = { ...present, where: placedAfterAmongPresent(keys, start) };
  return isMissingLast ? [after, missing] : [after];
}

const RECORDS = sql.raw('records r');

function nearAndFar(parts: { near: OrderPart; far: OrderPart; limit: number }): Sql {
  const { near, far, limit } = parts;
  return sql`(
  with near as materialized (
    select r.* from records r where ${near.where} order by ${near.orderBy} limit ${limit}
  ),
  far as (
    select r.*
    from records r
    where ${far.where} and (select count(*) from near) < ${limit}
    order by ${far.orderBy}
    limit ${limit}
  )
  select * from near union all select * from far
) r`;
}

/** The records after the position in the order of the keys. */
function placedAfter(keys: readonly OrderKey[], position: Position): Sql {
  const [key, ...rest] = keys;
  if (key === undefined) return sql.raw('false');
  if (key.isId) return isBeyond(key, position[0] ?? '');
  const isMissingLast = key.missing === 'last';
  if (position[0] === undefined) {
    const later = sql`${isMissing(key)} and ${placedAfter(rest, position.slice(1))}`;
    return isMissingLast ? sql`(${later})` : sql`(${isPresent(key)} or (${later}))`;
  }
  const among = placedAfterAmongPresent(keys, position);
  return isMissingLast ? sql`(${among} or ${isMissing(key)})` : among;
}

/** The same among records that have a value of the first key, by one range of an index on that key. */
function placedAfterAmongPresent(keys: readonly OrderKey[], position: Position): Sql {
  const [key, id] = keys;
  const [value] = position;
  if (key === undefined || value === undefined) return sql.raw('false');
  const isUpward = key.direction === 'ascending';
  // In descending order, the records without a value would follow in the index.
  const andPresent = isUpward ? sql.empty : sql` and ${isPresent(key)}`;
  if (id !== undefined && keys.length === 2 && id.direction === key.direction) {
    const place = sql`(${operand(key, value)}, ${operand(id, position[1] ?? '')})`;
    return sql`((${key.expression}, ${id.expression}) ${beyond(key)} ${place}${andPresent})`;
  }
  const bound = sql`${key.expression} ${beyond(key)}= ${operand(key, value)}`;
  const rest = placedAfter(keys.slice(1), position.slice(1));
  const isSame = sql`${key.expression} = ${operand(key, value)}`;
  return sql`(${bound}${andPresent} and (${isBeyond(key, value)} or (${isSame} and ${rest})))`;
}

function isBeyond(key: OrderKey, value: string): Sql {
  return sql`${key.expression} ${beyond(key)} ${operand(key, value)}`;
}

function beyond({ direction }: OrderKey): Sql {
  return sql.raw(direction === 'ascending' ? '>' : '<');
}

function operand({ isId }: OrderKey, value: string): Sql {
  return isId ? sql`${value}::text` : sql`${value}::jsonb`;
}
