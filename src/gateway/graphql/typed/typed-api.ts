/** The fields for the records of a declared collection, and their types: `tasks`, `createTask`, … */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.js';
import {
  distinctGraphqlNames,
  toEnumValueName,
  toTypeName,
  withArticle,
} from '../../../base/languages/graphql-names.js';
import { isScalarName, SCALAR_TYPES } from '../../../base/model/field-types/scalar-types.js';
import {
  type Argument,
  enumOf,
  field,
  inputType,
  member,
  nullable,
  type TypeClass,
  type TypeReference,
} from '../../../base/scalars/declared-type.js';
import { listUniqueKeys } from '../../../store/writing/unique-key.js';
import { CI_ARGUMENT } from '../../resolvers/page-arguments.js';
import { OrderByInput } from '../../resolvers/records/generic-record.js';
import type { ArgumentTable } from '../../resolvers/run-time-types.js';
import { ChangeOperation, createChangeType } from '../live/change-shape.js';
import { createBatchType, type RecordApi } from './record-fields.js';
import { typedForm } from './typed-form.js';
import type { TypedCollection, TypedField, TypedModel, TypedObject, TypedValue } from './typed-model.js';
import type { TypedTypes } from './typed-types.js';
import type { WhereInputs } from './where-inputs.js';

/** The parts from which the fields of collections are made. */
export interface TypedParts {
  readonly model: TypedModel;
  readonly types: TypedTypes;
  readonly whereInputs: WhereInputs;
}

export function createTypedApi(typed: TypedCollection, parts: TypedParts): RecordApi {
  const { model, types, whereInputs } = parts;
  const { collection, singular, plural, object } = typed;
  const { typeName } = object;
  const aType = withArticle(typeName);
  const record = types.record(typed);
  const where = whereInputs.ofCollection(typed);
  const createInput = types.createInput(typed, 'Create');
  const updateInput = types.createInput(typed, 'Update');
  const keys = createKeys(typed);
  const orderBy = types.orderBy(typed) ?? OrderByInput;
  const byKey =
    'where there is one with the key, the fields sent are changed, null removing one; else it is made.';
  return {
    names: { one: singular, many: plural, One: typeName, Many: toTypeName(plural), noun: typeName },
    texts: {
      one: `One ${typeName} by its id. Errors: NOT_FOUND, GONE when it was removed.`,
      many: `${collection.title}: the records that match, a page at a time.`,
      create:
        `Stores ${aType}. The header \`Idempotency-Key\` makes a repeated request give the first ` +
        'answer.',
      createMany:
        `Stores ${plural}, all or none. The header \`Idempotency-Key\` makes a repeated request give ` +
        'the first answer.',
      update:
        `Changes ${aType}. Errors: NOT_FOUND, GONE, ` +
        `VERSION_CONFLICT when it is no longer \`ifVersion\`.`,
      delete: `Removes ${aType} and gives it as it was. Read again by its id it is GONE, lists skip it.`,
      updateMany:
        `Changes all ${plural} that match, in one transaction: all or none. Changes of many callers at ` +
        'once are all kept.',
      deleteMany:
        `Removes all ${plural} that match, in one transaction. Read by their ids they are GONE, lists ` +
        'skip them.',
      upsert: `Stores ${aType} by a key: ${byKey}`,
      upsertMany: `Stores ${plural} by a key, in one transaction: ${byKey}`,
      changed:
        `Changes of ${plural}, after their commit. Each ${typeName} is read under your own ` +
        'rights when it is sent; what you may not see is not sent.',
    },
    types: {
      record,
      connection: types.connection(typed),
      batch: createBatchType(typeName, plural),
      change: createChangeType(`${typeName}Change`, `A change of ${aType}, committed.`, record),
    },
    arguments: {
      collection: {},
      project: {},
      many: {
        where: nullable.of(where, 'Conditions on the fields, all of which hold.'),
        oquery: nullable.text(
          'A filter as in the REST interface, by stored field names, e.g. "created_on=today". Holds ' +
            'together with `where`.',
        ),
        ci: CI_ARGUMENT,
        orderBy: nullable.list(orderBy, 'The order; by id if left out.'),
      },
      matching: {
        where: nullable.of(where, 'Which records: conditions on the fields, all of which hold.'),
        oquery: nullable.text(
          'Which records: a filter as in the REST interface, by stored field names. Holds together ' +
            'with `where`.',
        ),
        ci: CI_ARGUMENT,
        orderBy: nullable.list(orderBy, 'The order in which records are selected; by id if left out.'),
        limit: nullable.whole(
          'The most records to change, the first in the order. Left out: all, rejected if there are too ' +
            'many.',
        ),
        allowAll: nullable.flag('Selects every record. Without it, a condition is required.'),
      },
      changed: {
        where: nullable.of(
          where,
          'Conditions on the fields as they are after the change; of a removed one, as they were at ' +
            'last. All of them hold.',
        ),
        oquery: nullable.text('A filter as in the REST interface. Holds together with `where`.'),
        ci: CI_ARGUMENT,
        operations: nullable.list(ChangeOperation, 'Only these; all if left out.'),
      },
      create: member.of(createInput, 'The fields.'),
      update: member.of(updateInput, 'The fields to change; null removes one.'),
      changes: changeArguments(typed, types, updateInput),
      upsert: {
        data: member.of(createInput, 'The fields, including those of the key.'),
        by: member.of(keys, 'The key of the records.', { defaultValue: '_id' }),
      },
      upsertMany: {
        records: member.list(createInput, 'The fields of each record, including those of the key.'),
        by: member.of(keys, 'The key.', { defaultValue: '_id' }),
      },
    },
    collection: collection.name,
    whereNames: object,
    formOf: () => typedForm(typed, model),
    toStored: (data) => {
      const { id, ...fields } = data as InputValues;
      const stored = toStoredFields(fields, object);
      return typeof id === 'string' ? { _id: id, ...stored } : stored;
    },
    // A field that is null is set to nothing; the other operations leave it as it is.
    toChanges: ({ set, ...others }) => ({
      ...(set && { set: toStoredFields(set as InputValues, object) }),
      ...Object.fromEntries(
        Object.entries(others).flatMap(([name, sent]) =>
          sent ? [[name, withoutNulls(toStoredFields(sent as InputValues, object))]] : [],
        ),
      ),
    }),
  };
}

/** An enum whose internal values are those of `by` in `RecordStore.upsert`. */
function createKeys({ object, collection, plural }: TypedCollection): object {
  const keys = listUniqueKeys(collection);
  const names = distinctGraphqlNames(keys.map((key) => (key === '_id' ? 'ID' : toEnumValueName(key))));
  return enumOf(
    `${object.typeName}Key`,
    `The key of ${plural}.`,
    keys.map((key, index) => [names[index] ?? key, key, describeKey(key, { collection })]),
  );
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

/** The arguments of `updateTasks`: an input for each operation with the fields that it applies to. */
function changeArguments(
  { object, plural }: TypedCollection,
  types: TypedTypes,
  updateInput: TypeClass,
): ArgumentTable {
  const scalar = ({ field: { isList }, value: { kind } }: TypedField) =>
    !isList && isScalarName(kind) ? SCALAR_TYPES[kind] : undefined;
  const numbers = createInput(object, {
    suffix: 'NumbersInput',
    description: `Numbers for fields of ${plural}.`,
    typeOf: (one) => (scalar(one)?.json === 'number' ? types.inputOf(one.value) : undefined),
  });
  const bounds = createInput(object, {
    suffix: 'BoundsInput',
    description: `Values for fields of ${plural} that have an order.`,
    typeOf: (one) => (scalar(one)?.isOrdered ? types.inputOf(one.value) : undefined),
  });
  const lists = createInput(object, {
    suffix: 'ListsInput',
    description: `Values for lists of ${plural}.`,
    typeOf: (one) => (one.field.isList ? [types.inputOf(one.value)] : undefined),
  });
  const changes = (type: TypeClass | undefined, description: string): Argument | undefined =>
    type && { type, nullable: true, description };
  return {
    set: changes(updateInput, 'New values of fields; null removes one.'),
    increment: changes(numbers, 'Numbers to add, exactly; a missing one counts as 0.'),
    multiply: changes(
      numbers,
      'Numbers to multiply by, exactly. The product in a field of a declared `multipleOf` (money: 0.01) is ' +
        'rounded to it, half away from 0.',
    ),
    min: changes(bounds, 'Values that replace greater values, or are set if the field is missing.'),
    max: changes(bounds, 'Values that replace lesser values, or are set if the field is missing.'),
    push: changes(lists, 'Values to append to lists.'),
    addToSet: changes(lists, 'Like `push`, but skips values that the list already holds.'),
    pull: changes(lists, 'Values to remove from lists.'),
  };
}

interface InputOfKind {
  readonly suffix: string;
  readonly description: string;
  /** `undefined` if the operation does not apply to the field. */
  readonly typeOf: (one: TypedField) => TypeReference | readonly TypeReference[] | undefined;
}

/** The fields of a kind, including those within objects; `undefined` if there are none. */
function createInput(object: TypedObject, kind: InputOfKind): TypeClass | undefined {
  const members = object.fields.flatMap((one) => {
    const { value } = one;
    const within = value.kind === 'object' && !one.field.isList ? createInput(value.object, kind) : undefined;
    const type = kind.typeOf(one) ?? within;
    return type === undefined ? [] : [{ one, type }];
  });
  if (members.length === 0) return undefined;
  const input = inputType(`${object.typeName}${kind.suffix}`, kind.description);
  for (const { one, type } of members) {
    field(input, one.name, () => type, { nullable: true, description: one.description });
  }
  return input;
}

/**
 * An input object as coerced by graphql-js: fields by GraphQL name, scalars and enums in their internal form.
 */
interface InputValues {
  readonly [field: string]: unknown;
}

function toStoredFields(input: InputValues, object: TypedObject): JsonObject {
  const stored: Record<string, JsonValue> = {};
  for (const { name, field, value } of object.fields) {
    const sent = input[name];
    if (sent !== undefined) stored[field.name] = toStoredInput(sent, value);
  }
  return stored;
}

/** One value, or a list of them. */
function toStoredInput(sent: unknown, value: TypedValue): JsonValue {
  if (sent === null) return null;
  if (Array.isArray(sent)) return sent.map((element: unknown) => toStoredInput(element, value));
  if (value.kind === 'object' && isInput(sent)) return toStoredFields(sent, value.object);
  if (value.kind === 'reference' && isInput(sent)) return toStoredReference(sent);
  // The scalars have validated it, and produce JSON.
  return sent as JsonValue;
}

/** The values that are not null, within objects too. */
function withoutNulls(values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null ? [] : [[name, isJsonObject(value) ? withoutNulls(value) : value]],
    ),
  );
}

function toStoredReference(sent: InputValues): JsonValue {
  const { id, label } = sent;
  if (typeof label === 'string') return { value: String(id), label };
  return { value: String(id) };
}

function isInput(sent: unknown): sent is InputValues {
  return typeof sent === 'object' && sent !== null;
}
