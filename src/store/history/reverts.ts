/**
 * Restores records: one to an earlier version, or all that a request changed. Called by `RecordStore` only.
 */
import { andMore, type ErrorDetail, faultAt, ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  memberOf,
  membersWhere,
  parseExactJson,
  parseExactObject,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import type { Scope } from '../../base/model/scope.js';
import { accessOf, type EffectiveAccess, findAccess, type RecordsOfScope } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import {
  type StoredRecord,
  type StoredRow,
  storedColumns,
  toStoredRecord,
} from '../reading/stored-record.js';
import { recordsOf } from '../sql/records-of.js';
import { sql } from '../sql.js';
import { atomically, type WriteOptions } from '../writing/atomically.js';
import { bringBack } from '../writing/bring-back.js';
import { changeRecords, removeLocked, settleRenames } from '../writing/change-records.js';
import type { RecordEnvironment } from '../writing/record-environment.js';
import {
  assertWritable,
  gone,
  isExpected,
  notFound,
  outOfRows,
  versionConflict,
} from '../writing/record-refusals.js';
import { staysIn } from '../writing/record-statements.js';
import type { ConditionalWriteOptions } from '../writing/record-writes.js';
import type { Renamed } from '../writing/referring-records.js';
import { assertUnreferenced, type RemovedRecords } from '../writing/referring-records.js';
import {
  changesOfRecord,
  changesOfRequest,
  isAgain,
  isOfRequest,
  noLongerKept,
  noSuchState,
  stateOf,
  touchedBy,
  UNKNOWN,
  versionsOfRecord,
} from './record-history.js';

export interface Undone {
  /** Records that the request had changed, now restored. */
  readonly changed: number;
  /** Records that the request had created, now removed. */
  readonly removed: number;
  /** Records that the request had removed, now restored. */
  readonly broughtBack: number;
}

export class Reverts {
  readonly #environment: RecordEnvironment;

  constructor(environment: RecordEnvironment) {
    this.#environment = environment;
  }

  /**
   * Restores a record to an earlier version, also a removed one that is not purged. This is an ordinary
   * change, with a new version. Fields that the caller may not read stay as they are.
   *
   * @throws NOT_FOUND for an unknown record or version; GONE for a version at which it was removed, or whose
   *   values are not kept; FORBIDDEN for a differing field that the caller may not set, and as for an update
   *   or, for a removed record, a create; VERSION_CONFLICT; INVALID_VALUE, CONFLICT if the earlier state is
   *   not valid today
   */
  async restore(
    scope: Scope,
    name: string,
    id: string,
    { version, ifVersion, within }: ConditionalWriteOptions & { readonly version: number },
  ): Promise<StoredRecord> {
    const collection = this.#environment.catalog.get(name, scope);
    accessOf(scope, collection, 'read');
    accessOf(scope, collection, 'update');
    const atomic = { within, writes: [name] };
    const restored = await atomically(this.#environment, scope, atomic, async (transaction) => {
      const [row] = await this.#lock(transaction, { scope, collection, ids: [id] });
      if (row === undefined || !row.is_readable) throw notFound(collection, id);
      if (row.is_removed) accessOf(scope, collection, 'create');
      if (ifVersion !== undefined && !isExpected(row.version, ifVersion)) {
        throw versionConflict(collection, id, { expected: row.version, sent: ifVersion });
      }
      const data = await this.#dataAt(transaction, { scope, collection, id, version });
      const plan = { scope, collection, now: this.#environment.now() };
      const target = { row, data: keepingHidden(data, row, { scope, collection }) };
      if (row.is_removed) {
        const [back] = await this.#bringBack(transaction, plan, [target]);
        return back ?? row;
      }
      return (await this.#change(transaction, plan, [target])).get(id) ?? row;
    });
    if (within === undefined) this.#environment.announceCommit(scope, collection, [restored]);
    return toStoredRecord(restored);
  }

  /**
   * Reverts all changes of a request in the caller's domain, or none: created records are removed, removed
   * and changed ones are restored. This is an ordinary change, and can itself be undone.
   *
   * @throws NOT_FOUND for a request that changed nothing; CONFLICT if a record was changed later, naming the
   *   change, or if others point to a record that it created; GONE for values that are not kept;
   *   LIMIT_EXCEEDED; and as `restore` does
   */
  async undo(
    scope: Scope,
    requestId: string,
    { within, force }: WriteOptions & Pick<RemovedRecords, 'force'> = {},
  ): Promise<Undone> {
    const atomic = { within, writes: 'anything' } as const;
    const touched = new Map<Collection, readonly { readonly id: string }[]>();
    const undone = await atomically(this.#environment, scope, atomic, async (transaction) => {
      touched.clear();
      const parts: UndonePart[] = [];
      for (const { collection, ids } of await this.#listChanged(transaction, scope, requestId)) {
        const rows = await this.#lock(transaction, { scope, collection, ids });
        const states = await this.#statesBefore(transaction, { scope, collection, requestId });
        parts.push(planUndo(scope, collection, { ids, rows, states }));
        touched.set(collection, rows);
      }
      const renamed = await this.#undoParts(transaction, scope, parts);
      for (const [collection, changes] of renamed)
        await settleRenames(this.#environment, transaction, { scope, collection, changes });
      for (const { collection, remove } of parts) {
        const ids = remove.map(({ id }) => id);
        await assertUnreferenced(this.#environment, transaction, { scope, collection, ids, force });
      }
      return {
        changed: parts.flatMap(({ change }) => change).length,
        removed: parts.flatMap(({ remove }) => remove).length,
        broughtBack: parts.flatMap((part) => part.bringBack).length,
      };
    });
    if (within === undefined) {
      for (const [collection, rows] of touched) this.#environment.announceCommit(scope, collection, rows);
    }
    return undone;
  }

  /**
   * Removals come first, because other records may take their unique values; targets of references and names
   * come before the records that point to them. Returns the changed records.
   */
  async #undoParts(
    transaction: Transaction,
    scope: Scope,
    parts: readonly UndonePart[],
  ): Promise<ReadonlyMap<Collection, Renamed[]>> {
    const now = this.#environment.now();
    for (const { collection, remove } of parts) {
      await this.#remove(transaction, { scope, collection, now }, remove);
    }
    for (const { collection, bringBack: targets } of targetsFirst(parts)) {
      await this.#bringBack(transaction, { scope, collection, now }, targets);
    }
    const renamedIn = new Map<Collection, Renamed[]>();
    for (const { collection, change } of targetsFirst(parts)) {
      const renamed: Renamed[] = [];
      renamedIn.set(collection, renamed);
      await this.#change(transaction, { scope, collection, now, renamed }, change);
    }
    return renamedIn;
  }

  /**
   * The changes of a request: of any user for an admin of the domain, else only the caller's own.
   *
   * @throws NOT_FOUND if there are none; LIMIT_EXCEEDED
   */
  async #listChanged(
    transaction: Transaction,
    scope: Scope,
    requestId: string,
  ): Promise<readonly { readonly collection: Collection; readonly ids: readonly string[] }[]> {
    const max = this.#environment.maxRecordsPerWrite;
    const rows = await this.#environment.run<{ collection: string; record_id: string }>(
      transaction,
      sql`
select distinct e.collection, e.record_id
from audit_entries e
where ${changesOfRequest(scope, { request: sql`= ${requestId}`, isRouted: this.#environment.isRouted })}
order by e.collection, e.record_id
limit ${max + 1}`,
      scope.call,
    );
    if (rows.length === 0) {
      const detail = `the request "${requestId}" made no change that you may undo`;
      throw faultAt('NOT_FOUND', detail, { parameter: 'requestId' });
    }
    if (rows.length > max) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `at most ${max} records are written at once, and the request changed more`,
      );
    }
    const names = [...new Set(rows.map((row) => row.collection))];
    return names.map((name) => ({
      collection: this.#environment.catalog.get(name, scope),
      ids: rows.filter((row) => row.collection === name).map((row) => row.record_id),
    }));
  }

  /**
   * Locks the records with these ids in their order, including tombstones. What the caller may not do with
   * them is refused later. @throws FORBIDDEN for a collection the caller may not read
   */
  async #lock(
    transaction: Transaction,
    { scope, collection, ids }: RecordsOfScope & { readonly ids: readonly string[] },
  ): Promise<RevertRow[]> {
    const environment = this.#environment;
    const { projection } = environment.writeContext(scope, collection, environment.now());
    const readable = accessOf(scope, collection, 'read');
    const isIn = (access: EffectiveAccess | undefined) => environment.isIn(scope, collection, access);
    return await environment.run<RevertRow>(
      transaction,
      sql`
select ${storedColumns(projection)}, r.data::text as data, r.deleted_at is not null as is_removed,
  ${isIn(readable)} as is_readable,
  ${isIn(findAccess(scope, collection, 'update'))} as is_updatable,
  ${isIn(findAccess(scope, collection, 'delete'))} as is_deletable
from records r
where ${recordsOf(scope, collection)} and r.id = any(${[...ids]}::text[])
order by r.id
for update of r`,
      scope.call,
    );
  }

  /** @throws NOT_FOUND for an unknown version; GONE for one that is not kept, or is a removal */
  async #dataAt(
    transaction: Transaction,
    { scope, collection, id, version }: RecordsOfScope & { readonly id: string; readonly version: number },
  ): Promise<JsonObject> {
    const readable = accessOf(scope, collection, 'read');
    const rows = this.#environment.rowsOf(scope, collection, readable);
    const isReadable = rows === undefined ? sql`true` : staysIn(rows, sql`r.data`);
    const [state] = await this.#environment.run<{ data: string; is_removed: boolean; is_readable: boolean }>(
      transaction,
      sql`
with ${versionsOfRecord(scope, collection, { id, rows: undefined })},
${stateOf(sql`s.to_version = ${version}`)}
select r.data::text as data, r.is_removed, r.data = ${UNKNOWN} or ${isReadable} as is_readable
from state r`,
      scope.call,
    );
    if (state === undefined || !state.is_readable) throw noSuchState(collection, id, { version });
    const data = parseExactJson(state.data);
    if (!isJsonObject(data)) throw noLongerKept(collection, id, version);
    if (state.is_removed) throw gone(collection, id);
    return data;
  }

  /** The states of the records before the request, and later changes by others. */
  async #statesBefore(
    transaction: Transaction,
    { scope, collection, requestId }: RecordsOfScope & { readonly requestId: string },
  ): Promise<StatesBefore> {
    const { isRouted } = this.#environment;
    const request = sql`= ${requestId}`;
    const isOwn = isOfRequest(scope, request);
    const ofRecord = changesOfRecord(scope, collection, { id: sql`t.record_id`, isRouted });
    // A later change that was itself reverted does not prevent the undo.
    const isLeft = isAgain({ operation: sql`t.last_operation`, data: sql`s.became` });
    const rows = await this.#environment.run<StateBefore & { readonly id: string }>(
      transaction,
      sql`
with ${touchedBy(scope, { collection, request, isRouted })}
select r.id, t.first_operation, s.data::text as data,
  case when s.has_between or not ${isLeft} then s.later_version end as later_version,
  case when s.has_between or not ${isLeft} then s.later_at end as later_at,
  s.count = r.version - s.first_version + 1 as is_complete
from touched t
join found r on r.id = t.record_id
cross join lateral (
  select (array_agg(e.to_version order by e.id))[1] as first_version,
    (array_agg(e.to_version order by e.id) filter (where not (${isOwn})))[1] as later_version,
    (array_agg(e.at order by e.id) filter (where not (${isOwn})))[1] as later_at,
    bool_or(e.id < t.last_entry and not (${isOwn})) as has_between,
    data_before(r.data, e.before order by e.to_version desc) filter (where e.id > t.last_entry) as became,
    count(*) as count,
    data_before(r.data, e.before order by e.to_version desc) as data
  from audit_entries e
  where ${ofRecord} and e.id >= t.first_entry
) as s`,
      scope.call,
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  async #change(transaction: Transaction, write: Reverting, targets: readonly Target[]) {
    if (targets.length === 0) return new Map<string, StoredRow>();
    const { scope, collection } = write;
    const writable = accessOf(scope, collection, 'update');
    if (targets.some(({ row }) => !row.is_updatable)) throw outOfRows(collection, 'update');
    const dataById = new Map(targets.map(({ row, data }) => [row.id, data]));
    return await changeRecords(this.#environment, transaction, {
      ...write,
      writable,
      rows: targets.map(({ row }) => row),
      change: (before, { id }) => {
        const after = dataById.get(id) ?? before;
        const differing = Object.entries({ ...before, ...after }).filter(
          ([name]) => !isSameJson(memberOf(before, name), memberOf(after, name)),
        );
        assertWritable([Object.fromEntries(differing)], writable, collection);
        return after;
      },
      sentFields: () => [],
    });
  }

  async #remove(transaction: Transaction, write: Reverting, rows: readonly RevertRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { scope, collection } = write;
    accessOf(scope, collection, 'delete');
    if (rows.some((row) => !row.is_deletable)) throw outOfRows(collection, 'delete');
    await removeLocked(this.#environment, transaction, { scope, collection, rows, force: 'later' });
  }

  async #bringBack(
    transaction: Transaction,
    write: Reverting,
    targets: readonly Target[],
  ): Promise<readonly StoredRow[]> {
    if (targets.length === 0) return [];
    const records = targets.map(({ row, data }) => ({ id: row.id, data }));
    return await bringBack(this.#environment, transaction, { ...write, records });
  }
}

interface Reverting extends RecordsOfScope {
  readonly now: Date;
  /** @see ChangeRequest.renamed */
  readonly renamed?: Renamed[];
}

type RevertRow = StoredRow & { readonly data: string } & Readonly<
    Record<'is_removed' | 'is_readable' | 'is_updatable' | 'is_deletable', boolean>
  >;

/** A locked record and its intended fields. */
interface Target {
  readonly row: RevertRow;
  readonly data: JsonObject;
}

/** The state of a record before a request. */
interface StateBefore {
  /** The request's first operation on it; `created` also for a removed record that it restored. */
  readonly first_operation: 'created' | 'updated' | 'deleted';
  /** JSON null if unknown. */
  readonly data: string;
  /**
   * The first later version by somebody else; null if there is none, or if the record is again what the
   * request left.
   */
  readonly later_version: number | null;
  readonly later_at: Date | null;
  /** No later change is missing. */
  readonly is_complete: boolean;
}

type StatesBefore = ReadonlyMap<string, StateBefore>;
type UndonePart = ReturnType<typeof planUndo>;

/**
 * Groups the records of a collection by the operation that undoes the request.
 *
 * @throws CONFLICT naming every record that was changed later; GONE for values that are not kept
 */
function planUndo(
  scope: Scope,
  collection: Collection,
  { ids, rows, states }: { ids: readonly string[]; rows: readonly RevertRow[]; states: StatesBefore },
) {
  if (rows.some((row) => !row.is_readable)) throw outOfRows(collection, 'read');
  assertNothingLater(collection, ids, states);
  const remove: RevertRow[] = [];
  const bringBack: Target[] = [];
  const change: Target[] = [];
  for (const row of rows) {
    const state = states.get(row.id);
    if (state === undefined) throw new Error('every locked record was changed by the request');
    if (state.first_operation === 'created') {
      if (!row.is_removed) remove.push(row);
      continue;
    }
    const before = parseExactJson(state.data);
    if (!isJsonObject(before) || !state.is_complete) throw noLongerKept(collection, row.id, row.version - 1);
    const target = { row, data: keepingHidden(before, row, { scope, collection }) };
    if (row.is_removed) bringBack.push(target);
    else change.push(target);
  }
  return { collection, remove, bringBack, change };
}

/** The most records in an error message. */
const MAX_NAMED = 100;

function assertNothingLater(collection: Collection, ids: readonly string[], states: StatesBefore): void {
  const errors = ids.flatMap((id): ErrorDetail[] => {
    const state = states.get(id);
    const record = `the record "${id}" of ${collection.name}`;
    if (state === undefined) return [{ detail: `${record} was removed for good since` }];
    const { later_version: version, later_at: at } = state;
    if (version === null || at === null) return [];
    return [{ detail: `${record} was changed later: version ${version}, at ${at.toISOString()}` }];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw new ServiceError('CONFLICT', `${first.detail}${andMore(errors)}`, {
    errors: errors.slice(0, MAX_NAMED),
  });
}

/** The fields of an earlier state, with the present values of fields hidden from the caller. */
function keepingHidden(data: JsonObject, row: RevertRow, { scope, collection }: RecordsOfScope): JsonObject {
  const { hiddenFields } = accessOf(scope, collection, 'read');
  if (hiddenFields.size === 0) return data;
  return {
    ...membersWhere(data, (name) => !hiddenFields.has(name)),
    ...membersWhere(parseExactObject(row.data), (name) => hiddenFields.has(name)),
  };
}

/** Orders collections so that targets of references and names come first. */
function targetsFirst(parts: readonly UndonePart[]): readonly UndonePart[] {
  const sorted = new Set<UndonePart>();
  const visited = new Set<UndonePart>();
  const visit = (part: UndonePart) => {
    if (visited.has(part)) return;
    visited.add(part);
    const { fields, links } = part.collection;
    const targets = new Set([
      ...fields.flatMap((field) => field.targets),
      ...links.map(({ target }) => target),
    ]);
    for (const other of parts) if (targets.has(other.collection.name)) visit(other);
    sorted.add(part);
  };
  parts.forEach(visit);
  return [...sorted];
}
