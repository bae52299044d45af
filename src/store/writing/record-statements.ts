/**
 * The statements that write records. Each one changes the record, adds its audit entry, announces changed
 * rights to the gateways, and returns what the caller may see, all or nothing.
 */

import { type JsonObject, type JsonValue, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { type RecordsOfScope } from '../access/access.js';
import { printStored, storedColumns } from '../reading/stored-record.js';
import { liveRecordsById, recordsOf } from '../sql/records-of.js';
import { nameLiteral, type Sql, sql } from '../sql.js';
import { type DerivedChange, type DerivedRows, derivedRows } from './derived-rows.js';
import type { ExpectedVersion } from './record-refusals.js';
import type { WriteOperation, WriteTriggers } from './write-triggers.js';

/** A record to store, checked and converted. */
export interface NewRecord {
  readonly id: string;
  readonly data: JsonObject;
  /** @see keysOf */
  readonly keys: JsonObject | undefined;
}

/** The context of writes by this caller to this collection. */
export interface WriteContext extends RecordsOfScope {
  readonly now: Date;
  /** A text over `r`: what the caller sees of the record. */
  readonly projection: Sql;
  /** A jsonb expression over `r`: the same without `_id`; `undefined` if the caller sees no fields. */
  readonly fields: Sql | undefined;
  readonly triggers: Pick<WriteTriggers, 'after' | 'begin'>;
  /** @see Database.announcesByOutbox */
  readonly isToOutbox: boolean;
  /** Whether Citus plans the statements that `write` does not run, for which it needs the domain. */
  readonly isRouted: boolean;
  /**
   * It runs on the server of the domain directly, where the part of the audit trail does not generate ids.
   */
  readonly isShardLocal?: boolean;
}

/** The collection whose records are the users. */
export const USER_COLLECTION = 'pltf_user';
/** The channel that announces changed rights: `{"domain", "user"}`, without `user` for the whole domain. */
export const PRINCIPALS_CHANNEL = 'campus_principals';
/** The channel by which a transaction announces new work in the outbox. */
export const OUTBOX_CHANNEL = 'campus_outbox';

/** The first three are reasons against storing new records, which the statement checks itself. */
interface InsertOptions {
  /** The records that the caller may create, as a condition over the alias `r`; `undefined`: all. */
  readonly rows: Sql | undefined;
  /** A query with a row per dangling reference; `undefined` if there are none. */
  readonly deadReferences: Sql | undefined;
  /** A query with a row per text that another record should have; `undefined` if there are none. */
  readonly unlinked: Sql | undefined;
  readonly shown: number;
  /** The writer of each record, if they differ. */
  readonly authors?: readonly Pick<WriteContext, 'scope' | 'now'>[] | undefined;
}

/** A row of `insertRecords`. Everything else about a new record is known already. */
export interface InsertedRow {
  /** The parts that the caller may read of a record, or of all of them, one per line. */
  readonly json: string;
}

/**
 * Stores the records, all or none, and returns the first `shown`, for `printInserted`; no row if there is a
 * reason against one of them.
 */
export function insertRecords(
  context: WriteContext,
  records: readonly NewRecord[],
  { rows, deadReferences, unlinked, shown, authors }: InsertOptions,
): Sql {
  const reasons = [
    ...(rows === undefined ? [] : [sql`select 1 from input as r where (${rows}) is not true`]),
    ...(deadReferences === undefined ? [] : [deadReferences]),
    ...(unlinked === undefined ? [] : [unlinked]),
  ];
  const refusal =
    reasons.length === 0
      ? sql.empty
      : sql`where ${sql.join(
          reasons.map((reason) => sql`not exists (${reason})`),
          ' and ',
        )}`;
  return sql`
${insertInput(context, {
  refusal,
  count: records.length,
  ...(authors === undefined
    ? { input: inputOf(records) }
    : { input: inputOfAuthors(records, authors), author: AUTHOR_OF_INPUT }),
})}
${selectInserted(context, records, shown)}`;
}

/** JSON printed by PostgreSQL contains no line feed, and splitting text is faster than reading rows. */
function selectInserted(context: WriteContext, { length }: readonly NewRecord[], first: number): Sql {
  const shown = context.fields === undefined ? context.projection : sql`${context.fields}::text`;
  const notice = announcement(context, 'create');
  const inOrder = length === 1 ? sql.empty : sql`join input i on i.id = r.id order by i.position`;
  if (length === 1 || notice !== sql.empty)
    return sql`select ${shown} as json${notice} from written r ${inOrder}`;
  if (first === 0) return sql`select '' as json from written having count(*) > 0`;
  return sql`
select string_agg(page.json, e'\n') as json
from (
  select ${shown} as json from written r join input i on i.id = r.id
  where i.position <= ${first} order by i.position
) page
having count(*) > 0`;
}

/** The JSON text of each of the first records that were stored; empty if they were not. */
export function printInserted(
  context: Pick<WriteContext, 'fields'>,
  records: readonly NewRecord[],
  rows: readonly InsertedRow[],
): readonly string[] {
  if (records.length === 0) return [];
  const lines = rows.flatMap(({ json }) => json.split('\n')).slice(0, records.length);
  if (context.fields === undefined) return lines;
  return lines.map((fields, index) => printStored(records[index]?.id ?? '', fields));
}

/**
 * The beginning of a statement that stores new records and their audit entries, with the records as
 * `written`. `input` provides `id`, `data`, `keys` and `position`.
 */
export function insertInput(
  context: WriteContext,
  { input, refusal, count, author = authorOf(context) }: InsertedInput,
): Sql {
  const { scope, collection } = context;
  const derived = derivedOf(context, { is: WRITTEN });
  return sql`with ${derived.first}input as (${input}),
written as (
  insert into records (domain, collection, id, data, keys, version, created_at, updated_at)
  select ${scope.domain.id}, ${nameLiteral(collection.name)}, i.id, i.data, i.keys, 1,
    ${author.at}, ${author.at}
  from input i ${derived.join}
  ${refusal}
  ${inOrderOfLocks(collection, count)}
  returning id, data, keys, version
),
${audit(context, 'created', { before: NOTHING_BEFORE, author })}${derived.last}`;
}

interface InsertedInput {
  readonly input: Sql;
  readonly refusal: Sql;
  /** How many there are; a single one needs no order. */
  readonly count: number;
  /** Default: the caller, for all of them. */
  readonly author?: Author;
}

/** The author and time of a write, as expressions for the records and audit entries. */
interface Author {
  readonly at: Sql;
  readonly principal: Sql;
  readonly credential: Sql;
  readonly requestId: Sql;
  readonly operation: Sql;
  /** The table with the alias `i` that has them, if they are columns of the input. */
  readonly input: Sql;
}

function authorOf({ scope, now }: Pick<WriteContext, 'scope' | 'now'>): Author {
  const { principal, call } = scope;
  return {
    at: sql`${now.toISOString()}::timestamptz`,
    principal: sql`${principal.id}`,
    credential: sql`${auditedCredential(scope)}`,
    requestId: sql`${call.requestId}`,
    operation: sql`${call.operation ?? null}::text`,
    input: sql.empty,
  };
}

/** Each row of the input has its own author. */
const AUTHOR_OF_INPUT: Author = {
  at: sql`i.at`,
  principal: sql`i.principal`,
  credential: sql`i.credential`,
  requestId: sql`i.request_id`,
  operation: sql`i.operation`,
  input: sql`join input i on i.id = w.id`,
};

/** All writers of a statement share its lock waits; those that would wait longer are retried alone. */
const SHARED_LOCK_TIMEOUT_MS = '100';

function inputOfAuthors(
  records: readonly NewRecord[],
  authors: readonly Pick<WriteContext, 'scope' | 'now'>[],
): Sql {
  const scopes = authors.map(({ scope }) => scope);
  return sql`
  select n.*, a.at, a.principal, a.credential, a.request_id, a.operation
  from (select set_config('lock_timeout', ${SHARED_LOCK_TIMEOUT_MS}, true) as timeout) as waiting,
    (${inputOf(records)}) as n
    join unnest(
      ${authors.map(({ now }) => now.toISOString())}::timestamptz[],
      ${scopes.map(({ principal }) => principal.id)}::text[], ${scopes.map(auditedCredential)}::text[],
      ${scopes.map(({ call }) => call.requestId)}::text[],
      ${scopes.map(({ call }) => call.operation ?? null)}::text[]
    ) with ordinality as a (at, principal, credential, request_id, operation, place) on a.place = n.position
  where waiting.timeout is not null`;
}

/** A credential as audit entries name it. */
function auditedCredential({ principal: { credential } }: Pick<Scope, 'principal'>): string {
  return `${credential.kind}:${credential.id}`;
}

/**
 * Without an order, two statements with the same keys in opposite orders would deadlock at the index of the
 * keys. Derived rows have an order of their own.
 */
function inOrderOfLocks({ uniqueTogether }: Collection, count: number): Sql {
  if (count === 1 || uniqueTogether.length === 0) return sql.empty;
  const keys = uniqueTogether.map(({ name }) => sql`i.keys->>${nameLiteral(name)}`);
  return sql`order by ${sql.join([...keys, sql.raw('i.position')])}`;
}

interface RecordUpdate {
  readonly id: string;
  readonly ifVersion: ExpectedVersion;
  /** The record after the write, a jsonb expression over `r`. */
  readonly data: Sql;
  /** The top-level members that may differ after the write. */
  readonly changed: readonly string[];
  /** Whether the record gets a new version even if it stays the same. */
  readonly isWrittenAnyway: boolean;
  /** The records that the caller may change, a condition over `r`; `undefined`: all. */
  readonly rows: Sql | undefined;
  /** Whether the record must still be in `rows` after the write. */
  readonly staysInRows: 'checked' | 'certain';
}

/**
 * Changes a live record. If no row is returned, it stays the same (`unchangedRecord`), or `explainRefusal`
 * finds the reason. The record is locked
 * before it is changed, so that the audit entry shows exactly what was replaced.
 */
export function updateRecord(context: WriteContext, update: RecordUpdate): Sql {
  const { scope, collection, now } = context;
  const derived = derivedOf(context, { was: REPLACED_RECORDS, is: WRITTEN });
  const before = sql`reverse_delta(w.was, w.data, ${[...update.changed]}::text[])`;
  return sql`
with ${derived.first}old as (
  select r.id, r.data, r.keys, ${update.data} as next
  from records r
  where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${update.id}`)}
    ${conditionsOf(update)}
    ${
      update.rows === undefined || update.staysInRows === 'certain'
        ? sql.empty
        : sql`and
      ${staysIn(update.rows, update.data)}`
    }
  for no key update of r
),
written as (
  update records r
  set data = o.next, version = r.version + 1, updated_at = ${now.toISOString()}::timestamptz
  from old o ${derived.join}
  where ${recordsOf(scope, collection)} and r.id = o.id and r.id = ${update.id}
    ${update.isWrittenAnyway ? sql.empty : sql`and o.next is distinct from o.data`}
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at, o.data as was, o.keys as was_keys
),
${audit(context, 'updated', { before })}${derived.last}
select ${storedColumns(context.projection)}${announcement(context, 'update')}
from written r`;
}

/** The record if the update would leave it as it is, and may be made. */
export function unchangedRecord({ scope, collection, projection }: WriteContext, update: RecordUpdate): Sql {
  return sql`
    select ${storedColumns(projection)} from records r
    where ${liveRecordsById(scope.domain.id, collection.name, sql`= ${update.id}`)}
      ${conditionsOf(update)} and r.data = ${update.data}`;
}

/** Turns a live record into a tombstone. If no row is returned, `explainRefusal` finds the reason. */
export function deleteRecord(
  context: WriteContext,
  removal: Pick<RecordUpdate, 'id' | 'ifVersion' | 'rows'>,
): Sql {
  return buryRecords(context, sql`= ${removal.id}`, conditionsOf(removal));
}

/** Turns live records with ids into tombstones, and returns their last state. */
export function buryRecords(context: WriteContext, id: Sql, conditions: Sql): Sql {
  const { scope, collection, now } = context;
  const derived = derivedOf(context, { was: WRITTEN });
  return sql`
with ${derived.first}written as (
  update records r
  set version = r.version + 1,
    updated_at = ${now.toISOString()}::timestamptz,
    deleted_at = ${now.toISOString()}::timestamptz
  from (select) as one ${derived.join}
  where ${liveRecordsById(scope.domain.id, collection.name, id)} ${conditions}
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at
),
${audit(context, 'deleted', { before: NOTHING_REPLACED })}${derived.last}
select ${storedColumns(context.projection)}${announcement(context, 'delete')}
from written r`;
}

/** `r.data` with the top-level members replaced or removed. */
export function mergedData(change: { readonly data: JsonObject; readonly removed: readonly string[] }): Sql {
  const kept =
    change.removed.length === 0 ? sql.raw('r.data') : sql`(r.data - ${[...change.removed]}::text[])`;
  return sql`${kept} || ${printExactJson(change.data)}::jsonb`;
}

/** A single record as plain parameters, which Postgres plans once; several as one JSON text. */
export function inputOf(records: readonly NewRecord[]): Sql {
  const [first] = records;
  if (records.length === 1 && first !== undefined) {
    return sql`
  select ${first.id}::text as id, ${printExactJson(first.data)}::jsonb as data,
    ${first.keys === undefined ? null : printExactJson(first.keys)}::jsonb as keys, 1 as position`;
  }
  const rows: JsonValue = records.map(({ id, data, keys }) => ({ id, data, keys: keys ?? null }));
  return sql`
  select e->>'id' as id, e->'data' as data, nullif(e->'keys', 'null') as keys, position
  from jsonb_array_elements(${printExactJson(rows)}::jsonb) with ordinality as element(e, position)`;
}

function conditionsOf(write: Pick<RecordUpdate, 'ifVersion' | 'rows'>): Sql {
  const version =
    write.ifVersion === undefined ? sql.empty : sql`and r.version = any(${[write.ifVersion].flat()}::int[])`;
  const rows = write.rows === undefined ? sql.empty : sql`and (${write.rows})`;
  return sql`${version} ${rows}`;
}

/**
 * Whether the changed record satisfies a condition over `r`: within it, `r` is the changed record; in `data`,
 * `r` is still the present one.
 */
export function staysIn(rows: Sql, data: Sql): Sql {
  return sql`exists (
      select 1
      from (select r.domain as domain, r.collection as collection, r.id as id, ${data} as data) as r
      where ${rows}
    )`;
}

/**
 * Continues `r.id`, beside a join with `input`: the ids of `input`. Without it, when PostgreSQL expects few
 * records, it would read all of the collection and join them, instead of looking each up.
 */
export const IN_INPUT = sql`= any(array(select id from input))`;

/** The records of `written` after the statement. */
export const WRITTEN = sql`select id, data, keys from written`;

/** The records of `written` before the statement, if it provides them. */
export const REPLACED_RECORDS = sql`select id, was as data, was_keys as keys from written`;

/** The derived rows of a statement's change to records of the collection. */
export function derivedOf({ scope, collection }: WriteContext, change: DerivedChange): DerivedRows {
  return derivedRows(scope.domain.id, collection.name, change);
}

/** The reverse delta for a record that did not exist. */
const NOTHING_BEFORE = sql`null::jsonb`;
/** The reverse delta of a removal: the tombstone keeps the record. */
const NOTHING_REPLACED = sql`'{}'::jsonb`;

/** The reverse delta of any change in `written w`, which provides the previous record as `was`. */
export const REPLACED = sql`reverse_delta(w.was, w.data)`;

/**
 * The CTE `audited` of a statement with the changed records in `written w`; `before` is the reverse delta of
 * `w`, as the migration 0018_history describes it.
 */
export function audit(
  context: WriteContext,
  operation: 'created' | 'updated' | 'deleted' | 'brought back',
  { before, author = authorOf(context) }: { readonly before: Sql; readonly author?: Author },
): Sql {
  const { scope, collection, isShardLocal } = context;
  const [idColumn, id] =
    isShardLocal === true ? ['id, ', 'next_entry_id(), '].map(sql.raw) : [sql.empty, sql.empty];
  const fromVersion = operation === 'created' ? sql`null::int` : sql`w.version - 1`;
  const insert = sql`
  insert into audit_entries
    (${idColumn}at, domain, collection, record_id, operation, from_version, to_version, principal, credential,
      request_id, request_operation, before)
  select ${id}${author.at}, ${scope.domain.id}, ${nameLiteral(collection.name)}, w.id,
    ${nameLiteral(operation === 'brought back' ? 'created' : operation)}, ${fromVersion}, w.version,
    ${author.principal}, ${author.credential}, ${author.requestId}, ${author.operation}, ${before}
  from written w ${author.input}`;
  const { isToOutbox } = context;
  return auditedChanges(insert, { isToOutbox, following: followUps(context, OPERATIONS[operation]) });
}

const OPERATIONS = {
  created: 'create',
  'brought back': 'create',
  updated: 'update',
  deleted: 'delete',
} as const;

/**
 * The effects of a written record `r` in the same transaction: gateways are notified of changed rights, and
 * follow-ups are started. If changes are announced by the outbox, both go there.
 */
export function announcement(context: WriteContext, operation: WriteOperation): Sql {
  if (context.isToOutbox) return sql.empty;
  const { started, announced } = followUps(context, operation);
  const notice =
    announced === undefined
      ? sql.empty
      : sql`,
  pg_notify(campus_channel(${PRINCIPALS_CHANNEL}), ${announced})::text as announced`;
  if (started === undefined) return notice;
  return sql`${notice},
    ${context.triggers.begin(started)} as started`;
}

/** Whether such writes have follow-ups. */
export function isFollowed(
  context: Pick<WriteContext, 'scope' | 'collection' | 'triggers'>,
  operation: WriteOperation,
): boolean {
  const { started, announced } = followUps(context, operation);
  return started !== undefined || announced !== undefined;
}

/**
 * For a transaction whose follow-ups are in the outbox: they are started right after the commit, and changed
 * rights are reloaded without waiting for that.
 */
export function announceAtCommit({ scope, collection }: RecordsOfScope): Sql {
  const isOfRights = collection.name === USER_COLLECTION || collection.grants.length > 0;
  const domain = JSON.stringify({ domain: scope.domain.id });
  return sql`
    select pg_notify(campus_channel(${OUTBOX_CHANNEL}), '')::text,
      case when ${isOfRights} then pg_notify(campus_channel(${PRINCIPALS_CHANNEL}), ${domain})::text end`;
}

function followUps(
  { scope, collection, triggers }: Pick<WriteContext, 'scope' | 'collection' | 'triggers'>,
  operation: WriteOperation,
): FollowUps {
  return {
    started: triggers.after(scope, collection.name, operation),
    announced: rightsAnnouncement(scope, collection, operation),
  };
}

/** `ended` marks a user who may no longer log in. */
function rightsAnnouncement(
  { domain }: Scope,
  { name, grants }: Collection,
  operation: WriteOperation,
): Sql | undefined {
  if (name === USER_COLLECTION) {
    const isEnded = operation === 'delete' ? 'true' : `r.data->'active' is distinct from 'true'`;
    return sql`json_build_object('domain', ${domain.id}::text, 'user', r.id,
      'ended', ${sql.raw(isEnded)})::text`;
  }
  if (grants.length === 0) return undefined;
  return sql`json_build_object('domain', ${domain.id}::text)::text`;
}

/** The follow-ups of a written record `r`, as expressions, which the outbox stores until they are started. */
interface FollowUps {
  /** @see WriteTriggers.after */
  readonly started: Sql | undefined;
  /** The announcement of changed rights to the gateways. */
  readonly announced: Sql | undefined;
}

const NOTHING_FOLLOWS: FollowUps = { started: undefined, announced: undefined };

/**
 * The CTE `audited` of a statement. `insert` adds the entries and has no `returning`. If there are
 * follow-ups, the statement must have the records as `written`.
 */
export function auditedChanges(
  insert: Sql,
  {
    isToOutbox,
    following = NOTHING_FOLLOWS,
  }: { readonly isToOutbox: boolean; readonly following?: FollowUps },
): Sql {
  if (!isToOutbox) return sql`audited as (${insert})`;
  const { started, announced } = following;
  const isFollowed = started !== undefined || announced !== undefined;
  return sql`audited as (${insert}
  returning id, at, domain, collection, record_id, operation, to_version, principal
),
noted as (
  insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal,
    started, announced)
  select a.id, a.at, a.domain, a.collection, a.record_id, a.operation, a.to_version, a.principal,
    ${started ?? sql`null::json`}, ${announced ?? sql`null::text`}
  from audited a ${isFollowed ? sql`join written r on r.id = a.record_id` : sql.empty}
)`;
}
