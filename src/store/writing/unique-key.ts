/** The keys that identify the records of a collection: `_id`, a unique field, or values unique together. */
import { invalidAt } from '../../base/errors.js';
import { type JsonObject, membersWhere } from '../../base/json/json.js';
import type { Collection, UniqueTogether } from '../../base/model/collection.js';
import { fieldsOfUniqueRule } from '../../base/model/keys-of.js';
import type { Path } from '../../base/model/path.js';
import { assertReadable, type EffectiveAccess } from '../access/access.js';
import { nameLiteral, type Sql, sql } from '../sql.js';

export type UniqueKey =
  | { readonly kind: 'id' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'rule'; readonly name: string };

/** The top-level fields whose values must be unique, alone or together. */
export function uniqueFieldsOf({ fields, uniqueTogether }: Collection): ReadonlySet<string> {
  const alone = fields.filter(({ isUnique }) => isUnique).map(({ name }) => name);
  return new Set([...alone, ...uniqueTogether.flatMap(fieldsOfUniqueRule)]);
}

/** The names of the keys of a collection, for `by`. */
export function listUniqueKeys(collection: Collection): readonly string[] {
  const unique = collection.fields.filter((field) => field.isUnique).map((field) => field.name);
  const rules = collection.uniqueTogether.map((rule) => rule.name);
  return [...new Set(['_id', ...unique, ...rules])];
}

/** @throws FORBIDDEN for a key the caller may not read: an upsert discloses whether a record has it */
export function uniqueKeyOf(collection: Collection, by: string, readable: EffectiveAccess): UniqueKey {
  const key = findKey(collection, by);
  if (key !== undefined) {
    assertReadable(pathsOfKey(collection, key), readable, collection);
    return key;
  }
  const names = listUniqueKeys(collection).filter((name) =>
    pathsOfKey(collection, findKey(collection, name)).every(
      ([field = '']) => !readable.hiddenFields.has(field),
    ),
  );
  const expected = `one of ${names.join(', ')}`;
  const detail = `by: "${by}" does not identify the records of ${collection.name}; ${expected} is expected`;
  throw invalidAt(detail, { parameter: 'by', expected, sent: by });
}

/**
 * The fields of a record that a write by the key may change. Those by whose value the record was found keep
 * their spelling; the label of a reference may change, and the time within a day.
 */
export function fieldsBesideKey(
  fields: JsonObject,
  key: UniqueKey | undefined,
  collection: Collection,
): JsonObject {
  const kept = keptByKey(key, collection);
  return kept.length === 0 ? fields : membersWhere(fields, (name) => !kept.includes(name));
}

/** The top-level fields that a record found by the key keeps as they are. */
export function keptByKey(key: UniqueKey | undefined, collection: Collection): readonly string[] {
  if (key?.kind === 'field') {
    return collection.fieldsByName.get(key.name)?.type === 'reference' ? [] : [key.name];
  }
  return partsOfKey(collection, key).flatMap(({ path: [name = '', ...inner], by }) =>
    by === 'folded' && inner.length === 0 ? [name] : [],
  );
}

function findKey(collection: Collection, by: string): UniqueKey | undefined {
  if (by === '_id') return { kind: 'id' };
  const rule = collection.uniqueTogether.find(({ name, parts }) => name === by || isOfFields(parts, by));
  // The rule of a field that ignores case has the name of the field.
  const isField = rule?.name !== by && collection.fieldsByName.get(by)?.isUnique === true;
  if (isField) return { kind: 'field', name: by };
  return rule === undefined ? undefined : { kind: 'rule', name: rule.name };
}

/** Whether the fields of a rule are these, in any order, e.g. `class,section`. */
function isOfFields(parts: Collection['uniqueTogether'][number]['parts'], by: string): boolean {
  const wanted = new Set(by.split(',').map((path) => path.trim()));
  const names = parts.map(({ path }) => path.join('.'));
  // For a reference, the name of the field is enough.
  const isWanted = (name: string) => wanted.has(name) || wanted.has(name.replace(/\.value$/, ''));
  return wanted.size === names.length && names.every(isWanted);
}

/** The value of a key other than `_id` in what has `data` and `keys`, as the index of the key contains it. */
export function keyValueOf(
  collection: Collection,
  key: Exclude<UniqueKey, { readonly kind: 'id' }>,
  { data, keys }: { readonly data: Sql; readonly keys: Sql },
): Sql {
  const name = nameLiteral(key.name);
  if (key.kind === 'rule') return sql`${keys}->>${name}`;
  const isReference = collection.fieldsByName.get(key.name)?.type === 'reference';
  return sql`${data}->${name}${isReference ? sql.raw("->'value'") : sql.empty}`;
}

/** The key value of a record `r`. */
export const OF_RECORD = { data: sql.raw('r.data'), keys: sql.raw('r.keys') };

/** The paths of the values that make the key; none for the `_id`. */
function pathsOfKey(collection: Collection, key: UniqueKey | undefined): readonly Path[] {
  if (key === undefined || key.kind === 'id') return [];
  if (key.kind === 'field') return [[key.name]];
  return partsOfKey(collection, key).map(({ path }) => path);
}

function partsOfKey(collection: Collection, key: UniqueKey | undefined): UniqueTogether['parts'] {
  if (key?.kind !== 'rule') return [];
  return collection.uniqueTogether.find(({ name }) => name === key.name)?.parts ?? [];
}
