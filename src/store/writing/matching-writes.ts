/**
 * Writes to all records that match a filter, in one transaction, all or none: they are locked, changed in
 * memory by the rules of a single change, and written back in batches. Called by `RecordStore` only.
 *
 * The matching records are the ones that SQL with row security would match: those the caller may read and
 * change. Others are ignored rather than refused, so a count discloses nothing about them. If a change would
 * move a record out of the caller's rows, the whole write is refused.
 */
import { faultAt, invalidAt, RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import { type JsonObject, membersWhere, parseExactObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Filter } from '../../base/model/filter.js';
import { isEverything } from '../../base/model/filter.js';
import type { SortKey } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import { applyUpdate, assertUpdate, type UpdateOperation } from '../../base/model/update-operation.js';
import { accessOf, assertReadable } from '../access/access.js';
import { resolveQuery } from '../access/resolve-filter.js';
import type { ResolvedFilter } from '../access/resolved-filter.js';
import { renewStatistics } from '../database/partitions.js';
import type { Transaction } from '../database/queryable.js';
import { type StoredRecord, type StoredRow, toStoredRecord } from '../reading/stored-record.js';
import { compileResolved } from '../sql/compile-filter.js';
import { partsOfOrder } from '../sql/record-source.js';
import { sql } from '../sql.js';
import { atomically, retryingConflicts, type WriteOptions } from './atomically.js';
import {
  changeRecords,
  countRecords,
  type LockedRow,
  lockRecords,
  removeLocked,
  type Selected,
} from './change-records.js';
import type { RecordEnvironment } from './record-environment.js';
import type { RecordInserts } from './record-inserts.js';
import { assertWritable } from './record-refusals.js';
import { recordsPlaceOf } from './staged-work.js';
import {
  assertMayApply,
  type RightsToChange,
  sentDataOf,
  sentFieldsOf,
  toStoredOperations,
} from './stored-operations.js';
import { stampedFields, toStored } from './validation.js';

interface MatchingRequest {
  readonly filter: Filter;
  /** The order in which records are selected, if `limit` leaves some out, and returned. Default: by `_id`. */
  readonly sort?: readonly SortKey[] | undefined;
  /**
   * The maximum number of records, the first in the order. Default: all that match; more than one call may
   * write are refused.
   */
  readonly limit?: number | undefined;
  /** A filter that matches every record is refused unless this is set. @see decisions 3 */
  readonly allowAll?: boolean | undefined;
}

export interface UpdateMatching extends MatchingRequest {
  readonly update: readonly UpdateOperation[];
  /**
   * The record to create if nothing matches; the operations are applied to it, including those of
   * `setOnInsert`.
   */
  readonly upsert?: { readonly base: JsonObject } | undefined;
  /** The records to return, before or after the change. Default: none. */
  readonly returning?: 'none' | 'before' | 'after' | undefined;
}

interface UpdateEach extends MatchingRequest {
  /** The top-level fields that may change. */
  readonly fields: readonly string[];
  /**
   * Given all matching records, locked, and the transaction that holds the locks: the fields to set, by `_id`
   * of the record; null removes one. A record without an entry stays as it is.
   */
  readonly change: (
    records: ReadonlyMap<string, JsonObject>,
    within: Transaction,
  ) => Promise<ReadonlyMap<string, JsonObject>>;
}

export interface Updated {
  /** The records that matched, whether or not they changed. */
  readonly matched: number;
  readonly modified: number;
  /** The `_id` of the record that was created because none matched. */
  readonly upserted?: string;
  /** The records in the requested order; `undefined` unless requested. */
  readonly records?: readonly StoredRecord[];
}

interface DeleteMatching extends MatchingRequest {
  /** `before`: the last state of the records. Default: none. */
  readonly returning?: 'none' | 'before' | undefined;
  /** @see RemovedRecords.force */
  readonly force?: boolean | undefined;
}

/** How often the lock is retried when concurrent writes take records away. */
const MAX_LOOKS = 100;

type Row = Awaited<ReturnType<typeof lockRecords>>[number];

export class MatchingWrites {
  readonly #environment: RecordEnvironment;
  readonly #inserts: RecordInserts;

  constructor(environment: RecordEnvironment, inserts: RecordInserts) {
    this.#environment = environment;
    this.#inserts = inserts;
  }

  /**
   * Changes every matching record. Concurrent calls wait for each other record by record, and each sees the
   * result of the one before: fifty concurrent increments count fifty.
   *
   * @throws MALFORMED_FILTER for a filter that matches every record; INVALID_VALUE, CONFLICT naming the
   *   record; FORBIDDEN; LIMIT_EXCEEDED when more match than one call may write; NOT_FOUND, GONE for the
   *   collection. Then nothing is changed.
   */
  async update(
    scope: Scope,
    name: string,
    request: UpdateMatching,
    options: WriteOptions = {},
  ): Promise<Updated> {
    const matching = this.#open(scope, name, { request, verb: 'update' });
    const { collection, readable, writable } = matching;
    if (request.upsert !== undefined) accessOf(scope, collection, 'create');
    assertUpdate(request.update);
    assertMayApply(request.update, { scope, collection, readable, writable });
    this.#environment.noteSent(scope, name, request.update.flatMap(sentDataOf));
    const now = this.#environment.now();
    const operations = toStoredOperations(request.update, collection, { ...scope.domain, now });
    const plan: UpdatePlan = {
      ...{ matching, operations, now },
      change: changeOf(operations, matching, now),
      base: request.upsert?.base,
    };
    const write = () => this.#inTurn(matching, options, (transaction) => this.#update(transaction, plan));
    const done = await (plan.base === undefined ? write() : retryingConflicts(write));
    if (options.within === undefined) {
      const written = [...done.written.values(), ...(done.made === undefined ? [] : [done.made])];
      this.#environment.announceCommit(scope, collection, written);
    }
    return toUpdated(done, request.returning ?? 'none');
  }

  /**
   * Changes each of the matching records by a function that gets all of them.
   *
   * @throws as `update` does
   */
  async updateEach(
    scope: Scope,
    name: string,
    request: UpdateEach,
    options: WriteOptions = {},
  ): Promise<void> {
    const matching = this.#open(scope, name, { request, verb: 'update' });
    const { collection, readable, writable } = matching;
    const { fields } = request;
    const paths = fields.map((field) => [field]);
    assertReadable(paths, readable, collection);
    assertWritable([Object.fromEntries(paths.map(([field]) => [field, null]))], writable, collection);
    const written = await this.#inTurn(matching, options, async (transaction) => {
      const rows = await this.#lock(transaction, matching);
      const records = new Map(rows.map((row) => [row.id, parseExactObject(row.data)]));
      const changes = await request.change(records, transaction);
      const change = (before: JsonObject, { id }: LockedRow): JsonObject => {
        const change = changes.get(id);
        return membersWhere({ ...before, ...change }, (field) => change?.[field] !== null);
      };
      const now = this.#environment.now();
      const each = { scope, collection, writable, now, rows, change, sentFields: () => fields };
      return await changeRecords(this.#environment, transaction, each);
    });
    if (options.within === undefined)
      this.#environment.announceCommit(scope, collection, [...written.values()]);
  }

  /**
   * Removes every record that matches; each leaves a tombstone.
   *
   * @throws as `update` does; CONFLICT if other records point to them
   */
  async delete(
    scope: Scope,
    name: string,
    request: DeleteMatching,
    options: WriteOptions = {},
  ): Promise<{ readonly deleted: number; readonly records?: readonly StoredRecord[] }> {
    const matching = this.#open(scope, name, { request, verb: 'delete' });
    const { collection } = matching;
    const deleted = await this.#inTurn(matching, options, async (transaction) => {
      const rows = await this.#lock(transaction, matching);
      if (rows.length === 0) return [];
      const removal = { scope, collection, rows, force: request.force };
      const written = await removeLocked(this.#environment, transaction, removal);
      const byId = new Map(written.map((row) => [row.id, row]));
      return rows.map((row) => byId.get(row.id) ?? row);
    });
    if (options.within === undefined) this.#environment.announceCommit(scope, collection, deleted);
    if (request.returning !== 'before') return { deleted: deleted.length };
    return { deleted: deleted.length, records: deleted.map(toStoredRecord) };
  }

  /** A write that goes through many records waits for its turn before it takes a connection. */
  async #inTurn<T>(
    { scope, collection, filter, sort, limit }: Matching,
    options: WriteOptions,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const environment = this.#environment;
    const extent = limit === undefined ? 'all' : 'page';
    const rows = environment.scan(scope, { collection: collection.name, filter, sort, skip: 0 }, extent);
    const write = () => atomically(environment, scope, { ...options, writes: [collection.name] }, work);
    return options.within === undefined
      ? await environment.database.writingInTurn(scope, rows, write)
      : await write();
  }

  #open(
    scope: Scope,
    name: string,
    { request, verb }: { readonly request: MatchingRequest; readonly verb: 'update' | 'delete' },
  ): Matching {
    const collection = this.#environment.catalog.get(name, scope);
    const readable = accessOf(scope, collection, 'read');
    const writable = accessOf(scope, collection, verb);
    const sort = request.sort ?? [];
    const { filter } = request;
    const context = this.#environment.compileContext(scope, collection);
    const { filter: resolved, paths } = resolveQuery({ filter, sort }, context, { scope, access: readable });
    this.#environment.noteNamed(scope, collection, paths);
    if (request.allowAll !== true && isEverything(filter)) throw unfiltered(collection, verb);
    const max = this.#environment.maxRecordsPerWrite;
    if (request.limit !== undefined && (!Number.isInteger(request.limit) || request.limit < 1)) {
      throw new ServiceError(
        'INVALID_VALUE',
        `limit: a whole number from 1 is expected, ${request.limit} was sent`,
      );
    }
    if (request.limit !== undefined && request.limit > max) throw tooMany(max, `limit is ${request.limit}`);
    return { scope, collection, readable, writable, filter, resolved, sort, limit: request.limit };
  }

  async #update(transaction: Transaction, plan: UpdatePlan): Promise<UpdateDone> {
    const { matching, now, change } = plan;
    const { scope, collection, writable } = matching;
    let rows = await this.#lock(transaction, matching);
    if (rows.length === 0 && plan.base !== undefined) {
      await this.#lockFilter(transaction, matching);
      rows = await this.#lock(transaction, matching);
      if (rows.length === 0) {
        const made = await this.#insert(transaction, plan, plan.base);
        return { rows, written: new Map(), made };
      }
    }
    const sent = plan.operations.flatMap(sentFieldsOf);
    const request = { scope, collection, writable, now, rows, change, sentFields: () => sent };
    return { rows, written: await changeRecords(this.#environment, transaction, request), made: undefined };
  }

  /** The matching records, locked, in their order. */
  async #lock(transaction: Transaction, matching: Matching): Promise<Row[]> {
    const { scope, collection, readable, writable, limit } = matching;
    const environment = this.#environment;
    const place = recordsPlaceOf(environment.database, transaction, scope.domain.id);
    await renewStatistics(place, collection.name);
    const conditions = [
      ...environment.reachOf(scope, collection, [readable, writable]),
      compileResolved(matching.resolved, environment.compileContext(scope, collection)),
    ];
    const { order } = environment.plans.order(collection, matching.sort);
    const max = environment.maxRecordsPerWrite;
    if (limit === undefined) {
      const selected = { conditions, orderBy: order.orderBy, limit: max + 1 };
      const rows = await lockRecords(environment, transaction, matching, selected);
      if (rows.length > max) throw tooMany(max, `more than ${max} records match`);
      return rows;
    }
    const locked: Row[] = [];
    for (const { where, orderBy } of partsOfOrder(order)) {
      const selected = { conditions: [...conditions, where], orderBy, limit: limit - locked.length };
      locked.push(...(await this.#lockFirst(transaction, matching, selected)));
      if (locked.length === limit) break;
    }
    return locked;
  }

  /**
   * The first records of an order. If a concurrent write takes some away while this one waits, it must look
   * again, because more may match.
   */
  async #lockFirst(
    transaction: Transaction,
    { scope, collection }: Matching,
    selected: Selected,
  ): Promise<Row[]> {
    const environment = this.#environment;
    const context = environment.writeContext(scope, collection, environment.now());
    const count = countRecords(context, selected);
    for (let look = 1; look <= MAX_LOOKS; look += 1) {
      const rows = await lockRecords(environment, transaction, { scope, collection }, selected);
      if (rows.length === selected.limit) return rows;
      const [matched] = await environment.run<{ count: number }>(transaction, count, scope.call);
      if (matched === undefined || matched.count <= rows.length) return rows;
    }
    const detail = `the records of ${collection.name} are being changed too often; try again`;
    throw new ServiceError('UNAVAILABLE', detail, { retryAfterSeconds: RETRY_SOON_SECONDS });
  }

  /** Upserts by the same filter run one after the other, so that the second finds the record of the first. */
  async #lockFilter(transaction: Transaction, { scope, collection, filter }: Matching): Promise<void> {
    const key = `${scope.domain.id} ${collection.name} ${JSON.stringify(filter)}`;
    await transaction.query(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
  }

  async #insert(
    transaction: Transaction,
    { matching, operations, now }: UpdatePlan,
    base: JsonObject,
  ): Promise<StoredRecord | undefined> {
    const { scope, collection } = matching;
    const made = applyUpdate(base, operations, { now, timeZone: scope.domain.timeZone, isInsert: true });
    const { _id: id = made._id } = base;
    if (made._id !== undefined && made._id !== id) {
      const detail = 'The filter and the update give the new record different values of _id.';
      throw invalidAt(detail, { pointer: '/_id', expected: String(id) });
    }
    // A replacement keeps no other value of the filter.
    const data = id === undefined ? made : { ...made, _id: id };
    const [record] = await this.#inserts.create(scope, collection.name, [data], { within: transaction });
    return record;
  }
}

interface UpdatePlan {
  readonly matching: Matching;
  readonly operations: readonly UpdateOperation[];
  readonly now: Date;
  readonly change: (before: JsonObject) => JsonObject;
  /** The initial record of an upsert. */
  readonly base: JsonObject | undefined;
}

interface UpdateDone {
  readonly rows: readonly Row[];
  readonly written: ReadonlyMap<string, StoredRow>;
  readonly made: StoredRecord | undefined;
}

/** A request whose rights have been checked. */
interface Matching extends RightsToChange {
  readonly filter: Filter;
  readonly resolved: ResolvedFilter;
  readonly sort: readonly SortKey[];
  readonly limit: number | undefined;
}

function changeOf(
  operations: readonly UpdateOperation[],
  { scope, collection, readable, writable }: Matching,
  now: Date,
): (before: JsonObject) => JsonObject {
  const [only] = operations;
  if (only?.kind !== 'replace') return (before) => applyUpdate(before, operations, { ...scope.domain, now });
  // Like a single replacement, it keeps creation stamps and fields that the caller may not set.
  const keptFields = new Set([
    ...stampedFields(collection),
    ...writable.readOnlyFields,
    ...readable.hiddenFields,
  ]);
  const { _id: id, ...sent } = only.data;
  const { data } = toStored(collection, sent, { ...scope.domain, now, mode: 'replace', keptFields });
  return (before) => ({
    ...membersWhere(before, (name) => keptFields.has(name)),
    ...data,
    ...(id !== undefined && { _id: id }),
  });
}

function toUpdated({ rows, written, made }: UpdateDone, returning: 'none' | 'before' | 'after'): Updated {
  const counts = {
    matched: rows.length,
    modified: written.size,
    ...(made && { upserted: made.id }),
  };
  switch (returning) {
    case 'none':
      return counts;
    case 'before':
      return { ...counts, records: rows.map(toStoredRecord) };
    case 'after': {
      const records = rows.map((row) => toStoredRecord(written.get(row.id) ?? row));
      return { ...counts, records: made === undefined ? records : [made] };
    }
  }
}

function unfiltered(collection: Collection, verb: 'update' | 'delete'): ServiceError {
  const detail = `this would ${verb} every record of ${collection.name}: give a condition or allowAll: true`;
  return faultAt('MALFORMED_FILTER', detail, {
    parameter: 'where',
    expected: 'a condition, or allowAll: true',
  });
}

function tooMany(max: number, found: string): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `at most ${max} records are written at once (MAX_RECORDS_PER_WRITE), and ${found}: ` +
      'narrow the filter, or give a limit',
  );
}
