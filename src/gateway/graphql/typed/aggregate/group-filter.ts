/** Converts `having` to a condition of the store. */
import { ServiceError } from '../../../../base/errors.js';
import type { GroupComparison, GroupFilter, Measure } from '../../../../base/model/aggregate-query.js';
import type { Operand } from '../../../../base/model/operand.js';
import type { AggregateFields } from './aggregate-fields.js';
import type { FieldMeasure } from './measure-types.js';

type Values = Readonly<Record<string, unknown>>;

/** Counts every part of a condition, combinations included. */
const MAX_PARTS = 100;

/** @throws INVALID_VALUE for null in place of a condition, LIMIT_EXCEEDED for more than 100 parts (400) */
export function toGroupFilter(having: object, fields: AggregateFields): GroupFilter {
  const budget = { parts: 0 };
  return toFilter({ ...having }, fields, budget);
}

function toFilter(having: Values, fields: AggregateFields, budget: { parts: number }): GroupFilter {
  const filters = Object.entries(having).flatMap(([name, value]): readonly GroupFilter[] => {
    count(budget);
    if (name === 'and' || name === 'or') {
      const parts = toList(value, name).map((part) => toFilter(toValues(part, name), fields, budget));
      return [{ kind: name === 'and' ? 'all' : 'any', filters: parts }];
    }
    if (name === 'not') return [{ kind: 'not', filter: toFilter(toValues(value, name), fields, budget) }];
    if (name === 'count') return toComparisons(value, { kind: 'records' }, budget);
    const field = fields.own.find((one) => one.name === name);
    return Object.entries(toValues(value, name)).flatMap(([measure, condition]) =>
      // The schema allows only the measures of the field.
      toComparisons(condition, { kind: measure as FieldMeasure, path: field?.path ?? [] }, budget),
    );
  });
  return { kind: 'all', filters };
}

function toComparisons(
  condition: unknown,
  measure: Measure,
  budget: { parts: number },
): readonly GroupFilter[] {
  return Object.entries(toValues(condition, measure.kind)).map(([operator, value]) => {
    count(budget);
    if (value === null || value === undefined) throw nothing(operator);
    // The schema allows only the names of comparisons and the values of its scalars.
    return { kind: operator as GroupComparison, measure, value: value as Operand };
  });
}

function count(budget: { parts: number }): void {
  budget.parts += 1;
  if (budget.parts <= MAX_PARTS) return;
  throw new ServiceError('LIMIT_EXCEEDED', `having has more than ${MAX_PARTS} parts.`, {
    errors: [{ parameter: 'having', detail: 'too many conditions', expected: `<= ${MAX_PARTS}` }],
  });
}

function toList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw nothing(name);
}

function toValues(value: unknown, name: string): Values {
  if (typeof value === 'object' && value !== null) return { ...value };
  throw nothing(name);
}

/** Null never means "any". @see decisions 3 */
function nothing(name: string): ServiceError {
  const detail = `"${name}" of having is null: leave it out, or give what it compares with.`;
  return new ServiceError('INVALID_VALUE', detail, {
    errors: [{ parameter: 'having', detail, expected: 'a value', sent: null }],
  });
}
