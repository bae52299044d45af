/** The types whose values are instants or days, and the conditions on them: on a day, before, after. */
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
  today,
} from '../calendar.js';
import type { Comparison, DayCondition, MonthCondition } from '../filter.js';
import type { Operand } from '../operand.js';
import {
  type Clock,
  type TextRangeTest,
  textRange,
  type ValueCondition,
  type ValueTest,
  within,
} from '../value-test.js';
import { type Comparable, invalidOperand, unfittingOperator } from './operand-errors.js';
import type { ScalarType } from './scalar-type.js';

/** An instant, stored as UTC text of one form, so that the order of the texts is that of the instants. */
export const DATETIME = {
  declared: { type: 'datetime' },
  noun: 'datetime',
  json: 'string',
  jsonSchema: { type: 'string', format: 'date-time' },
  toStored: (sent, timeZone) => (typeof sent === 'string' ? instantFrom(sent, timeZone) : undefined),
  expectation: 'a datetime (ISO 8601 with Z or an offset, or a day YYYY-MM-DD)',
  isDefault: (value) => value === 'now',
  stamp: (now) => now.toISOString(),
  title: 'datetime',
  fittingOperators: 'on a day (=, =on, =today), within a month (=#in), greater than (=>), less than (=<)',
  operators: ['identity', 'membership', 'order', 'time'],
  testOf: (condition, clock) => timeTest(condition, INSTANT_TESTS, clock),
  isOrdered: true,
  isOfTime: true,
  measures: 'extremes',
  toMeasured: (operand, timeZone) =>
    typeof operand === 'string' ? instantFrom(operand, timeZone) : undefined,
  comparesWith: 'a day YYYY-MM-DD or an instant such as 2026-04-01T09:30:00+05:30',
  periods: ['day', 'week', 'month', 'year'],
  isShared: false,
} as const satisfies ScalarType;

const INSTANT_TESTS: TimeType = {
  ...DATETIME,
  spanOf: (value, { timeZone }) => {
    if (typeof value !== 'string') return undefined;
    if (isDay(value)) return dayRange(value, timeZone);
    const instant = instantFrom(value, timeZone);
    return instant === undefined ? undefined : { start: instant, end: undefined };
  },
  monthSpan: (month, { timeZone }) => monthRange(month, timeZone),
};

/** A day of the calendar, stored `YYYY-MM-DD`. */
export const DATE = {
  ...DATETIME,
  declared: { type: 'datetime', format: 'date' },
  jsonSchema: { type: 'string', format: 'date' },
  toStored: (sent) => (typeof sent === 'string' && isDay(sent) ? sent : undefined),
  expectation: 'a day YYYY-MM-DD',
  stamp: (now, timeZone) => today(timeZone, now),
  title: 'datetime (a day YYYY-MM-DD)',
  testOf: (condition, clock) => timeTest(condition, DAY_TESTS, clock),
  toMeasured: (operand) => (typeof operand === 'string' && isDay(operand) ? operand : undefined),
  comparesWith: 'a day YYYY-MM-DD',
  periods: ['week', 'month', 'year'],
} as const satisfies ScalarType;

/** Half-open: the first day of the month, and that of the next. */
export function daysOfMonth(month: string): { readonly start: string; readonly end: string } {
  return { start: firstDay(month), end: addDays(lastDay(month), 1) };
}

const DAY_TESTS: TimeType = {
  ...DATE,
  spanOf: (value) =>
    typeof value === 'string' && isDay(value) ? { start: value, end: undefined } : undefined,
  monthSpan: daysOfMonth,
};

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

export function timeRange(
  among: TextRangeTest['among'],
  comparison: Comparison,
  { start, end }: TimeSpan,
): ValueTest {
  const isUpper = comparison === 'lessThan' || comparison === 'lessOrEqual';
  if (end === undefined) return textRange(among, comparison, { first: start, last: start });
  const isBeyond = comparison === 'greaterThan' || comparison === 'lessOrEqual';
  const bound = { value: isBeyond ? end : start, isIncluded: !isUpper };
  return { kind: 'textRange', among, lower: isUpper ? undefined : bound, upper: isUpper ? bound : undefined };
}

/** A type whose values are days or instants. */
interface TimeType extends Comparable {
  readonly comparesWith: string;
  /** `undefined` for an operand that is not a time of the type. */
  readonly spanOf: (value: Operand, clock: Clock) => TimeSpan | undefined;
  readonly monthSpan: (month: string, clock: Clock) => { readonly start: string; readonly end: string };
}

function timeTest(condition: ValueCondition, type: TimeType, clock: Clock): ValueTest {
  const spanOf = (value: Operand): TimeSpan => {
    const span = type.spanOf(value, clock);
    if (span === undefined) throw invalidOperand(condition, value, type.comparesWith, type);
    return span;
  };
  switch (condition.kind) {
    case 'looseEquals':
      return timeEquals(spanOf(condition.text));
    case 'equals':
      return timeEquals(spanOf(condition.value));
    case 'in':
      return timeIn(condition.values.map(spanOf));
    case 'on':
      return timeEquals(spanOf(dayOfCondition(condition, clock)));
    case 'within':
      return within('digits', type.monthSpan(monthOfCondition(condition), clock));
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      throw unfittingOperator(condition, type);
    default:
      return timeRange('digits', condition.kind, spanOf(condition.value));
  }
}

export function dayOfCondition(condition: DayCondition, { timeZone, now }: Clock): string {
  const { day } = condition;
  if (typeof day !== 'string') return dayOfWord(day.word, timeZone, now);
  if (isDay(day)) return day;
  throw invalidOperand(condition, day, 'a day YYYY-MM-DD');
}

export function monthOfCondition(condition: MonthCondition): string {
  if (isMonth(condition.month)) return condition.month;
  throw invalidOperand(condition, condition.month, 'a month YYYY-MM');
}
