/**
 * The classes of a collection's aggregates: a group, its key, and the inputs that choose, filter and order
 * groups; and the measures of a field by the kind of its values.
 */

import { ID, Int } from 'type-graphql';
import type { Measure } from '../../../../base/model/aggregate-query.js';
import { byScalar, isScalarName, type ScalarName } from '../../../../base/model/field-types/scalar-types.js';
import { getOrMake } from '../../../../base/process/get-or-make.js';
import {
  addCombinations,
  addCondition,
  enumOf,
  field,
  InputTypes,
  inputType,
  member,
  nullable,
  objectType,
  type TypeClass,
  type TypeReference,
} from '../../../../base/scalars/declared-type.js';
import { SortDirection } from '../../../resolvers/records/generic-record.js';
import { SCALAR_FORMS, type ScalarForm } from '../scalar-forms.js';
import type { TypedCollection } from '../typed-model.js';
import type { TypedTypes } from '../typed-types.js';
import type { AggregateFields, AggregateValue } from './aggregate-fields.js';

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
  return enumOf(
    `${object.typeName}GroupField`,
    `What ${plural} can be grouped by; in the key of a group a field of the like name.`,
    keys.map(({ enumName, name }) => [enumName, enumName, `In the key \`${name}\`.`]),
  );
}

function createGroup(
  { object, plural }: TypedCollection,
  fields: AggregateFields,
  { types, measures }: { readonly types: TypedTypes; readonly measures: MeasureTypes },
): TypeClass {
  const key = objectType(
    `${object.typeName}GroupKey`,
    `What the ${plural} of a group have in common: null where they are not grouped by it, or have no value.`,
    Object.fromEntries(
      fields.keys.map(({ name, value, description }) => [
        name,
        { type: outputType(value, types), nullable: true, description },
      ]),
    ),
  );
  return objectType(`${object.typeName}Group`, `A group of ${plural} and what is computed of them.`, {
    key: member.of(key, 'The values that the records of the group share.'),
    count: member.whole('How many records are in the group.'),
    ...Object.fromEntries(
      fields.own.map(({ name, value }) => [
        name,
        member.of(measures.output(value), `The measures of \`${name}\`.`),
      ]),
    ),
  });
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
  addCondition(having, 'count', {
    type: measures.count(),
    description: 'How many records are in the group.',
  });
  for (const { name, value } of fields.own)
    addCondition(having, name, {
      type: measures.input(value),
      description: `The measures of \`${name}\`.`,
    });
  addCombinations(having);
  return having;
}

function createOrderBy({ object, plural }: TypedCollection, groupField: object): TypeClass {
  const name = `${object.typeName}GroupOrderByInput`;
  const order = `One key of an order of groups of ${plural}.`;
  return inputType(name, `${order} What has no value comes last; ties are broken by the keys.`, {
    field: nullable.of(
      groupField,
      'With `measure`, the field to compute it from; without, one of `groupBy`. Left out: `measure` is ' +
        'COUNT of records.',
    ),
    measure: nullable.of(GroupMeasure, 'What is computed. Left out: the key itself.'),
    direction: member.of(SortDirection, 'Ascending if left out.', { defaultValue: SortDirection.ASCENDING }),
  });
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

export type FieldMeasure = Exclude<Measure['kind'], 'records'>;

/** The inner values are the kinds of measures. */
const GroupMeasure = enumOf('GroupMeasure', 'A measure of the records of a group.', [
  ['COUNT', 'count', 'How many records there are; of a field, how many have a value.'],
  ['COUNT_DISTINCT', 'countDistinct', 'How many different values there are.'],
  ['SUM', 'sum', 'The exact sum.'],
  ['AVG', 'avg', 'The average.'],
  ['MIN', 'min', 'The smallest, earliest or first value.'],
  ['MAX', 'max', 'The largest, latest or last value.'],
]);

interface MeasureForm {
  readonly typeName: string;
  readonly of: string;
  readonly measures: readonly FieldMeasure[];
  /** The scalar of sum, avg, min and max. */
  readonly scalar: ScalarForm['scalar'];
}

const COUNTS = ['count', 'countDistinct'] as const;
const EXTREMES = [...COUNTS, 'min', 'max'] as const;
const ALL = [...COUNTS, 'sum', 'avg', 'min', 'max'] as const;
const MEASURES = { counts: COUNTS, extremes: EXTREMES, sums: ALL } as const;

const VALUES: MeasureForm = { typeName: 'ValueCounts', of: 'values', measures: COUNTS, scalar: Int };

const FORMS: Readonly<Record<ScalarName, MeasureForm>> = byScalar((type, name) => {
  const { measures, scalar } = SCALAR_FORMS[name];
  return measures === undefined ? VALUES : { ...measures, measures: MEASURES[type.measures], scalar };
});

/** Names that no type of a collection may take. */
export const MEASURE_TYPE_NAMES: readonly string[] = [
  ...new Set([VALUES, ...Object.values(FORMS)].map(({ typeName }) => typeName)),
];

export class MeasureTypes {
  readonly #outputs = new Map<string, TypeClass>();
  readonly #inputs = new InputTypes();

  output(value: AggregateValue): TypeClass {
    const form = formOf(value);
    return getOrMake(this.#outputs, form.typeName, () => {
      const type = objectType(
        form.typeName,
        `Measures of ${form.of}. Missing values, and values of another type, are left out.`,
      );
      for (const measure of form.measures) {
        const isCount = isCounting(measure);
        const of = isCount ? Int : form.scalar;
        field(type, measure, () => of, { nullable: !isCount, description: MEANINGS[measure] });
      }
      return type;
    });
  }

  /** Conditions on the measures of a field. */
  input(value: AggregateValue): TypeClass {
    const form = formOf(value);
    return this.#inputs.conditions(`${form.typeName}ConditionInput`, `measures of ${form.of}`, (input) => {
      for (const measure of form.measures) {
        const type = isCounting(measure) ? this.count() : this.#comparison(form.scalar);
        addCondition(input, measure, { type, description: MEANINGS[measure] });
      }
    });
  }

  /** Conditions on a number of records. */
  count(): TypeClass {
    return this.#comparison(Int);
  }

  #comparison(type: ScalarForm['scalar']): TypeClass {
    const { name } = type;
    return this.#inputs.conditions(`${name}MeasureConditionInput`, `a measure of type ${name}`, (input) => {
      for (const [operator, description] of COMPARISONS) addCondition(input, operator, { type, description });
    });
  }
}

const MEANINGS: Readonly<Record<FieldMeasure, string>> = {
  count: 'How many of the records have a value.',
  countDistinct: 'How many different values there are.',
  sum: 'The exact sum; null where there is no value.',
  avg: 'The average, to 16 digits or more; null where there is no value.',
  min: 'The smallest, earliest or first value.',
  max: 'The largest, latest or last value.',
};

const COMPARISONS = [
  ['equals', 'Is this value.'],
  ['notEquals', 'Is another value; does not hold where there is none.'],
  ['greaterThan', 'Is greater, strictly.'],
  ['greaterOrEqual', 'Is greater or equal.'],
  ['lessThan', 'Is less, strictly.'],
  ['lessOrEqual', 'Is less or equal.'],
] as const;

export function isFieldMeasure(name: string | undefined): name is FieldMeasure {
  return name !== undefined && Object.hasOwn(MEANINGS, name);
}

function isCounting(measure: FieldMeasure): boolean {
  return measure === 'count' || measure === 'countDistinct';
}

export function formOf({ kind }: AggregateValue): MeasureForm {
  return isScalarName(kind) ? FORMS[kind] : VALUES;
}
