/** What is computed of the values of a field, by the kind of the values: the types of the answer, and of the conditions of `having`. */
import { Float, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Measure } from '../../../model/aggregate-query.js';
import { DateTime } from '../../../scalars/date-time.js';
import { Decimal } from '../../../scalars/decimal.js';
import { LocalDate } from '../../../scalars/local-date.js';
import { MonthScalar } from '../../../scalars/month.js';
import { createClass, field, type TypeClass, type TypeReference } from '../typed-types.js';
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
  /** Of sum, avg, min and max. */
  readonly scalar: readonly [string, TypeReference];
}

const COUNTS = ['count', 'countDistinct'] as const;
const EXTREMES = [...COUNTS, 'min', 'max'] as const;
const ALL = [...COUNTS, 'sum', 'avg', 'min', 'max'] as const;

const FORMS = {
  values: { typeName: 'ValueCounts', of: 'values', measures: COUNTS, scalar: ['Int', Int] },
  text: { typeName: 'TextMeasures', of: 'texts', measures: EXTREMES, scalar: ['String', String] },
  number: { typeName: 'NumberMeasures', of: 'numbers', measures: ALL, scalar: ['Float', Float] },
  decimal: { typeName: 'DecimalMeasures', of: 'exact numbers', measures: ALL, scalar: ['Decimal', Decimal] },
  dateTime: {
    typeName: 'DateTimeMeasures',
    of: 'instants',
    measures: EXTREMES,
    scalar: ['DateTime', DateTime],
  },
  day: { typeName: 'DayMeasures', of: 'days', measures: EXTREMES, scalar: ['LocalDate', LocalDate] },
  month: { typeName: 'MonthMeasures', of: 'months', measures: EXTREMES, scalar: ['Month', MonthScalar] },
} as const satisfies Record<string, MeasureForm>;

/** Names that no collection's type may take. */
export const MEASURE_TYPE_NAMES: readonly string[] = Object.values(FORMS).map(({ typeName }) => typeName);

/** The one name of the type of a field's measures. */
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
    const type = createClass(form.typeName);
    this.#outputs.set(type.name, type);
    ObjectType(type.name, {
      description: `What is computed of ${form.of}. Missing ones, and ones of another type, are left out.`,
      simpleResolvers: true,
    })(type);
    for (const measure of form.measures) {
      const isCount = isCounting(measure);
      const of = isCount ? Int : form.scalar[1];
      field(type, measure, () => of, { nullable: !isCount, description: MEANINGS[measure] });
    }
    return type;
  }

  /** Conditions on the measures of a field. */
  input(value: AggregateValue): TypeClass {
    const form = formOf(value);
    return this.#define(`${form.typeName}ConditionInput`, `Conditions on measures of ${form.of}`, (input) => {
      for (const measure of form.measures) {
        const comparison = isCounting(measure) ? this.count() : this.#comparison(...form.scalar);
        field(input, measure, () => comparison, { nullable: true, description: MEANINGS[measure] });
      }
    });
  }

  /** Conditions on a number of records. */
  count(): TypeClass {
    return this.#comparison('Int', Int);
  }

  #comparison(name: string, type: TypeReference): TypeClass {
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
    const input = createClass(name);
    this.#inputs.set(name, input);
    InputType(name, { description: `${description}; all that are given hold.` })(input);
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
  switch (kind) {
    case 'id':
    case 'boolean':
    case 'enum':
    case 'year':
      return FORMS.values;
    case 'text':
    case 'number':
    case 'decimal':
    case 'dateTime':
    case 'day':
    case 'month':
      return FORMS[kind];
  }
}
