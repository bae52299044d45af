/** A record store on the test database, with the collections of `people.ts`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { isJsonObject, type JsonObject, parseExactJson } from '../../src/base/json/json.js';
import { Catalog } from '../../src/store/catalog/catalog.js';
import type { CollectionDefinition } from '../../src/store/catalog/collection-definition.js';
import type { Database } from '../../src/store/database/database.js';
import { RecordStore, type StoredRecord } from '../../src/store/record-store.js';
import { type TestDatabaseOptions, useTestDatabase } from '../database.js';
import { NOTE, PRESENCE, RECEIPT, ROOM, STAFF, STUDENT, TOP } from './people.js';

export interface TestStore {
  readonly database: Database;
  readonly url: string;
  readonly catalog: Catalog;
  readonly store: RecordStore;
}

/** Made before the first test of a file, closed after the last. */
export function useTestStore(
  more: readonly CollectionDefinition[] = [],
  options: TestDatabaseOptions = {},
): TestStore {
  const test = useTestDatabase(options);
  let made: { readonly catalog: Catalog; readonly store: RecordStore } | undefined;
  const get = () => {
    if (made === undefined) throw new Error('the store is there while tests run');
    return made;
  };
  beforeAll(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'campus-store-'));
    for (const definition of [STUDENT, STAFF, PRESENCE, RECEIPT, ROOM, NOTE, ...more]) {
      await writeFile(path.join(directory, `${definition.name}.json`), JSON.stringify(definition));
    }
    const { database } = test;
    const catalog = await Catalog.load({ database, directory, domains: () => [TOP] });
    await rm(directory, { recursive: true });
    made = { catalog, store: new RecordStore({ database, catalog, topDomain: () => TOP }) };
  });
  afterAll(async () => {
    await made?.catalog.close();
  });
  return {
    get database() {
      return test.database;
    },
    get url() {
      return test.url;
    },
    get catalog() {
      return get().catalog;
    },
    get store() {
      return get().store;
    },
  };
}

export function dataOf(record: StoredRecord): JsonObject {
  const value = parseExactJson(record.json);
  if (!isJsonObject(value)) throw new Error('a record is an object');
  return value;
}
