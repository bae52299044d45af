/**
 * The records of every collection: the one way to read and write them.
 *
 * Every method takes a `Scope` first; domain condition, access rules and validation are inside and cannot be switched off.
 *
 * @see decisions 1, 2, 3, 6, 7
 */
import type { Path } from '../filter/path.js';
import { Prisma } from '../generated/prisma/client.js';
import type { JsonObject, JsonValue } from '../json.js';
import { accessOf, assertReadable } from './access.js';
import { type AuditEntry, type AuditQuery, readAuditTrail } from './audit-trail.js';
import type { Database, Transaction } from './database/database.js';
import { idempotently } from './idempotency.js';
import { KeptReads } from './kept-reads.js';
import {
  type Deleted,
  type DeleteMatching,
  MatchingWrites,
  type Updated,
  type UpdateMatching,
} from './matching-writes.js';
import { type Purged, purge } from './purge.js';
import { andRows, RecordEnvironment, type RecordEnvironmentOptions } from './record-environment.js';
import type { RecordQuery } from './record-query.js';
import type { Readable } from './record-reading.js';
import { gone, notFound } from './record-refusals.js';
import { RecordSet } from './record-set.js';
import { recordsOf } from './record-statements.js';
import {
  type ConditionalWriteOptions,
  RecordWrites,
  type UpdateOptions,
  type WriteOptions,
} from './record-writes.js';
import type { Domain, Scope } from './scope.js';
import { listPaths } from './sql/compile-filter.js';
import { type StoredRecord, type StoredRow, storedColumns, toStoredRecord } from './stored-record.js';
import { hintAtDeclaredNames } from './undeclared-names.js';
import { type Upserted, type UpsertRequest, Upserts } from './upserts.js';

export type { StoredRecord } from './stored-record.js';

export interface RecordStoreOptions extends RecordEnvironmentOptions {
  /** The top domain, whose admins may purge. */
  readonly topDomain: () => Domain | undefined;
}

export interface ReadOptions {
  /** The transaction that is to be read in: what it has written counts. Default: what is committed. */
  readonly within?: Transaction | undefined;
}

export class RecordStore {
  readonly #environment: RecordEnvironment;
  readonly #writes: RecordWrites;
  readonly #matchingWrites: MatchingWrites;
  readonly #upserts: Upserts;
  readonly #topDomain: () => Domain | undefined;
  readonly #keptReads = new KeptReads();

  constructor(options: RecordStoreOptions) {
    this.#environment = new RecordEnvironment(options);
    this.#writes = new RecordWrites(this.#environment);
    this.#matchingWrites = new MatchingWrites(this.#environment, this.#writes);
    this.#upserts = new Upserts(this.#environment, this.#writes);
    this.#topDomain = options.topDomain;
  }

  /**
   * The records a query asks for, not read yet.
   *
   * @throws NOT_FOUND, GONE for the collection; FORBIDDEN, also for a filter or sort by a hidden field (named); MALFORMED_FILTER,
   * INVALID_VALUE for operands that do not fit a declared type. All at once, before anything is read.
   */
  find(scope: Scope, query: RecordQuery, options: ReadOptions = {}): RecordSet {
    const collection = this.#environment.catalog.get(query.collection);
    const access = accessOf(scope, collection, 'read');
    const paths = [...listPaths(query.filter), ...query.sort.map((key) => key.path)];
    assertReadable(paths, access, collection);
    hintAtDeclaredNames([...paths, ...(query.projection ?? [])], { scope, collection, access });
    const context = this.#environment.compileContext(scope, collection);
    return new RecordSet({
      database: options.within ? readingWithin(options.within) : this.#environment.database,
      scope,
      query,
      access,
      context,
      plans: this.#environment.plans,
      keptReads: this.#keptReads,
      revision: this.#environment.catalog.list(),
      findReadable: (name) => this.findReadable(scope, name),
    });
  }

  /**
   * One record by its `_id`. A record of another domain, or out of the caller's rows, is NOT_FOUND like one that never was.
   *
   * @throws NOT_FOUND; GONE for a removed one; FORBIDDEN
   */
  async get(
    scope: Scope,
    name: string,
    id: string,
    projection?: readonly Path[],
    options: ReadOptions = {},
  ): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name);
    const access = accessOf(scope, collection, 'read');
    const context = this.#environment.compileContext(scope, collection);
    const columns = storedColumns(
      this.#environment.plans.projection(collection, projection, access.hiddenFields),
    );
    const [row] = await this.#environment.run<StoredRow & { readonly is_removed: boolean }>(
      options.within ?? this.#environment.database,
      Prisma.sql`
        select ${columns}, r.deleted_at is not null as is_removed
        from records r
        where ${recordsOf(scope, collection)} and r.id = ${id} ${andRows(access, context)}`,
      scope,
    );
    if (row === undefined) throw notFound(collection, id);
    if (row.is_removed) throw gone(collection, id);
    return toStoredRecord(row);
  }

  /** Stores records, all or none, and gives them back in their order. @see RecordWrites.create */
  async create(
    scope: Scope,
    name: string,
    records: readonly JsonObject[],
    options: WriteOptions = {},
  ): Promise<StoredRecord[]> {
    return await this.#writes.create(scope, name, records, options);
  }

  /** Changes a record and gives it back. @see RecordWrites.update */
  async update(scope: Scope, name: string, id: string, options: UpdateOptions): Promise<StoredRecord> {
    return await this.#writes.update(scope, name, id, options);
  }

  /** Removes a record and gives it back as it was. @see RecordWrites.delete */
  async delete(
    scope: Scope,
    name: string,
    id: string,
    options: ConditionalWriteOptions = {},
  ): Promise<StoredRecord> {
    return await this.#writes.delete(scope, name, id, options);
  }

  /** Changes all records that match, or none. @see MatchingWrites.update */
  async updateMatching(
    scope: Scope,
    name: string,
    request: UpdateMatching,
    options: WriteOptions = {},
  ): Promise<Updated> {
    return await this.#matchingWrites.update(scope, name, request, options);
  }

  /** Removes all records that match, or none. @see MatchingWrites.delete */
  async deleteMatching(
    scope: Scope,
    name: string,
    request: DeleteMatching,
    options: WriteOptions = {},
  ): Promise<Deleted> {
    return await this.#matchingWrites.delete(scope, name, request, options);
  }

  /** Stores records by a key of their own: changed where they are there, else made; all or none. @see Upserts.upsert */
  async upsert(
    scope: Scope,
    name: string,
    request: UpsertRequest,
    options: WriteOptions = {},
  ): Promise<Upserted> {
    return await this.#upserts.upsert(scope, name, request, options);
  }

  /** The changes of the caller's domain, the newest first. @throws FORBIDDEN unless the caller is an admin */
  async auditTrail(scope: Scope, query: AuditQuery): Promise<readonly AuditEntry[]> {
    return await readAuditTrail(this.#environment.database, scope, query);
  }

  /** Does a write once per key. `request` is all that makes two requests the same. @see idempotently */
  async idempotently<T extends JsonValue>(
    scope: Scope,
    key: string | undefined,
    request: string,
    work: (tx?: Transaction) => Promise<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const { within } = options;
    return await idempotently(this.#environment.database, { scope, key, text: request, within }, work);
  }

  /** Takes away tombstones, dropped collections and expired idempotency keys, in every domain. @see purge */
  async purge(scope: Scope, options: { readonly removedBefore: Date }): Promise<Purged> {
    return await purge(this.#environment.database, scope, { ...options, topDomain: this.#topDomain() });
  }

  /** What of a collection the caller may read, for a statement that joins it. `undefined`: nothing of it. */
  findReadable(scope: Scope, name: string): Readable | undefined {
    return this.#environment.findReadable(scope, name);
  }
}

/** A stream holds its connection between batches, which a transaction cannot spare. */
function readingWithin(transaction: Transaction): Pick<Database, 'query' | 'stream'> {
  return {
    query: (sql, options) => transaction.query(sql, options),
    stream: () => {
      throw new Error('within a transaction records are read a page at a time');
    },
  };
}
