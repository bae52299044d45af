/** The measures of a field by the kind of its values: their types in the answer and in `having`. */
import { Int, registerEnumType } from 'type-graphql';
import type { Measure } from '../../../../base/model/aggregate-query.js';
import { byScalar, isScalarName, type ScalarName } from '../../../../base/model/field-types/scalar-types.js';
import { field, inputType, objectType, type TypeClass } from '../../../../base/scalars/declared-type.js';
import { SCALAR_FORMS, type ScalarForm } from '../scalar-forms.js';
import type { AggregateValue } from './aggregate-fields.js';

export type FieldMeasure = Exclude<Measure['kind'], 'records'>;

/** The inner values are the kinds of measures. */
export const GroupMeasure = {
  COUNT: 'count',
  COUNT_DISTINCT: 'countDistinct',
  SUM: 'sum',
  AVG: 'avg',
  MIN: 'min',
  MAX: 'max',
} as const;

registerEnumType(GroupMeasure, {
  name: 'GroupMeasure',
  description: 'What is computed of the records of a group.',
  valuesConfig: {
    COUNT: { description: 'How many records there are; of a field, how many have a value.' },
    COUNT_DISTINCT: { description: 'How many different values there are.' },
    SUM: { description: 'The exact sum.' },
    AVG: { description: 'The average.' },
    MIN: { description: 'The smallest, earliest or first value.' },
    MAX: { description: 'The largest, latest or last value.' },
  },
});

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

/** The name of the type of a field's measures. */
export function measureTypeName(value: AggregateValue): string {
  return formOf(value).typeName;
}

export class MeasureTypes {
  readonly #outputs = new Map<string, TypeClass>();
  readonly #inputs = new Map<string, TypeClass>();

  output(value: AggregateValue): TypeClass {
    const form = formOf(value);
    const known = this.#outputs.get(form.typeName);
    if (known) return known;
    const type = objectType(
      form.typeName,
      `What is computed of ${form.of}. Missing ones, and ones of another type, are left out.`,
    );
    this.#outputs.set(type.name, type);
    for (const measure of form.measures) {
      const isCount = isCounting(measure);
      const of = isCount ? Int : form.scalar;
      field(type, measure, () => of, { nullable: !isCount, description: MEANINGS[measure] });
    }
    return type;
  }

  /** Conditions on the measures of a field. */
  input(value: AggregateValue): TypeClass {
    const form = formOf(value);
    return this.#define(`${form.typeName}ConditionInput`, `Conditions on measures of ${form.of}`, (input) => {
      for (const measure of form.measures) {
        const comparison = isCounting(measure) ? this.count() : this.#comparison(form.scalar);
        field(input, measure, () => comparison, { nullable: true, description: MEANINGS[measure] });
      }
    });
  }

  /** Conditions on a number of records. */
  count(): TypeClass {
    return this.#comparison(Int);
  }

  #comparison(type: ScalarForm['scalar']): TypeClass {
    const { name } = type;
    return this.#define(
      `${name}MeasureConditionInput`,
      `Conditions on a measure of type ${name}`,
      (input) => {
        for (const [operator, description] of COMPARISONS) {
          field(input, operator, () => type, { nullable: true, description });
        }
      },
    );
  }

  #define(name: string, description: string, fill: (input: TypeClass) => void): TypeClass {
    const known = this.#inputs.get(name);
    if (known) return known;
    const input = inputType(name, `${description}; all that are given hold.`);
    this.#inputs.set(name, input);
    fill(input);
    return input;
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

function formOf({ kind }: AggregateValue): MeasureForm {
  return isScalarName(kind) ? FORMS[kind] : VALUES;
}
