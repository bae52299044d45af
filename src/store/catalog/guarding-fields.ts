import type { Collection, Field } from '../../base/model/collection.js';

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
        const guarding = fieldsByTarget.get(target) ?? [];
        fieldsByTarget.set(target, guarding);
        guarding.push({ collection, fields: path });
      }
      visit(collection, field.fields, path);
    }
  };
  for (const collection of collections) visit(collection, collection.fields, []);
  return fieldsByTarget;
}
