import { addDays, firstDay, isDay, lastDay, today } from '../calendar.js';
import type { Operand } from '../operand.js';
import type { Clock, ValueCondition, ValueTest } from '../value-test.js';
import { DATETIME } from './datetime.js';
import type { ScalarType } from './scalar-type.js';
import { type TimeSpan, timeTest } from './time-tests.js';

/** A day of the calendar, stored `YYYY-MM-DD`. */
export const DATE = {
  ...DATETIME,
  declared: { type: 'datetime', format: 'date' },
  jsonSchema: { type: 'string', format: 'date' },
  toStored: (sent) => (typeof sent === 'string' && isDay(sent) ? sent : undefined),
  expectation: 'a day YYYY-MM-DD',
  stamp: (now, timeZone) => today(timeZone, now),
  title: 'datetime (a day YYYY-MM-DD)',
  testOf,
  toMeasured: (operand) => (typeof operand === 'string' && isDay(operand) ? operand : undefined),
  comparesWith: 'a day YYYY-MM-DD',
  periods: ['week', 'month', 'year'],
} as const satisfies ScalarType;

function testOf(condition: ValueCondition, clock: Clock): ValueTest {
  return timeTest(condition, TIME, clock);
}

function spanOf(value: Operand): TimeSpan | undefined {
  return typeof value === 'string' && isDay(value) ? { start: value, end: undefined } : undefined;
}

/** Half-open: the first day of the month, and that of the next. */
export function daysOfMonth(month: string): { readonly start: string; readonly end: string } {
  return { start: firstDay(month), end: addDays(lastDay(month), 1) };
}

const TIME = { ...DATE, spanOf, monthSpan: daysOfMonth };
