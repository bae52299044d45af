/**
 * Erases a person from records: records of the person are deleted, or kept without personal values; in
 * records of others a pseudonym replaces the person. History is treated in the same way, so that no undo can
 * bring the person back.
 */

import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection, Personal } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import { recordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { derivedRows, sweepDerivedRows } from '../../store/writing/derived-rows.js';
import { keepingAnAdmin } from '../../store/writing/record-environment.js';
import { auditedChanges, IN_INPUT, PRINCIPALS_CHANNEL } from '../../store/writing/record-statements.js';
import { eraseImportFiles } from './erase-traces.js';
import {
  archiveName,
  type Belongings,
  ERASED_NAME,
  type ErasureWork,
  findBelongings,
  idsOf,
  likePatterns,
  Redaction,
  referencePathsTo,
} from './identity.js';

const BATCH_RECORDS = 500;

/** @throws CONFLICT if the person is the last admin who may log in */
export async function eraseRecords(work: ErasureWork): Promise<void> {
  await keepingAnAdmin(work.transaction, work.scope.domain.id, () => eraseParts(work));
}

async function eraseParts(work: ErasureWork): Promise<void> {
  const { transaction, scope, catalog, identity } = work;
  const person = catalog.get(identity.collection, scope);
  // Planned without its values, a statement expects an average domain in every index, and not an empty one
  // where the statistics do not contain the domain yet.
  await transaction.query(sql`select set_config('plan_cache_mode', 'force_generic_plan', true)`);
  const parts = [
    ...(await findBelongings(transaction, scope, catalog, identity)),
    { collection: person, ids: [identity.id] },
  ];
  await hideFiles(work, parts);
  await eraseImportFiles(work, parts, HIDDEN);
  for (const part of parts) {
    await forgetHistory(work, part);
    const { personal } = part.collection;
    if (personal?.keptBecause === undefined) await removeRecords(work, part);
    else await keepRecords(work, part, personal);
  }
  await replaceInOthers(work);
  await sweepDerivedRows(transaction, scope.domain.id);
  // Rights that depend on the changed records are computed anew.
  const domain = JSON.stringify({ domain: scope.domain.id });
  await transaction.query(sql`select pg_notify(campus_channel(${PRINCIPALS_CHANNEL}), ${domain})`);
}

/** An upload that was interrupted long ago. */
const HIDDEN = sql`state = 'uploading', updated_at = 'epoch', name = 'erased', collection = null,
  record_id = null`;

/**
 * Marks the files as unfinished uploads: nobody can read those, and the purge deletes old ones with their
 * bytes.
 */
async function hideFiles(
  { transaction, scope, report, identity }: ErasureWork,
  parts: readonly Belongings[],
) {
  const hide = async (place: string, condition: Sql) => {
    const rows = await transaction.query<{ id: string }>(sql`
      update files
      set ${HIDDEN}
      where domain = ${scope.domain.id} and state = 'ready' and ${condition}
      returning id`);
    report.add('removed', place, idsOf(rows));
  };
  await hide('archives of the person', sql`name = ${archiveName(identity)}`);
  for (const { collection, ids } of parts) {
    const isOfRecord = sql`collection = ${collection.name} and record_id = any(${[...ids]}::text[])`;
    await hide(`files of ${collection.name}`, isOfRecord);
  }
}

/** The audit trail keeps the fact that a record changed, and loses its earlier values. */
async function forgetHistory({ transaction, scope, report }: ErasureWork, { collection, ids }: Belongings) {
  const rows = await transaction.query<{ id: string }>(sql`
    update audit_entries e
    set before = null
    where e.domain = ${scope.domain.id} and e.collection = ${collection.name}
      and e.record_id = any(${[...ids]}::text[]) and e.before is not null
    returning e.id::text as id`);
  report.add('removed', `history of ${collection.name}`, idsOf(rows));
}

async function removeRecords(work: ErasureWork, { collection, ids }: Belongings): Promise<void> {
  const { transaction, scope, report } = work;
  const derived = derivedRows(scope.domain.id, collection.name, {
    was: sql`select id, data, keys from written where is_live`,
  });
  const rows = await transaction.query<{ id: string }>(sql`
    with ${derived.first}written as (
      delete from records r
      using (select) as one ${derived.join}
      where ${recordsIn(scope.domain.id, collection.name)} and r.id = any(${[...ids]}::text[])
      returning r.id, r.data, r.keys, r.version + 1 as version, r.deleted_at is null as is_live
    ),
    ${audited(work, collection.name, 'deleted')}${derived.last}
    select id from written order by id`);
  report.add('removed', collection.name, idsOf(rows));
}

async function keepRecords(work: ErasureWork, part: Belongings, personal: Personal): Promise<void> {
  const { identity, report } = work;
  const { collection, ids } = part;
  const redaction = new Redaction(identity, 'everything');
  const references = referencePathsTo(identity.collection, collection);
  const isPerson = collection.name === identity.collection && ids.includes(identity.id);
  const kept: string[] = [];
  for (const row of await lockRecords(work, collection.name, ids)) {
    const bare = withoutPersonal(collection, personal, dataOf(row), identity.pseudonym);
    const data = redaction.json(bare, references);
    const id = isPerson && row.id === identity.id ? identity.pseudonym : redaction.text(row.id);
    await writeRecords(work, collection.name, [{ ...row, newId: id, data: data as JsonObject }]);
    kept.push(id);
  }
  if (isPerson && kept.length > 0) await announceRenaming(work);
  const fields = [
    ...personal.identifiers,
    ...personal.fields,
    ...[...references].map((path) => path.slice(1)),
  ];
  report.add('kept', collection.name, kept, { fields, because: personal.keptBecause });
}

function without(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

/** A required field gets a neutral value. */
function withoutPersonal(
  collection: Collection,
  { identifiers, fields }: Personal,
  data: JsonObject,
  pseudonym: string,
): JsonObject {
  const personal = new Set([...identifiers, ...fields]);
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]): [string, typeof value][] => {
      // The former stays have the same members as the present one.
      if (name === collection.stays?.list && Array.isArray(value))
        return [[name, value.map((stay: JsonValue) => without(stay, personal))]];
      if (!personal.has(name)) return [[name, value]];
      const field = collection.fieldsByName.get(name);
      if (name === collection.labelField) return [[name, ERASED_NAME]];
      return field?.isRequired ? [[name, pseudonym]] : [];
    }),
  );
}

/** Announces to subscribers that one record is gone and another one exists, whose history begins here. */
async function announceRenaming(work: ErasureWork): Promise<void> {
  const { transaction, scope, identity } = work;
  const { collection, id, pseudonym } = identity;
  const changes = [
    ['deleted', id],
    ['created', pseudonym],
  ] as const;
  for (const [operation, changed] of changes)
    await transaction.query(sql`
      with written as (
        select ${changed}::text as id, r.version, r.deleted_at is null as is_live
        from records r
        where ${recordsIn(scope.domain.id, collection)} and r.id = ${pseudonym}
      ),
      ${audited(work, collection, operation)}
      select 1`);
}

/** Records that do not belong to the person, but name or reference the person. */
async function replaceInOthers(work: ErasureWork): Promise<void> {
  const { transaction, scope, catalog, identity, report } = work;
  const redaction = new Redaction(identity, 'alone');
  // An id that is part of many texts is replaced only where a reference is known to be.
  const patterns = [...likePatterns([JSON.stringify(identity.id)]), ...redaction.patterns];
  const found = await transaction.query<{ collection: string; ids: string[] }>(sql`
    select r.collection, array_agg(r.id order by r.id) as ids
    from records r
    where r.domain = ${scope.domain.id}
      and (lower(r.data::text) like any(${patterns}::text[])
        or lower(r.id) like any(${[...likePatterns(redaction.sought)]}::text[]))
    group by r.collection
    order by r.collection`);
  for (const { collection: name, ids } of found) {
    const references = referencePathsTo(identity.collection, catalog.find(name));
    const replaced: string[] = [];
    for (let start = 0; start < ids.length; start += BATCH_RECORDS) {
      const rows = await lockRecords(work, name, ids.slice(start, start + BATCH_RECORDS));
      const changed = rows.flatMap((row): RewrittenRow[] => {
        const data = redaction.json(dataOf(row), references) as JsonObject;
        const newId = redaction.text(row.id);
        const isSame = newId === row.id && printExactJson(data) === printExactJson(dataOf(row));
        return isSame ? [] : [{ ...row, newId, data }];
      });
      await replaceInHistory(work, name, changed, redaction, references);
      await writeRecords(work, name, changed);
      replaced.push(...changed.map(({ newId }) => newId));
    }
    report.add('replaced', name, replaced);
  }
}

/** Replaces the person in the earlier values of others' records as well. */
async function replaceInHistory(
  { transaction, scope }: ErasureWork,
  collection: string,
  records: readonly RewrittenRow[],
  redaction: Redaction,
  references: ReadonlySet<string>,
): Promise<void> {
  const entries = await transaction.query<{ id: string; before: string }>(sql`
    select e.id::text as id, e.before::text as before
    from audit_entries e
    where e.domain = ${scope.domain.id} and e.collection = ${collection} and e.before is not null
      and e.record_id = any(${records.map(({ id }) => id)}::text[])
    for update`);
  const changed = entries.flatMap(({ id, before }) => {
    const after = printExactJson(redaction.json(parseExactJson(before), references));
    return after === printExactJson(parseExactJson(before)) ? [] : [{ id, after }];
  });
  if (changed.length === 0) return;
  await transaction.query(sql`
    update audit_entries e
    set before = i.before::jsonb
    from unnest(${changed.map(({ id }) => id)}::bigint[], ${changed.map(({ after }) => after)}::text[])
      as i(id, before)
    where e.id = i.id`);
}

interface LockedRow {
  readonly id: string;
  readonly json: string;
}

interface RewrittenRow {
  readonly id: string;
  readonly newId: string;
  readonly data: JsonObject;
}

async function lockRecords(
  { transaction, scope }: ErasureWork,
  collection: string,
  ids: readonly string[],
): Promise<readonly LockedRow[]> {
  return await transaction.query<LockedRow>(sql`
    select r.id, r.data::text as json
    from records r
    where r.domain = ${scope.domain.id} and r.collection = ${collection} and r.id = any(${[...ids]}::text[])
    order by r.id
    for update`);
}

function dataOf({ json }: LockedRow): JsonObject {
  const data = parseExactJson(json);
  if (!isJsonObject(data)) throw new Error('a record is an object');
  return data;
}

/** A removed record keeps its version, because nobody can see the change. */
async function writeRecords(
  work: ErasureWork,
  name: string,
  records: readonly RewrittenRow[],
): Promise<void> {
  const { transaction, scope, catalog } = work;
  if (records.length === 0) return;
  const collection = catalog.find(name);
  const input = records.map(({ id, newId, data }) => {
    const keys = collection && keysOf(collection, data, scope.domain.timeZone);
    return { id, newId, data, keys: keys ?? null };
  });
  const derived = derivedRows(scope.domain.id, name, {
    was: sql`select was_id as id, was as data, was_keys as keys from written where is_live`,
    is: sql`select id, data, keys from written where is_live`,
  });
  await transaction.query(sql`
    with ${derived.first}input as (
      select i->>'id' as id, i->>'newId' as new_id, i->'data' as data, nullif(i->'keys', 'null') as keys
      from jsonb_array_elements(${printExactJson(input)}::jsonb) as i
    ),
    written as (
      update records r
      set id = i.new_id, data = i.data, keys = i.keys, updated_at = now(),
        version = r.version + case when r.deleted_at is null then 1 else 0 end
      from input i ${derived.join}, records o
      where ${recordsIn(scope.domain.id, name)} and r.id ${IN_INPUT} and r.id = i.id
        and ${recordsIn(scope.domain.id, name, 'o')} and o.id ${IN_INPUT} and o.id = i.id
      returning r.id, r.data, r.keys, r.version, r.deleted_at is null as is_live, o.id as was_id,
        o.data as was, o.keys as was_keys
    ),
    ${audited(work, name, 'updated')}${derived.last}
    select 1`);
}

/** Announces each changed record to subscribers, like any other change. */
function audited(
  { scope, isToOutbox }: Pick<ErasureWork, 'scope' | 'isToOutbox'>,
  collection: string,
  operation: 'created' | 'updated' | 'deleted',
): Sql {
  const { principal, call } = scope;
  const before = operation === 'created' ? sql`null::jsonb` : sql`'{}'::jsonb`;
  const from = operation === 'created' ? sql`null::int` : sql`w.version - 1`;
  const insert = sql`
      insert into audit_entries
        (domain, collection, record_id, operation, from_version, to_version, principal, credential,
          request_id, request_operation, before)
      select ${scope.domain.id}, ${collection}, w.id, ${operation}, ${from}, w.version, ${principal.id},
        ${`${principal.credential.kind}:${principal.credential.id}`}, ${call.requestId},
        ${call.operation ?? null}::text, ${before}
      from written w
      where w.is_live`;
  return auditedChanges(insert, { isToOutbox });
}
