/** A database with the declared collections: to declare them takes longer than to copy it. */
import type { Domain } from '../src/base/model/scope.js';
import { DECLARATIONS } from '../src/gateway/compose/services.js';
import { Catalog } from '../src/store/catalog/catalog.js';
import { type Database, openDatabase } from '../src/store/database/database.js';
import { createTemplate } from './database.js';

/** The collections, and no records. */
export async function declaredTemplate(): Promise<string> {
  return await createTemplate('declared', (url) => declareIn(url, []));
}

/** Declares the collections in a database that is empty, and does something more there. */
export async function declareIn(
  url: string,
  domains: readonly Domain[],
  work: (database: Database) => Promise<void> = async () => {},
): Promise<void> {
  const database = await openDatabase({ url, poolSize: 2, statementTimeoutMs: 20_000 });
  try {
    const catalog = await Catalog.load({ database, directory: DECLARATIONS, domains: () => domains });
    await catalog.close();
    await work(database);
  } finally {
    await database.close();
  }
}
