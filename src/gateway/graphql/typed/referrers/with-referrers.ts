/** Finds which collections point to which, for the reverse fields of record types. */
import { toFieldName, toTypeName } from '../../../../base/languages/graphql-names.js';
import { RECORD_PARTS, type TypedCollection, type TypedModel, type TypedReferrers } from '../typed-model.js';

/**
 * Adds to each collection the fields with the records that point to it. A field is named after the other
 * collection, `tasks`, or if that is taken also after the reference, `tasksByManager`. Only references at the
 * top of a record count, and not those in lists.
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
    // Both names are taken by fields of the record; there is no third one.
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
