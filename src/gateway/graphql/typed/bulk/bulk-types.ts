/**
 * The types of the typed bulk writes: for each collection the batch, the keys of an upsert, and the inputs
 * for operations on numbers, ordered values and lists.
 */
import { Int, registerEnumType } from 'type-graphql';
import { distinctGraphqlNames, toEnumValueName } from '../../../../base/languages/graphql-names.js';
import type { ScalarType } from '../../../../base/model/field-types/scalar-type.js';
import { isScalarName, SCALAR_TYPES } from '../../../../base/model/field-types/scalar-types.js';
import {
  field,
  inputType,
  objectType,
  type TypeClass,
  type TypeReference,
} from '../../../../base/scalars/declared-type.js';
import { listUniqueKeys } from '../../../../store/writing/unique-key.js';
import type { TypedCollection, TypedField, TypedObject } from '../typed-model.js';
import type { TypedTypes } from '../typed-types.js';

export interface BulkTypes {
  readonly batch: TypeClass;
  /** An enum whose internal values are those of `by` in `RecordStore.upsert`. */
  readonly keys: object;
  /** `undefined` if the records have no field of the kind. */
  readonly numbers: TypeClass | undefined;
  readonly bounds: TypeClass | undefined;
  readonly lists: TypeClass | undefined;
}

export function createBulkTypes(typed: TypedCollection, types: TypedTypes): BulkTypes {
  const { object, plural } = typed;
  return {
    batch: createBatch(typed),
    keys: createKeys(typed),
    numbers: createInput(object, {
      suffix: 'NumbersInput',
      description: `Numbers for fields of ${plural}.`,
      typeOf: (one) => (isNumber(one) ? types.inputOf(one.value) : undefined),
    }),
    bounds: createInput(object, {
      suffix: 'BoundsInput',
      description: `Values for fields of ${plural} that have an order.`,
      typeOf: (one) => (isOrdered(one) ? types.inputOf(one.value) : undefined),
    }),
    lists: createInput(object, {
      suffix: 'ListsInput',
      description: `Values for lists of ${plural}.`,
      typeOf: (one) => (one.field.isList ? [types.inputOf(one.value)] : undefined),
    }),
  };
}

function createBatch({ object, plural }: TypedCollection): TypeClass {
  const batch = objectType(`${object.typeName}Batch`, `What a write of many ${plural} did.`);
  field(batch, 'count', () => Int, { description: 'Records created, changed or removed.' });
  field(batch, 'created', () => Int, { description: 'Of them, new ones.' });
  field(batch, 'matched', () => Int, {
    description: 'Records that were there and matched, also those that the change left as they were.',
  });
  return batch;
}

function createKeys({ object, collection, plural }: TypedCollection): object {
  const keys = listUniqueKeys(collection);
  const names = distinctGraphqlNames(keys.map((key) => (key === '_id' ? 'ID' : toEnumValueName(key))));
  const values = Object.fromEntries(keys.map((key, index) => [names[index] ?? key, key]));
  registerEnumType(values, {
    name: `${object.typeName}Key`,
    description: `What tells ${plural} apart.`,
    valuesConfig: Object.fromEntries(
      keys.map((key, index) => [names[index] ?? key, { description: describeKey(key, { collection }) }]),
    ),
  });
  return values;
}

function describeKey(key: string, { collection }: Pick<TypedCollection, 'collection'>): string {
  if (key === '_id') return 'The id of the record.';
  const rule = collection.uniqueTogether.find(({ name }) => name === key);
  if (collection.fieldsByName.get(key)?.isUnique === true || rule === undefined) {
    return `The field \`${key}\`, which is unique.`;
  }
  const parts = rule.parts.map(({ path, by }) => `\`${path.join('.')}\`${by === 'day' ? ' (its day)' : ''}`);
  return `${parts.join(' and ')}, which are unique together.`;
}

interface Kind {
  readonly suffix: string;
  readonly description: string;
  /** `undefined` if the operation does not apply to the field. */
  readonly typeOf: (one: TypedField) => TypeReference | readonly TypeReference[] | undefined;
}

/** The fields of a kind, including those within objects. */
function createInput(object: TypedObject, kind: Kind): TypeClass | undefined {
  const members = object.fields.flatMap((one) => {
    const type = kind.typeOf(one) ?? (isObject(one) ? createInput(one.value.object, kind) : undefined);
    return type === undefined ? [] : [{ one, type }];
  });
  if (members.length === 0) return undefined;
  const input = inputType(`${object.typeName}${kind.suffix}`, kind.description);
  for (const { one, type } of members) {
    field(input, one.name, () => type, { nullable: true, description: one.description });
  }
  return input;
}

function isObject(one: TypedField): one is TypedField & { readonly value: { readonly kind: 'object' } } {
  return one.value.kind === 'object' && !one.field.isList;
}

function isNumber(one: TypedField): boolean {
  return scalarOfOne(one)?.json === 'number';
}

function isOrdered(one: TypedField): boolean {
  return scalarOfOne(one)?.isOrdered === true;
}

/** The type of a field with one scalar for a value that is no name of an enum. */
function scalarOfOne({ field: { isList }, value: { kind } }: TypedField): ScalarType | undefined {
  return !isList && isScalarName(kind) ? SCALAR_TYPES[kind] : undefined;
}
