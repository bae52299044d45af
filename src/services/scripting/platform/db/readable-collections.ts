/** The properties of collections that `platform.db.listCollections` returns and filters by. */

import type { JsonValue } from '../../../../base/json/json.js';
import type { Scope } from '../../../../base/model/scope.js';
import type { Catalog } from '../../../../store/catalog/catalog.js';
import type { Transaction } from '../../../../store/database/queryable.js';
import { parseStage } from '../../../../store/mongo/mongo-pipeline.js';
import { startMongoPlace } from '../../../../store/mongo/mongo-place.js';
import type { Pipelines } from '../../../../store/mongo/pipelines.js';
import type { RecordStore } from '../../../../store/record-store.js';

/**
 * The collections the caller may read, by name, as JSON text: `{ name, title, description, isDeclared,
 * labelField, fields: [{ name, type, isList }] }`, without the fields hidden from it. `filter` is a query
 * over that, or one name.
 */
export async function listReadableCollections(
  services: { readonly catalog: Catalog; readonly store: RecordStore; readonly pipelines: Pipelines },
  call: {
    readonly scope: Scope;
    readonly within?: Transaction | undefined;
    readonly signal?: AbortSignal | undefined;
  },
  filter: JsonValue | undefined,
): Promise<readonly string[]> {
  const { catalog, store, pipelines } = services;
  const known = catalog.list().flatMap((collection) => {
    const readable = store.findReadable(call.scope, collection.name);
    if (readable === undefined) return [];
    const { name, title, description, isDeclared, labelField = null } = collection;
    const fields = collection.fields
      .filter((field) => !readable.access.hiddenFields.has(field.name))
      .map((field) => ({ name: field.name, type: field.type, isList: field.isList }));
    return [JSON.stringify({ name, title, description, isDeclared, labelField, fields })];
  });
  const operand = typeof filter === 'string' ? { name: filter } : (filter ?? {});
  return await pipelines.transform(
    call,
    known,
    parseStage({ name: '$match', operand }, startMongoPlace('filter')),
  );
}
