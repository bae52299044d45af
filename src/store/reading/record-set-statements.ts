/**
 * The statements that read a record set. Whoever adds an expression must check its paths against the rights
 * of the caller.
 */
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, assertReadable, findAccess } from '../access/access.js';
import { resolveFilter } from '../access/resolve-filter.js';
import type { Catalog } from '../catalog/catalog.js';
import { compileFilter, compileResolved } from '../sql/compile-filter.js';
import { compilePage, compileRecord, recordMembers } from '../sql/compile-page.js';
import type { Printing } from '../sql/compile-shape.js';
import { compileRecordSource, compileRecordSources, type RecordSource } from '../sql/record-source.js';
import { liveRecordsOf, recordsOf } from '../sql/records-of.js';
import {
  listReferrers,
  listShapePaths,
  listTargets,
  type Member,
  type PageShape,
  type ReferrersShape,
} from '../sql/shape.js';
import { type Sql, sql } from '../sql.js';
import { changedSince } from './changed-since.js';
import type { OrderPlan } from './query-plans.js';
import type { RecordSetOptions } from './record-page.js';
import { selectTexts } from './record-printer.js';
import { compileReferrers } from './referrers.js';
import { storedColumns } from './stored-record.js';

/** A printed answer is held in memory, so it is limited even if the caller forgot a limit. */
export const MAX_PRINTED = 10_000;

/**
 * A condition passed as `where` is `RecordSetStatements.where`, or one with the same meaning: with parameters
 * in other places, or with a further condition.
 */
export class RecordSetStatements {
  /** The domain, not removed, the caller's rows, and the filter; not where the page starts. */
  readonly where: Sql;
  readonly order: OrderPlan;
  readonly #options: RecordSetOptions;
  readonly #collection: Collection;

  /** @throws MALFORMED_FILTER, INVALID_VALUE; MALFORMED_REQUEST for a cursor of another order */
  constructor(options: RecordSetOptions) {
    const { query, context, plans, scope } = options;
    this.#options = options;
    this.#collection = context.collection;
    this.where = compileConditions(liveRecordsOf(scope, context.collection), options);
    this.order = plans.order(context.collection, query.sort);
    // Refuses a cursor of another order before anything is read.
    if (query.after !== undefined || query.before !== undefined) this.#source(query.limit, this.where);
  }

  /** One row: the records as one text, in the order of the query, and how many they are. */
  list(format: 'json' | 'ndjson', where: Sql): Sql {
    const record = this.projection();
    const list =
      format === 'json'
        ? sql`'[' || coalesce(string_agg(${record}, ','), '') || ']'`
        : sql`coalesce(string_agg(${record} || e'\\n', ''), '')`;
    // Applied outside the sort and limit, so that only the selected records are printed.
    const records = this.#select(sql.raw('r.id, r.data'), this.#options.query.limit, where);
    return sql`select ${list} as text, count(*)::int as count
      from (${records}) r`;
  }

  /** One row of `RecordTexts`: the ids and the visible fields of the records. */
  texts(where: Sql): Sql {
    const columns = sql`r.id, ${this.#fields()} as fields`;
    return selectTexts(this.#select(columns, this.#options.query.limit, where));
  }

  /** A row for each record: its columns, and its cursor. One more than the page, to know if more follow. */
  page(where: Sql): Sql {
    const { limit } = this.#options.query;
    return this.#select(
      sql`${storedColumns(this.projection())}, ${this.order.cursor} as cursor`,
      limit === undefined ? undefined : limit + 1,
      where,
    );
  }

  /** A row for each record, as text; a whole record as its id and fields, which `JoinedRows` combines. */
  stream(where: Sql): Sql {
    return this.#select(this.#streamedRecord(), this.#options.query.limit, where);
  }

  /**
   * The same for all records, without a limit. An order that an index provides in two parts becomes two
   * statements: a single one would sort everything before the first record.
   */
  fullStream(): readonly Sql[] {
    const columns = this.#streamedRecord();
    const sources = compileRecordSources({
      ...this.#options.query,
      where: this.where,
      order: this.order.order,
    });
    return sources.map(
      ({ from, where, orderBy }) => sql`select ${columns} from ${from} where ${where} order by ${orderBy}`,
    );
  }

  /** The condition of the records that satisfy the filter, removed ones too. */
  ofRemovedToo(): Sql {
    const { scope } = this.#options;
    return compileConditions(recordsOf(scope, this.#collection), this.#options);
  }

  /** The condition of those that changed at `since` or later. */
  changedSince(since: string): Sql {
    return changedSince(this.ofRemovedToo(), since);
  }

  /** One row: the page as text of this shape. @throws FORBIDDEN naming a hidden field in the shape */
  print(shape: PageShape, where: Sql): Sql {
    this.assertPagePrintable(shape);
    const { query } = this.#options;
    const limit = query.limit ?? MAX_PRINTED;
    return compilePage(shape, {
      source: this.#source(limit + 1, where),
      order: this.order.order,
      limit,
      skip: query.skip,
      fromEnd: query.fromEnd,
      hasMoreBehind: this.hasMoreBehind,
      countWhere: where,
      printing: this.printing(),
    });
  }

  /** One row: the record that this condition finds, as text of these members. @throws FORBIDDEN */
  printRecord(members: readonly Member[], where: Sql): Sql {
    this.assertPrintable(members);
    return compileRecord(members, { source: this.#source(1, where), printing: this.printing() });
  }

  /** One row: the id and the visible fields of the record that this condition finds. */
  record(where: Sql): Sql {
    return sql`select r.id, ${this.#fields()}::text as fields from records r where ${where}`;
  }

  /** A text expression: the record, with the fields of the projection that the caller may read. */
  projection(): Sql {
    const { query, access, plans } = this.#options;
    return plans.projection(this.#collection, query.projection, access.hiddenFields);
  }

  printing(): Omit<Printing, 'aliasCount'> {
    const { query, access, plans, findReadable } = this.#options;
    return {
      fields: plans.fields(this.#collection, query.projection, access.hiddenFields),
      visibleRecords: (collection) => findReadable(collection)?.condition ?? sql.raw('false'),
      printReferrers: (shape, id, printing) => compileReferrers({ shape, id, printing }, this.#options),
    };
  }

  /** @throws FORBIDDEN naming a hidden field, also one of a reference's target */
  assertPrintable(members: readonly Member[]): void {
    assertMembersReadable(members, this.#collection.name, this.#options);
  }

  /** @throws FORBIDDEN as `assertPrintable` does */
  assertPagePrintable(shape: PageShape): void {
    for (const member of shape.members) {
      if (member.kind === 'records') this.assertPrintable(member.members);
      if (member.kind !== 'edges') continue;
      for (const edge of member.members) if (edge.kind === 'record') this.assertPrintable(edge.members);
    }
  }

  /**
   * Whether there are records on the side opposite to the reading direction: when paging backwards, those
   * from `before` on; when paging forwards, those already passed.
   */
  get hasMoreBehind(): boolean {
    const { after, before, fromEnd, skip } = this.#options.query;
    return fromEnd ? before !== undefined : after !== undefined || skip > 0;
  }

  /** A jsonb expression: all fields that the caller may read. */
  #fields(): Sql {
    const { access, plans } = this.#options;
    return plans.fields(this.#collection, undefined, access.hiddenFields);
  }

  #streamedRecord(): Sql {
    if (this.#options.query.projection !== undefined) return this.projection();
    return sql`to_json(r.id)::text, ${this.#fields()}::text`;
  }

  #select(columns: Sql, limit: number | undefined, where: Sql): Sql {
    const { skip } = this.#options.query;
    const source = this.#source(limit, where);
    const first = limit === undefined ? sql.empty : sql`limit ${limit}`;
    const offset = skip === 0 ? sql.empty : sql`offset ${skip}`;
    return sql`select ${columns} from ${source.from} where ${source.where}
      order by ${source.orderBy} ${first} ${offset}`;
  }

  #source(limit: number | undefined, where: Sql): RecordSource {
    const { after, before, fromEnd, skip } = this.#options.query;
    return compileRecordSource({
      where,
      order: this.order.order,
      after,
      before,
      fromEnd,
      limit: limit === undefined ? undefined : limit + skip,
    });
  }
}

/** @throws MALFORMED_FILTER, INVALID_VALUE */
function compileConditions(
  records: Sql,
  { query, filter, access, context }: Pick<RecordSetOptions, 'query' | 'filter' | 'access' | 'context'>,
): Sql {
  const conditions = [records];
  if (access.rows !== undefined) conditions.push(sql`(${compileFilter(access.rows, context)})`);
  if (query.filter.kind !== 'all' || query.filter.filters.length > 0) {
    conditions.push(sql`(${compileResolved(filter, context)})`);
  }
  return sql.join(conditions, ' and ');
}

/** Checks that a caller may read everything a shape prints. */
interface Reader {
  readonly scope: Scope;
  readonly catalog: Catalog;
}

/**
 * Refuses members that print a hidden field, of the record, of a reference's target or of a record that
 * points here. A field the caller may not read is refused if it is selected by name; it is never omitted
 * silently.
 *
 * @throws FORBIDDEN (403) naming the field, or the collection that a reference would lead to; as
 *   `resolveFilter` does for the filter of the records that point here
 * @see decisions 3
 */
export function assertMembersReadable(
  members: readonly Member[],
  name: string,
  { scope, catalog }: Reader,
): void {
  if (!members.some(({ shape }) => 'path' in shape)) return;
  const collection = catalog.get(name, scope);
  assertReadable(listShapePaths(members).paths, accessOf(scope, collection, 'read'), collection);
  for (const target of listTargets(members)) {
    // Only the union members whose fields are selected count.
    if (target.members.some(({ shape }) => shape.kind !== 'constant'))
      accessOf(scope, catalog.get(target.collection, scope), 'read');
    assertMembersReadable(target.members, target.collection, { scope, catalog });
  }
  for (const referrers of listReferrers(members)) assertReferrersReadable(referrers, { scope, catalog });
}

function assertReferrersReadable(referrers: ReferrersShape, { scope, catalog }: Reader): void {
  const collection = catalog.get(referrers.collection, scope);
  const access = accessOf(scope, collection, 'read');
  const findTarget = (name: string) => {
    const target = catalog.find(name);
    const readable = target && findAccess(scope, target, 'read');
    // The filter is not compiled here, so the condition is never read.
    return readable && { collection: target, access: readable, condition: sql.empty };
  };
  const context = { ...scope.domain, collection, now: new Date(), findTarget };
  resolveFilter(referrers.filter, context, access);
  assertReadable([referrers.path, ...referrers.sort.map(({ path }) => path)], access, collection);
  assertMembersReadable(listReferrersMembers(referrers), collection.name, { scope, catalog });
}

/** The printed members of the referring records. */
export function listReferrersMembers({ page }: Pick<ReferrersShape, 'page'>): readonly Member[] {
  return page.members.flatMap(recordMembers);
}
