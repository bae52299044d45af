import { dayRange, type InstantRange, instantFrom, isDay, monthRange } from '../calendar.js';
import type { Operand } from '../operand.js';
import type { Clock, ValueCondition, ValueTest } from '../value-test.js';
import type { ScalarType } from './scalar-type.js';
import { type TimeSpan, timeTest } from './time-tests.js';

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
  testOf,
  isOrdered: true,
  isOfTime: true,
  measures: 'extremes',
  toMeasured: (operand, timeZone) =>
    typeof operand === 'string' ? instantFrom(operand, timeZone) : undefined,
  comparesWith: 'a day YYYY-MM-DD or an instant such as 2026-04-01T09:30:00+05:30',
  periods: ['day', 'week', 'month', 'year'],
  isShared: false,
} as const satisfies ScalarType;

function testOf(condition: ValueCondition, clock: Clock): ValueTest {
  return timeTest(condition, TIME, clock);
}

function spanOf(value: Operand, { timeZone }: Clock): TimeSpan | undefined {
  if (typeof value !== 'string') return undefined;
  if (isDay(value)) return dayRange(value, timeZone);
  const instant = instantFrom(value, timeZone);
  return instant === undefined ? undefined : { start: instant, end: undefined };
}

function monthSpan(month: string, { timeZone }: Clock): InstantRange {
  return monthRange(month, timeZone);
}

const TIME = { ...DATETIME, spanOf, monthSpan };
