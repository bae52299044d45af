/**
 * The classes of a collection's aggregates: a group, its key, and the inputs that choose, filter and order
 * groups.
 */
import { ID, Int, registerEnumType } from 'type-graphql';
import {
  field,
  inputType,
  objectType,
  type TypeClass,
  type TypeReference,
} from '../../../../base/scalars/declared-type.js';
import { SortDirection } from '../../../resolvers/records/generic-record.js';
import { SCALAR_FORMS } from '../scalar-forms.js';
import type { TypedCollection } from '../typed-model.js';
import type { TypedTypes } from '../typed-types.js';
import type { AggregateFields, AggregateValue } from './aggregate-fields.js';
import { GroupMeasure, type MeasureTypes } from './measure-types.js';

export interface AggregateTypes {
  readonly group: TypeClass;
  readonly groupField: object;
  readonly having: TypeClass;
  readonly orderBy: TypeClass;
}

export function createAggregateTypes(
  typed: TypedCollection,
  fields: AggregateFields,
  { types, measures }: { readonly types: TypedTypes; readonly measures: MeasureTypes },
): AggregateTypes {
  const groupField = createGroupField(typed, fields);
  return {
    group: createGroup(typed, fields, { types, measures }),
    groupField,
    having: createHaving(typed, fields, measures),
    orderBy: createOrderBy(typed, groupField),
  };
}

/** Its inner values are its names. */
function createGroupField({ object, plural }: TypedCollection, { keys }: AggregateFields): object {
  const values = Object.fromEntries(keys.map(({ enumName }) => [enumName, enumName]));
  registerEnumType(values, {
    name: `${object.typeName}GroupField`,
    description: `What ${plural} can be grouped by; in the key of a group a field of the like name.`,
    valuesConfig: Object.fromEntries(
      keys.map(({ enumName, name }) => [enumName, { description: `In the key \`${name}\`.` }]),
    ),
  });
  return values;
}

function createGroup(
  { object, plural }: TypedCollection,
  fields: AggregateFields,
  { types, measures }: { readonly types: TypedTypes; readonly measures: MeasureTypes },
): TypeClass {
  const key = objectType(
    `${object.typeName}GroupKey`,
    `What the ${plural} of a group have in common: null where they are not grouped by it, or have no value.`,
  );
  for (const one of fields.keys) {
    const type = outputType(one.value, types);
    field(key, one.name, () => type, { nullable: true, description: one.description });
  }
  const group = objectType(`${object.typeName}Group`, `A group of ${plural} and what is computed of them.`);
  field(group, 'key', () => key, { description: 'What the records of the group have in common.' });
  field(group, 'count', () => Int, { description: 'How many records are in the group.' });
  for (const { name, value } of fields.own) {
    const type = measures.output(value);
    field(group, name, () => type, { description: `What is computed of \`${name}\`.` });
  }
  return group;
}

function createHaving(
  { object, plural }: TypedCollection,
  fields: AggregateFields,
  measures: MeasureTypes,
): TypeClass {
  const having = inputType(
    `${object.typeName}HavingInput`,
    `Conditions on groups of ${plural}; all that are given hold.`,
  );
  const count = measures.count();
  field(having, 'count', () => count, { nullable: true, description: 'How many records are in the group.' });
  for (const { name, value } of fields.own) {
    const input = measures.input(value);
    field(having, name, () => input, {
      nullable: true,
      description: `What is computed of \`${name}\`.`,
    });
  }
  field(having, 'and', () => [having], { nullable: true, description: 'All of these hold.' });
  field(having, 'or', () => [having], { nullable: true, description: 'One of these holds, or more.' });
  field(having, 'not', () => having, { nullable: true, description: 'This does not hold.' });
  return having;
}

function createOrderBy({ object, plural }: TypedCollection, groupField: object): TypeClass {
  const input = inputType(
    `${object.typeName}GroupOrderByInput`,
    `One key of an order of groups of ${plural}. What has no value comes last; ties are broken by the keys.`,
  );
  field(input, 'field', () => groupField, {
    nullable: true,
    description:
      'With `measure`, the field it is computed of; alone, one of `groupBy`. Left out: `measure` is ' +
      'COUNT, of records.',
  });
  field(input, 'measure', () => GroupMeasure, {
    nullable: true,
    description: 'What is computed. Left out: the key itself.',
  });
  field(input, 'direction', () => SortDirection, {
    defaultValue: SortDirection.ASCENDING,
    description: 'Ascending if left out.',
  });
  return input;
}

function outputType(value: AggregateValue, types: TypedTypes): TypeReference {
  switch (value.kind) {
    case 'enum':
      return types.enumOf(value);
    case 'id':
      return ID;
    case 'year':
      return Int;
    default:
      return SCALAR_FORMS[value.kind].scalar;
  }
}
