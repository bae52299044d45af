/** Conditions on a day or an instant: on a day, within a month, before and after. */
import { dayOfWord, isDay, isMonth } from '../calendar.js';
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

/**
 * Half-open: `start <= text < end`. A day as an operand is one; an instant, or a day among days, is a single
 * text (`end` missing).
 */
export interface TimeSpan {
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

/** A type whose values are days or instants. */
interface TimeType extends Comparable {
  readonly comparesWith: string;
  /** `undefined` for an operand that is no time of the type. */
  readonly spanOf: (value: Operand, clock: Clock) => TimeSpan | undefined;
  readonly monthSpan: (month: string, clock: Clock) => { readonly start: string; readonly end: string };
}

export function timeTest(condition: ValueCondition, type: TimeType, clock: Clock): ValueTest {
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
