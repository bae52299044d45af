/** Computes the keys of stored records anew, after the unique rules of their collection have changed. */
import { isJsonObject, type JsonObject, parseExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { Domain } from '../../base/model/scope.js';
import type { Database } from '../database/database.js';
import { findConstraint } from '../database/database-errors.js';
import { type Sql, sql } from '../sql.js';

interface KeyedRecord {
  readonly id: string;
  readonly version: number;
  readonly keys: JsonObject;
}

const BATCH_RECORDS = 1_000;

/**
 * Stores the keys of the live records of a domain. A record whose key is taken keeps no key of that rule: it
 * can be read and changed; its id is returned.
 */
export async function fillKeys(
  database: Database,
  { id: domain, timeZone }: Domain,
  collection: Collection,
): Promise<readonly string[]> {
  const collisions: string[] = [];
  for (let after = ''; ; ) {
    const rows = await database.query<{ id: string; version: number; data: string; keys: string }>(sql`
      select r.id, r.version, r.data::text as data, coalesce(r.keys, '{}')::text as keys
      from records r
      where ${ofCollection(domain, collection)} and r.id > ${after}
      order by r.id
      limit ${BATCH_RECORDS}`);
    const stale = rows.flatMap(({ id, version, data, keys }): KeyedRecord[] => {
      const record = parseExactJson(data);
      const due = isJsonObject(record) ? (keysOf(collection, record, timeZone) ?? {}) : {};
      const known: Record<string, string> = JSON.parse(keys);
      const names = new Set([...Object.keys(known), ...Object.keys(due)]);
      return [...names].every((name) => known[name] === due[name]) ? [] : [{ id, version, keys: due }];
    });
    collisions.push(...(await storeKeys(database, { domain, collection }, stale)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH_RECORDS) return collisions;
    after = last.id;
  }
}

/** When a statement meets a taken key, its records are halved until the conflicting one is found. */
async function storeKeys(
  database: Database,
  place: { readonly domain: string; readonly collection: Collection },
  records: readonly KeyedRecord[],
): Promise<readonly string[]> {
  if (records.length === 0) return [];
  try {
    await database.query(updateKeys(place, records));
    return [];
  } catch (fault) {
    if (findConstraint(fault) === undefined) throw fault;
  }
  const [record] = records;
  if (records.length > 1 || record === undefined) {
    const middle = Math.ceil(records.length / 2);
    const first = await storeKeys(database, place, records.slice(0, middle));
    return [...first, ...(await storeKeys(database, place, records.slice(middle)))];
  }
  const kept: Record<string, string> = {};
  for (const [rule, key] of Object.entries(record.keys)) {
    const [other] = await database.query(sql`
      select 1 from records r
      where ${ofCollection(place.domain, place.collection)} and r.keys->>${rule} = ${key}
        and r.id <> ${record.id}
      limit 1`);
    if (other === undefined) kept[rule] = String(key);
  }
  await database.query(updateKeys(place, [{ ...record, keys: kept }]));
  return [record.id];
}

/** A record that was changed meanwhile has got its keys by that change. */
function updateKeys(
  { domain, collection }: { readonly domain: string; readonly collection: Collection },
  records: readonly KeyedRecord[],
): Sql {
  const ids = records.map(({ id }) => id);
  const versions = records.map(({ version }) => version);
  const keys = records.map((record) => JSON.stringify(record.keys));
  return sql`
    update records r
    set keys = i.keys::jsonb
    from unnest(${ids}::text[], ${versions}::int[], ${keys}::text[]) as i (id, version, keys)
    where ${ofCollection(domain, collection)} and r.id = i.id and r.version = i.version`;
}

function ofCollection(domain: string, { name }: Collection): Sql {
  return sql`r.domain = ${domain} and r.collection = ${name} and r.deleted_at is null`;
}
