/** The declared fields that a request names in filters, projections, orders or input. */
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import type { StoredField } from '../../base/model/stored-field.js';

/** The fields of a few records nearly always represent those of all. */
const MOST_RECORDS = 20;

/** The fields at which the paths begin. */
export function namedFieldsAt({ name, fieldsByName }: Collection, paths: readonly Path[]): StoredField[] {
  const found: StoredField[] = [];
  for (const [field] of paths) {
    if (field !== undefined && fieldsByName.has(field)) found.push({ collection: name, field });
  }
  return found;
}

/** The fields of the first records. */
export function namedFieldsOf(collection: Collection, records: readonly JsonObject[]): StoredField[] {
  const names = new Set(records.slice(0, MOST_RECORDS).flatMap((record) => Object.keys(record)));
  return namedFieldsAt(
    collection,
    [...names].map((name) => [name]),
  );
}
