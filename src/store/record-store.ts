/**
 * The records of every collection: the one way to read and write them.
 *
 * Every method takes a `Scope` first; domain condition, access rules and validation are inside and cannot be switched off.
 *
 * @see decisions 1, 2, 3, 6, 7
 */
import { v7 as uuidv7 } from 'uuid';
import { type ErrorDetail, ServiceError } from '../errors.js';
import type { Path } from '../filter/filter.js';

import { Prisma } from '../generated/prisma/client.js';
import { type JsonObject, type JsonValue, parseExactJson } from '../json.js';
import { accessOf, assertReadable, type EffectiveAccess, findAccess } from './access.js';
import { type AuditEntry, type AuditQuery, readAuditTrail } from './audit-trail.js';
import type { Catalog } from './catalog.js';
import type { Collection } from './collection.js';
import type { Database, Queryable, Transaction } from './database/database.js';
import { findConstraint } from './database/database-errors.js';
import { idempotently } from './idempotency.js';
import { KeptReads } from './kept-reads.js';
import { type Purged, purge } from './purge.js';
import { QueryPlans } from './query-plans.js';
import { fieldsTogether, findCheckFaults, keysOf } from './record-checks.js';
import type { RecordQuery } from './record-query.js';
import { type Readable, RecordSet } from './record-set.js';
import {
  deleteRecord,
  insertRecords,
  liveRecordsOf,
  mergedData,
  type NewRecord,
  recordsOf,
  replacedData,
  staysIn,
  USER_COLLECTION,
  updateRecord,
  type WriteContext,
} from './record-statements.js';
import { fillLabels } from './reference-labels.js';
import type { Domain, RecordVerb, Scope } from './scope.js';
import { type CompileContext, compileFilter, listPaths } from './sql/compile-filter.js';
import { statementName } from './sql/statement-name.js';
import { type StoredRecord, type StoredRow, storedColumns, toStoredRecord } from './stored-record.js';
import { uniqueConflict } from './unique-conflicts.js';
import {
  assertNoFaults,
  isRecordId,
  type StoredChange,
  stampedFields,
  toStored,
  toStoredAll,
} from './validation.js';

export type { StoredRecord } from './stored-record.js';

export interface RecordStoreOptions {
  readonly database: Database;
  readonly catalog: Catalog;
  /** The top domain, whose admins may purge. */
  readonly topDomain: () => Domain | undefined;
  /**
   * Told before a write is answered that what a user may do has changed, or of all users of the domain (`undefined`). Other
   * gateways hear of it a moment later.
   */
  readonly onRightsChange?: (domainId: string, userId: string | undefined) => void;
  /** The clock. Default: the system's. */
  readonly now?: () => Date;
}

export interface WriteOptions {
  /** The transaction the write is part of. Default: its own. */
  readonly within?: Transaction | undefined;
}

export interface ConditionalWriteOptions extends WriteOptions {
  /** Refused with VERSION_CONFLICT when the record has another version. */
  readonly ifVersion?: number | undefined;
}

export interface UpdateOptions extends ConditionalWriteOptions {
  readonly data: JsonObject;
  /**
   * `merge`: the top-level members sent replace those there, null removes one (RFC 7386 at the top level: an object or a list is
   * replaced as a whole). `replace`: the record becomes what is sent; stamps of its creation and what the caller may not
   * set stay.
   */
  readonly mode: 'merge' | 'replace';
}

/** A write that another one overtook is tried so often before the caller is told. */
const MAX_ATTEMPTS = 5;
const MAX_RECORDS = 10_000;

export class RecordStore {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #topDomain: () => Domain | undefined;
  readonly #onRightsChange: (domainId: string, userId: string | undefined) => void;
  readonly #now: () => Date;
  readonly #plans = new QueryPlans();
  readonly #keptReads = new KeptReads();

  constructor(options: RecordStoreOptions) {
    this.#database = options.database;
    this.#catalog = options.catalog;
    this.#topDomain = options.topDomain;
    this.#onRightsChange = options.onRightsChange ?? (() => {});
    this.#now = options.now ?? (() => new Date());
  }

  /**
   * The records a query asks for, not read yet.
   *
   * @throws NOT_FOUND, GONE for the collection; FORBIDDEN, also for a filter or sort by a hidden field (named); MALFORMED_FILTER,
   * INVALID_VALUE for operands that do not fit a declared type. All at once, before anything is read.
   */
  find(scope: Scope, query: RecordQuery): RecordSet {
    const collection = this.#catalog.get(query.collection);
    const access = accessOf(scope, collection, 'read');
    assertReadable([...listPaths(query.filter), ...query.sort.map((key) => key.path)], access, collection);
    const context = this.#compileContext(scope, collection);
    return new RecordSet({
      database: this.#database,
      scope,
      query,
      access,
      context,
      plans: this.#plans,
      keptReads: this.#keptReads,
      revision: this.#catalog.list(),
      findReadable: (name) => this.findReadable(scope, name),
    });
  }

  /**
   * One record by its `_id`. A record of another domain, or out of the caller's rows, is NOT_FOUND like one that never was.
   *
   * @throws NOT_FOUND; GONE for a removed one; FORBIDDEN
   */
  async get(scope: Scope, name: string, id: string, projection?: readonly Path[]): Promise<StoredRecord> {
    const collection = this.#catalog.get(name);
    const access = accessOf(scope, collection, 'read');
    const context = this.#compileContext(scope, collection);
    const columns = storedColumns(this.#plans.projection(collection, projection, access.hiddenFields));
    const [row] = await this.#run<StoredRow & { readonly is_removed: boolean }>(
      this.#database,
      Prisma.sql`
        select ${columns}, r.deleted_at is not null as is_removed
        from records r
        where ${recordsOf(scope, collection)} and r.id = ${id} ${andRows(access, context)}`,
    );
    if (row === undefined) throw notFound(collection, id);
    if (row.is_removed) throw gone(collection, id);
    return toStoredRecord(row);
  }

  /**
   * Stores records, all or none, and gives them back in their order.
   *
   * @throws INVALID_VALUE with every fault; CONFLICT naming the field and the record; FORBIDDEN; NOT_FOUND, GONE for the collection
   */
  async create(
    scope: Scope,
    name: string,
    records: readonly JsonObject[],
    options: WriteOptions = {},
  ): Promise<StoredRecord[]> {
    const collection = this.#catalog.get(name);
    const access = accessOf(scope, collection, 'create');
    if (records.length === 0) return [];
    if (records.length > MAX_RECORDS) {
      throw new ServiceError('LIMIT_EXCEEDED', `at most ${MAX_RECORDS} records are stored at once`);
    }
    const now = this.#now();
    const sent = records.map((record, index) => takeId(record, records.length === 1 ? '' : `/${index}`));
    assertNoFaults(sent.flatMap((one) => one.errors));
    assertWritable(
      sent.map((one) => one.data),
      access,
      collection,
    );
    const changes = toStoredAll(
      collection,
      sent.map((one) => one.data),
      {
        timeZone: scope.domain.timeZone,
        now,
        mode: 'create',
      },
    );
    const queryable = options.within ?? this.#database;
    await this.#fillLabels(queryable, scope, changes);
    const stored = changes.map(({ data }, index): NewRecord => {
      const keys = keysOf(collection, data, scope.domain.timeZone);
      return { id: sent[index]?.id ?? uuidv7(), data, keys };
    });
    const rows = this.#rowsOf(scope, collection, access);
    const statement = insertRecords(this.#writeContext(scope, collection, now), stored, rows);
    const written = await this.#write(options.within, statement, {
      scope,
      collection,
      records: stored,
      verb: 'create',
    });
    if (written.length === stored.length) return written.map(toStoredRecord);
    throw outOfRows(collection, 'create');
  }

  /**
   * Changes a record and gives it back.
   *
   * @throws INVALID_VALUE, CONFLICT as `create` does; VERSION_CONFLICT; NOT_FOUND; GONE; FORBIDDEN when the caller may read
   * the record and not change it, or not to this
   */
  async update(scope: Scope, name: string, id: string, options: UpdateOptions): Promise<StoredRecord> {
    const collection = this.#catalog.get(name);
    const access = accessOf(scope, collection, 'update');
    const { data: sent, errors } = takeOwnId(options.data, id);
    assertNoFaults(errors);
    assertWritable([sent], access, collection);
    const hidden = findAccess(scope, collection, 'read')?.hiddenFields ?? [];
    const keptFields = new Set([...stampedFields(collection), ...access.readOnlyFields, ...hidden]);
    const now = this.#now();
    const change = toStored(collection, sent, {
      timeZone: scope.domain.timeZone,
      now,
      mode: options.mode,
      keptFields,
    });
    await this.#fillLabels(options.within ?? this.#database, scope, [change]);
    const kept = [...keptFields].filter((field) => !Object.hasOwn(change.data, field));
    const data = options.mode === 'merge' ? mergedData(change) : replacedData(change.data, kept);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const together = await this.#checkTogether({ scope, collection, id, change, options, kept });
      const update = {
        id,
        ifVersion: together.ifVersion ?? options.ifVersion,
        data,
        keys: together.keys,
        rows: this.#rowsOf(scope, collection, access),
        staysInRows: isInRowsForCertain(access, change, options.mode) ? 'certain' : 'checked',
      } as const;
      const statement = updateRecord(this.#writeContext(scope, collection, now), update);
      const [written] = await this.#write(options.within, statement, {
        scope,
        collection,
        records: [{ id, data: change.data, keys: together.keys?.value }],
        verb: 'update',
      });
      if (written !== undefined) return toStoredRecord(written);
      await this.#throwRefusal(scope, collection, {
        id,
        access,
        verb: 'update',
        ifVersion: options.ifVersion,
        within: options.within,
        ...(update.staysInRows === 'checked' ? { data } : {}),
      });
    }
    throw overtaken(collection, id);
  }

  /**
   * Removes a record and gives it back as it was. Its tombstone keeps the `_id` taken, and answers GONE.
   *
   * @throws VERSION_CONFLICT; NOT_FOUND; GONE; FORBIDDEN
   */
  async delete(
    scope: Scope,
    name: string,
    id: string,
    options: ConditionalWriteOptions = {},
  ): Promise<StoredRecord> {
    const collection = this.#catalog.get(name);
    const access = accessOf(scope, collection, 'delete');
    const rows = this.#rowsOf(scope, collection, access);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const context = this.#writeContext(scope, collection, this.#now());
      const statement = deleteRecord(context, { id, ifVersion: options.ifVersion, rows });
      const { ifVersion, within } = options;
      const [written] = await this.#run<StoredRow>(within ?? this.#database, statement);
      if (written !== undefined) {
        if (within === undefined) this.#tellOfRights(scope, collection, [written]);
        return toStoredRecord(written);
      }
      await this.#throwRefusal(scope, collection, { id, access, verb: 'delete', ifVersion, within });
    }
    throw overtaken(collection, id);
  }

  /** The changes of the caller's domain, the newest first. @throws FORBIDDEN unless the caller is an admin */
  async auditTrail(scope: Scope, query: AuditQuery): Promise<readonly AuditEntry[]> {
    return await readAuditTrail(this.#database, scope, query);
  }

  /** Does a write once per key. `request` is all that makes two requests the same. @see idempotently */
  async idempotently<T extends JsonValue>(
    scope: Scope,
    key: string | undefined,
    request: string,
    work: (tx?: Transaction) => Promise<T>,
  ): Promise<T> {
    return await idempotently(this.#database, { scope, key, text: request }, work);
  }

  /** Takes away tombstones, dropped collections and expired idempotency keys, in every domain. @see purge */
  async purge(scope: Scope, options: { readonly removedBefore: Date }): Promise<Purged> {
    return await purge(this.#database, scope, { ...options, topDomain: this.#topDomain() });
  }

  /** What of a collection the caller may read, for a statement that joins it. `undefined`: nothing of it. */
  findReadable(scope: Scope, name: string): Readable | undefined {
    const collection = this.#catalog.find(name);
    const access = collection && findAccess(scope, collection, 'read');
    if (collection === undefined || access === undefined) return undefined;
    const context = this.#compileContext(scope, collection);
    return {
      collection,
      condition: Prisma.sql`${liveRecordsOf(scope, collection)} ${andRows(access, context)}`,
      access,
    };
  }

  /**
   * What rules look at several fields together needs all of them: where the change leaves one of them out, the record is read,
   * and the write then holds for the version read alone.
   */
  async #checkTogether(update: {
    readonly scope: Scope;
    readonly collection: Collection;
    readonly id: string;
    readonly change: StoredChange;
    readonly options: UpdateOptions;
    readonly kept: readonly string[];
  }): Promise<{
    readonly keys: { readonly value: JsonObject | undefined } | undefined;
    readonly ifVersion?: number;
  }> {
    const { scope, collection, id, change, options, kept } = update;
    const groups = fieldsTogether(collection);
    const changed = new Set([...Object.keys(change.data), ...change.removed]);
    const isReplace = options.mode === 'replace';
    const isTouched = isReplace || groups.some((fields) => fields.some((field) => changed.has(field)));
    if (groups.length === 0 || !isTouched) return { keys: undefined };
    const isComplete = isReplace
      ? groups.every((fields) => !fields.some((field) => kept.includes(field)))
      : groups.every((fields) => fields.every((field) => changed.has(field)));
    if (isComplete) {
      assertNoFaults(findCheckFaults(collection, change.data, ''));
      return { keys: { value: keysOf(collection, change.data, scope.domain.timeZone) } };
    }
    const [current] = await this.#run<{ version: number; data: string }>(
      options.within ?? this.#database,
      Prisma.sql`
        select r.version, r.data::text as data
        from records r
        where ${liveRecordsOf(scope, collection)} and r.id = ${id}`,
    );
    // The write will find no record either, and say why.
    if (current === undefined) return { keys: undefined };
    const merged = applyChange(parseExactJson(current.data), change, isReplace ? kept : undefined);
    // Of a version the caller does not expect, or of a record it may not see, nothing is said but that.
    if (options.ifVersion !== undefined && options.ifVersion !== current.version) return { keys: undefined };
    const faults = findCheckFaults(collection, merged, '');
    if (faults.length > 0) {
      await this.#throwIfOutOfReach(update);
      assertNoFaults(faults);
    }
    return { keys: { value: keysOf(collection, merged, scope.domain.timeZone) }, ifVersion: current.version };
  }

  async #throwIfOutOfReach(update: {
    readonly scope: Scope;
    readonly collection: Collection;
    readonly id: string;
    readonly options: UpdateOptions;
  }): Promise<void> {
    const { scope, collection, id, options } = update;
    const access = accessOf(scope, collection, 'update');
    const { ifVersion, within } = options;
    await this.#throwRefusal(scope, collection, { id, access, verb: 'update', ifVersion, within });
  }

  /** Tells why a write found no record to change. Returns when there is no reason any more: the write was overtaken, try again. */
  async #throwRefusal(
    scope: Scope,
    collection: Collection,
    refused: {
      readonly id: string;
      readonly access: EffectiveAccess;
      readonly verb: RecordVerb;
      readonly ifVersion: number | undefined;
      readonly within: Transaction | undefined;
      /** What the record would have become, where that had to stay in the caller's rows. */
      readonly data?: Prisma.Sql;
    },
  ): Promise<void> {
    const { id, access, verb, ifVersion, data } = refused;
    const context = this.#compileContext(scope, collection);
    const readable = findAccess(scope, collection, 'read') ?? access;
    const rows = this.#rowsOf(scope, collection, access);
    const staysInRows = rows === undefined || data === undefined ? Prisma.sql`true` : staysIn(rows, data);
    const [found] = await this.#run<{
      version: number;
      is_removed: boolean;
      is_in_rows: boolean;
      stays_in_rows: boolean;
    }>(
      refused.within ?? this.#database,
      Prisma.sql`
        select r.version, r.deleted_at is not null as is_removed,
          (${rows ?? Prisma.sql`true`}) is true as is_in_rows,
          ${staysInRows} as stays_in_rows
        from records r
        where ${recordsOf(scope, collection)} and r.id = ${id} ${andRows(readable, context)}`,
    );
    if (found === undefined) throw notFound(collection, id);
    if (found.is_removed) throw gone(collection, id);
    if (!found.is_in_rows) throw outOfRows(collection, verb);
    if (ifVersion !== undefined && ifVersion !== found.version) {
      throw versionConflict(collection, id, { expected: found.version, sent: ifVersion });
    }
    if (!found.stays_in_rows) throw outOfRows(collection, verb);
  }

  /** Runs a write and translates its conflict; within a transaction, back to a savepoint, so that it can still be asked. */
  async #write(
    within: Transaction | undefined,
    statement: Prisma.Sql,
    attempt: {
      readonly scope: Scope;
      readonly collection: Collection;
      readonly records: readonly NewRecord[];
      readonly verb: 'create' | 'update';
    },
  ): Promise<StoredRow[]> {
    await within?.query(Prisma.sql`savepoint record_write`);
    try {
      const written = await this.#run<StoredRow>(within ?? this.#database, statement);
      // What a transaction did is not true yet: the announcement tells of it once it is.
      if (within === undefined) this.#tellOfRights(attempt.scope, attempt.collection, written);
      return written;
    } catch (cause) {
      if (findConstraint(cause) === undefined) throw cause;
      await within?.query(Prisma.sql`rollback to savepoint record_write`);
      throw await uniqueConflict(within ?? this.#database, { ...attempt, cause });
    }
  }

  #tellOfRights(scope: Scope, collection: Collection, written: readonly { readonly id: string }[]): void {
    if (collection.name === USER_COLLECTION) {
      for (const { id } of written) this.#onRightsChange(scope.domain.id, id);
    } else if (collection.grants.length > 0) this.#onRightsChange(scope.domain.id, undefined);
  }

  async #fillLabels(queryable: Queryable, scope: Scope, changes: readonly StoredChange[]): Promise<void> {
    const unlabelled = changes.flatMap((change) => change.unlabelled);
    if (unlabelled.length === 0) return;
    await fillLabels(queryable, unlabelled, {
      scope,
      findCollection: (name) => this.#catalog.find(name),
      compileContextOf: (collection) => this.#compileContext(scope, collection),
    });
  }

  /** What the caller gets back of what it wrote: what it may read, and nothing but `_id` when it may not read. */
  #writeContext(scope: Scope, collection: Collection, now: Date): WriteContext {
    const readable = findAccess(scope, collection, 'read');
    const projection = this.#plans.projection(
      collection,
      readable === undefined ? [] : undefined,
      readable?.hiddenFields ?? new Set(),
    );
    return { scope, collection, now, projection };
  }

  #rowsOf(scope: Scope, collection: Collection, access: EffectiveAccess): Prisma.Sql | undefined {
    if (access.rows === undefined) return undefined;
    return compileFilter(access.rows, this.#compileContext(scope, collection));
  }

  #compileContext(scope: Scope, collection: Collection): CompileContext {
    return {
      collection,
      timeZone: scope.domain.timeZone,
      now: this.#now(),
      isByteOrdered: this.#database.isByteOrdered,
    };
  }

  async #run<Row extends object>(queryable: Queryable, sql: Prisma.Sql): Promise<Row[]> {
    return await queryable.query<Row>(sql, { name: statementName(sql.text) });
  }
}

function andRows(access: EffectiveAccess, context: CompileContext): Prisma.Sql {
  return access.rows === undefined ? Prisma.empty : Prisma.sql`and (${compileFilter(access.rows, context)})`;
}

/** Splits the client's `_id`, if there is one, from the fields. */
function takeId(
  record: JsonObject,
  pointer: string,
): { readonly id: string | undefined; readonly data: JsonObject; readonly errors: readonly ErrorDetail[] } {
  const { _id: id, ...data } = record;
  if (id === undefined || isRecordId(id)) return { id, data, errors: [] };
  const expected = '1 to 64 characters of A-Z, a-z, 0-9, `_`, `.`, `:`, `-`';
  const detail = `${pointer}/_id: ${expected} are expected`;
  return { id: undefined, data, errors: [{ pointer: `${pointer}/_id`, detail, expected, sent: id }] };
}

/** The fields of an update, which may repeat the `_id` and not change it. */
function takeOwnId(
  record: JsonObject,
  id: string,
): { readonly data: JsonObject; readonly errors: readonly ErrorDetail[] } {
  const { _id: sent, ...data } = record;
  if (sent === undefined || sent === id) return { data, errors: [] };
  return {
    data,
    errors: [{ pointer: '/_id', detail: '/_id: the _id of a record never changes', expected: id, sent }],
  };
}

function assertWritable(
  records: readonly JsonObject[],
  access: EffectiveAccess,
  collection: Collection,
): void {
  if (access.readOnlyFields.size === 0) return;
  const errors = records.flatMap((record, index) =>
    Object.keys(record)
      .filter((name) => access.readOnlyFields.has(name))
      .map((name): ErrorDetail => {
        const pointer = records.length === 1 ? `/${name}` : `/${index}/${name}`;
        return { pointer, detail: `${name} is not yours to set` };
      }),
  );
  const [first] = errors;
  if (first === undefined) return;
  throw new ServiceError('FORBIDDEN', `${first.detail} in ${collection.name}`, { errors });
}

/** A merge that leaves alone what the row rules look at cannot move the record out of them. */
function isInRowsForCertain(
  access: EffectiveAccess,
  change: StoredChange,
  mode: 'merge' | 'replace',
): boolean {
  if (access.rows === undefined) return true;
  if (mode === 'replace') return false;
  return ![...Object.keys(change.data), ...change.removed].some((field) => access.rowFields.has(field));
}

/** What `mergedData` or, with kept fields, `replacedData` make in Postgres. */
function applyChange(
  current: JsonValue,
  change: StoredChange,
  kept: readonly string[] | undefined,
): JsonObject {
  const before = Object.entries(typeof current === 'object' && current !== null ? current : {});
  const stays = before.filter(([name]) =>
    kept === undefined ? !change.removed.includes(name) : kept.includes(name),
  );
  return { ...Object.fromEntries(stays), ...change.data };
}

function notFound(collection: Collection, id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no record "${id}" in ${collection.name}`);
}

function gone(collection: Collection, id: string): ServiceError {
  return new ServiceError('GONE', `the record "${id}" of ${collection.name} was removed`);
}

function outOfRows(collection: Collection, verb: RecordVerb): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `you may not ${verb} this record of ${collection.name}: it is not among the rows your role reaches`,
  );
}

function versionConflict(
  collection: Collection,
  id: string,
  versions: { readonly expected: number; readonly sent: number },
): ServiceError {
  const detail = `the record "${id}" of ${collection.name} has version ${versions.expected}, not ${versions.sent}`;
  return new ServiceError('VERSION_CONFLICT', detail, {
    errors: [
      { detail: 'read it again and decide anew', expected: String(versions.expected), sent: versions.sent },
    ],
  });
}

function overtaken(collection: Collection, id: string): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    `the record "${id}" of ${collection.name} is being changed too often; try again`,
    {
      retryAfterSeconds: 1,
    },
  );
}
