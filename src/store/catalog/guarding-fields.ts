import type { Collection, Field, Link } from '../../base/model/collection.js';
import { getOrMake } from '../../base/process/get-or-make.js';

/** A reference field that refuses the removal of what it points to: its path, and its collection. */
export interface GuardingField {
  readonly collection: Collection;
  readonly fields: readonly Field[];
}

/** The fields of all collections whose references refuse the removal of a record, by the target. */
export function guardingFields(
  collections: readonly Collection[],
): ReadonlyMap<string, readonly GuardingField[]> {
  const fieldsByTarget = new Map<string, GuardingField[]>();
  const visit = (collection: Collection, fields: readonly Field[], parents: readonly Field[]) => {
    for (const field of fields) {
      const path = [...parents, field];
      for (const target of field.onDelete === 'refuse' ? field.targets : []) {
        getOrMake(fieldsByTarget, target, () => []).push({ collection, fields: path });
      }
      visit(collection, field.fields, path);
    }
  };
  for (const collection of collections) visit(collection, collection.fields, []);
  return fieldsByTarget;
}

/**
 * A link of a collection whose texts name records of another one, or repeat a text of the record at their
 * reference, whatever the day: where that text changes, they change with it.
 */
export interface Naming {
  readonly collection: Collection;
  readonly link: Link;
}

/** The links of all collections that name records of a collection, by its name. */
export function namingLinks(collections: readonly Collection[]): ReadonlyMap<string, readonly Naming[]> {
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  const namingsByTarget = new Map<string, Naming[]>();
  for (const collection of collections) {
    for (const link of collection.links) {
      const isOfDay = link.reference !== undefined && link.on !== undefined;
      if (isOfDay || !linkTargetOf(link, (name) => byName.get(name))) continue;
      getOrMake(namingsByTarget, link.target, () => []).push({ collection, link });
    }
  }
  return namingsByTarget;
}

/** The collection that a link leads to, if it has declared what the link compares. */
export function linkTargetOf(
  { target, members }: Link,
  findCollection: (name: string) => Collection | undefined,
): Collection | undefined {
  const collection = findCollection(target);
  const isDeclared = members.every(({ path }) => fieldsAlong(collection?.fields ?? [], path) !== undefined);
  return isDeclared ? collection : undefined;
}

/** The declared fields along a path. */
export function fieldsAlong(
  fields: readonly Field[],
  [name, ...rest]: readonly string[],
): readonly Field[] | undefined {
  const field = fields.find((one) => one.name === name);
  if (field === undefined || rest.length === 0) return field && [field];
  const inner = fieldsAlong(field.fields, rest);
  return inner && [field, ...inner];
}
