/**
 * `Rows`: the documents between two stages, as the pieces of one SELECT. A stage adds to the pieces as long
 * as the order of SQL's clauses allows (condition, order, part), and begins an outer SELECT where it does
 * not; so that what a stage asks for reaches the table with its indexes.
 */

import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { type Sql, sql } from '../sql.js';
import { type DocumentRoot, documentRoot } from './document-root.js';
import type { ExpressionContext } from './expression-value.js';

export interface Rows {
  /** FROM items, whose aliases the root is over. */
  readonly from: Sql;
  readonly where: readonly Sql[];
  readonly root: DocumentRoot;
  readonly orderBy: Sql | undefined;
  /** The order where none was asked for; `undefined`: that in which the rows come. */
  readonly naturalOrder: Sql | undefined;
  readonly limit: number | undefined;
  readonly skip: number;
  /** The root has fields that are computed wherever they are named. */
  readonly isComputed: boolean;
  /** Whether the sort key is never missing, so that an index may give the order. */
  readonly isAlwaysThere: (path: Path) => boolean;
}

/** Names for aliases, each once a statement. */
export class Aliases {
  #count = 0;

  next(letter: string): string {
    this.#count += 1;
    return `${letter}${this.#count}`;
  }
}

export interface PipelineContext extends ExpressionContext {
  readonly aliases: Aliases;
}

const NEVER = () => false;

/** Documents that are one column. */
export function rowsOf(from: Sql, document: Sql): Rows {
  return {
    from,
    where: [],
    root: documentRoot(document),
    orderBy: undefined,
    naturalOrder: undefined,
    limit: undefined,
    skip: 0,
    isComputed: false,
    isAlwaysThere: NEVER,
  };
}

/** `select … from …` with all that the rows have gathered. */
export function select(columns: Sql, rows: Rows): Sql {
  const where =
    rows.where.length === 0
      ? sql.empty
      : sql`
where ${sql.join([...rows.where], ' and ')}`;
  const order = rows.orderBy ?? (isPart(rows) ? rows.naturalOrder : undefined);
  const orderBy =
    order === undefined
      ? sql.empty
      : sql`
order by ${order}`;
  const limit =
    rows.limit === undefined
      ? sql.empty
      : sql`
limit ${rows.limit}::bigint`;
  const offset =
    rows.skip === 0
      ? sql.empty
      : sql`
offset ${rows.skip}::bigint`;
  return sql`select ${columns}
from ${rows.from}${where}${orderBy}${limit}${offset}`;
}

/** The rows in their order, the natural one where no other was asked for. */
export function inOrder(rows: Rows): Rows {
  return { ...rows, orderBy: rows.orderBy ?? rows.naturalOrder };
}

/** The documents made, as the rows of an outer SELECT; Postgres hands them on in the order it has them in. */
export function wrapped(rows: Rows, { aliases }: PipelineContext): Rows {
  const alias = aliases.next('d');
  // `offset 0` keeps Postgres from putting what a document is made of in place of every mention of it.
  const fence = isPart(rows) ? sql.empty : sql.raw('\noffset 0');
  const inner = sql`${select(sql`${rows.root.json} as doc`, rows)}${fence}`;
  return rowsOf(sql`(${inner}) as ${sql.raw(alias)}`, sql.raw(`${alias}.doc`));
}

/** Whether a part of the rows is taken already: what comes now is of that part. */
export function isPart({ limit, skip }: Rows): boolean {
  return limit !== undefined || skip > 0;
}

/** Conditions, orders and joins are of all rows, not of a part. */
export function wholeRows(rows: Rows, context: PipelineContext): Rows {
  return isPart(rows) ? wrapped(rows, context) : rows;
}

/** Computed fields longer than this are made before they are named. */
const SHORT = 1_500;

/**
 * A field computed of computed fields grows with each: what was computed is made first, then it is one
 * column.
 */
export function shallow(rows: Rows, context: PipelineContext): Rows {
  return rows.isComputed ? wrapped(inOrder(rows), context) : rows;
}

/** Rows of a root with computed fields; long ones are made at once. */
export function computed(rows: Rows, made: readonly Sql[], context: PipelineContext): Rows {
  const length = made.reduce((soFar, sql) => soFar + sql.sql.length, 0);
  return length > SHORT
    ? wrapped(inOrder(rows), context)
    : { ...rows, isComputed: made.length > 0 || rows.isComputed };
}

/**
 * The order of `doc_rank`, then of the values, and what is missing or null last in both directions. The last
 * key is `_id`, so that an order is total. A key that is never missing compares as it is where text compares
 * by bytes, which is the form an index has.
 */
export function orderOf(keys: readonly SortKey[], rows: Rows, context: PipelineContext): Sql {
  const hasId = keys.some(({ path }) => path.length === 1 && path[0] === '_id');
  const last = keys.at(-1)?.direction ?? 'ascending';
  const all = hasId ? keys : [...keys, { path: ['_id'], direction: last }];
  return sql.join(
    all.flatMap(({ path, direction }) => orderItems(path, direction, rows, context)),
    ', ',
  );
}

function orderItems(
  path: Path,
  direction: SortKey['direction'],
  rows: Rows,
  { isByteOrdered }: PipelineContext,
): Sql[] {
  const way = sql.raw(direction === 'ascending' ? ' asc' : ' desc');
  const target = rows.root.targetAt(path);
  if (target.form === 'id') return [sql`r.id${way}`];
  const value = rows.root.valueAt(path);
  if (isByteOrdered && target.form === 'column' && rows.isAlwaysThere(path)) return [sql`${value}${way}`];
  // Null and missing are one in an order.
  const rank = sql`nullif(greatest(doc_rank(${value}), 2), 2)${way} nulls last`;
  const byValue = sql`nullif(${value}, 'null')${way} nulls last`;
  if (isByteOrdered) return [rank, byValue];
  return [rank, sql`doc_text(${value}) collate "C"${way} nulls last`, byValue];
}
