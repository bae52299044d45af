/**
 * `RecordSet`: the records that a query selects, not read yet. GraphQL asks it for a page, printed or as
 * values, REST for a stream; both come from a single statement.
 */

import { invariant } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { PrintedJson } from '../../json.js';
import type { AggregateQuery, Group } from '../../model/aggregate-query.js';
import type { Collection } from '../../model/collection.js';
import type { EndSignal } from '../../model/end-signal.js';
import type { Database } from '../database/database.js';
import type { RowPunctuation } from '../database/gathered-rows.js';
import { compileFilter } from '../sql/compile-filter.js';
import { compilePage, compileRecord } from '../sql/compile-page.js';
import type { Printing } from '../sql/compile-shape.js';
import type { RecordOrder } from '../sql/compile-sort.js';
import { compileRecordSource, compileRecordSources, type RecordSource } from '../sql/record-source.js';
import { liveRecordsOf, recordsOf } from '../sql/records-of.js';
import type { Member, PageShape } from '../sql/shape.js';
import { statementName } from '../sql/statement-name.js';
import { storable } from '../sql/storable-json.js';
import { assertMembersReadable } from './assert-members-readable.js';
import { type ChangedRecord, compileChangedRecords } from './changed-records.js';
import { changedSince, nextSince, selectChanges, selectCount } from './changed-since.js';
import type { LoneRead } from './joined-reads.js';
import { type KeptRead, type Statement, toStatement } from './kept-reads.js';
import type { OrderPlan } from './query-plans.js';
import { readGroups } from './read-groups.js';
import type { RecordPage, RecordSetOptions } from './record-page.js';
import { type ListMarks, type PagePrinter, printRecordTexts, printWhole } from './record-printer.js';
import { type RecordTexts, selectTexts } from './record-texts.js';
import { compileReferrers, type ReferrersPage, type ReferrersRequest, readReferrers } from './referrers.js';
import { STORED_COLUMNS, type StoredRow, storedColumns, toStoredRecord } from './stored-record.js';

/**
 * The parts of the statement that reads a set, all over the alias `r`: `select … from ${from} where ${where}
 * order by ${orderBy} limit ${limit} offset ${skip}`.
 */
export interface RecordSetParts {
  readonly source: RecordSource;
  readonly order: RecordOrder;
  /** A jsonb expression: the requested visible fields. */
  readonly fields: Prisma.Sql;
  /** The condition without a cursor, for counting. */
  readonly countWhere: Prisma.Sql;
}

export interface RecordStreamOptions {
  readonly format: 'json' | 'ndjson';
  readonly signal: EndSignal | undefined;
}

const BATCH_ROWS = 500;
const PUNCTUATION: Readonly<Record<RecordStreamOptions['format'], RowPunctuation>> = {
  json: { start: '[', separator: ',', end: '' },
  ndjson: { start: '', separator: '', end: '\n' },
};
const LIST_MARKS: Readonly<Record<RecordStreamOptions['format'], ListMarks>> = {
  json: { start: '[', separator: ',', behindEach: '', end: ']' },
  ndjson: { start: '', separator: '', behindEach: '\n', end: '' },
};
const NO_MARKS: ListMarks = { start: '', separator: '', behindEach: '', end: '' };
const NO_RECORDS: RecordTexts = { ids: null, fields: null };
const EMPTY_LIST = Buffer.from('[]');
const END_OF_LIST = Buffer.from(']');

export class RecordSet {
  readonly collection: Collection;
  readonly #options: RecordSetOptions;
  readonly #where: Prisma.Sql;
  readonly #order: OrderPlan;
  #rowsStreamed = 0;

  /** Called only by `RecordStore.find`, which checks the query first. */
  constructor(options: RecordSetOptions) {
    const { query, context, plans } = options;
    this.collection = context.collection;
    this.#options = options;
    this.#where = compileWhere(options);
    this.#order = plans.order(context.collection, query.sort);
    // Refuses a cursor of another order before anything is read.
    if (query.after !== undefined || query.before !== undefined) this.#source(query.limit, this.#where);
  }

  get #kept(): KeptRead {
    return this.#keptFor(this.#where);
  }

  #keptFor(where: Prisma.Sql): KeptRead {
    const { scope, query, revision, keptReads, context } = this.#options;
    return keptReads.find({ scope, query, revision, now: context.now }, where);
  }

  /** Only `fields` excludes hidden fields: whoever adds an expression must check its paths. */
  get parts(): RecordSetParts {
    const { query, access, plans } = this.#options;
    return {
      source: this.#source(query.limit, this.#where),
      order: this.#order.order,
      fields: plans.fields(this.collection, query.projection, access.hiddenFields),
      countWhere: this.#where,
    };
  }

  /** Top-level fields that the caller may not read, and that are not read. */
  get hiddenFields(): ReadonlySet<string> {
    return this.#options.access.hiddenFields;
  }

  /**
   * The records as JSON text in the bytes that Postgres printed, one chunk per batch: a JSON list, or one
   * record per line for `ndjson`. The closing `]` follows only after the last record was read; a failure
   * throws midway and never looks like an end.
   *
   * Memory is bounded by a batch, whatever the length. Leaving the loop, or the signal, ends the query. A set
   * read from its end is a page, not a stream, because it must be reversed.
   */
  async *stream(format: 'json' | 'ndjson', signal?: EndSignal): AsyncGenerator<Buffer, void> {
    const { query, scope } = this.#options;
    invariant(!query.fromEnd, 'what is read from the end is not streamed');
    const read = { format, signal: signal ?? scope.signal } as const;
    if (this.isShort) yield await this.printList(read);
    else yield* this.#readBatches(read);
  }

  /**
   * Streams the records changed at `since` or later in the order of `_id`, together with the tombstones of
   * those removed: `{"_id": …, "$removed": <instant>}`. A removed record is judged by its last state. Only
   * the filter and the projection of the query apply. Reads the primary: a caller who continues from
   * `nextSince` would miss for good what a replica does not have yet.
   */
  async *streamChanges(since: string, { format, signal }: RecordStreamOptions): AsyncGenerator<Buffer, void> {
    const statement = selectChanges(this.#projection(), this.#changedSince(since));
    const batches = this.#options.primary.streamJoined([toStatement(statement)], {
      home: { domain: this.#options.scope.domain.id },
      signal,
      batchRows: BATCH_ROWS,
      punctuation: PUNCTUATION[format],
    });
    yield* this.#told(batches, format);
  }

  /** How many lines `streamChanges` returns. */
  async countChanges(since: string): Promise<number> {
    return await this.#countWhere(toStatement(selectCount(this.#changedSince(since))));
  }

  /** The `since` of the next call; read it before the changes. */
  async nextSince(): Promise<string> {
    return await nextSince(this.#options.primary);
  }

  #changedSince(since: string): Prisma.Sql {
    const { scope, context } = this.#options;
    return changedSince(compileConditions(recordsOf(scope, context.collection), this.#options), since);
  }

  /** Whether the whole set fits one answer: then `printList` returns the same as `stream`, at less cost. */
  get isShort(): boolean {
    const { limit } = this.#options.query;
    return limit !== undefined && limit <= BATCH_ROWS;
  }

  /**
   * A short set in the bytes that Postgres printed, in one round trip. A cursor would cost a second one,
   * which pays only for longer sets, and joining rows in Postgres is cheaper than sending them separately.
   */
  async printList({ format, signal }: RecordStreamOptions): Promise<Buffer> {
    invariant(this.isShort, 'what is not short is streamed');
    const { database, query, scope } = this.#options;
    if (query.projection === undefined) {
      const texts = await this.#readTexts(database, this.#texts(), { signal });
      const list = printRecordTexts(texts, printWhole, LIST_MARKS[format]);
      this.#rowsStreamed = list.count;
      return list.text;
    }
    const { sql, name } = this.#kept.statement(`${format} list`, this.#where, (where) =>
      this.#compileList(format, where),
    );
    const [page] = await database.query<{ json: Buffer; count: number }>(sql, {
      name,
      signal,
      texts: 'bytes',
      caller: scope,
      home: { domain: scope.domain.id, columns: 'json text, count int' },
    });
    invariant(page, 'an aggregate has a row');
    this.#rowsStreamed = page.count;
    return page.json;
  }

  #compileList(format: 'json' | 'ndjson', where: Prisma.Sql): Prisma.Sql {
    const record = this.#projection();
    const list =
      format === 'json'
        ? Prisma.sql`'[' || coalesce(string_agg(${record}, ','), '') || ']'`
        : Prisma.sql`coalesce(string_agg(${record} || e'\\n', ''), '')`;
    // Applied outside the sort and limit, so that only the selected records are printed.
    const records = this.#select(Prisma.raw('r.id, r.data'), this.#options.query.limit, where);
    return Prisma.sql`select ${list} as json, count(*)::int as count
      from (${records}) r`;
  }

  #texts(): Statement {
    const { limit } = this.#options.query;
    return this.#kept.statement('texts', this.#where, (where) =>
      selectTexts(this.#select(this.#textColumns(), limit, where)),
    );
  }

  /** The columns that `selectTexts` reads. */
  #textColumns(): Prisma.Sql {
    const { access, plans } = this.#options;
    return Prisma.sql`r.id, ${plans.fields(this.collection, undefined, access.hiddenFields)} as fields`;
  }

  #fieldsText(): Prisma.Sql {
    const { access, plans } = this.#options;
    return Prisma.sql`${plans.fields(this.collection, undefined, access.hiddenFields)}::text`;
  }

  async #readTexts(
    server: Pick<Database, 'query'>,
    { sql, name }: Statement,
    options: { readonly signal?: EndSignal | undefined },
  ): Promise<RecordTexts> {
    const { scope: caller } = this.#options;
    const home = { domain: caller.domain.id, columns: 'ids text, fields text' };
    const [row] = await server.query<RecordTexts>(sql, { name, caller, home, texts: 'bytes', ...options });
    return row ?? NO_RECORDS;
  }

  /** A record as text; a whole record as its id and fields, which `JoinedRows` combines. */
  #streamedRecord(): Prisma.Sql {
    const { query, access, plans } = this.#options;
    if (query.projection !== undefined) return this.#projection();
    const fields = plans.fields(this.collection, undefined, access.hiddenFields);
    return Prisma.sql`to_json(r.id)::text, ${fields}::text`;
  }

  /**
   * For a full read, an order that an index provides in two parts becomes two statements: a single one would
   * sort everything before the first record.
   */
  #streamStatements(): readonly Statement[] {
    const { limit, skip, ...query } = this.#options.query;
    if (limit !== undefined || skip > 0) {
      return [
        this.#kept.statement('stream', this.#where, (where) =>
          this.#select(this.#streamedRecord(), limit, where),
        ),
      ];
    }
    const { order } = this.#order;
    const sources = compileRecordSources({ ...query, where: this.#where, order });
    const columns = this.#streamedRecord();
    return sources.map(({ from, where, orderBy }) =>
      toStatement(Prisma.sql`select ${columns} from ${from} where ${where} order by ${orderBy}`),
    );
  }

  async *#readBatches({ format, signal }: RecordStreamOptions): AsyncGenerator<Buffer, void> {
    const { database } = this.#options;
    const batches = database.streamJoined(this.#streamStatements(), {
      home: { domain: this.#options.scope.domain.id },
      signal,
      batchRows: BATCH_ROWS,
      punctuation: {
        ...PUNCTUATION[format],
        ...(this.#options.query.projection === undefined && { firstMember: '_id' }),
      },
    });
    yield* this.#told(batches, format);
  }

  async *#told(
    batches: AsyncIterable<{ readonly bytes: Buffer; readonly rowCount: number }>,
    format: RecordStreamOptions['format'],
  ): AsyncGenerator<Buffer, void> {
    for await (const { bytes, rowCount } of batches) {
      this.#rowsStreamed += rowCount;
      yield bytes;
    }
    if (format === 'json') yield this.#rowsStreamed === 0 ? EMPTY_LIST : END_OF_LIST;
  }

  /** How many records `stream` has read so far. */
  get rowsStreamed(): number {
    return this.#rowsStreamed;
  }

  /**
   * The page selected by the query's limit and cursors, in one round trip. Without a limit, all remaining
   * records.
   */
  async page(): Promise<RecordPage> {
    const { database, scope, query } = this.#options;
    const { sql, name } = this.#kept.statement('page', this.#where, (where) =>
      this.#select(
        Prisma.sql`${storedColumns(this.#projection())}, ${this.#order.cursor} as cursor`,
        // One more than the page, to know whether more follow.
        query.limit === undefined ? undefined : query.limit + 1,
        where,
      ),
    );
    const { signal } = scope;
    const rows = await database.query<StoredRow & { readonly cursor: string }>(sql, {
      name,
      signal,
      caller: scope,
      home: { domain: scope.domain.id, columns: `${STORED_COLUMNS}, cursor text` },
    });
    const shown = query.limit === undefined ? rows : rows.slice(0, query.limit);
    const hasMore = rows.length > shown.length;
    if (query.fromEnd) shown.reverse();
    return {
      records: shown.map(toStoredRecord),
      cursors: shown.map((row) => row.cursor),
      hasNextPage: query.fromEnd ? this.#hasMoreBehind() : hasMore,
      hasPreviousPage: query.fromEnd ? hasMore : this.#hasMoreBehind(),
    };
  }

  /** How many records satisfy the filter, wherever the page starts. */
  async count(): Promise<number> {
    return await this.#countWhere(this.#kept.statement('count', this.#where, selectCount));
  }

  async #countWhere({ sql, name }: Statement): Promise<number> {
    const { database, scope } = this.#options;
    const [row] = await database.query<{ found: number }>(sql, {
      name,
      signal: scope.signal,
      caller: scope,
      home: { domain: scope.domain.id, columns: 'found int' },
    });
    return row?.found ?? 0;
  }

  /**
   * Reads, for each id, the set's page of records whose reference at `path` points to it, in one round trip.
   *
   * @throws FORBIDDEN naming a hidden reference
   */
  async pagesByReference(request: ReferrersRequest): Promise<ReadonlyMap<string, ReferrersPage>> {
    return await readReferrers(
      { ...this.#options, where: this.#where, order: this.#order, projection: this.#projection() },
      request,
    );
  }

  /**
   * Aggregates all records that satisfy the filter by group, in one round trip.
   *
   * @throws FORBIDDEN, INVALID_VALUE as `readGroups` does
   */
  async aggregate(query: AggregateQuery): Promise<readonly Group[]> {
    return await readGroups(query, { ...this.#options, where: this.#where });
  }

  /**
   * The page as JSON text of this shape, printed by Postgres in one round trip.
   *
   * @throws FORBIDDEN naming a hidden field in the shape, also one of a reference's target
   */
  async print(shape: PageShape): Promise<PrintedJson> {
    const { signal } = this.#options.scope;
    const printer = this.isShort ? this.#pagePrinter(shape) : undefined;
    if (printer !== undefined) {
      const statement = this.#kept.print(shape, this.#where, (where) => {
        this.#assertPagePrintable(shape);
        return selectTexts(this.#select(this.#textColumns(), this.#options.query.limit, where));
      });
      return printer(await this.#readTexts(this.#options.database, statement, { signal }));
    }
    const statement = this.#kept.print(shape, this.#where, (where) => this.#compilePrint(shape, where));
    return (await this.#printOne(this.#options.database, statement, { signal })) ?? 'null';
  }

  #pagePrinter(shape: PageShape): PagePrinter | undefined {
    return this.#options.query.fromEnd ? undefined : this.#options.plans.pagePrinter(this.collection, shape);
  }

  #assertPagePrintable(shape: PageShape): void {
    for (const member of shape.members) {
      if (member.kind === 'records') this.#assertPrintable(member.members);
      if (member.kind !== 'edges') continue;
      for (const edge of member.members) if (edge.kind === 'record') this.#assertPrintable(edge.members);
    }
  }

  #compilePrint(shape: PageShape, where: Prisma.Sql): Prisma.Sql {
    this.#assertPagePrintable(shape);
    const { query } = this.#options;
    const limit = query.limit ?? MAX_PRINTED;
    return compilePage(shape, {
      source: this.#source(limit + 1, where),
      order: this.#order.order,
      limit,
      skip: query.skip,
      fromEnd: query.fromEnd,
      hasMoreBehind: this.#hasMoreBehind(),
      countWhere: where,
      printing: this.#printing(),
    });
  }

  /**
   * The record with this id as JSON text of these members; `undefined` if there is none.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printRecord(id: string, members: readonly Member[]): Promise<string | undefined> {
    // A single record is read before a signal or a replica could be of use.
    const { scope, primary, joinedReads, within, plans } = this.#options;
    const printer = plans.shapePrinter(this.collection, members);
    const statement = (isAsked: Prisma.Sql) => {
      const where = Prisma.sql`${this.#where} and ${isAsked}`;
      return this.#keptFor(where).print(members, where, (slotted) => {
        this.#assertPrintable(members);
        return printer === undefined
          ? compileRecord(members, { source: this.#source(1, slotted), printing: this.#printing() })
          : Prisma.sql`select r.id, ${this.#fieldsText()} as fields from records r where ${slotted}`;
      });
    };
    const asked = storable(id);
    if (printer === undefined) {
      return await this.#printOne(primary, statement(Prisma.sql`r.id = ${asked}`), {});
    }
    const columns = 'id text, fields text';
    const read: LoneRead = { id: asked, values: this.#where.values, texts: 'bytes', columns, statement };
    const found = await joinedReads.read<{ id: Buffer; fields: Buffer }>(scope, read, within);
    if (found === undefined) return undefined;
    const texts = { ids: Buffer.from(JSON.stringify(id)), fields: found.fields };
    return printRecordTexts(texts, printer, NO_MARKS).text.toString();
  }

  /**
   * Prints the records with these ids, including removed ones, that satisfy the filter, once per selection;
   * unordered, in one round trip. A removed record is judged by its last state.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printChanged(
    ids: readonly string[],
    selections: readonly (readonly Member[])[],
  ): Promise<readonly ChangedRecord[]> {
    for (const members of selections) this.#assertPrintable(members);
    const { primary, scope, context } = this.#options;
    const where = compileConditions(recordsOf(scope, context.collection), this.#options);
    const sql = compileChangedRecords(selections, { ids, where, printing: this.#printing() });
    // On the primary, because the record must be at least as new as the change that is reported.
    return await primary.query<ChangedRecord>(sql, {
      name: statementName(sql.text),
      signal: scope.signal,
      caller: scope,
    });
  }

  /**
   * Prints the records with these ids that satisfy the filter, by id, in one round trip.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printByIds(ids: readonly string[], members: readonly Member[]): Promise<ReadonlyMap<string, string>> {
    this.#assertPrintable(members);
    const { primary, scope } = this.#options;
    const options = { ids, where: this.#where, printing: this.#printing() };
    const sql = compileChangedRecords([members], options);
    const { signal } = scope;
    const rows = await primary.query<ChangedRecord>(sql, {
      name: statementName(sql.text),
      signal,
      caller: scope,
    });
    return new Map(rows.map(({ id, texts }) => [id, texts[0] ?? 'null']));
  }

  /**
   * Whether there are records on the side opposite to the reading direction: when paging backwards, those
   * from `before` on; when paging forwards, those already passed.
   */
  #hasMoreBehind(): boolean {
    const { after, before, fromEnd, skip } = this.#options.query;
    return fromEnd ? before !== undefined : after !== undefined || skip > 0;
  }

  #projection(): Prisma.Sql {
    const { query, access, plans } = this.#options;
    return plans.projection(this.collection, query.projection, access.hiddenFields);
  }

  #select(columns: Prisma.Sql, limit: number | undefined, where: Prisma.Sql): Prisma.Sql {
    const { skip } = this.#options.query;
    const source = this.#source(limit, where);
    const first = limit === undefined ? Prisma.empty : Prisma.sql`limit ${limit}`;
    const offset = skip === 0 ? Prisma.empty : Prisma.sql`offset ${skip}`;
    return Prisma.sql`select ${columns} from ${source.from} where ${source.where}
      order by ${source.orderBy} ${first} ${offset}`;
  }

  #source(limit: number | undefined, where: Prisma.Sql): RecordSource {
    const { after, before, fromEnd, skip } = this.#options.query;
    return compileRecordSource({
      where,
      order: this.#order.order,
      after,
      before,
      fromEnd,
      limit: limit === undefined ? undefined : limit + skip,
    });
  }

  #printing(): Omit<Printing, 'aliasCount'> {
    const { query, access, plans, findReadable } = this.#options;
    return {
      fields: plans.fields(this.collection, query.projection, access.hiddenFields),
      visibleRecords: (collection) => findReadable(collection)?.condition ?? Prisma.raw('false'),
      printReferrers: (shape, id, printing) => compileReferrers({ shape, id, printing }, this.#options),
    };
  }

  #assertPrintable(members: readonly Member[]): void {
    const { access, findReadable } = this.#options;
    assertMembersReadable(members, { collection: this.collection, access }, findReadable);
  }

  async #printOne(
    server: Pick<Database, 'query'>,
    { sql, name }: Statement,
    options: { readonly signal?: EndSignal | undefined },
  ): Promise<string | undefined> {
    const { scope: caller } = this.#options;
    const home = { domain: caller.domain.id, columns: 'json text' };
    const [row] = await server.query<{ json: string }>(sql, { name, caller, home, ...options });
    return row?.json;
  }
}

/** Domain, not removed, the caller's rows, and the filter. @throws MALFORMED_FILTER, INVALID_VALUE */
function compileWhere(options: RecordSetOptions): Prisma.Sql {
  return compileConditions(liveRecordsOf(options.scope, options.context.collection), options);
}

function compileConditions(
  records: Prisma.Sql,
  { query, access, context }: Pick<RecordSetOptions, 'query' | 'access' | 'context'>,
): Prisma.Sql {
  const conditions = [records];
  if (access.rows !== undefined) conditions.push(Prisma.sql`(${compileFilter(access.rows, context)})`);
  if (query.filter.kind !== 'all' || query.filter.filters.length > 0) {
    conditions.push(Prisma.sql`(${compileFilter(query.filter, context)})`);
  }
  return Prisma.join(conditions, ' and ');
}

/** A printed answer is held in memory, so it is limited even if the caller forgot a limit. */
const MAX_PRINTED = 10_000;
