/**
 * The statements that write records. Each is one statement that changes the record, adds its audit entry,
 * tells the gateways of what the change may mean for a caller's rights, and gives the record as the caller
 * may see it: all of it or nothing.
 */
import { Prisma } from '../../generated/prisma/client.js';
import { type JsonObject, type JsonValue, printExactJson } from '../../json.js';
import type { Collection } from '../../model/collection.js';
import type { Scope } from '../../model/scope.js';
import { printStored, storedColumns } from '../reading/stored-record.js';
import { liveRecordsOf, nameLiteral, recordsOf } from '../sql/records-of.js';
import { auditedChanges, type FollowUps } from './audited-changes.js';
import { type DerivedChange, type DerivedRows, derivedRows } from './derived-rows.js';
import type { WriteOperation, WriteTriggers } from './write-triggers.js';

type Sql = Prisma.Sql;

/** A record to be stored, checked and converted. */
export interface NewRecord {
  readonly id: string;
  readonly data: JsonObject;
  /** @see keysOf */
  readonly keys: JsonObject | undefined;
}

/** How a write is done in this collection by this caller. */
export interface WriteContext {
  readonly scope: Scope;
  readonly collection: Collection;
  readonly now: Date;
  /** A text over `r`: what the caller sees of the record. */
  readonly projection: Sql;
  /** A jsonb expression over `r`: the same without `_id`; `undefined`: the caller sees no fields. */
  readonly fields: Sql | undefined;
  readonly triggers: Pick<WriteTriggers, 'after' | 'begin'>;
  /** @see Database.tellsByOutbox */
  readonly isToOutbox: boolean;
  /** It is for the server of the domain alone, whose part of the audit trail gives entries no ids itself. */
  readonly isForHome?: boolean;
}

/** The collection whose records are the callers themselves. */
export const USER_COLLECTION = 'pltf_user';
/**
 * The channel on which the change of a caller's rights is announced: `{"domain", "user"}`, without `user` for
 * all of the domain.
 */
export const PRINCIPALS_CHANNEL = 'campus_principals';
/** The channel on which a transaction says that the outbox has what is to be begun. */
export const OUTBOX_CHANNEL = 'campus_outbox';

/** Why new records are not stored, asked by the statement that would store them. */
export interface ReasonsAgainst {
  /** What the caller may create, a condition over the alias `r`; `undefined`: anything. */
  readonly rows: Sql | undefined;
  /** A query with a row for each record that is pointed at and not there; `undefined`: all are. */
  readonly deadReferences: Sql | undefined;
}

/** A row of `insertRecords`. All else of a new record is known before. */
export interface InsertedRow {
  /** What the caller sees of a record, or of all of them, a line each. */
  readonly json: string;
}

/**
 * Stores the records, all or none, and gives the first `shown` of them, as `printInserted` reads them; no row
 * when there is a reason against one of them.
 */
export function insertRecords(
  context: WriteContext,
  records: readonly NewRecord[],
  { rows, deadReferences, shown }: ReasonsAgainst & { readonly shown: number },
): Sql {
  const reasons = [
    ...(rows === undefined ? [] : [Prisma.sql`select 1 from input as r where (${rows}) is not true`]),
    ...(deadReferences === undefined ? [] : [deadReferences]),
  ];
  const refusal =
    reasons.length === 0
      ? Prisma.empty
      : Prisma.sql`where ${Prisma.join(
          reasons.map((reason) => Prisma.sql`not exists (${reason})`),
          ' and ',
        )}`;
  return Prisma.sql`
${insertInput(context, { input: inputOf(records), refusal, count: records.length })}
${selectInserted(context, records, shown)}`;
}

/** JSON that PostgreSQL prints has no line feed in it; to tell rows apart takes longer than to split it. */
function selectInserted(context: WriteContext, { length }: readonly NewRecord[], first: number): Sql {
  const shown = context.fields === undefined ? context.projection : Prisma.sql`${context.fields}::text`;
  const told = announcement(context, 'create');
  const inOrder = length === 1 ? Prisma.empty : Prisma.sql`join input i on i.id = r.id order by i.position`;
  if (length === 1 || told !== Prisma.empty)
    return Prisma.sql`select ${shown} as json${told} from written r ${inOrder}`;
  if (first === 0) return Prisma.sql`select '' as json from written having count(*) > 0`;
  return Prisma.sql`
select string_agg(page.json, e'\n') as json
from (
  select ${shown} as json from written r join input i on i.id = r.id
  where i.position <= ${first} order by i.position
) page
having count(*) > 0`;
}

/** The JSON text of each of the records, the first that were stored; none where they were not. */
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
 * The beginning of a statement that stores new records and their audit entries, and has them as `written`.
 * `input` gives their `id`, `data`, `keys` and `position`.
 */
export function insertInput(
  context: WriteContext,
  { input, refusal, count, author = authorOf(context) }: InsertedInput,
): Sql {
  const { scope, collection } = context;
  const derived = derivedOf(context, { is: WRITTEN });
  return Prisma.sql`with ${derived.first}input as (${input}),
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

export interface InsertedInput {
  readonly input: Sql;
  readonly refusal: Sql;
  /** How many they are; 1 has no order to keep. */
  readonly count: number;
  /** Default: the caller, for all of them. */
  readonly author?: Author;
}

/** Who writes, and when, as the records and their audit entries tell it: expressions. */
export interface Author {
  readonly at: Sql;
  readonly principal: Sql;
  readonly credential: Sql;
  readonly requestId: Sql;
  readonly operation: Sql;
  /** What has them, by the alias `i`, where they are columns of the input. */
  readonly input: Sql;
}

function authorOf({ scope, now }: Pick<WriteContext, 'scope' | 'now'>): Author {
  const { principal, requestId, operation } = scope;
  return {
    at: Prisma.sql`${now.toISOString()}::timestamptz`,
    principal: Prisma.sql`${principal.id}`,
    credential: Prisma.sql`${auditedCredential(scope)}`,
    requestId: Prisma.sql`${requestId}`,
    operation: Prisma.sql`${operation ?? null}::text`,
    input: Prisma.empty,
  };
}

/** A credential as audit entries name it. */
export function auditedCredential({ principal: { credential } }: Pick<Scope, 'principal'>): string {
  return `${credential.kind}:${credential.id}`;
}

/**
 * Two statements that bring records with the same keys in opposite orders would wait for each other at the
 * index of the keys. What is derived has an order of its own.
 */
function inOrderOfLocks({ uniqueTogether }: Collection, count: number): Sql {
  if (count === 1 || uniqueTogether.length === 0) return Prisma.empty;
  const keys = uniqueTogether.map(({ name }) => Prisma.sql`i.keys->>${nameLiteral(name)}`);
  return Prisma.sql`order by ${Prisma.join([...keys, Prisma.raw('i.position')])}`;
}

export interface RecordUpdate {
  readonly id: string;
  readonly ifVersion: number | undefined;
  /** The record after the write, a jsonb expression over `r`. */
  readonly data: Sql;
  /** The top-level members that may differ after the write; `undefined`: any. */
  readonly changed: readonly string[] | undefined;
  /** What becomes of `keys`; `undefined`: it stays. */
  readonly keys: { readonly value: JsonObject | undefined } | undefined;
  /** What the caller may change, a condition over `r`; `undefined`: anything. */
  readonly rows: Sql | undefined;
  /** Whether the record must be in `rows` after the write too. */
  readonly staysInRows: 'checked' | 'certain';
}

/**
 * Changes a live record. No row: `explainRefusal` knows why. The record is locked before it is changed, so
 * that what the audit entry says was there is what the change replaced.
 */
export function updateRecord(context: WriteContext, update: RecordUpdate): Sql {
  const { scope, collection, now } = context;
  const keys =
    update.keys === undefined ? Prisma.empty : Prisma.sql`keys = ${jsonOrNull(update.keys.value)}::jsonb,`;
  const derived = derivedOf(context, { was: REPLACED_RECORDS, is: WRITTEN });
  return Prisma.sql`
with ${derived.first}old as (
  select r.id, r.data, r.keys
  from records r
  where ${liveRecordsOf(scope, collection)}
    and r.id = ${update.id}
    ${conditionsOf(update)}
    ${
      update.rows === undefined || update.staysInRows === 'certain'
        ? Prisma.empty
        : Prisma.sql`and
      ${staysIn(update.rows, update.data)}`
    }
  for no key update of r
),
written as (
  update records r
  set data = ${update.data}, ${keys} version = r.version + 1, updated_at = ${now.toISOString()}::timestamptz
  from old o ${derived.join}
  where ${recordsOf(scope, collection)} and r.id = o.id
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at, o.data as was, o.keys as was_keys
),
${audit(context, 'updated', { before: replacedBy(update.changed) })}${derived.last}
select ${storedColumns(context.projection)}${announcement(context, 'update')}
from written r`;
}

/** Makes a live record a tombstone. No row: `explainRefusal` knows why. */
export function deleteRecord(
  context: WriteContext,
  removal: Pick<RecordUpdate, 'id' | 'ifVersion' | 'rows'>,
): Sql {
  return buryRecords(context, Prisma.sql`r.id = ${removal.id} ${conditionsOf(removal)}`);
}

/** Makes live records tombstones, and gives them as they were. */
export function buryRecords(context: WriteContext, condition: Sql): Sql {
  const { scope, collection, now } = context;
  const derived = derivedOf(context, { was: WRITTEN });
  return Prisma.sql`
with ${derived.first}written as (
  update records r
  set version = r.version + 1,
    updated_at = ${now.toISOString()}::timestamptz,
    deleted_at = ${now.toISOString()}::timestamptz
  from (select) as one ${derived.join}
  where ${liveRecordsOf(scope, collection)} and ${condition}
  returning r.id, r.data, r.keys, r.version, r.created_at, r.updated_at
),
${audit(context, 'deleted', { before: NOTHING_REPLACED })}${derived.last}
select ${storedColumns(context.projection)}${announcement(context, 'delete')}
from written r`;
}

/** `r.data` with the top-level members replaced or removed. */
export function mergedData(change: { readonly data: JsonObject; readonly removed: readonly string[] }): Sql {
  const kept =
    change.removed.length === 0
      ? Prisma.raw('r.data')
      : Prisma.sql`(r.data - ${[...change.removed]}::text[])`;
  return Prisma.sql`${kept} || ${printExactJson(change.data)}::jsonb`;
}

/** A whole new record that keeps the present values of some fields where it has none of its own. */
export function replacedData(data: JsonObject, keptFields: readonly string[]): Sql {
  return Prisma.sql`coalesce(
    (select jsonb_object_agg(k.key, k.value) from jsonb_each(r.data) k
      where k.key = any(${[...keptFields]}::text[])),
    '{}'::jsonb
  ) || ${printExactJson(data)}::jsonb`;
}

/** One record as plain parameters, which Postgres plans once; several as one JSON text. */
export function inputOf(records: readonly NewRecord[]): Sql {
  const [first] = records;
  if (records.length === 1 && first !== undefined) {
    return Prisma.sql`
  select ${first.id}::text as id, ${printExactJson(first.data)}::jsonb as data,
    ${jsonOrNull(first.keys)}::jsonb as keys, 1 as position`;
  }
  const rows: JsonValue = records.map(({ id, data, keys }) => ({ id, data, keys: keys ?? null }));
  return Prisma.sql`
  select e->>'id' as id, e->'data' as data, nullif(e->'keys', 'null') as keys, position
  from jsonb_array_elements(${printExactJson(rows)}::jsonb) with ordinality as element(e, position)`;
}

function conditionsOf(write: Pick<RecordUpdate, 'ifVersion' | 'rows'>): Sql {
  const version =
    write.ifVersion === undefined ? Prisma.empty : Prisma.sql`and r.version = ${write.ifVersion}`;
  const rows = write.rows === undefined ? Prisma.empty : Prisma.sql`and (${write.rows})`;
  return Prisma.sql`${version} ${rows}`;
}

/**
 * Whether the record as it will be satisfies a condition over `r`: inside, `r` is that record; in `data`, it
 * is still the one there.
 */
export function staysIn(rows: Sql, data: Sql): Sql {
  return Prisma.sql`exists (
      select 1
      from (select r.domain as domain, r.collection as collection, r.id as id, ${data} as data) as r
      where ${rows}
    )`;
}

/** The records of `written`, as the statement leaves them. */
export const WRITTEN = Prisma.sql`select id, data, keys from written`;

/** The records of `written` that gives them as they were too. */
export const REPLACED_RECORDS = Prisma.sql`select id, was as data, was_keys as keys from written`;

/** What follows from what a statement does to records of the collection. */
export function derivedOf({ scope, collection }: WriteContext, change: DerivedChange): DerivedRows {
  return derivedRows(scope.domain.id, collection.name, change);
}

/** The reverse delta of a record that was not there. */
const NOTHING_BEFORE = Prisma.sql`null::jsonb`;
/** The reverse delta of a removal: the tombstone keeps the record as it was. */
const NOTHING_REPLACED = Prisma.sql`'{}'::jsonb`;

/** The reverse delta of any change of `written w`, which gives the record before as `was`. */
export const REPLACED = Prisma.sql`reverse_delta(w.was, w.data)`;

/** The same, of a change of these members. */
function replacedBy(changed: readonly string[] | undefined): Sql {
  if (changed === undefined) return REPLACED;
  return Prisma.sql`reverse_delta(w.was, w.data, ${[...changed]}::text[])`;
}

/**
 * The `audited` of a statement whose changed records are `written w`; `before` is the reverse delta of `w`,
 * as the migration 0018_history describes it.
 */
export function audit(
  context: WriteContext,
  operation: 'created' | 'updated' | 'deleted' | 'brought back',
  { before, author = authorOf(context) }: { readonly before: Sql; readonly author?: Author },
): Sql {
  const { scope, collection, isForHome } = context;
  const [idColumn, id] =
    isForHome === true ? ['id, ', 'next_entry_id(), '].map(Prisma.raw) : [Prisma.empty, Prisma.empty];
  const fromVersion = operation === 'created' ? Prisma.sql`null::int` : Prisma.sql`w.version - 1`;
  const insert = Prisma.sql`
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
 * What else a written record `r` sees to, in the same transaction: the gateways are told of one that changes
 * what somebody may do, and what follows the write is begun. Where changes are told by the outbox, that has
 * both.
 */
export function announcement(context: WriteContext, operation: WriteOperation): Sql {
  if (context.isToOutbox) return Prisma.empty;
  const { started, announced } = followUps(context, operation);
  const told =
    announced === undefined
      ? Prisma.empty
      : Prisma.sql`,
  pg_notify(${PRINCIPALS_CHANNEL}, ${announced})::text as announced`;
  if (started === undefined) return told;
  return Prisma.sql`${told},
    ${context.triggers.begin(started)} as started`;
}

/** Whether anything follows such writes. */
export function isFollowed(
  context: Pick<WriteContext, 'scope' | 'collection' | 'triggers'>,
  operation: WriteOperation,
): boolean {
  const { started, announced } = followUps(context, operation);
  return started !== undefined || announced !== undefined;
}

/**
 * For a transaction whose follow-ups the outbox has: they are begun as soon as it is committed, and rights
 * that it changes are read anew without waiting for that.
 */
export function tellAtCommit({ scope, collection }: Pick<WriteContext, 'scope' | 'collection'>): Sql {
  const isOfRights = collection.name === USER_COLLECTION || collection.grants.length > 0;
  const domain = JSON.stringify({ domain: scope.domain.id });
  return Prisma.sql`
    select pg_notify(${OUTBOX_CHANNEL}, '')::text,
      case when ${isOfRights} then pg_notify(${PRINCIPALS_CHANNEL}, ${domain})::text end`;
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

/** `ended` says of a user that it may not log in any more. */
function rightsAnnouncement(
  { domain }: Scope,
  { name, grants }: Collection,
  operation: WriteOperation,
): Sql | undefined {
  if (name === USER_COLLECTION) {
    const isEnded = operation === 'delete' ? 'true' : `r.data->'active' is distinct from 'true'`;
    return Prisma.sql`json_build_object('domain', ${domain.id}::text, 'user', r.id,
      'ended', ${Prisma.raw(isEnded)})::text`;
  }
  if (grants.length === 0) return undefined;
  return Prisma.sql`json_build_object('domain', ${domain.id}::text)::text`;
}

function jsonOrNull(value: JsonObject | undefined): string | null {
  return value === undefined ? null : printExactJson(value);
}
