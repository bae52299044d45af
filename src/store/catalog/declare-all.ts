/** The start of the catalog: what the declaration files and the stored definitions ask of the database. */

import { ServiceError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { keysOf } from '../../base/model/keys-of.js';
import type { Domain } from '../../base/model/scope.js';
import { withAdvisoryLock } from '../database/advisory-lock.js';
import type { Database } from '../database/database.js';
import { findConstraint } from '../database/database-errors.js';
import { ensurePartitions, type PartitionOptions } from '../database/partitions.js';
import { recordBatches } from '../database/record-batches.js';
import { type Sql, sql } from '../sql.js';
import { type CatalogRow, listCatalogRows, toCollection, upsertDefinition } from './catalog-row.js';
import type { CollectionDefinition } from './collection-definition.js';
import { parseCollection, toUniqueRules } from './parse-collection.js';

/** Serializes gateways that start, or change the catalog, at the same time. */
export const CATALOG_LOCK = 7_241_001;

export interface DeclareOptions extends PartitionOptions {
  readonly database: Database;
  /** All domains of the instance. */
  readonly domains: () => readonly Domain[];
}

/**
 * Stores new and changed declarations, creates partitions and indexes that are missing, computes the keys of
 * records for changed unique rules, and returns the indexes that no declaration needs. Registered
 * collections have their indexes since they were registered, except in a database that was restored.
 */
export async function declareAll(
  { database, domains, ...options }: DeclareOptions,
  definitions: readonly CollectionDefinition[],
): Promise<readonly string[]> {
  return await withAdvisoryLock(database, CATALOG_LOCK, async () => {
    const collections = definitions.map((definition) =>
      parseCollection(definition, { source: `${definition.name}.json`, isDeclared: true, version: 0 }),
    );
    const reports = await ensurePartitions(database, collections, options);
    const known = await ensureRegistered(database, options);
    for (const [index, collection] of collections.entries()) {
      const definition = definitions[index];
      const before = known.find(({ name }) => name === collection.name)?.definition ?? '{}';
      if (!definition || rulesText(JSON.parse(before)) === rulesText(definition)) continue;
      for (const domain of domains()) {
        report(await fillKeys(database, domain, collection), { domain, collection }, options);
      }
    }
    await database.transaction(async (tx) => {
      for (const definition of definitions) await tx.query(upsertDefinition(definition, 'declared'));
    });
    return reports.flatMap((report) => report.undeclaredIndexes);
  });
}

function rulesText(definition: CollectionDefinition): string {
  return JSON.stringify(toUniqueRules(definition));
}

/** Records that violate a unique rule are reported, and keep nobody from starting. */
function report(
  ids: readonly string[],
  { domain, collection }: { readonly domain: Domain; readonly collection: Collection },
  { onProgress }: PartitionOptions,
): void {
  if (ids.length === 0) return;
  const examples = ids.slice(0, MOST_EXAMPLES).join(', ');
  onProgress?.(
    `${ids.length} records of ${collection.name} in ${domain.id} have a value that is to be unique and ` +
      `that another record has (${examples}); \`campus check\` lists them`,
  );
}

const MOST_EXAMPLES = 5;

/**
 * A collection whose records violate a unique rule by now is reported, and keeps nobody from starting.
 * Returns the rows of the catalog.
 */
async function ensureRegistered(
  database: Database,
  options: PartitionOptions,
): Promise<readonly CatalogRow[]> {
  const rows = await listCatalogRows(database);
  for (const row of rows) {
    if (row.is_declared || row.dropped) continue;
    try {
      await ensurePartitions(database, [toCollection(row)], options);
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.code === 'UNAVAILABLE') throw fault;
      options.onProgress?.(`an index of the collection ${row.name} is missing: ${fault.message}`);
    }
  }
  return rows;
}

/** Computes the keys of stored records anew, after the unique rules of their collection have changed. */
interface KeyedRecord {
  readonly id: string;
  readonly version: number;
  readonly keys: JsonObject;
}

/**
 * Stores the keys of the live records of a domain. A record whose key is taken keeps no key of that rule: it
 * can be read and changed; its id is returned.
 */
async function fillKeys(
  database: Database,
  { id: domain, timeZone }: Domain,
  collection: Collection,
): Promise<readonly string[]> {
  const collisions: string[] = [];
  for await (const records of recordBatches(database, domain, collection.name)) {
    const stale = records.flatMap(({ id, version, data, keys }): KeyedRecord[] => {
      const due = keysOf(collection, data, timeZone) ?? {};
      const names = new Set([...Object.keys(keys), ...Object.keys(due)]);
      return [...names].every((name) => keys[name] === due[name]) ? [] : [{ id, version, keys: due }];
    });
    collisions.push(...(await storeKeys(database, { domain, collection }, stale)));
  }
  return collisions;
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
