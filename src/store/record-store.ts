/**
 * The records of every collection: the only way to read and write them.
 *
 * Every method takes a `Scope` first; domain condition, access rules and validation are inside and cannot be
 * switched off.
 *
 * @see decisions 1, 2, 3, 6, 7
 */

import type { JsonObject, JsonValue } from '../base/json/json.js';
import type { Path } from '../base/model/path.js';
import { queryOf, type RecordQuery } from '../base/model/record-query.js';
import { type Domain, type RecordVerb, type Scope } from '../base/model/scope.js';
import { accessOf, findAccess, type Readable } from './access/access.js';
import { hintAtPaths } from './access/hint-at-paths.js';
import { resolveQuery } from './access/resolve-filter.js';
import type { SpellingContext } from './access/respelled.js';
import { type AuditEntry, type AuditQuery, readAuditTrail } from './changes/audit-trail.js';
import { type Purged, purge } from './changes/purge.js';
import type { Database } from './database/database.js';
import { FairQueue } from './database/fair-queue.js';
import type { Transaction } from './database/queryable.js';
import { RecordHistory } from './history/record-history.js';
import { Reverts } from './history/reverts.js';
import { previewUndo, type UndoPreview } from './history/undo-preview.js';
import { BatchedReads, type SingleRead } from './reading/batched-reads.js';
import type { RecordSetOptions } from './reading/record-page.js';
import { RecordSet } from './reading/record-set.js';
import { StatementCache } from './reading/statement-cache.js';
import {
  printStored,
  STORED_COLUMNS,
  type StoredRecord,
  type StoredRow,
  storedColumns,
  toStoredRecord,
} from './reading/stored-record.js';
import { recordsOf } from './sql/records-of.js';
import { type Sql, sql } from './sql.js';
import { type AtomicOptions, atomically, type WriteOptions } from './writing/atomically.js';
import { idempotencyOwner, idempotently, type OnceRequest } from './writing/idempotency.js';
import { MatchingWrites } from './writing/matching-writes.js';
import { andRows, RecordEnvironment, type RecordEnvironmentOptions } from './writing/record-environment.js';
import { RecordInserts } from './writing/record-inserts.js';
import { gone, notFound } from './writing/record-refusals.js';
import { RecordWrites } from './writing/record-writes.js';
import { StagedWrites } from './writing/staged-writes.js';
import { Upserts } from './writing/upserts.js';
import { chosenTriggers, type TriggerChoice } from './writing/write-triggers.js';

export type { StoredRecord } from './reading/stored-record.js';

export interface RecordStoreOptions extends RecordEnvironmentOptions {
  /** The top domain, whose admins may purge. */
  readonly topDomain: () => Domain | undefined;
}

export interface ReadWithin {
  /** Read in this transaction, which sees its own writes. Default: committed data. */
  readonly within?: Transaction | undefined;
}

export class RecordStore {
  /** Creates records, all or none, and returns them in their order. */
  readonly create: RecordInserts['create'];
  /** Changes a record and returns it. */
  readonly update: RecordWrites['update'];
  /** Refuses a caller who may not change this record. */
  readonly assertMayUpdate: RecordWrites['assertMayUpdate'];
  /** Removes a record and returns its last state. */
  readonly delete: RecordWrites['delete'];
  /** Changes all matching records, or none. */
  readonly updateMatching: MatchingWrites['update'];
  /** Changes the matching records, each in its own way, or none. */
  readonly updateEach: MatchingWrites['updateEach'];
  /** Removes all matching records, or none. */
  readonly deleteMatching: MatchingWrites['delete'];
  /** Changes the records that exist, by a given key, and creates the others; all or none. */
  readonly upsert: Upserts['upsert'];
  /** The changes of a record, newest first, with the values they replaced. */
  readonly history: RecordHistory['read'];
  /** A record as it was at a version or an instant. */
  readonly getPast: RecordHistory['at'];
  /** Restores a record to an earlier version. */
  readonly restore: Reverts['restore'];
  /** Reverts everything a request changed, or nothing. */
  readonly undo: Reverts['undo'];
  /** @see RecordEnvironment.scannedRows */
  readonly scannedRows: RecordEnvironment['scannedRows'];
  /** @see RecordEnvironment.scan */
  readonly scan: RecordEnvironment['scan'];
  /**
   * A repeated key waits here for the first request, which has locked its row, before it takes a connection.
   */
  readonly #keyQueue = new FairQueue({
    perCaller: 1,
    waitingPerCaller: 100,
    waitMs: 10_000,
    refusal: 'Too many requests are under way with this idempotency key',
  });
  /** The transactions that callers keep open; the other half of the connections serves everybody else. */
  readonly #openTransactions: FairQueue;
  readonly #environment: RecordEnvironment;
  readonly #topDomain: () => Domain | undefined;
  readonly #statementCache = new StatementCache();
  readonly #batchedReads: BatchedReads;

  constructor(options: RecordStoreOptions) {
    this.#environment = new RecordEnvironment(options);
    this.#openTransactions = new FairQueue({
      perCaller: Math.max(1, Math.floor(options.database.pool.options.max / 2)),
      waitingPerCaller: 200,
      waitMs: 10_000,
      refusal: 'Too many transactions are open',
    });
    const inserts = new RecordInserts(this.#environment);
    const writes = new RecordWrites(this.#environment);
    const matching = new MatchingWrites(this.#environment, inserts);
    const upserts = new Upserts(this.#environment, inserts);
    const history = new RecordHistory(this.#environment);
    const reverts = new Reverts(this.#environment);
    this.create = this.#noting(inserts.create.bind(inserts), (_scope, name, records) => [name, records]);
    this.update = this.#noting(writes.update.bind(writes), (_scope, name, _id, { data }) => [name, [data]]);
    this.assertMayUpdate = writes.assertMayUpdate.bind(writes);
    this.delete = this.#noting(writes.delete.bind(writes));
    this.updateMatching = this.#noting(matching.update.bind(matching));
    this.updateEach = this.#noting(matching.updateEach.bind(matching));
    this.deleteMatching = this.#noting(matching.delete.bind(matching));
    this.upsert = this.#noting(upserts.upsert.bind(upserts), (_scope, name, { records }) => [name, records]);
    this.history = history.read.bind(history);
    this.getPast = history.at.bind(history);
    this.restore = this.#noting(reverts.restore.bind(reverts));
    this.undo = this.#noting(reverts.undo.bind(reverts));
    this.scannedRows = this.#environment.scannedRows.bind(this.#environment);
    this.scan = this.#environment.scan.bind(this.#environment);
    this.#topDomain = options.topDomain;
    this.#batchedReads = new BatchedReads(this.#environment.database);
  }

  /**
   * The records that a query selects, not read yet.
   *
   * @throws NOT_FOUND, GONE for the collection; FORBIDDEN, also for a filter or sort by a hidden field
   *   (named); MALFORMED_FILTER, INVALID_VALUE for operands that do not fit a declared type. All at once,
   *   before anything is read.
   */
  find(scope: Scope, query: RecordQuery, options: ReadWithin = {}): RecordSet {
    const collection = this.#environment.catalog.get(query.collection, scope);
    const access = accessOf(scope, collection, 'read');
    const context = this.#environment.compileContext(scope, collection);
    const { filter, paths } = resolveQuery(query, context, { scope, access });
    this.#environment.noteNamed(scope, collection, paths, access.hiddenFields);
    const { database, primary } = this.#sourcesOf(scope, options.within);
    // Written member by member, because members after a spread in a literal are added one by one, which takes
    // a tenth of a short read.
    return new RecordSet({
      database,
      primary,
      scope,
      query,
      filter,
      access,
      context,
      catalog: this.#environment.catalog,
      plans: this.#environment.plans,
      statementCache: this.#statementCache,
      batchedReads: this.#batchedReads,
      within: options.within,
      revision: this.#environment.catalog.list(),
      findReadable: (name) => this.findReadable(scope, name),
      scan: (request, extent, times) => this.scan(scope, request, extent, times),
    });
  }

  /** Reads how many records the collections have, so that the first reads are counted too. */
  async measure(): Promise<void> {
    await this.#environment.sizes.renew();
  }

  #sourcesOf(scope: Scope, within: Transaction | undefined): Pick<RecordSetOptions, 'database' | 'primary'> {
    if (within !== undefined) {
      const database = readingWithin(within);
      return { database, primary: database };
    }
    const { database } = this.#environment;
    return { database: database.reading(scope), primary: database };
  }

  /**
   * One record by its `_id`. A record in another domain or outside the caller's rows is NOT_FOUND, as if it
   * did not exist.
   *
   * @throws NOT_FOUND; GONE for a removed one; FORBIDDEN
   */
  async get(
    scope: Scope,
    name: string,
    id: string,
    projection?: readonly Path[],
    options: ReadWithin = {},
  ): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name, scope);
    const access = accessOf(scope, collection, 'read');
    const context = this.#environment.compileContext(scope, collection);
    const rows = andRows(access, context);
    const identity = {
      scope,
      query: { ...queryOf(name), projection },
      revision: this.#environment.catalog.list(),
      now: context.now,
    };
    const compile = (where: Sql) => {
      const { plans } = this.#environment;
      // Merging the id into a whole record would take PostgreSQL as long as printing it.
      const printed =
        projection === undefined
          ? sql`${plans.fields(collection, undefined, access.hiddenFields)}::text`
          : plans.projection(collection, projection, access.hiddenFields);
      return sql`
        select ${storedColumns(printed)}, r.deleted_at is not null as is_removed from records r
          where ${where}`;
    };
    const read: SingleRead = {
      id,
      texts: 'strings',
      columns: `${STORED_COLUMNS}, is_removed boolean`,
      statement: (isAsked) => {
        const where = sql`${recordsOf(scope, collection)} and ${isAsked} ${rows}`;
        return this.#statementCache.find(identity, where).statement('record', where, compile);
      },
    };
    const row = await this.#batchedReads.read<StoredRow & { readonly is_removed: boolean }>(
      scope,
      read,
      options.within,
    );
    if (row === undefined) throw notFound(collection, id);
    if (row.is_removed) throw gone(collection, id);
    if (projection !== undefined) {
      hintAtPaths(projection, scope, collection);
      this.#environment.noteNamed(scope, collection, projection, access.hiddenFields);
    }
    const record = toStoredRecord(row);
    return projection === undefined ? { ...record, json: printStored(row.id, row.json) } : record;
  }

  /** Writes records by the thousand, running only these triggers. @see StagedWrites */
  staging(triggers: TriggerChoice): StagedWrites {
    const chosen = chosenTriggers(this.#environment.triggers, triggers);
    return new StagedWrites(this.#environment.withTriggers(chosen));
  }

  /** The effects of undoing the changes of some requests, and the obstacles. @see previewUndo */
  async previewUndo(
    scope: Scope,
    request: { readonly collection: string; readonly requestIds: readonly string[] },
  ): Promise<UndoPreview> {
    return await previewUndo(this.#environment, scope, request);
  }

  /** The changes in the caller's domain, newest first. @throws FORBIDDEN unless the caller is an admin */
  async auditTrail(scope: Scope, query: AuditQuery): Promise<readonly AuditEntry[]> {
    return await readAuditTrail(this.#environment.database, scope, query);
  }

  /**
   * Executes a write once per key. `rows`: how many records it goes through (`scannedRows`). @see
   * idempotently
   */
  async idempotently<T extends JsonValue>(
    scope: Scope,
    { rows = 0, ...request }: AtomicOptions & OnceRequest & { readonly rows?: number | undefined },
    work: (tx?: Transaction) => Promise<T>,
  ): Promise<T> {
    const once = () =>
      this.#noted(scope, request.within, () => idempotently(this.#environment, scope, request, work));
    // A transaction already has its connection.
    if (request.key === undefined || request.within !== undefined) return await once();
    const owner = [scope.domain.id, idempotencyOwner(scope.principal), request.key];
    const inTurn = () => this.#environment.database.writingInTurn(scope, rows, once);
    return await this.#keyQueue.run(JSON.stringify(owner), inTurn, scope.call);
  }

  /** Runs several writes as one, all or nothing. @see atomically */
  async atomically<T>(
    scope: Scope,
    options: AtomicOptions,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    return await this.#noted(scope, options.within, () =>
      atomically(this.#environment, scope, options, work),
    );
  }

  /** A write that is noted. `sentOf`: the collection and the records whose fields the caller has named. */
  #noting<Sent extends readonly [scope: Scope, ...others: unknown[]], T>(
    write: (...sent: Sent) => Promise<T>,
    sentOf?: (...sent: Sent) => readonly [name: string, records: readonly JsonObject[]],
  ): (...sent: Sent) => Promise<T> {
    return async (...sent) => {
      const [scope] = sent;
      // The options of every write are its last argument.
      const options = sent.at(-1) as WriteOptions | undefined;
      const written = await this.#noted(scope, options?.within, () => write(...sent));
      if (sentOf !== undefined) this.#environment.noteSent(scope, ...sentOf(...sent));
      return written;
    };
  }

  /**
   * Runs the writes that a caller combines (`@transaction`, a batch, a script) as one. The transaction holds
   * a connection while the caller decides what comes next, so it waits for its turn first.
   */
  async transaction<T>(
    scope: Scope,
    work: (transaction: Transaction) => Promise<T>,
    { within }: ReadWithin = {},
  ): Promise<T> {
    const run = () => this.atomically(scope, { writes: 'anything', within }, work);
    return within === undefined ? await this.#openTransactions.run('', run, scope.call) : await run();
  }

  /**
   * Waits until all gateways can see a write of its own, so that its author finds it, whichever server is
   * read. A write within a transaction becomes visible with its commit.
   */
  async #noted<T>(scope: Scope, within: Transaction | undefined, write: () => Promise<T>): Promise<T> {
    const written = await write();
    const { replicas } = this.#environment.database;
    if (replicas === undefined || within !== undefined) return written;
    const position = await replicas.noteWrite(scope);
    if (position !== undefined) scope.call.onWritten?.(position);
    return written;
  }

  /** Deletes expired tombstones, dropped collections and idempotency keys, in every domain. @see purge */
  async purge(scope: Scope, options: { readonly removedBefore: Date }): Promise<Purged> {
    return await purge(this.#environment.database, scope, { ...options, topDomain: this.#topDomain() });
  }

  /**
   * Whether the caller may do this with any record of the collection. @throws FORBIDDEN (403), NOT_FOUND
   * (404), GONE (410)
   */
  assertAllowed(scope: Scope, name: string, verb: RecordVerb): void {
    accessOf(scope, this.#environment.catalog.get(name, scope), verb);
  }

  /** Whether the caller may create, change or remove records of any collection. */
  mayWrite(scope: Scope): boolean {
    const verbs = ['create', 'update', 'delete'] as const;
    return this.#environment.catalog
      .list()
      .some((collection) => verbs.some((verb) => findAccess(scope, collection, verb) !== undefined));
  }

  /** For conditions of this caller on keys that ignore case. */
  spelling(scope: Scope): SpellingContext {
    return this.#environment.spelling(scope);
  }

  /** The part of a collection that the caller may read, for a statement that joins it; `undefined`: none. */
  findReadable(scope: Scope, name: string): Readable | undefined {
    return this.#environment.findReadable(scope, name);
  }
}

/** A stream would hold the connection between batches, which a transaction cannot spare. */
function readingWithin(transaction: Transaction): Pick<Database, 'query' | 'streamJoined'> {
  return {
    query: (sql, options) => transaction.query(sql, options),
    streamJoined: () => {
      throw new Error('within a transaction records are read a page at a time');
    },
  };
}
