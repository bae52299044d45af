/** Shared parts of writing a batch from its staging table, `import_staged`. */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import {
  type JsonObject,
  type JsonValue,
  memberOf,
  parseExactObject,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { type EffectiveAccess, mayManageAccounts } from '../access/access.js';
import type { Database } from '../database/database.js';
import type { OwnTransaction, Transaction } from '../database/queryable.js';
import type { RecordsPlace } from '../database/shards/shard-statements.js';
import { compileFilter } from '../sql/compile-filter.js';
import { liveRecordsById, recordsOf } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { atomically } from './atomically.js';
import { bringBack, bringBackInput } from './bring-back.js';
import { type FinishedChange, type LockedRow, planChanges, writeChanges } from './change-records.js';
import { assertCompletable, secretFieldsOf } from './check-faults.js';
import { COPY_STAGED, listStagedCells } from './check-record.js';
import type { RecordEnvironment } from './record-environment.js';
import { RecordInserts } from './record-inserts.js';
import { outOfRows, overtaken } from './record-refusals.js';
import { announcement, inputOf, insertInput } from './record-statements.js';
import { describeTaken, findTakenAmong, findTakenInStore, type TakenValue } from './unique-conflicts.js';
import { type UniqueKey, uniqueFieldsOf } from './unique-key.js';

export interface StagedBatch {
  readonly key: UniqueKey;
  /** The lines printed by `printStagedLine`. */
  readonly lines: Uint8Array;
  readonly count: number;
  /** The top-level fields that occur in any of the records. */
  readonly fields: readonly string[];
  /** `try`: the caller rolls the write back, so nothing is announced, and the old values are reported. */
  readonly mode: 'write' | 'try';
  readonly now: Date;
}

export interface StagedUpdate {
  readonly number: number;
  readonly id: string;
  /** The top-level fields that differ. */
  readonly fields: readonly string[];
  /** The old and the new value of each, in a trial; of fields that the caller may not read, neither. */
  readonly changes?: readonly StagedFieldChange[];
}

export interface StagedFieldChange {
  readonly field: string;
  /** `undefined`: the record had no value, or the caller may not read it. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

export interface StagedRefusal {
  readonly number: number;
  readonly errors: readonly ErrorDetail[];
}

/** A batch in progress, with the rights of its caller. */
export interface StagedWork {
  readonly environment: RecordEnvironment;
  readonly transaction: OwnTransaction;
  /** The place of the staging table, within the transaction. */
  readonly place: StagingPlace;
  readonly scope: Scope;
  readonly collection: Collection;
  readonly batch: StagedBatch;
  readonly readable: EffectiveAccess;
  readonly creatable: EffectiveAccess;
  readonly writable: EffectiveAccess;
}

/** The conditions over `r` for the existing records that rows may update, and may not. */
export function reachOf({ environment, scope, collection, readable, writable }: StagedWork): readonly Sql[] {
  return environment.reachOf(scope, collection, [readable, writable]);
}

/** The record `r` after applying the staged row `s`. */
export const BECAME = sql`case
        when s.members is null and s.removed = '{}' then r.data || (s.data - s.withheld)
        when s.members is null then (r.data - s.removed) || (s.data - s.withheld)
        else with_members((r.data - s.removed) || (s.data - s.withheld), s.members)
      end`;

/** Rows of `inputOf` as records, for a condition over `r`. */
function asRecords(scope: Scope, collection: Collection, input: Sql): Sql {
  return sql`
    select ${scope.domain.id}::text as domain, ${nameLiteral(collection.name)}::text as collection,
      i.id, i.data, i.position, null::timestamptz as deleted_at
    from (${input}) as i`;
}

/** Deletes rows from the staging table that are finished. */
export async function forgetStaged(place: StagingPlace, numbers: readonly number[]): Promise<void> {
  await place.run(sql`
    delete from import_staged where number = any(${[...numbers]}::bigint[])`);
}

function errorsOfFault(fault: ServiceError): readonly ErrorDetail[] {
  return fault.errors ?? [{ detail: fault.message }];
}

export interface StagingPlace extends RecordsPlace {
  /** Fills the staging table with the lines that `printStagedLine` printed. */
  load(lines: Uint8Array): Promise<void>;
}

export function stagingPlaceOf(
  { shards }: Pick<Database, 'shards'>,
  transaction: OwnTransaction,
  domain: string,
): StagingPlace {
  const place = recordsPlaceOf({ shards }, transaction, domain);
  const load = (lines: Uint8Array) =>
    shards === undefined ? transaction.copyIn(COPY_STAGED, lines) : place.run(insertStaged(lines));
  return { ...place, load };
}

/** The server that has the records of a domain, within a transaction. */
export function recordsPlaceOf(
  { shards }: Pick<Database, 'shards'>,
  transaction: Transaction,
  domain: string,
): RecordsPlace {
  if (shards !== undefined) return shards.session(transaction, domain);
  return {
    query: (sql) => transaction.query(sql),
    run: async (sql) => {
      await transaction.query(sql);
    },
    tableName: async (table) => table,
  };
}

function insertStaged(lines: Uint8Array): Sql {
  const rows = printExactJson(listStagedCells(lines) as JsonValue);
  return sql`
    insert into import_staged (number, id, is_id_sent, data, withheld, removed, members, keys, missing)
    select (s->>0)::bigint, s->>1, (s->>2)::boolean, (s->>3)::jsonb, (s->>4)::text[], (s->>5)::text[],
      (s->>6)::jsonb, (s->>7)::jsonb, (s->>8)::jsonb
    from json_array_elements(${rows}::json) as s`;
}

/** Creates the records of the remaining rows, and appends refusals to `refused`. */
export async function createStaged(work: StagedWork, refused: StagedRefusal[]): Promise<NewRow[]> {
  const { environment, place, scope, collection, batch, creatable } = work;
  const { errorsByNumber, removed } = await findCreateFaults(work);
  for (const [number, errors] of errorsByNumber) refused.push({ number, errors });
  if (errorsByNumber.size > 0) await forgetStaged(place, [...errorsByNumber.keys()]);
  if (removed.length > 0) {
    await place.run(sql`
      update import_staged set state = 'removed' where number = any(${removed}::bigint[])`);
  }
  assertCompletable(
    [Object.fromEntries(batch.fields.map((field) => [field, null]))],
    collection,
    creatable.hiddenFields,
  );
  const { triggers } = environment;
  if (triggers.before(scope.domain.id, collection.name, 'create').length > 0) {
    return await createAsking(work, refused);
  }
  if (removed.length > 0) await bringBackRemoved(work);
  const input = sql`
    select id, data, keys, number as position from import_staged where state is null`;
  const context = environment.placed(environment.writeContext(scope, collection, batch.now));
  await place.query(sql`
    ${insertInput(context, { input, refusal: sql.empty, count: batch.count })}
    select count(*)
    -- Announces each record, which counting alone would not do: a volatile function is not optimized away.
    from (select r.id ${announcement(context, 'create')} from written r) as announced`);
  return await place.query<NewRow>(sql`
    select number::float8 as number, id from import_staged where ${IS_NEW}`);
}

/** Writes rows over the tombstones of their records. @throws CONFLICT if one was purged, or is live again */
async function bringBackRemoved({ environment, place, scope, collection, batch }: StagedWork): Promise<void> {
  const context = environment.placed(environment.writeContext(scope, collection, batch.now));
  const input = sql`select id, data, keys from import_staged where state = 'removed'`;
  const rows = await place.query<{ id: string }>(sql`
    ${bringBackInput(context, input)}
    select r.id ${announcement(context, 'create')} from written r`);
  const back = new Set(rows.map(({ id }) => id));
  const removed = await place.query<{ id: string }>(input);
  const left = removed.find(({ id }) => !back.has(id));
  if (left !== undefined) throw overtaken(collection, left.id);
}

/** Creates records with `before` scripts, one after the other. */
async function createAsking(work: StagedWork, refused: StagedRefusal[]): Promise<NewRow[]> {
  const { environment, transaction, place, scope, collection } = work;
  const rows = await place.query<NewRow & { readonly data: string; readonly is_removed: boolean }>(sql`
    select number::float8 as number, id, data::text as data, state is not null as is_removed
    from import_staged
    where ${IS_NEW}
    order by number`);
  const made: NewRow[] = [];
  for (const { number, id, data: text, is_removed: isRemoved } of rows) {
    try {
      const data = parseExactObject(text);
      const atomic = { within: transaction, writes: [collection.name] };
      await atomically(environment, scope, atomic, async (within) => {
        if (isRemoved) {
          const back = { scope, collection, now: work.batch.now, records: [{ id, data }] };
          await bringBack(environment, within, back);
        } else {
          await new RecordInserts(environment).create(scope, collection.name, [{ ...data, _id: id }], {
            within,
          });
        }
      });
      made.push({ number, id });
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault;
      refused.push({ number, errors: errorsOfFault(fault) });
    }
  }
  return made;
}

/** Why rows cannot become new records, by row number, and which of them were records before. */
async function findCreateFaults(work: StagedWork): Promise<{
  readonly errorsByNumber: ReadonlyMap<number, readonly ErrorDetail[]>;
  readonly removed: readonly number[];
}> {
  const { environment, place, scope, collection, creatable } = work;
  const errorsByNumber = new Map<number, ErrorDetail[]>();
  const add = (number: number, errors: readonly ErrorDetail[]) => {
    errorsByNumber.set(number, [...(errorsByNumber.get(number) ?? []), ...errors]);
  };
  const lacking = await place.query<{ number: number; missing: ErrorDetail[] }>(sql`
    select number::float8 as number, missing
    from import_staged
    where state is null and missing is not null`);
  for (const { number, missing } of lacking) add(number, missing);
  const input = sql`
    select number as position, id, data, keys from import_staged where state is null`;
  const { key } = work.batch;
  // All live records were searched by the key, so none has it.
  const untaken = key.kind === 'rule' && reachOf(work).length === 0 ? key.name : undefined;
  const created = { scope, collection, input, verb: 'create', untaken } as const;
  const taken = await findTakenInStore(place, created);
  const removed = taken.length === 0 ? [] : await addTaken(work, taken, add);
  if (creatable.rows !== undefined) {
    const rows = compileFilter(creatable.rows, environment.compileContext(scope, collection));
    const outside = await place.query<{ number: number }>(sql`
      select r.position::float8 as number
      from (${asRecords(scope, collection, input)}) as r
      where (${rows}) is not true`);
    for (const { number } of outside) add(number, errorsOfFault(outOfRows(collection, 'create')));
  }
  return { errorsByNumber, removed };
}

/**
 * A row whose `_id` belongs to a removed record restores that record, and reports it. If a generated `_id` is
 * taken, another is generated.
 */
async function addTaken(
  work: StagedWork,
  taken: readonly TakenValue[],
  add: (number: number, errors: readonly ErrorDetail[]) => void,
): Promise<readonly number[]> {
  const { place, scope, collection } = work;
  const numbers = taken.map(({ index }) => index + 1);
  const rows = await place.query<{
    number: number;
    id: string;
    is_id_sent: boolean;
    data: string;
    keys: string | null;
  }>(sql`
    select number::float8 as number, id, is_id_sent, data::text as data, keys::text as keys
    from import_staged
    where number = any(${numbers}::bigint[])`);
  const rowsByNumber = new Map(rows.map((row) => [row.number, row]));
  const tombstones = await findTombstones(
    work,
    rows.map(({ id }) => id),
  );
  const renamed: number[] = [];
  const removed: number[] = [];
  const secret = secretFieldsOf(scope, collection);
  for (const { index, key } of taken) {
    const row = rowsByNumber.get(index + 1);
    if (row === undefined) continue;
    if (key.kind === 'id' && tombstones.has(row.id)) {
      removed.push(row.number);
      continue;
    }
    if (key.kind === 'id' && !row.is_id_sent) {
      renamed.push(row.number);
      continue;
    }
    const keys = row.keys === null ? undefined : parseExactObject(row.keys);
    const record = { id: row.id, data: parseExactObject(row.data), keys };
    add(row.number, [describeTaken({ key, record, pointer: '' }, { collection, secret })]);
  }
  if (renamed.length > 0) {
    await place.run(sql`
      update import_staged set id = gen_random_uuid()::text where number = any(${renamed}::bigint[])`);
  }
  return removed;
}

/**
 * The ids of removed, not yet purged records whose last state the caller may read. An account with its
 * password and keys comes back only for those who may change accounts.
 */
async function findTombstones(
  { environment, place, scope, collection, readable }: StagedWork,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (collection.fields.some(({ isRight }) => isRight) && !mayManageAccounts(scope)) return new Set();
  const rows = environment.rowsOf(scope, collection, readable);
  const found = await place.query<{ id: string }>(sql`
    select r.id
    from records r
    where ${recordsOf(scope, collection)} and r.id = any(${ids}::text[]) and r.deleted_at is not null
      ${rows === undefined ? sql.empty : sql`and (${rows})`}`);
  return new Set(found.map(({ id }) => id));
}

interface NewRow {
  readonly number: number;
  readonly id: string;
}

/** The staged row becomes a live record: a new one, or a removed one restored. */
const IS_NEW = sql`(state is null or state = 'removed')`;

/** Changes the records of the rows that differ; what is refused is added to `refused`. */
export async function updateStaged(work: StagedWork, refused: StagedRefusal[]): Promise<StagedUpdate[]> {
  const { environment, transaction, place, scope, collection, batch, writable } = work;
  const rows = await place.query<DifferingRow>(sql`
    select s.number, r.id, r.version, r.data::text as data, ${BECAME}::text as became,
      array(select jsonb_object_keys((s.data - s.withheld) || coalesce(s.members, '{}')))
        || s.removed as fields
    from import_staged s
    join records r on ${liveRecordsById(scope.domain.id, collection.name, sql`= s.id`)}
    where s.state = 'differs'
    order by r.id
    for update of r`);
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const refuse = ({ id }: Pick<LockedRow, 'id'>, fault: ServiceError) =>
    refused.push({ number: Number(rowsById.get(id)?.number), errors: errorsOfFault(fault) });
  const secret = secretFieldsOf(scope, collection);
  const request = {
    ...{ scope, collection, writable, now: batch.now },
    rows,
    change: (_before: JsonObject, { id }: Pick<LockedRow, 'id'>) =>
      parseExactObject(rowsById.get(id)?.became ?? '{}'),
    sentFields: ({ id }: Pick<LockedRow, 'id'>) => rowsById.get(id)?.fields ?? [],
  };
  const updated: StagedUpdate[] = [];
  for await (const planned of planChanges(environment, transaction, request, refuse)) {
    const finished = await withoutTaken(work, planned, refuse);
    const kept = await withoutMoved(work, finished, refuse);
    if (kept.length > 0) {
      await writeChanges(environment, transaction, { ...request, finished: kept });
    }
    for (const { change, before } of kept) {
      const { id, set, removed } = change;
      const fields = [...Object.keys(set), ...removed];
      const changes = fields
        .filter((field) => !secret.has(field))
        .map((field) => ({ field, before: memberOf(before, field), after: memberOf(set, field) }));
      const number = Number(rowsById.get(id)?.number);
      updated.push({ number, id, fields, ...(batch.mode === 'try' && { changes }) });
    }
  }
  return updated;
}

/** Refuses changes to what another record has of what is to be unique. */
async function withoutTaken(
  { place, scope, collection }: StagedWork,
  finished: readonly FinishedChange[],
  refuse: (row: { readonly id: string }, fault: ServiceError) => void,
): Promise<readonly FinishedChange[]> {
  const fields = uniqueFieldsOf(collection);
  const changing = finished.filter(({ change }) =>
    [...Object.keys(change.set), ...change.removed].some((field) => fields.has(field)),
  );
  if (changing.length === 0) return finished;
  const records = changing.map(({ change: { id, keys }, data }) => ({ id, data, keys }));
  const input = inputOf(records);
  const taken = [
    ...findTakenAmong(collection, records),
    ...(await findTakenInStore(place, { scope, collection, input, verb: 'update' })),
  ];
  const ids = new Set<string>();
  for (const { index, key } of taken) {
    const record = records[index];
    if (record === undefined || ids.has(record.id)) continue;
    ids.add(record.id);
    const secret = secretFieldsOf(scope, collection);
    const error = describeTaken({ key, record, pointer: '' }, { collection, secret });
    refuse(record, new ServiceError('CONFLICT', error.detail, { errors: [error] }));
  }
  return finished.filter(({ change: { id } }) => !ids.has(id));
}

/** Refuses changes that would take a record out of the rows that are the caller's to change. */
async function withoutMoved(
  { environment, place, scope, collection, writable }: StagedWork,
  finished: readonly FinishedChange[],
  refuse: (row: { readonly id: string }, fault: ServiceError) => void,
): Promise<readonly FinishedChange[]> {
  if (writable.rows === undefined || finished.length === 0) return finished;
  const records = finished.map(({ change: { id, keys }, data }) => ({ id, data, keys }));
  const rows = compileFilter(writable.rows, environment.compileContext(scope, collection));
  const moved = await place.query<{ id: string }>(sql`
    select r.id
    from (${asRecords(scope, collection, inputOf(records))}) as r
    where (${rows}) is not true`);
  const ids = new Set(moved.map(({ id }) => id));
  for (const id of ids) refuse({ id }, outOfRows(collection, 'update'));
  return finished.filter(({ change: { id } }) => !ids.has(id));
}

interface DifferingRow extends LockedRow {
  readonly number: number;
  readonly became: string;
  readonly fields: readonly string[];
}
