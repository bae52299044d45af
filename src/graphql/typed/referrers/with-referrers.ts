/** Finds which collections point to which: the fields a record type has beside its own. */
import { toFieldName, toTypeName } from '../graphql-names.js';
import { RECORD_PARTS, type TypedCollection, type TypedModel, type TypedReferrers } from '../typed-model.js';

/**
 * Adds to each collection the fields with the records that point to it: they are named after their
 * collection, `tasks`, and where that is taken after the reference too, `tasksByManager`. Of references at
 * the top of a record, and not in lists.
 */
export function withReferrers(model: TypedModel): TypedModel {
  const collections = model.collections.map((target): TypedCollection => {
    const taken = new Set([...RECORD_PARTS, ...target.object.fieldsByName.keys()]);
    const referrers = model.collections.flatMap((source) => listReferrers(source, target, taken));
    return { ...target, object: { ...target.object, referrers } };
  });
  return {
    ...model,
    collections,
    byCollection: new Map(collections.map((one) => [one.collection.name, one])),
  };
}

function listReferrers(
  source: TypedCollection,
  target: TypedCollection,
  taken: Set<string>,
): readonly TypedReferrers[] {
  return source.object.fields.flatMap(({ field, value, name: fieldName }): readonly TypedReferrers[] => {
    if (value.kind !== 'reference' || field.isList) return [];
    if (!value.targets.includes(target.collection.name)) return [];
    const byField = `${toFieldName(source.plural)}By${toTypeName(field.name)}`;
    const name = [source.plural, byField].find((candidate) => !taken.has(candidate));
    // Both taken by fields of the record: it has no third name.
    if (name === undefined) return [];
    taken.add(name);
    return [
      {
        name,
        collection: source.collection.name,
        path: [field.name],
        description:
          `The ${source.plural} whose \`${fieldName}\` is this ${target.object.typeName}, a page at a ` +
          'time.',
      },
    ];
  });
}
