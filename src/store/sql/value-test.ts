/**
 * `ValueTest`: what one JSON scalar must be, once a condition has been read by the type of its field. The
 * step between `Filter`, which knows words and not types, and SQL, which knows neither days nor time zones.
 */
import { ServiceError } from '../../errors.js';
import { ExactNumber } from '../../json.js';
import {
  addDays,
  dayOfWord,
  dayRange,
  firstDay,
  instantFrom,
  isDay,
  isMonth,
  lastDay,
  monthRange,
} from '../../model/calendar.js';
import type {
  CompareCondition,
  Condition,
  DayCondition,
  ElementCondition,
  ExistsCondition,
  IsNullCondition,
  MonthCondition,
  TextCondition,
} from '../../model/filter.js';
import { isNumberOperand, type NumberOperand, type Operand } from '../../model/operand.js';
import type { LeafType, Target } from './target.js';

export type ValueTest = IsTest | InTest | NumberRangeTest | TextRangeTest | LikeTest | EitherTest;

/** Equals the value, type and all; numbers by value (5 and 5.0 are one number). */
interface IsTest {
  readonly kind: 'is';
  readonly value: Operand;
}

export interface InTest {
  readonly kind: 'in';
  readonly values: readonly Operand[];
}

export interface Bound<Value> {
  readonly value: Value;
  readonly isIncluded: boolean;
}

export interface NumberRangeTest {
  readonly kind: 'numberRange';
  readonly lower: Bound<NumberOperand> | undefined;
  readonly upper: Bound<NumberOperand> | undefined;
}

/**
 * Text between bounds, character by character. `among` says which texts are meant at all: any; those that
 * begin with a digit, as days and instants do (a declared datetime); or, where nothing is declared, those
 * written as an instant or as a day.
 */
export interface TextRangeTest {
  readonly kind: 'textRange';
  readonly among: 'all' | 'digits' | 'instants' | 'days';
  readonly lower: Bound<string> | undefined;
  readonly upper: Bound<string> | undefined;
}

export interface LikeTest {
  readonly kind: 'like';
  readonly at: 'start' | 'anywhere' | 'whole';
  readonly text: string;
  readonly isInsensitive: boolean;
}

interface EitherTest {
  readonly kind: 'either';
  readonly tests: readonly ValueTest[];
}

/** The conditions that look at a value; the others ask for its presence or its elements. */
export type ValueCondition = Exclude<Condition, IsNullCondition | ExistsCondition | ElementCondition>;

/** What of the request a test depends on. */
export interface Clock {
  readonly timeZone: string;
  readonly now: Date;
}

/**
 * Reads a condition by the type at its path.
 *
 * A day without a time is the whole day: equal to it is what is on it, greater what is after its end, less
 * what is before its start.
 *
 * @throws MALFORMED_FILTER (400) when the operator has no meaning for the type, INVALID_VALUE (400) when the
 * operand has none.
 * @see decisions 3
 */
export function testOf(condition: ValueCondition, target: Target, clock: Clock): ValueTest {
  switch (target.type) {
    case 'text':
    case 'id':
    case 'month':
    case 'reference':
      return textTest(condition, target);
    case 'number':
      return numberTest(condition, target);
    case 'boolean':
      return booleanTest(condition, target);
    case 'datetime':
    case 'date':
      return timeTest(condition, target, clock);
    case 'object':
      throw unfitting(condition, target);
    case 'any':
      return undeclaredTest(condition, clock);
  }
}

function textTest(condition: ValueCondition, target: Target): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return textEquals(condition.text, condition.isInsensitive);
    case 'equals':
      return { kind: 'is', value: textOperand(condition, condition.value, target) };
    case 'in':
      return { kind: 'in', values: condition.values.map((value) => textOperand(condition, value, target)) };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      return likeTest(condition);
    case 'on':
      return textEquals(writingOf(condition), condition.isInsensitive);
    case 'within':
      if (target.type === 'month') return { kind: 'is', value: condition.month };
      return textEquals(writingOf(condition), condition.isInsensitive);
    default:
      if (target.type === 'reference' || typeof condition.value !== 'string')
        throw unfitting(condition, target);
      return textRange('all', condition.kind, { first: condition.value, last: condition.value });
  }
}

function numberTest(condition: ValueCondition, target: Target): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return { kind: 'is', value: numberWritten(condition, condition.text, target) };
    case 'on':
    case 'within':
      return { kind: 'is', value: numberWritten(condition, writingOf(condition), target) };
    case 'equals':
      return { kind: 'is', value: numberOperand(condition, condition.value, target) };
    case 'in':
      return { kind: 'in', values: condition.values.map((value) => numberOperand(condition, value, target)) };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      throw unfitting(condition, target);
    default:
      return numberRange(condition.kind, numberOperand(condition, condition.value, target));
  }
}

function booleanTest(condition: ValueCondition, target: Target): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return { kind: 'is', value: booleanWritten(condition, condition.text, target) };
    case 'on':
    case 'within':
      return { kind: 'is', value: booleanWritten(condition, writingOf(condition), target) };
    case 'equals':
      return { kind: 'is', value: booleanOperand(condition, condition.value, target) };
    case 'in':
      return {
        kind: 'in',
        values: condition.values.map((value) => booleanOperand(condition, value, target)),
      };
    default:
      throw unfitting(condition, target);
  }
}

function timeTest(condition: ValueCondition, target: Target, clock: Clock): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return timeEquals(timeOperand(condition, condition.text, { target, clock }));
    case 'equals':
      return timeEquals(timeOperand(condition, condition.value, { target, clock }));
    case 'in':
      return timeIn(condition.values.map((value) => timeOperand(condition, value, { target, clock })));
    case 'on':
      return timeEquals(timeOperand(condition, dayOfCondition(condition, clock), { target, clock }));
    case 'within':
      return within('digits', monthSpan(monthOfCondition(condition), { target, clock }));
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      throw unfitting(condition, target);
    default:
      return timeRange('digits', condition.kind, timeOperand(condition, condition.value, { target, clock }));
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
 * A number compares with numbers; a day with days and instants, an instant with instants; any other text with
 * all text.
 */
function undeclaredRange({ kind, value }: CompareCondition, clock: Clock): ValueTest {
  if (typeof value !== 'string') return numberRange(kind, value);
  if (isDay(value)) {
    const span = spanOfDay(value, clock);
    return either(textRange('days', kind, { first: value, last: value }), timeRange('instants', kind, span));
  }
  const instant = instantFrom(value, clock.timeZone);
  if (instant !== undefined) return textRange('instants', kind, { first: instant, last: instant });
  return textRange('all', kind, { first: value, last: value });
}

/**
 * `active=true` on an undeclared field finds `true` and `"true"`, `code=5` finds 5 and `"5"`; exponents are
 * not written out.
 */
function looseTest(text: string, isInsensitive: boolean | undefined): ValueTest {
  const asText = textEquals(text, isInsensitive);
  if (text === 'true' || text === 'false') return either(asText, { kind: 'is', value: text === 'true' });
  if (PLAIN_NUMBER.test(text)) return either(asText, { kind: 'is', value: new ExactNumber(text) });
  return asText;
}

const PLAIN_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function textEquals(text: string, isInsensitive: boolean | undefined): ValueTest {
  if (isInsensitive === true) return { kind: 'like', at: 'whole', text, isInsensitive };
  return { kind: 'is', value: text };
}

function likeTest(condition: TextCondition): ValueTest {
  const { kind, text } = condition;
  if (kind === 'equalsInsensitive') return { kind: 'like', at: 'whole', text, isInsensitive: true };
  const at = kind === 'startsWith' ? 'start' : 'anywhere';
  return { kind: 'like', at, text, isInsensitive: condition.isInsensitive === true };
}

function either(...tests: readonly ValueTest[]): ValueTest {
  return { kind: 'either', tests };
}

type Comparison = CompareCondition['kind'];

function numberRange(comparison: Comparison, value: NumberOperand): ValueTest {
  const bound = { value, isIncluded: comparison === 'greaterOrEqual' || comparison === 'lessOrEqual' };
  const isLower = comparison === 'greaterThan' || comparison === 'greaterOrEqual';
  return { kind: 'numberRange', lower: isLower ? bound : undefined, upper: isLower ? undefined : bound };
}

/** What an operand covers: a single text where `first` and `last` are the same. */
interface Span {
  readonly first: string;
  readonly last: string;
}

function textRange(among: TextRangeTest['among'], comparison: Comparison, { first, last }: Span): ValueTest {
  switch (comparison) {
    case 'greaterThan':
      return { kind: 'textRange', among, lower: { value: last, isIncluded: false }, upper: undefined };
    case 'greaterOrEqual':
      return { kind: 'textRange', among, lower: { value: first, isIncluded: true }, upper: undefined };
    case 'lessThan':
      return { kind: 'textRange', among, lower: undefined, upper: { value: first, isIncluded: false } };
    case 'lessOrEqual':
      return { kind: 'textRange', among, lower: undefined, upper: { value: last, isIncluded: true } };
  }
}

/**
 * Half-open: `start <= text < end`. A day as an operand is one; an instant, or a day among days, is a single
 * text (`end` missing).
 */
interface TimeSpan {
  readonly start: string;
  readonly end: string | undefined;
}

function timeEquals({ start, end }: TimeSpan): ValueTest {
  return end === undefined ? { kind: 'is', value: start } : within('digits', { start, end });
}

function timeIn(spans: readonly TimeSpan[]): ValueTest {
  if (spans.every(({ end }) => end === undefined))
    return { kind: 'in', values: spans.map(({ start }) => start) };
  return { kind: 'either', tests: spans.map(timeEquals) };
}

function timeRange(
  among: TextRangeTest['among'],
  comparison: Comparison,
  { start, end }: TimeSpan,
): ValueTest {
  if (end === undefined) return textRange(among, comparison, { first: start, last: start });
  switch (comparison) {
    case 'greaterThan':
      return { kind: 'textRange', among, lower: { value: end, isIncluded: true }, upper: undefined };
    case 'greaterOrEqual':
      return { kind: 'textRange', among, lower: { value: start, isIncluded: true }, upper: undefined };
    case 'lessThan':
      return { kind: 'textRange', among, lower: undefined, upper: { value: start, isIncluded: false } };
    case 'lessOrEqual':
      return { kind: 'textRange', among, lower: undefined, upper: { value: end, isIncluded: false } };
  }
}

function within(among: TextRangeTest['among'], { start, end }: { start: string; end: string }): ValueTest {
  return {
    kind: 'textRange',
    among,
    lower: { value: start, isIncluded: true },
    upper: { value: end, isIncluded: false },
  };
}

interface TimeContext {
  readonly target: Target;
  readonly clock: Clock;
}

function spanOfDay(day: string, clock: Clock): TimeSpan {
  return dayRange(day, clock.timeZone);
}

function daysOfMonth(month: string): { start: string; end: string } {
  return { start: firstDay(month), end: addDays(lastDay(month), 1) };
}

function monthSpan(month: string, { target, clock }: TimeContext): { start: string; end: string } {
  return target.type === 'date' ? daysOfMonth(month) : monthRange(month, clock.timeZone);
}

function dayOfCondition(condition: DayCondition, { timeZone, now }: Clock): string {
  const { day } = condition;
  if (typeof day !== 'string') return dayOfWord(day.word, timeZone, now);
  if (isDay(day)) return day;
  throw invalidOperand(condition, day, 'a day YYYY-MM-DD');
}

function monthOfCondition(condition: MonthCondition): string {
  if (isMonth(condition.month)) return condition.month;
  throw invalidOperand(condition, condition.month, 'a month YYYY-MM');
}

/** What stood behind the first `=` in oquery. */
function writingOf(condition: DayCondition | MonthCondition): string {
  if (condition.kind === 'within') return `#in${condition.month}`;
  return typeof condition.day === 'string' ? `on${condition.day}` : condition.day.word;
}

function textOperand(condition: ValueCondition, value: Operand, target: Target): string {
  if (typeof value === 'string') return value;
  if (isNumberOperand(value) && condition.kind === 'equals') throw unfitting(condition, target);
  throw invalidOperand(condition, value, 'a text');
}

function numberOperand(condition: ValueCondition, value: Operand, target: Target): NumberOperand {
  if (isNumberOperand(value)) return value;
  throw invalidOperand(condition, value, 'a number', target);
}

function numberWritten(condition: ValueCondition, text: string, target: Target): NumberOperand {
  if (JSON_NUMBER.test(text)) return new ExactNumber(text);
  throw invalidOperand(condition, text, 'a number such as 5, -3 or 12.50', target);
}

function booleanOperand(condition: ValueCondition, value: Operand, target: Target): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOperand(condition, value, 'true or false', target);
}

function booleanWritten(condition: ValueCondition, text: string, target: Target): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalidOperand(condition, text, 'true or false', target);
}

function timeOperand(condition: ValueCondition, value: Operand, { target, clock }: TimeContext): TimeSpan {
  if (typeof value === 'string') {
    const isWholeDay = isDay(value);
    if (target.type === 'date' && isWholeDay) return { start: value, end: undefined };
    if (target.type === 'datetime' && isWholeDay) return spanOfDay(value, clock);
    const instant = target.type === 'datetime' ? instantFrom(value, clock.timeZone) : undefined;
    if (instant !== undefined) return { start: instant, end: undefined };
  }
  const expected =
    target.type === 'date'
      ? 'a day YYYY-MM-DD'
      : 'a day YYYY-MM-DD or an instant such as 2026-04-01T09:30:00+05:30';
  throw invalidOperand(condition, value, expected, target);
}

function invalidOperand(
  condition: ValueCondition,
  value: Operand,
  expected: string,
  target?: Target,
): ServiceError {
  const field = condition.path.join('.');
  const type = target === undefined ? '' : ` is declared ${TYPE_NAMES[target.type]} and`;
  const sent = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const detail = `The field "${field}"${type} compares with ${expected}, not with ${sent}.${hintAtHash(value)}`;
  return new ServiceError('INVALID_VALUE', detail, { errors: [{ detail, expected, sent: String(value) }] });
}

/** An address ends at `#`: of `created_on=#in2026-04`, written as it is, `created_on=` arrives. */
function hintAtHash(value: Operand): string {
  return value === '' ? ' In an address "#" is written %23, as in =%23in2026-04.' : '';
}

/** The operator has no meaning for values of the type. */
export function unfitting(condition: Condition, target: Target): ServiceError {
  const field = condition.path.join('.');
  const expected = fittingOperators(target);
  const detail =
    `The field "${field}" is declared ${TYPE_NAMES[target.type]}: ${OPERATOR_NAMES[condition.kind]} does not fit it. ` +
    `Right would be ${expected}.`;
  return new ServiceError('MALFORMED_FILTER', detail, {
    errors: [{ detail, expected, sent: condition.kind }],
  });
}

const TYPE_NAMES: Readonly<Record<LeafType, string>> = {
  id: 'text',
  text: 'text',
  month: 'text (a month YYYY-MM)',
  number: 'number',
  boolean: 'boolean',
  datetime: 'datetime',
  date: 'datetime (a day YYYY-MM-DD)',
  reference: 'reference',
  object: 'object',
  any: 'nothing',
};

const OPERATOR_NAMES: Readonly<Record<Condition['kind'], string>> = {
  looseEquals: '"equals" (=)',
  equals: '"equals" a number (===)',
  in: '"in"',
  startsWith: '"starts with" (==, =!=)',
  contains: '"contains" (=*, =!*)',
  equalsInsensitive: '"equals" ignoring case',
  greaterThan: '"greater than" (=>)',
  greaterOrEqual: '"greater or equal"',
  lessThan: '"less than" (=<)',
  lessOrEqual: '"less or equal"',
  on: 'a day',
  within: 'a month',
  isNull: '"is null"',
  exists: '"exists"',
  element: 'a condition on list elements',
};

function fittingOperators({ type, members }: Target): string {
  switch (type) {
    case 'id':
    case 'text':
    case 'any':
      return 'equals (=), starts with (==), contains (=*)';
    case 'month':
      return 'equals (=), starts with (==), within a month (=#in), greater and less than a month';
    case 'number':
      return 'equals (= or ===), greater than (=>), less than (=<) with a number';
    case 'boolean':
      return 'equals (=) true or false';
    case 'datetime':
    case 'date':
      return 'on a day (=, =on, =today), within a month (=#in), greater than (=>), less than (=<)';
    case 'reference':
      return 'equals (=) the id, starts with (==) or contains (=*) of id or label';
    case 'object': {
      const names = members.map((member) => member.name).join(', ');
      return names === ''
        ? 'a condition on one of its members'
        : `a condition on one of its members (${names})`;
    }
  }
}
