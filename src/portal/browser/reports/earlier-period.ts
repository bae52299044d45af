/** The parameters of a report for an earlier period, and the earlier row for each row. */
import { dayBefore, monthsBefore, sessionYearOf } from '../language/days.js';
import type { ReportRow } from './askable-report.js';

/** `period` is the period of the same length before this one, `year` the same period a year earlier. */
export type PeriodComparison = 'period' | 'year';

export interface EarlierPeriod {
  /** The parameters that differ. */
  readonly changed: Readonly<Record<string, string>>;
  /** The day or month of the earlier period for one of this period. */
  shift(time: string): string;
}

/** The first and the last day or month, by the names of the parameters. */
const PERIODS = [
  ['startMonth', 'endMonth'],
  ['start', 'end'],
  ['from', 'to'],
  ['date', 'date'],
] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/**
 * Moves the period of a report, by its parameters as the gateway understood them, and its `asOn` day.
 * `undefined` for a report without a period, or of an examination.
 */
export function earlierPeriod(
  understood: Readonly<Record<string, unknown>>,
  comparison: PeriodComparison,
): EarlierPeriod | undefined {
  const text = (name: string) => String(understood[name] ?? '');
  const period = PERIODS.find((names) => names.every((name) => text(name) !== ''));
  const session = text('session');
  const [first, last] = period ?? ['asOn', 'asOn'];
  if (text('term') !== '' || (text(first) === '' && session === '')) return undefined;
  // The previous session is the previous year.
  const isYear = comparison === 'year' || (!period && session !== '');
  const [from, to] = inOneUnit(text(first), text(last));
  const shift = isYear ? monthsEarlier(12, to) : periodEarlier(from, to);
  const times = Object.entries({ asOn: text('asOn'), [first]: from, [last]: to });
  return {
    shift,
    changed: {
      ...Object.fromEntries(times.flatMap(([name, time]) => (time === '' ? [] : [[name, shift(time)]]))),
      ...(isYear &&
        session !== '' && { session: sessionYearOf(`${Number(session.slice(0, 4)) - 1}-12-31`, 1) }),
    },
  };
}

/** A month and a day become two days. */
function inOneUnit(first: string, last: string): readonly [string, string] {
  return DAY.test(first) === DAY.test(last) ? [first, last] : [firstDayOf(first), lastDayIn(last)];
}

/** Whole months move by months, other days by days. */
function periodEarlier(first: string, last: string): EarlierPeriod['shift'] {
  const [from, to] = [firstDayOf(first), lastDayIn(last)];
  const months = monthNumber(to) - monthNumber(from) + 1;
  if (from.endsWith('-01') && to === lastDayOf(to)) return monthsEarlier(months, to);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return (time) => dayBefore(time, days).slice(0, time.length);
}

/** `last` is the last day of the period, which stays the last of its month. A shorter month ends earlier. */
function monthsEarlier(months: number, last: string): EarlierPeriod['shift'] {
  return (time) => {
    const month = monthsBefore(time, months).slice(0, 7);
    if (!DAY.test(time)) return month;
    const end = lastDayOf(month);
    const day = `${month}${time.slice(7)}`;
    return day > end || (time === last && time === lastDayOf(time)) ? end : day;
  };
}

function monthNumber(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
}

function firstDayOf(time: string): string {
  return DAY.test(time) ? time : `${time}-01`;
}

function lastDayIn(time: string): string {
  return DAY.test(time) ? time : lastDayOf(time);
}

/** The last day of the month. */
function lastDayOf(time: string): string {
  return dayBefore(monthsBefore(time, -1), 1);
}

/** If a row has one of these, it is about a person; otherwise, about the other subjects that it has. */
const PERSONS = ['studentId', 'userId', 'personId'];
const SUBJECTS = ['class', 'section', 'category', 'feeHead'];
const TIMES = ['month', 'day', 'start'];

export interface EarlierRows {
  of(row: ReportRow): ReportRow | undefined;
  /** The number of earlier rows without a counterpart. */
  readonly others: number;
}

/** Pairs rows by person or subject, and time. `undefined` if several rows have the same key. */
export function pairRows(
  rows: readonly ReportRow[],
  earlier: readonly ReportRow[],
  shift: EarlierPeriod['shift'],
): EarlierRows | undefined {
  const keys = new Set(rows.map((row) => keyOf(row, shift)));
  const byKey = new Map(earlier.map((row) => [keyOf(row), row]));
  if (keys.size < rows.length || byKey.size < earlier.length) return undefined;
  return {
    of: (row) => byKey.get(keyOf(row, shift)),
    others: [...byKey.keys()].filter((key) => !keys.has(key)).length,
  };
}

function keyOf(row: ReportRow, shift = (time: string) => time): string {
  const isPerson = PERSONS.some((name) => row[name]);
  const what = (isPerson ? PERSONS : SUBJECTS).map((name) => row[name] ?? null);
  return JSON.stringify([what, TIMES.map((name) => (row[name] ? shift(String(row[name])) : null))]);
}
