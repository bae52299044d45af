/**
 * Changes locked records: each is checked like a single change, and all are written back in batches, one
 * statement each.
 */
import { invalidAt, ServiceError } from '../../base/errors.js';
import {
  type JsonObject,
  type JsonValue,
  memberOf,
  membersWhere,
  parseExactObject,
  printExactJson,
} from '../../base/json/json.js';
import { isSameJson } from '../../base/model/compare-json.js';
import { keysOf } from '../../base/model/keys-of.js';
import { accessOf, type EffectiveAccess, type RecordsOfScope } from '../access/access.js';
import type { Transaction } from '../database/queryable.js';
import {
  JUDGED_COLUMNS,
  type JudgedRow,
  STORED_COLUMNS,
  type StoredRow,
  storedColumns,
} from '../reading/stored-record.js';
import { liveRecordsById, liveRecordsIn } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { atomically, refusedByIndex } from './atomically.js';
import {
  assertJudgeable,
  findCheckFaults,
  type SecretFields,
  secretFieldsOf,
  without,
} from './check-faults.js';
import { withFormerStay } from './former-stay.js';
import type { RecordEnvironment } from './record-environment.js';
import { outOfRows } from './record-refusals.js';
import {
  announcement,
  audit,
  buryRecords,
  derivedOf,
  IN_INPUT,
  type NewRecord,
  REPLACED_RECORDS,
  WRITTEN,
  type WriteContext,
} from './record-statements.js';
import {
  assertUnreferenced,
  findGone,
  type Renamed,
  type RenameRequest,
  renamedIn,
  usersOf,
  usesOf,
} from './referring-records.js';
import { uniqueFieldsOf } from './unique-key.js';
import { assertNoFaults, type StoredChange, toStored } from './validation.js';
import { askBefore } from './write-triggers.js';

export interface ChangeRequest extends RecordsOfScope {
  /** The rights of the caller to change records. */
  readonly writable: EffectiveAccess;
  readonly now: Date;
  readonly rows: readonly LockedRow[];
  /** The ids of the records that the same write is about to create in the collection. */
  readonly made?: ReadonlySet<string> | undefined;
  /** Computes the changed record. */
  readonly change: (before: JsonObject, row: LockedRow) => JsonObject;
  /** The top-level fields that the caller sent for a record. */
  readonly sentFields: (row: LockedRow) => readonly string[];
  /** @see RenameOptions.renameEverywhere */
  readonly renameEverywhere?: boolean | undefined;
  /** The fields whose values the caller may not learn. Default: those that are hidden from it. */
  readonly secret?: SecretFields;
  /** A single record: faults do not name it. */
  readonly isAlone?: boolean;
  /** Takes what changed, for a caller who settles renames after further writes. */
  readonly renamed?: Renamed[];
}

const BATCH_RECORDS = 500;

/**
 * Changes locked records and returns those that differ afterwards, by id. A record that stays the same is not
 * written: no version, no audit entry. A field that is sent but hidden from the caller counts as changed, so
 * that its equality is not disclosed.
 *
 * @throws INVALID_VALUE naming the record; FORBIDDEN for one that would leave the caller's rows;
 *   RefusedByIndex
 */
export async function changeRecords(
  environment: RecordEnvironment,
  transaction: Transaction,
  request: ChangeRequest,
): Promise<ReadonlyMap<string, StoredRow>> {
  const written = new Map<string, StoredRow>();
  for await (const finished of planChanges(environment, transaction, request)) {
    for (const row of await writeChanges(environment, transaction, { ...request, finished }))
      written.set(row.id, row);
  }
  return written;
}

/**
 * Checks the changes of locked records, and yields those that differ, a batch at a time. A fault ends it,
 * unless `onFault` collects faults: then the record is left out.
 *
 * @throws INVALID_VALUE naming the record
 */
export async function* planChanges(
  environment: RecordEnvironment,
  transaction: Transaction,
  request: ChangeRequest,
  onFault?: (row: LockedRow, fault: ServiceError) => void,
): AsyncGenerator<readonly FinishedChange[], void> {
  const { secret = secretFieldsOf(request.scope, request.collection), isAlone = false } = request;
  const update = { ...request, operation: 'update' } as const;
  const change = await askTriggers(environment, transaction, update, onFault);
  const unlessAtFault = <T>(row: LockedRow, work: () => T): T[] => {
    if (onFault === undefined) return [isAlone ? work() : naming(row, work)];
    try {
      return [work()];
    } catch (fault) {
      if (!(fault instanceof ServiceError)) throw fault;
      onFault(row, fault);
      return [];
    }
  };
  for (let start = 0; start < request.rows.length; start += BATCH_RECORDS) {
    const planned = request.rows
      .slice(start, start + BATCH_RECORDS)
      .flatMap((row) => unlessAtFault(row, () => plan(row, { ...request, change, secret })).flat());
    if (planned.length === 0) continue;
    const { scope, collection, made } = request;
    const records = planned.map(({ before, change }) => {
      const { data: changes, unlabelled } = change;
      return { data: applied(before, change), changes, before, unlabelled };
    });
    const settled = { scope, collection, records, made };
    const faults = await environment.settleTargets(transaction, settled);
    const finished = planned.flatMap((one, index) =>
      unlessAtFault(one.row, () => {
        assertNoFaults(faults[index] ?? []);
        return finish(one, { ...request, secret });
      }),
    );
    // With its labels filled in, a single record may be unchanged.
    const isChanged = planned.some(({ before, change }) => changedBy(before, change, secret).size > 0);
    if (isChanged || !isAlone) yield finished;
  }
}

/**
 * Runs the `before` triggers of every record that will change or be removed, and returns the change with
 * their modifications. A refusal ends it, unless refusals are collected: then the writes of that record's
 * triggers are rolled back, and the record stays as it was.
 */
async function askTriggers(
  environment: RecordEnvironment,
  transaction: Transaction,
  request: Pick<ChangeRequest, 'scope' | 'collection' | 'rows' | 'change' | 'isAlone'> & {
    readonly operation: 'update' | 'delete';
  },
  onFault?: (row: LockedRow, fault: ServiceError) => void,
): Promise<ChangeRequest['change']> {
  const { scope, collection, operation, rows, change } = request;
  if (environment.triggers.before(scope.domain.id, collection.name, operation).length === 0) return change;
  const recordsById = new Map<string, JsonObject>();
  for (const row of rows) {
    const { id } = row;
    const previous = parseExactObject(row.data);
    const record = request.isAlone ? change(previous, row) : naming(row, () => change(previous, row));
    if (operation === 'update' && isSameJson(previous, record)) continue;
    const pending = { scope, collection, operation, id, record, previous };
    const ask = async (within: Transaction) =>
      recordsById.set(id, await askBefore(environment.triggers, pending, within));
    if (onFault === undefined) {
      await ask(transaction);
      continue;
    }
    try {
      await atomically(environment, scope, { within: transaction, writes: [] }, ask);
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault;
      onFault(row, fault);
    }
  }
  return (before, { id }) => recordsById.get(id) ?? before;
}

/**
 * Asks the `before` triggers about the removal of locked records, turns them into tombstones, and returns
 * their last state. `force` is that of `RemovedRecords`; `later`: the caller asserts that the records were
 * unreferenced after further writes.
 *
 * @throws as `assertUnreferenced` does
 */
export async function removeLocked(
  environment: RecordEnvironment,
  transaction: Transaction,
  {
    scope,
    collection,
    rows,
    force,
  }: Pick<ChangeRequest, 'scope' | 'collection' | 'rows'> & { readonly force: boolean | undefined | 'later' },
): Promise<readonly StoredRow[]> {
  const change = (before: JsonObject) => before;
  await askTriggers(environment, transaction, { scope, collection, rows, operation: 'delete', change });
  const ids = rows.map(({ id }) => id);
  const context = environment.writeContext(scope, collection, environment.now());
  const removed = await environment.write<StoredRow>(context, {
    ...{ within: transaction, operation: 'delete' as const, columns: STORED_COLUMNS },
    statement: (placed) => buryRecords(placed, sql`= any(${ids}::text[])`, sql.empty),
  });
  if (force !== 'later')
    await assertUnreferenced(environment, transaction, { scope, collection, ids, force });
  return removed;
}

interface Planned {
  readonly row: LockedRow;
  readonly before: JsonObject;
  /** The top-level members that differ. */
  readonly change: StoredChange;
}

/** A checked change, ready to be written. */
export interface FinishedChange {
  readonly change: MatchedChange;
  /** The whole record before and after the change. */
  readonly before: JsonObject;
  readonly data: JsonObject;
}

function plan(row: LockedRow, request: ChangeRequest & { readonly secret: SecretFields }): Planned[] {
  const { scope, collection, now, change, sentFields, secret } = request;
  const before = parseExactObject(row.data);
  const after = change(before, row);
  const { _id: id, ...others } = after;
  if (id !== undefined && id !== row.id) {
    const detail = 'the _id of a record never changes';
    throw invalidAt(detail, { pointer: '/_id', expected: row.id });
  }
  const untold = sentFields(row).filter((name) => secret.has(name));
  const names = new Set([...Object.keys(before), ...Object.keys(others), ...untold]);
  const differing = [...names].filter(
    (name) => untold.includes(name) || !isSameJson(memberOf(before, name), memberOf(others, name)),
  );
  if (differing.length === 0) return [];
  // A text that follows from a reference is empty until it is filled in.
  const open = differing.filter(
    (name) => others[name] === '' && collection.fieldsByName.get(name)?.filledFrom !== undefined,
  );
  const judged = differing.filter((name) => !open.includes(name));
  const sent = Object.fromEntries(judged.map((name) => [name, memberOf(others, name) ?? null]));
  // Whether the record has a hidden value already is not disclosed.
  const isSecret = differing.some((name) => secret.has(name));
  const shown = isSecret ? membersWhere(before, (name) => !secret.has(name)) : before;
  const stored = toStored(collection, sent, { ...scope.domain, now, mode: 'merge', before: shown });
  // In a merge null means "remove"; these fields exist and must be stored as null.
  const nulls = stored.removed.filter((name) => Object.hasOwn(others, name));
  const made = {
    data: {
      ...stored.data,
      ...Object.fromEntries(nulls.map((name) => [name, null])),
      ...Object.fromEntries(open.map((name) => [name, ''])),
    },
    removed: stored.removed.filter((name) => !nulls.includes(name)),
    unlabelled: stored.unlabelled,
    isOpen: open.length > 0,
  };
  const planned = withFormerStay(collection, made, { before, after: applied(before, made) });
  const changed = changedBy(before, planned, secret);
  assertJudgeable(collection, { verb: 'update', differing: changed, secret: without(secret, changed) });
  return [{ row, before, change: planned }];
}

/** The fields that a change makes different, and the secret ones that it sets. */
function changedBy(before: JsonObject, change: StoredChange, secret: SecretFields): ReadonlySet<string> {
  const names = [...Object.keys(change.data), ...change.removed];
  return new Set(
    names.filter(
      (name) => secret.has(name) || !isSameJson(memberOf(before, name), memberOf(change.data, name)),
    ),
  );
}

function applied(before: JsonObject, { data, removed }: Pick<StoredChange, 'data' | 'removed'>): JsonObject {
  return { ...membersWhere(before, (name) => !removed.includes(name)), ...data };
}

/** Checks over several fields need the whole record, with its labels filled. */
function finish(
  { row, before, change }: Planned,
  { scope, collection, secret }: ChangeRequest & { readonly secret: SecretFields },
): FinishedChange {
  const data = applied(before, change);
  const changed = changedBy(before, change, secret);
  const context = { ...scope.domain, pointer: '', secret: without(secret, changed), changed };
  assertNoFaults(findCheckFaults(collection, data, context));
  // A record from before a rule may be without its key, as another record has it: other changes leave it so.
  const isRekeyed = [...uniqueFieldsOf(collection)].some((name) => changed.has(name));
  const keys = isRekeyed ? keysOf(collection, data, scope.domain.timeZone) : undefined;
  return { change: { id: row.id, set: change.data, removed: change.removed, isRekeyed, keys }, before, data };
}

/**
 * Writes records whose rows are locked. `change` compiles the CTEs of the statement, `written` among them.
 *
 * @throws FORBIDDEN for a record that would leave the rows of `access`; RefusedByIndex
 */
export async function writeLocked(
  environment: RecordEnvironment,
  transaction: Transaction,
  write: RecordsOfScope & {
    readonly now: Date;
    readonly access: EffectiveAccess;
    readonly records: readonly NewRecord[];
    readonly operation: 'create' | 'update';
  },
  change: (context: WriteContext) => Sql,
): Promise<readonly StoredRow[]> {
  const { scope, collection, now, access, records, operation } = write;
  const isInRows = environment.isIn(scope, collection, access);
  const context = environment.writeContext(scope, collection, now);
  const rows = await refusedByIndex(environment, { scope, collection, records, verb: 'update' }, () =>
    environment.write<JudgedRow>(context, {
      ...{ within: transaction, operation, columns: JUDGED_COLUMNS },
      statement: (placed) => sql`
${change(placed)}
select ${storedColumns(placed.projection)}, ${isInRows} as is_in_rows${announcement(placed, operation)}
from written r`,
    }),
  );
  if (rows.some((row) => !row.is_in_rows)) throw outOfRows(collection, operation);
  if (rows.length !== records.length) throw new Error('a locked record was not there to be written');
  return rows;
}

/** Writes changes of locked records, and settles renames. @throws as `writeLocked` and `settleRenames` do */
export async function writeChanges(
  environment: RecordEnvironment,
  transaction: Transaction,
  request: Omit<ChangeRequest, 'rows' | 'change' | 'sentFields'> & {
    readonly finished: readonly FinishedChange[];
  },
): Promise<readonly StoredRow[]> {
  const { scope, collection, writable: access, now, finished } = request;
  const changes = finished.map(({ change }) => change);
  const records = finished.map(({ change, data }) => ({ id: change.id, data, keys: change.keys }));
  const write = { scope, collection, now, access, records, operation: 'update' } as const;
  const rows = await writeLocked(environment, transaction, write, (placed) => updateRecords(placed, changes));
  const changed = finished.map(({ before, data: after }) => ({ before, after }));
  if (request.renamed === undefined)
    await settleRenames(environment, transaction, { ...request, changes: changed });
  else request.renamed.push(...changed);
  return rows;
}

/**
 * Settles what other records make of names that changes of a collection have taken away, in the transaction
 * of the changes.
 *
 * @throws CONFLICT with the number of records that use such a name, by collection; FORBIDDEN for
 *   `renameEverywhere`, unless the caller is an admin; LIMIT_EXCEEDED
 */
export async function settleRenames(
  environment: RecordEnvironment,
  transaction: Transaction,
  request: RenameRequest,
): Promise<void> {
  const gone = await findGone(environment, transaction, request);
  if (request.renameEverywhere !== true) return;
  let count = 0;
  for (const [user, ofUser] of usersOf(gone)) {
    for (let found = BATCH_RECORDS; found === BATCH_RECORDS; count += found) {
      if (count > MOST_RENAMED) {
        const detail = `more than ${MOST_RENAMED} records use the name, more than are renamed at once`;
        throw new ServiceError('LIMIT_EXCEEDED', detail);
      }
      const { scope } = request;
      const users = { scope, collection: user };
      const selected = { conditions: [usesOf(ofUser)], orderBy: sql`r.id`, limit: BATCH_RECORDS };
      const rows = await lockRecords(environment, transaction, users, selected);
      found = rows.length;
      await changeRecords(environment, transaction, {
        ...{ ...users, now: environment.now(), rows, sentFields: () => [] },
        // An admin renames in every record, as in receipts, which nobody may change otherwise.
        writable: { ...accessOf(scope, user, 'read'), rows: undefined },
        change: (before) => renamedIn(before, ofUser),
      });
    }
  }
}

const MOST_RENAMED = 100_000;

/** Adds the id of the record to a fault. */
function naming<T>(row: LockedRow, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause;
    const { code, message, errors } = cause;
    throw new ServiceError(code, `record "${row.id}": ${message}`, { cause, ...(errors && { errors }) });
  }
}

export interface Selected {
  /** Conditions over `r` beside domain, collection and "not removed". */
  readonly conditions: readonly Sql[];
  readonly orderBy: Sql;
  readonly limit: number;
  /** A query of the ids of the records, if they are known. */
  readonly ids?: Sql | undefined;
}

/** A row of `lockRecords`. */
export interface LockedRow {
  readonly id: string;
  readonly version: number;
  readonly data: string;
}

/**
 * Locks the records in their order and returns their current state; a record changed concurrently is tested
 * again.
 */
export async function lockRecords(
  environment: RecordEnvironment,
  transaction: Transaction,
  { scope, collection }: RecordsOfScope,
  selected: Selected,
): Promise<(LockedRow & StoredRow)[]> {
  const context = environment.writeContext(scope, collection, environment.now());
  const statement = sql`
select ${storedColumns(context.projection)}, r.data::text as data
from records r
where ${whereOf(context, selected)}
order by ${selected.orderBy}
limit ${selected.limit}
for update of r`;
  return await environment.run(transaction, statement, scope.call);
}

/** How many records match, up to the limit. */
export function countRecords(context: WriteContext, selected: Selected): Sql {
  return sql`
select count(*)::int as count
from (select 1 from records r where ${whereOf(context, selected)} limit ${selected.limit}) as matching`;
}

/** The change of a locked record: top-level members set and removed, and its keys. */
interface MatchedChange {
  readonly id: string;
  readonly set: JsonObject;
  readonly removed: readonly string[];
  readonly isRekeyed: boolean;
  /** Its keys, if they are set anew. */
  readonly keys: JsonObject | undefined;
}

/** The CTEs that change the records; `written` has them. */
function updateRecords(context: WriteContext, changes: readonly MatchedChange[]): Sql {
  const { scope, collection, now } = context;
  const input: JsonValue = changes.map(({ id, set, removed, isRekeyed, keys }) => ({
    id,
    set,
    removed,
    ...(isRekeyed && { keys: keys ?? null }),
  }));
  const derived = derivedOf(context, { was: REPLACED_RECORDS, is: WRITTEN });
  return sql`with ${derived.first}input as (
  select e->>'id' as id, e->'set' as set, array(select jsonb_array_elements_text(e->'removed')) as removed,
    array(select jsonb_object_keys(e->'set')) as names,
    e ? 'keys' as is_rekeyed, nullif(e->'keys', 'null') as keys
  from jsonb_array_elements(${printExactJson(input)}::jsonb) as e
),
written as (
  update records r
  set data = (r.data - i.removed) || i.set,
    keys = case when i.is_rekeyed then i.keys else r.keys end,
    version = r.version + 1,
    updated_at = ${now.toISOString()}::timestamptz
  from input i ${derived.join} cross join records o
  where ${liveRecordsById(scope.domain.id, collection.name, IN_INPUT)} and r.id = i.id
    and ${liveRecordsById(scope.domain.id, collection.name, IN_INPUT, 'o')} and o.id = i.id
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at, o.data as was, o.keys as was_keys,
    i.removed || i.names as changed
),
${audit(context, 'updated', { before: sql`reverse_delta(w.was, w.data, w.changed)` })}${derived.last}`;
}

/**
 * The domain is hidden from the planner, which otherwise, when the statistics do not contain it, expects one
 * record in each index and may read all records of the domain through any of them.
 */
function whereOf({ scope, collection, isRouted }: WriteContext, { conditions, ids }: Selected): Sql {
  const { id: domain } = scope.domain;
  const live =
    ids === undefined
      ? liveRecordsIn(isRouted ? domain : sql`(select ${domain}::text)`, collection.name)
      : liveRecordsById(domain, collection.name, sql`= any(array(${ids}))`);
  return sql.join([live, ...conditions.map((condition) => sql`(${condition})`)], ' and ');
}
