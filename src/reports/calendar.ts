/** Days, months and sessions as reports count them: by the domain's time zone, ranges half-open in SQL. */
import { Temporal } from 'temporal-polyfill';
import { invariant } from '../errors.js';
import {
  type Day,
  type DayOrMonth,
  isDay,
  isMonth,
  isSession,
  type Month,
  type Session,
} from './parameter-types.js';

export function today(timeZone: string, now: Date): Day {
  return toDay(
    Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone).toPlainDate(),
  );
}

/** The first instant of a day, as records write instants. */
export function startOf(day: Day, timeZone: string): string {
  const start = Temporal.PlainDate.from(day).toZonedDateTime(timeZone).toInstant();
  return start.toString({ fractionalSecondDigits: 3 });
}

/** The first instant after a day. */
export function endOf(day: Day, timeZone: string): string {
  return startOf(addDays(day, 1), timeZone);
}

export function addDays(day: Day, days: number): Day {
  return toDay(Temporal.PlainDate.from(day).add({ days }));
}

export function addMonths(month: Month, months: number): Month {
  return toMonth(Temporal.PlainYearMonth.from(month).add({ months }));
}

export function monthOf(day: Day): Month {
  return toMonth(Temporal.PlainDate.from(day).toPlainYearMonth());
}

/** How many months from one to another, both counted: 1 for the same. */
export function monthsBetween(start: Month, end: Month): number {
  return (
    Temporal.PlainYearMonth.from(start).until(Temporal.PlainYearMonth.from(end), { largestUnit: 'month' })
      .months + 1
  );
}

export function daysBetween(start: Day, end: Day): number {
  return Temporal.PlainDate.from(start).until(Temporal.PlainDate.from(end), { largestUnit: 'day' }).days + 1;
}

export function firstDay(value: DayOrMonth): Day {
  return isDay(value) ? value : toDay(Temporal.PlainYearMonth.from(value).toPlainDate({ day: 1 }));
}

export function lastDay(value: DayOrMonth): Day {
  if (isDay(value)) return value;
  const month = Temporal.PlainYearMonth.from(value);
  return toDay(month.toPlainDate({ day: month.daysInMonth }));
}

/** The session a day falls in, where sessions start in month `firstMonth` (1–12). */
export function sessionOf(day: Day, firstMonth: number): Session {
  const { year, month } = Temporal.PlainDate.from(day);
  const first = month >= firstMonth ? year : year - 1;
  const session = `${first}-${String((first + 1) % 100).padStart(2, '0')}`;
  invariant(isSession(session), `${session} is a session`);
  return session;
}

/** The first and the last month of a session. */
export function monthsOf(
  session: Session,
  firstMonth: number,
): { readonly first: Month; readonly last: Month } {
  const first = toMonth(new Temporal.PlainYearMonth(Number(session.slice(0, 4)), firstMonth));
  return { first, last: addMonths(first, 11) };
}

function toDay(date: Temporal.PlainDate): Day {
  const text = date.toString();
  invariant(isDay(text), `${text} is a day`);
  return text;
}

function toMonth(month: Temporal.PlainYearMonth): Month {
  const text = month.toString();
  invariant(isMonth(text), `${text} is a month`);
  return text;
}
