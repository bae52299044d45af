/** The words of the tests of `platform.db`: the service on the store of the tests, called directly. */

import type { JsonValue } from '../../../../src/base/json/json.js';
import type { Scope } from '../../../../src/base/model/scope.js';
import { JsonText } from '../../../../src/base/scalars/json-text.js';
import { type DbCall, PlatformDb } from '../../../../src/services/scripting/platform/db/platform-db.js';
import type { CollectionDefinition } from '../../../../src/store/catalog/collection-definition.js';
import { Pipelines } from '../../../../src/store/mongo/pipelines.js';
import { ADMIN } from '../../../store/people.js';
import { type TestStore, useTestStore } from '../../../store/store.js';

export interface TestDb extends Pick<TestStore, 'database' | 'store' | 'catalog'> {
  readonly db: PlatformDb;
  readonly pipelines: Pipelines;
}

export function useDb(
  options: {
    readonly collections?: readonly CollectionDefinition[];
    readonly maxResultRecords?: number;
  } = {},
): TestDb {
  const test = useTestStore(options.collections);
  const pipelines = () =>
    new Pipelines({
      database: test.database,
      catalog: test.catalog,
      store: test.store,
    });
  return {
    get database() {
      return test.database;
    },
    get store() {
      return test.store;
    },
    get catalog() {
      return test.catalog;
    },
    get pipelines() {
      return pipelines();
    },
    get db() {
      return new PlatformDb({
        catalog: test.catalog,
        store: test.store,
        pipelines: pipelines(),
        maxResultRecords: options.maxResultRecords ?? 1_000,
      });
    },
  };
}

export function as(scope: Scope = ADMIN): DbCall {
  return { scope };
}

/** What a script would get. */
export function answered(answer: JsonValue | JsonText): JsonValue {
  return answer instanceof JsonText ? (JSON.parse(answer.text) as JsonValue) : answer;
}

export async function read(batches: AsyncIterable<readonly string[]>): Promise<JsonValue[]> {
  const documents: JsonValue[] = [];
  for await (const batch of batches) documents.push(...batch.map((text) => JSON.parse(text) as JsonValue));
  return documents;
}
