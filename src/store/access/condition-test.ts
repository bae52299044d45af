/**
 * Reads a condition as a `ValueTest`, by the type that the collection declares at its place. Each scalar type
 * defines what a condition means for it (model/field-types). Refuses operands that the field can never have.
 */
import { faultAt, invalidAt, type ServiceError } from '../../base/errors.js';
import { ExactNumber, type JsonValue } from '../../base/json/json.js';
import { dayRange, instantFrom, isDay, monthRange } from '../../base/model/calendar.js';
import { CREATED_ON } from '../../base/model/collection.js';
import {
  dayOfCondition,
  daysOfMonth,
  monthOfCondition,
  timeRange,
} from '../../base/model/field-types/datetime.js';
import { type Comparable, unfittingOperator } from '../../base/model/field-types/operand-errors.js';
import { isPlainText, type ScalarType } from '../../base/model/field-types/scalar-type.js';
import { isScalarName, SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import { TEXT, textTest, writingOf } from '../../base/model/field-types/text.js';
import type { CompareCondition, Condition } from '../../base/model/filter.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { Place } from '../../base/model/place.js';
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
import { didYouMean } from '../../base/text/did-you-mean.js';

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
export function testOf(condition: ValueCondition, place: Place, clock: Clock): ValueTest {
  switch (place.type) {
    case 'id':
      return textTest(condition, TEXT);
    case 'reference':
      return referenceTest(condition, place);
    case 'object':
      throw unfitting(condition, place);
    case 'any':
      return undeclaredTest(condition, clock);
    default:
      return SCALAR_TYPES[place.type].testOf(condition, clock);
  }
}

/** The id of a reference is text without an order. */
function referenceTest(condition: ValueCondition, place: Place): ValueTest {
  switch (condition.kind) {
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
      throw unfitting(condition, place);
    default:
      return textTest(condition, comparableOf(place));
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
export function unfitting(condition: Condition, place: Place): ServiceError {
  return unfittingOperator(condition, comparableOf(place));
}

function comparableOf({ type, members }: Place): Comparable {
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

/**
 * Refuses a condition that compares a field with a value it can never have, or by an order its values do not
 * have: the result would be empty or arbitrary, and look like a correct one. These are: equality with a text
 * that is not in the field's declared `enum` or format (month, session); greater and less of texts other than
 * months; an empty text in place of a time, which remains of `=#in2026-04` in a URL cut at `#`; and a
 * comparison of `created_on` with anything but a time. Applies to callers' filters, not to our own rules.
 *
 * @throws INVALID_VALUE (400) naming the field, the value, and what would be right; MALFORMED_FILTER (400)
 *   for an operator
 * @see decisions 3, 4
 */
export function assertFits(condition: ValueCondition, place: Place, name: string): void {
  switch (condition.kind) {
    case 'looseEquals':
      assertTime(condition.text, place, name);
      assertListed(condition.text, place, name, condition.isInsensitive);
      return;
    case 'equalsInsensitive':
      assertListed(condition.text, place, name, true);
      return;
    case 'equals':
      assertListed(condition.value, place, name);
      return;
    case 'in':
      for (const value of condition.values) assertListed(value, place, name);
      return;
    case 'on':
    case 'within':
      assertListed(writingOf(condition), place, name, condition.isInsensitive);
      return;
    case 'startsWith':
    case 'contains':
      return;
    default:
      assertOrdered(condition.value, place, name);
  }
}

/** Months are compared with months; other texts have no such order. */
function assertOrdered(value: CompareCondition['value'], place: Place, name: string): void {
  const type = scalarAt(place);
  if (place.type === 'id' || (type !== undefined && isPlainText(type))) {
    const expected = 'equals (=), starts with (==) or contains (=*)';
    const detail = `${name} is text, which has no greater and less: ${expected} would fit it.`;
    throw faultAt('MALFORMED_FILTER', detail, { parameter: name, expected, sent: String(value) });
  }
  if (type?.isOfFormat !== undefined && !(typeof value === 'string' && type.isOfFormat(value)))
    throw unfit(name, value, type.expectation);
  if (isStamp(name, place) && typeof value !== 'string') throw unfit(name, value, TIME_EXPECTATION);
}

function assertTime(text: string, place: Place, name: string): void {
  if (text === '' && (isStamp(name, place) || scalarAt(place)?.isOfTime === true))
    throw unfit(name, '', 'a day or a month', ' In an address "#" is written %23, as in =%23in2026-04.');
  if (isStamp(name, place) && !isDay(text) && instantFrom(text, 'UTC') === undefined)
    throw unfit(name, text, TIME_EXPECTATION);
}

/** Refuses a text that is not one of the declared ones, or not of the format. `=#in2026-04` is a month. */
export function assertListed(operand: JsonValue, place: Place, name: string, isInsensitive = false): void {
  const { field } = place;
  if (field === undefined || typeof operand !== 'string') return;
  const value = toNormalText(operand);
  const type = scalarAt(place);
  if (type?.isOfFormat?.(value.replace(/^#in/, '')) === false) throw unfit(name, value, type.expectation);
  const { allowed } = field;
  const folded = (text: string) => (isInsensitive ? text.toLowerCase() : text);
  if (allowed === undefined || allowed.some((one) => folded(one) === folded(value))) return;
  throw unfit(name, value, `one of ${allowed.join(', ')}`, didYouMean(value.slice(0, 100), allowed));
}

function scalarAt({ type }: Place): ScalarType | undefined {
  return isScalarName(type) ? SCALAR_TYPES[type] : undefined;
}

/** The service itself sets this field of every record. */
function isStamp(name: string, { field }: Place): boolean {
  return field === undefined && name === CREATED_ON;
}

const TIME_EXPECTATION = 'a day (=2026-04-01, =on2026-04-01, =today), a month (=#in2026-04) or an instant';

function unfit(name: string, value: JsonValue, expected: string, hint = ''): ServiceError {
  const sent = String(value).slice(0, 100);
  const detail = `${name}: ${expected} is expected, ${JSON.stringify(sent)} was sent.${hint}`;
  return invalidAt(detail, { parameter: name, expected, sent });
}
