/**
 * The records that point to each of many records, by one statement: as part of the statement that prints
 * those, or read by their ids.
 */

import type { Path } from '../../base/model/path.js';
import { queryOf, type RecordQuery } from '../../base/model/record-query.js';
import { assertReadable, type FindReadable } from '../access/access.js';
import { type CompileContext, compileFilter } from '../sql/compile-filter.js';
import { compileInnerPage } from '../sql/compile-page.js';
import type { Printing } from '../sql/compile-shape.js';
import { fieldJson } from '../sql/names.js';
import { compileRecordSource } from '../sql/record-source.js';
import type { ReferrersShape } from '../sql/shape.js';
import { statementName } from '../sql/statement-name.js';
import { type Sql, sql } from '../sql.js';
import type { OrderPlan, QueryPlans } from './query-plans.js';
import { type PageRow, type RecordPage, type RecordSetOptions, toRecordPage } from './record-page.js';
import { type StoredRow, storedColumns } from './stored-record.js';

/**
 * `select … as json`: the page that a shape requests of the records that point to `id`.
 * `assertMembersReadable` has checked the shape.
 */
export function compileReferrers(
  { shape, id, printing }: { readonly shape: ReferrersShape; readonly id: Sql; readonly printing: Printing },
  set: {
    readonly context: CompileContext;
    readonly plans: QueryPlans;
    readonly findReadable: FindReadable;
  },
): Sql {
  const readable = set.findReadable(shape.collection);
  // Already checked; a collection that cannot be read has no records.
  if (readable === undefined) return sql`select 'null' as json where false`;
  const { collection, condition } = readable;
  const { order } = set.plans.order(collection, shape.sort);
  const where = sql`${condition}
    and ${pointsTo(collection, shape.path, id)}
      and ${compileFilter(shape.filter, { ...set.context, collection })}`;
  return compileInnerPage(
    shape.page,
    {
      source: compileRecordSource({
        where,
        order,
        after: shape.after,
        before: shape.before,
        fromEnd: shape.fromEnd,
        limit: shape.limit + 1,
      }),
      order,
      limit: shape.limit,
      skip: 0,
      fromEnd: shape.fromEnd,
      hasMoreBehind: hasMoreBehind(shape),
      countWhere: where,
    },
    printing,
  );
}

export interface ReferrersPage extends RecordPage {
  /** How many records point there in total; `undefined` if not requested. */
  readonly totalCount: number | undefined;
}

type ReferrersRow = Partial<StoredRow> & {
  readonly parent: string;
  readonly total: number | null;
  readonly cursor: string | null;
};

/**
 * Reads, for each id, the page of the set's records whose reference at `path` points to it, in one round
 * trip.
 *
 * @throws FORBIDDEN naming a hidden reference
 */
export async function readReferrers(
  set: RecordSetOptions & {
    /** Over the alias `r`. */
    readonly where: Sql;
    readonly order: OrderPlan;
    readonly projection: Sql;
  },
  { path, ids, counting }: ReferrersRequest,
): Promise<ReadonlyMap<string, ReferrersPage>> {
  const { database, scope, access, query, context } = set;
  const { collection } = context;
  assertReadable([path], access, collection);
  const limit = query.limit ?? ids.length;
  const where = sql`${set.where} and ${pointsTo(collection, path, sql`to_jsonb(parent.id)`)}`;
  const { order, cursor } = set.order;
  const { after, before, fromEnd } = query;
  const source = compileRecordSource({ where, order, after, before, fromEnd, limit: limit + 1 });
  const total =
    counting === 'counted' ? sql`(select count(*)::int from records r where ${where})` : sql`null::int`;
  const statement = sql`
select parent.id as parent, ${total} as total, page.*
from unnest(${[...ids]}::text[]) as parent(id)
left join lateral (
  select found.*, row_number() over () as position
  from (
    select ${storedColumns(set.projection)}, ${cursor} as cursor
    from ${source.from}
    where ${source.where}
    order by ${source.orderBy}
    limit ${limit + 1}
  ) as found
) as page on true
order by page.position`;
  const rows = await database.query<ReferrersRow>(statement, {
    name: statementName(statement.text),
    signal: scope.call.signal,
    call: scope.call,
    rows: set.scan(
      referringQuery({ collection: collection.name, path, filter: query.filter }),
      'all',
      ids.length,
    ),
  });
  const rowsByParent = new Map<string, ReferrersRow[]>(ids.map((id) => [id, []]));
  for (const row of rows) rowsByParent.get(row.parent)?.push(row);
  const options = { limit, fromEnd, hasMoreBehind: hasMoreBehind(query) };
  return new Map(
    [...rowsByParent].map(([id, ofParent]) => [
      id,
      {
        ...toRecordPage(ofParent.filter(isFound), options),
        totalCount: ofParent[0]?.total ?? undefined,
      },
    ]),
  );
}

export interface ReferrersRequest {
  /** The path of the reference, without its `value`. */
  readonly path: Path;
  readonly ids: readonly string[];
  readonly counting: 'counted' | 'uncounted';
}

/** Whether there are more on the side opposite to the reading direction. */
function hasMoreBehind({
  after,
  before,
  fromEnd,
}: Pick<ReferrersShape, 'after' | 'before' | 'fromEnd'>): boolean {
  return (fromEnd ? before : after) !== undefined;
}

/** A parent without referring records has one row without a record. */
function isFound(row: ReferrersRow): row is ReferrersRow & PageRow {
  return row.cursor !== null;
}

function pointsTo(collection: CompileContext['collection'], path: Path, id: Sql): Sql {
  return sql`${fieldJson(collection, [...path, 'value'])} = ${id}`;
}

/** The records that a page of referring records goes through if no index has the reference. */
export function referringQuery({
  collection,
  path,
  filter,
}: Pick<ReferrersShape, 'collection' | 'path' | 'filter'>): RecordQuery {
  const filters = [{ kind: 'equals', path, value: '' } as const, filter];
  return { ...queryOf(collection), filter: { kind: 'all', filters } };
}
