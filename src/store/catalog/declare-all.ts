/** The start of the catalog: what the declaration files and the stored definitions ask of the database. */
import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Domain } from '../../base/model/scope.js';
import { withAdvisoryLock } from '../database/advisory-lock.js';
import type { Database } from '../database/database.js';
import { ensurePartitions, type PartitionOptions } from '../database/partitions.js';
import { type CatalogRow, listCatalogRows, toCollection, upsertDefinition } from './catalog-row.js';
import type { CollectionDefinition } from './collection-definition.js';
import { fillKeys } from './fill-keys.js';
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
 * records for changed unique rules, and returns the indexes that no declaration asks for. Registered
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
