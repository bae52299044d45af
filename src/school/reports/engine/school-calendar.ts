/** Days, months and sessions for reports: in the domain's time zone; ranges are half-open in SQL. */
import { Temporal } from 'temporal-polyfill';
import { invariant } from '../../../base/errors.js';
import * as calendar from '../../../base/model/calendar.js';
import {
  type Day,
  type DayOrMonth,
  isReportDay,
  isReportMonth,
  isSession,
  type Month,
  type Session,
} from './parameter-types.js';

export function todayIn(timeZone: string, now: Date): Day {
  return toDay(calendar.today(timeZone, now));
}

/** The first instant of a day, in the format of stored instants. */
export function startOf(day: Day, timeZone: string): string {
  return calendar.dayRange(day, timeZone).start;
}

/** The first instant after a day. */
export function endOf(day: Day, timeZone: string): string {
  return calendar.dayRange(day, timeZone).end;
}

export function daysAfter(day: Day, days: number): Day {
  return toDay(calendar.addDays(day, days));
}

export function monthsAfter(month: Month, months: number): Month {
  return toMonth(calendar.addMonths(month, months));
}

export function monthOfDay(day: Day): Month {
  return toMonth(calendar.monthOf(day));
}

/** The number of months in a range, including both ends: 1 for a single month. */
export function countMonths(start: Month, end: Month): number {
  return (
    Temporal.PlainYearMonth.from(start).until(Temporal.PlainYearMonth.from(end), { largestUnit: 'month' })
      .months + 1
  );
}

export function firstDayOf(value: DayOrMonth): Day {
  return isReportDay(value) ? value : toDay(calendar.firstDay(value));
}

export function lastDayOf(value: DayOrMonth): Day {
  return isReportDay(value) ? value : toDay(calendar.lastDay(value));
}

/** The session a day falls in, where sessions start in month `firstMonth` (1–12). */
export function sessionOf(day: Day, firstMonth: number): Session {
  const first = calendar.yearOfSession(day, firstMonth);
  const session = `${String(first).padStart(4, '0')}-${String((first + 1) % 100).padStart(2, '0')}`;
  invariant(isSession(session), `${session} is a session`);
  return session;
}

/** The first and the last month of a session. */
export function monthsOf(
  session: Session,
  firstMonth: number,
): { readonly first: Month; readonly last: Month } {
  const first = toMonth(`${session.slice(0, 4)}-${String(firstMonth).padStart(2, '0')}`);
  return { first, last: monthsAfter(first, 11) };
}

function toDay(text: string): Day {
  invariant(isReportDay(text), `${text} is a day`);
  return text;
}

function toMonth(text: string): Month {
  invariant(isReportMonth(text), `${text} is a month`);
  return text;
}
