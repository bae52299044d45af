/**
 * Reads a condition as a `ValueTest`, by the type that the collection declares at its path. Each scalar type
 * defines what a condition means for it (model/field-types).
 */
import type { ServiceError } from '../../base/errors.js';
import { ExactNumber } from '../../base/json/json.js';
import { dayRange, instantFrom, isDay, monthRange } from '../../base/model/calendar.js';
import { daysOfMonth } from '../../base/model/field-types/date.js';
import { type Comparable, unfittingOperator } from '../../base/model/field-types/operand-errors.js';
import { SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import { TEXT } from '../../base/model/field-types/text.js';
import { textTest } from '../../base/model/field-types/text-tests.js';
import { dayOfCondition, monthOfCondition, timeRange } from '../../base/model/field-types/time-tests.js';
import type { CompareCondition, Condition } from '../../base/model/filter.js';
import {
  type Clock,
  either,
  likeTest,
  numberRange,
  textEquals,
  textRange,
  type ValueCondition,
  type ValueTest,
  within,
} from '../../base/model/value-test.js';
import type { Target } from './target.js';

/**
 * Reads a condition by the type at its path.
 *
 * A day without a time stands for the whole day: `equals` matches any instant on it, `greater than` begins
 * after its end, `less than` ends before its start.
 *
 * @throws MALFORMED_FILTER (400) if the type does not support the operator, INVALID_VALUE (400) if the
 * operand does not fit the type.
 * @see decisions 3
 */
export function testOf(condition: ValueCondition, target: Target, clock: Clock): ValueTest {
  switch (target.type) {
    case 'id':
      return textTest(condition, TEXT);
    case 'reference':
      return referenceTest(condition, target);
    case 'object':
      throw unfitting(condition, target);
    case 'any':
      return undeclaredTest(condition, clock);
    default:
      return SCALAR_TYPES[target.type].testOf(condition, clock);
  }
}

/** The id of a reference is text without an order. */
function referenceTest(condition: ValueCondition, target: Target): ValueTest {
  switch (condition.kind) {
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
      throw unfitting(condition, target);
    default:
      return textTest(condition, comparableOf(target));
  }
}

function undeclaredTest(condition: ValueCondition, clock: Clock): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return looseTest(condition.text, condition.isInsensitive);
    case 'equals':
      return { kind: 'is', value: condition.value };
    case 'in':
      return { kind: 'in', values: condition.values };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      return likeTest(condition);
    case 'on': {
      const day = dayOfCondition(condition, clock);
      return either({ kind: 'is', value: day }, within('instants', dayRange(day, clock.timeZone)));
    }
    case 'within': {
      const month = monthOfCondition(condition);
      return either(
        within('days', daysOfMonth(month)),
        within('instants', monthRange(month, clock.timeZone)),
      );
    }
    default:
      return undeclaredRange(condition, clock);
  }
}

/**
 * A number is compared with numbers, a day with days and instants, an instant with instants, and any other
 * text with all text.
 */
function undeclaredRange({ kind, value }: CompareCondition, clock: Clock): ValueTest {
  if (typeof value !== 'string') return numberRange(kind, value);
  if (isDay(value)) {
    const span = dayRange(value, clock.timeZone);
    return either(textRange('days', kind, { first: value, last: value }), timeRange('instants', kind, span));
  }
  const instant = instantFrom(value, clock.timeZone);
  if (instant !== undefined) return textRange('instants', kind, { first: instant, last: instant });
  return textRange('all', kind, { first: value, last: value });
}

/**
 * On an undeclared field, `active=true` matches `true` and `"true"`, and `code=5` matches 5 and `"5"`.
 * Exponents are not expanded.
 */
function looseTest(text: string, isInsensitive: boolean | undefined): ValueTest {
  const asText = textEquals(text, isInsensitive);
  if (text === 'true' || text === 'false') return either(asText, { kind: 'is', value: text === 'true' });
  if (PLAIN_NUMBER.test(text)) return either(asText, { kind: 'is', value: new ExactNumber(text) });
  return asText;
}

const PLAIN_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/** The error for an operator that the type at the path does not support. */
export function unfitting(condition: Condition, target: Target): ServiceError {
  return unfittingOperator(condition, comparableOf(target));
}

function comparableOf({ type, members }: Target): Comparable {
  switch (type) {
    case 'id':
      return TEXT;
    case 'reference':
      return {
        title: 'reference',
        fittingOperators: 'equals (=) the id, starts with (==) or contains (=*) of id or label',
      };
    case 'object': {
      const names = members.map((member) => member.name).join(', ');
      const which = names === '' ? '' : ` (${names})`;
      return { title: 'object', fittingOperators: `a condition on one of its members${which}` };
    }
    case 'any':
      return { title: 'nothing', fittingOperators: TEXT.fittingOperators };
    default:
      return SCALAR_TYPES[type];
  }
}
