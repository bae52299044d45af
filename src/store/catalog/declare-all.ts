/** The start of the catalog: what the declaration files and the stored definitions ask of the database. */
import { ServiceError } from '../../base/errors.js';
import { withAdvisoryLock } from '../database/advisory-lock.js';
import type { Database } from '../database/database.js';
import { ensurePartitions, type PartitionOptions } from '../database/partitions.js';
import { listCatalogRows, toCollection, upsertDefinition } from './catalog-row.js';
import type { CollectionDefinition } from './collection-definition.js';
import { parseCollection } from './parse-collection.js';

/** Serializes gateways that start, or change the catalog, at the same time. */
export const CATALOG_LOCK = 7_241_001;

export interface DeclareOptions extends PartitionOptions {
  readonly database: Database;
}

/**
 * Stores new and changed declarations, creates partitions and indexes that are missing, and returns the
 * indexes that no declaration asks for. Registered collections have their indexes since they were
 * registered, except in a database that was restored.
 */
export async function declareAll(
  { database, ...options }: DeclareOptions,
  definitions: readonly CollectionDefinition[],
): Promise<readonly string[]> {
  return await withAdvisoryLock(database, CATALOG_LOCK, async () => {
    const collections = definitions.map((definition) =>
      parseCollection(definition, { source: `${definition.name}.json`, isDeclared: true, version: 0 }),
    );
    const reports = await ensurePartitions(database, collections, options);
    await ensureRegistered(database, options);
    await database.transaction(async (tx) => {
      for (const definition of definitions) await tx.query(upsertDefinition(definition, 'declared'));
    });
    return reports.flatMap((report) => report.undeclaredIndexes);
  });
}

/** A collection whose records violate a unique rule by now is reported, and keeps nobody from starting. */
async function ensureRegistered(database: Database, options: PartitionOptions): Promise<void> {
  for (const row of await listCatalogRows(database)) {
    if (row.is_declared || row.dropped) continue;
    try {
      await ensurePartitions(database, [toCollection(row)], options);
    } catch (fault) {
      if (!(fault instanceof ServiceError) || fault.code === 'UNAVAILABLE') throw fault;
      options.onProgress?.(`an index of the collection ${row.name} is missing: ${fault.message}`);
    }
  }
}
