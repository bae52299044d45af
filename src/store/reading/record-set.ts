/**
 * `RecordSet`: the records that a query selects, not read yet. GraphQL reads a page from it, printed or
 * as values, REST a stream; both come from a single statement.
 */

import { invariant } from '../../base/errors.js';
import type { PrintedJson } from '../../base/json/json.js';
import type { AggregateQuery, Group } from '../../base/model/aggregate-query.js';
import type { Collection } from '../../base/model/collection.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import { isEverything } from '../../base/model/filter.js';
import type { Database } from '../database/database.js';
import type { QueryOptions } from '../database/queryable.js';
import type { RowPunctuation } from '../database/row-stream.js';
import { listReferrers, listTargets, type Member, type PageShape } from '../sql/shape.js';
import { statementName } from '../sql/statement-name.js';
import { storable } from '../sql/storable-json.js';
import { type Sql, sql } from '../sql.js';
import type { SingleRead } from './batched-reads.js';
import {
  type ChangedRecord,
  compileChangedRecords,
  nextSince,
  selectChanges,
  selectCount,
} from './changed-since.js';
import type { Extent } from './collection-sizes.js';
import { readGroups } from './read-groups.js';
import { type PageRow, type RecordPage, type RecordSetOptions, toRecordPage } from './record-page.js';
import {
  type ListMarks,
  type PrintedList,
  printRecordTexts,
  printWhole,
  type RecordTexts,
} from './record-printer.js';
import { listReferrersMembers, MAX_PRINTED, RecordSetStatements } from './record-set-statements.js';
import { type ReferrersPage, type ReferrersRequest, readReferrers, referringQuery } from './referrers.js';
import { type KeptRead, type Statement, toStatement } from './statement-cache.js';
import { STORED_COLUMNS } from './stored-record.js';

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

interface ReadOptions extends Pick<QueryOptions, 'signal' | 'rows' | 'texts'> {
  /** Default: that of lists. */
  readonly server?: Pick<Database, 'query'>;
}

interface Batch {
  readonly bytes: Buffer;
  readonly rowCount: number;
}

/**
 * The JSON text of records in the bytes that Postgres printed, one chunk per batch. The closing `]` follows
 * only after the last record was read; a failure throws midway and never looks like an end.
 */
export class RecordStream implements AsyncIterable<Buffer> {
  readonly #batches: AsyncIterable<Batch>;
  readonly #isOpenList: boolean;
  #rowCount = 0;

  constructor(batches: AsyncIterable<Batch>, { isOpenList }: { readonly isOpenList: boolean }) {
    this.#batches = batches;
    this.#isOpenList = isOpenList;
  }

  /** How many records it has given so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const { bytes, rowCount } of this.#batches) {
      this.#rowCount += rowCount;
      yield bytes;
    }
    if (this.#isOpenList) yield this.#rowCount === 0 ? EMPTY_LIST : END_OF_LIST;
  }
}

export class RecordSet {
  readonly collection: Collection;
  readonly #options: RecordSetOptions;
  readonly statements: RecordSetStatements;

  /** Called only by `RecordStore.find`, which checks the query first. */
  constructor(options: RecordSetOptions) {
    this.collection = options.context.collection;
    this.#options = options;
    this.statements = new RecordSetStatements(options);
  }

  get #where(): Sql {
    return this.statements.where;
  }

  get #kept(): KeptRead {
    return this.#keptFor(this.#where);
  }

  #keptFor(where: Sql): KeptRead {
    const { scope, query, revision, statementCache, context } = this.#options;
    return statementCache.find({ scope, query, revision, now: context.now }, where);
  }

  /** Top-level fields that the caller may not read, and that are not read. */
  get hiddenFields(): ReadonlySet<string> {
    return this.#options.access.hiddenFields;
  }

  /**
   * The records as JSON text: a JSON list, or one record per line for `ndjson`. Memory is bounded by a batch,
   * whatever the length. Leaving the loop, or the signal, ends the query. A set read from its end is a page,
   * not a stream, because it must be reversed.
   */
  stream(format: 'json' | 'ndjson', signal?: EndSignal): RecordStream {
    const { query, scope } = this.#options;
    invariant(!query.fromEnd, 'what is read from the end is not streamed');
    const read = { format, signal: signal ?? scope.call.signal } as const;
    return this.isShort
      ? new RecordStream(this.#readAtOnce(read), { isOpenList: false })
      : new RecordStream(this.#readBatches(read), { isOpenList: format === 'json' });
  }

  async *#readAtOnce(read: RecordStreamOptions): AsyncGenerator<Batch, void> {
    const { text, count } = await this.printList(read);
    yield { bytes: text, rowCount: count };
  }

  /**
   * Streams the records changed at `since` or later in the order of `_id`, together with the tombstones of
   * those removed: `{"_id": …, "$removed": <instant>}`. A removed record is judged by its last state. Only
   * the filter and the projection of the query apply. Reads the primary: a caller who continues would miss
   * for good what a replica does not have yet.
   */
  streamChanges(since: string, { format, signal }: RecordStreamOptions): RecordStream {
    const statement = selectChanges(this.statements.projection(), this.statements.changedSince(since));
    const batches = this.#options.primary.streamJoined([toStatement(statement)], {
      shardLocal: { domain: this.#options.scope.domain.id },
      signal,
      batchRows: BATCH_ROWS,
      punctuation: PUNCTUATION[format],
    });
    return new RecordStream(batches, { isOpenList: format === 'json' });
  }

  /**
   * The changes for a caller who will continue: `nextSince` is the `since` of the next call. It is read
   * first, so that a concurrent change is reported twice rather than never.
   */
  async changesSince(since: string): Promise<{
    readonly nextSince: string;
    readonly stream: (options: RecordStreamOptions) => RecordStream;
  }> {
    const next = await nextSince(this.#options.primary);
    return { nextSince: next, stream: (options) => this.streamChanges(since, options) };
  }

  /** How many lines `streamChanges` returns. */
  async countChanges(since: string): Promise<number> {
    return await this.#countWhere(toStatement(selectCount(this.statements.changedSince(since))));
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
  async printList({ format, signal }: RecordStreamOptions): Promise<PrintedList> {
    invariant(this.isShort, 'what is not short is streamed');
    const options = { signal, rows: this.#scan('page') };
    if (this.#options.query.projection === undefined) {
      const texts = this.#kept.statement('texts', this.#where, (where) => this.statements.texts(where));
      return printRecordTexts(await this.#readTexts(texts, options), printWhole, LIST_MARKS[format]);
    }
    const statement = this.#kept.statement(`${format} list`, this.#where, (where) =>
      this.statements.list(format, where),
    );
    const [page] = await this.#read<PrintedList>(statement, 'text text, count int', {
      ...options,
      texts: 'bytes',
    });
    invariant(page, 'an aggregate has a row');
    return page;
  }

  async #readTexts(statement: Statement, options: ReadOptions): Promise<RecordTexts> {
    const [row] = await this.#read<RecordTexts>(statement, 'ids text, fields text', {
      ...options,
      texts: 'bytes',
    });
    return row ?? NO_RECORDS;
  }

  /** Runs a statement about the domain alone, whose rows have these columns. */
  async #read<Row extends object>(
    { sql, name }: Statement,
    columns: string,
    { server = this.#options.database, ...options }: ReadOptions,
  ): Promise<Row[]> {
    const { domain, call } = this.#options.scope;
    const shardLocal = { domain: domain.id, columns };
    return await server.query<Row>(sql, { name, call, shardLocal, signal: call.signal, ...options });
  }

  #streamStatements(): readonly Statement[] {
    const { limit, skip } = this.#options.query;
    if (limit === undefined && skip === 0) return this.statements.fullStream().map(toStatement);
    return [this.#kept.statement('stream', this.#where, (where) => this.statements.stream(where))];
  }

  #readBatches({ format, signal }: RecordStreamOptions): AsyncIterable<Batch> {
    const { database, query } = this.#options;
    // A stream of everything returns all that it goes through.
    if (!isEverything(query.filter)) this.#scan('page');
    return database.streamJoined(this.#streamStatements(), {
      shardLocal: { domain: this.#options.scope.domain.id },
      signal,
      batchRows: BATCH_ROWS,
      punctuation: {
        ...PUNCTUATION[format],
        ...(query.projection === undefined && { firstMember: '_id' }),
      },
    });
  }

  /**
   * The page selected by the query's limit and cursors, in one round trip. Without a limit, all remaining
   * records.
   */
  async page(): Promise<RecordPage> {
    const { limit, fromEnd } = this.#options.query;
    const statement = this.#kept.statement('page', this.#where, (where) => this.statements.page(where));
    const rows = await this.#read<PageRow>(statement, `${STORED_COLUMNS}, cursor text`, {
      rows: this.#scan('page'),
    });
    return toRecordPage(rows, { limit, fromEnd, hasMoreBehind: this.statements.hasMoreBehind });
  }

  /** How many records satisfy the filter, wherever the page starts. */
  async count(): Promise<number> {
    const statement = this.#kept.statement('count', this.#where, selectCount);
    return await this.#countWhere(statement, this.#scan('all'));
  }

  async #countWhere(statement: Statement, rows?: number): Promise<number> {
    const [row] = await this.#read<{ found: number }>(statement, 'found int', { rows });
    return row?.found ?? 0;
  }

  /**
   * Reads, for each id, the set's page of records whose reference at `path` points to it, in one round trip.
   *
   * @throws FORBIDDEN naming a hidden reference
   */
  async pagesByReference(request: ReferrersRequest): Promise<ReadonlyMap<string, ReferrersPage>> {
    const { where, order } = this.statements;
    return await readReferrers(
      { ...this.#options, where, order, projection: this.statements.projection() },
      request,
    );
  }

  /**
   * Aggregates all records that satisfy the filter by group, in one round trip.
   *
   * @throws FORBIDDEN, INVALID_VALUE as `readGroups` does
   */
  async aggregate(query: AggregateQuery): Promise<readonly Group[]> {
    return await readGroups(query, {
      ...this.#options,
      where: this.#where,
      rows: this.#scan('all'),
    });
  }

  /**
   * The page as JSON text of this shape, printed by Postgres in one round trip.
   *
   * @throws FORBIDDEN naming a hidden field in the shape, also one of a reference's target
   */
  async print(shape: PageShape): Promise<PrintedJson> {
    const isCounted = shape.members.some(({ kind }) => kind === 'count');
    const most = this.#options.query.limit ?? MAX_PRINTED;
    const nested = this.#scanNested(listReferrersMembers({ page: shape }), most);
    const rows = this.#scan(isCounted ? 'all' : 'page') + nested;
    const { query, plans } = this.#options;
    const isPrinted = this.isShort && !query.fromEnd;
    const printer = isPrinted ? plans.pagePrinter(this.collection, shape) : undefined;
    if (printer !== undefined) {
      const statement = this.#kept.print(shape, this.#where, (where) => {
        this.statements.assertPagePrintable(shape);
        return this.statements.texts(where);
      });
      return printer(await this.#readTexts(statement, { rows }));
    }
    const statement = this.#kept.print(shape, this.#where, (where) => this.statements.print(shape, where));
    return (await this.#printOne(statement, { rows })) ?? 'null';
  }

  #scan(extent: Extent): number {
    return this.#options.scan(this.#options.query, extent);
  }

  /** How many records the pages of referring records within so many records go through. */
  #scanNested(members: readonly Member[], records: number): number {
    const ofPages = listReferrers(members).map(
      (pages) =>
        this.#options.scan(referringQuery(pages), 'all', records) +
        this.#scanNested(listReferrersMembers(pages), records * pages.limit),
    );
    const ofTargets = listTargets(members).map((target) => this.#scanNested(target.members, records));
    return [...ofPages, ...ofTargets].reduce((sum, rows) => sum + rows, 0);
  }

  /**
   * The record with this id as JSON text of these members; `undefined` if there is none.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printRecord(id: string, members: readonly Member[]): Promise<string | undefined> {
    // A single record is read before a signal or a replica could be of use.
    const { scope, primary, batchedReads, within, plans } = this.#options;
    const printer = plans.shapePrinter(this.collection, members);
    const statement = (isAsked: Sql) => {
      const where = sql`${this.#where} and ${isAsked}`;
      return this.#keptFor(where).print(members, where, (slotted) => {
        if (printer === undefined) return this.statements.printRecord(members, slotted);
        this.statements.assertPrintable(members);
        return this.statements.record(slotted);
      });
    };
    const storedId = storable(id);
    if (printer === undefined) {
      const rows = this.#scanNested(members, 1);
      const options = { server: primary, rows, signal: undefined };
      return await this.#printOne(statement(sql`r.id = ${storedId}`), options);
    }
    const columns = 'id text, fields text';
    const read: SingleRead = { id: storedId, texts: 'bytes', columns, statement };
    const found = await batchedReads.read<{ id: Buffer; fields: Buffer }>(scope, read, within);
    if (found === undefined) return undefined;
    const texts = { ids: Buffer.from(JSON.stringify(id)), fields: found.fields };
    return printRecordTexts(texts, printer, NO_MARKS).text.toString();
  }

  /**
   * The records with these ids, including removed ones, that satisfy the filter; unordered, in one round
   * trip. A removed record is judged by its last state.
   */
  async findChanged(ids: readonly string[]): Promise<readonly Omit<ChangedRecord, 'texts'>[]> {
    return await this.#readFromPrimary(sql`
      select r.id, r.deleted_at is not null as "isRemoved"
      from records r
      where ${this.statements.ofRemovedToo()} and r.id = any(${[...ids]}::text[])`);
  }

  /**
   * Prints the records of `findChanged`, once per selection.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printChanged(
    ids: readonly string[],
    selections: readonly (readonly Member[])[],
  ): Promise<readonly ChangedRecord[]> {
    return await this.#printIds(ids, selections, this.statements.ofRemovedToo());
  }

  /**
   * Prints the records with these ids that satisfy the filter, by id, in one round trip.
   *
   * @throws FORBIDDEN as `print` does
   */
  async printByIds(ids: readonly string[], members: readonly Member[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#printIds(ids, [members], this.#where);
    return new Map(rows.map(({ id, texts }) => [id, texts[0] ?? 'null']));
  }

  async #printIds(
    ids: readonly string[],
    selections: readonly (readonly Member[])[],
    where: Sql,
  ): Promise<readonly ChangedRecord[]> {
    for (const members of selections) this.statements.assertPrintable(members);
    const printing = this.statements.printing();
    return await this.#readFromPrimary(compileChangedRecords(selections, { ids, where, printing }));
  }

  /** A record must be at least as new as the change that is reported. */
  async #readFromPrimary<Row extends object>(statement: Sql): Promise<readonly Row[]> {
    const { primary, scope } = this.#options;
    return await primary.query(statement, {
      name: statementName(statement.text),
      signal: scope.call.signal,
      call: scope.call,
    });
  }

  async #printOne(statement: Statement, options: ReadOptions): Promise<string | undefined> {
    const [row] = await this.#read<{ json: string }>(statement, 'json text', options);
    return row?.json;
  }
}
