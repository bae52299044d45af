/**
 * How GraphQL represents each scalar type: its scalar, the printed form, and the names of its conditions and
 * measures.
 */
import type { GraphQLScalarType } from 'graphql';
import { Float } from 'type-graphql';
import type { ScalarName } from '../../../base/model/field-types/scalar-types.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { DecimalScalar } from '../../../base/scalars/decimal-scalar.js';
import { LocalDate, MonthScalar } from '../../../base/scalars/local-date.js';

export interface ScalarForm {
  readonly scalar: GraphQLScalarType | StringConstructor | BooleanConstructor;
  /** How a stored value is printed; a `decimal` is a number as text. */
  readonly printed: 'text' | 'number' | 'decimal' | 'boolean';
  /** `TextConditionInput`: "Conditions on a text". */
  readonly condition: { readonly name: string; readonly of: string };
  /** `TextMeasures`: "Measures of texts"; absent if values are only counted. */
  readonly measures: { readonly typeName: string; readonly of: string } | undefined;
}

const TEXT: ScalarForm = {
  scalar: String,
  printed: 'text',
  condition: { name: 'Text', of: 'a text' },
  measures: { typeName: 'TextMeasures', of: 'texts' },
};

const TIME = 'a point in time or a day';

export const SCALAR_FORMS: Readonly<Record<ScalarName, ScalarForm>> = {
  boolean: {
    scalar: Boolean,
    printed: 'boolean',
    condition: { name: 'Boolean', of: 'a yes or no' },
    measures: undefined,
  },
  number: {
    scalar: Float,
    printed: 'number',
    condition: { name: 'Number', of: 'a number' },
    measures: { typeName: 'NumberMeasures', of: 'numbers' },
  },
  decimal: {
    scalar: DecimalScalar,
    printed: 'decimal',
    condition: { name: 'Decimal', of: 'a number' },
    measures: { typeName: 'DecimalMeasures', of: 'exact numbers' },
  },
  datetime: {
    scalar: DateTime,
    printed: 'text',
    condition: { name: 'DateTime', of: TIME },
    measures: { typeName: 'DateTimeMeasures', of: 'instants' },
  },
  date: {
    scalar: LocalDate,
    printed: 'text',
    condition: { name: 'Day', of: TIME },
    measures: { typeName: 'DayMeasures', of: 'days' },
  },
  text: TEXT,
  month: {
    scalar: MonthScalar,
    printed: 'text',
    condition: { name: 'Month', of: 'a month' },
    measures: { typeName: 'MonthMeasures', of: 'months' },
  },
  session: TEXT,
  phone: TEXT,
  email: TEXT,
};
