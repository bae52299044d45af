/** Maps the names of the typed schema to the stored fields of collections. */
import type { StoredField, StoredFieldsByType } from '../../../base/model/stored-field.js';
import { listAggregateFields } from './aggregate/aggregate-fields.js';
import type { TypedCollection, TypedModel } from './typed-model.js';
import { sortablePaths } from './typed-types.js';

/** Only the types of whole records: a part of an object is reached through the object's field. */
export function listStoredFields(model: TypedModel): StoredFieldsByType {
  return new Map(model.collections.flatMap((typed) => membersOf(typed, model)));
}

/** A type's name with its members. */
type TypeMembers = readonly [string, ReadonlyMap<string, readonly StoredField[]>];

function membersOf(typed: TypedCollection, model: TypedModel): readonly TypeMembers[] {
  const { collection, object } = typed;
  const { typeName } = object;
  const toStored = (field = ''): StoredField => ({ collection: collection.name, field });
  const fields = new Map(object.fields.map((one) => [one.name, [toStored(one.field.name)]]));
  const likeTheRecord = [
    ...['', 'WhereInput', 'NumbersInput', 'BoundsInput', 'ListsInput'].map((suffix) => typeName + suffix),
    ...['Create', 'Update'].map((verb) => `${verb}${typeName}Input`),
  ];
  const { keys, own } = listAggregateFields(typed, model);
  const measured = new Map(own.map(({ name, path }) => [name, [toStored(path[0])]]));
  const grouped = keys.map(({ name, enumName, key: { path, of } }) => {
    const target = of ? [{ collection: of.collection, field: of.path[0] ?? '' }] : [];
    return { name, enumName, stored: [toStored(path[0]), ...target] };
  });
  const sorted = sortablePaths(object).map(({ name, path }) => [name, [toStored(path[0])]] as const);
  return [
    ...likeTheRecord.map((name) => [name, fields] as const),
    [`${typeName}Group`, measured],
    [`${typeName}HavingInput`, measured],
    [`${typeName}GroupKey`, new Map(grouped.map(({ name, stored }) => [name, stored]))],
    [`${typeName}GroupField`, new Map(grouped.map(({ enumName, stored }) => [enumName, stored]))],
    [`${typeName}SortField`, new Map(sorted)],
  ];
}
