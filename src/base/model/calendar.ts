/**
 * Days, months and instants as the store writes them: a day is `YYYY-MM-DD`, a month `YYYY-MM`, an instant
 * UTC text `YYYY-MM-DDTHH:mm:ss.sssZ`. All three are of fixed width, so text order is their order in time.
 *
 * A day belongs to a time zone and is 23, 24 or 25 hours long there: its range comes from the calendar of the
 * zone, never from 86,400 seconds. The years are 0000 to 9999.
 *
 * @see decisions 2, 3
 */
import { Temporal } from 'temporal-polyfill';
import { isStoredInstant } from '../text/stored-instant.js';
import type { DayWord } from './filter.js';

/** Half-open: `start <= instant < end`, UTC text that compares with stored instants as text. */
export interface InstantRange {
  readonly start: string;
  readonly end: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$/;

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A `YYYY-MM-DD` that the calendar has. */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const month = text.slice(0, 7);
  const day = Number(text.slice(8));
  return MONTH.test(month) && day >= 1 && day <= daysInMonth(month);
}

/** A `YYYY-MM`. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** The range of a day in a zone, e.g. `2026-04-01` in `Asia/Kolkata` starts at `2026-03-31T18:30:00.000Z`. */
export function dayRange(day: string, timeZone: string): InstantRange {
  return rangeOf(day, addDays(day, 1), timeZone);
}

/** The range of a month in a zone. */
export function monthRange(month: string, timeZone: string): InstantRange {
  return rangeOf(firstDay(month), addDays(lastDay(month), 1), timeZone);
}

/** The day it is in a zone. */
export function today(timeZone: string, now: Date): string {
  const instant = now.toISOString();
  const kept = lastDayByZone.get(timeZone);
  if (kept !== undefined && kept.start <= instant && instant < kept.end) return kept.day;
  const day = dayOf(instant, timeZone);
  lastDayByZone.set(timeZone, { day, ...dayRange(day, timeZone) });
  return day;
}

/** Cached with the range in which it is valid, because every request needs the same day. */
const lastDayByZone = new Map<string, InstantRange & { readonly day: string }>();

/** The day a day word means, counted from today. */
export function dayOfWord(word: DayWord, timeZone: string, now: Date): string {
  return addDays(today(timeZone, now), -DAYS_AGO[word]);
}

export const DAYS_AGO: Readonly<Record<DayWord, number>> = { today: 0, yesterday: 1, daybeforeyesterday: 2 };

/** The day `days` later, or earlier if negative. @throws RangeError for a malformed day */
export function addDays(day: string, days: number): string {
  // Calendar days have 24 hours, unlike the days of a zone.
  const [text = ''] = new Date(Date.parse(`${day}T00:00:00.000Z`) + days * 86_400_000)
    .toISOString()
    .split('T');
  return text;
}

/** The month `months` later, or earlier if negative. */
export function addMonths(month: string, months: number): string {
  return monthText(Temporal.PlainYearMonth.from(month).add({ months }));
}

/** The month a day is in. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

export const DEFAULT_FIRST_MONTH = 4;

/** The first year of the session that a day or month falls in, where sessions start in month `firstMonth`. */
export function yearOfSession(dayOrMonth: string, firstMonth = DEFAULT_FIRST_MONTH): number {
  return Number(dayOrMonth.slice(0, 4)) - (Number(dayOrMonth.slice(5, 7)) < firstMonth ? 1 : 0);
}

/** The day of the zone that an instant (its text, or a `Date`) is on. */
export function dayOf(instant: string | Date, timeZone: string): string {
  const milliseconds = typeof instant === 'string' ? millisecondsOf(instant) : instant.getTime();
  const local = milliseconds + offsetAt(milliseconds, timeZone);
  // Reads the zone's wall clock as if it were UTC.
  if (isWritable(local)) return textOfDay(Math.floor(local / 86_400_000));
  return dayText(Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(timeZone));
}

/**
 * A stored instant as people of the zone read it: `2026-11-27` for the first instant of a day, otherwise
 * `2026-11-27 09:30:00`. Stays in UTC if the local time exists twice, or not within the years 0000 to 9999.
 */
export function localText(instant: string, timeZone: string): string {
  const day = dayOf(instant, timeZone);
  if (startOf(day, timeZone) === instant) return day;
  const milliseconds = Date.parse(instant);
  const offset = offsetAt(milliseconds, timeZone);
  // The clocks are put back by less than a day.
  const isRepeated = [milliseconds - DAY_MS, milliseconds + DAY_MS].some((near) => {
    const other = offsetAt(near, timeZone) - offset;
    return other !== 0 && offsetAt(milliseconds - other, timeZone) === offset + other;
  });
  if (isRepeated || !isWritable(milliseconds + offset)) return instant;
  return new Date(milliseconds + offset)
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, '');
}

const DAY_MS = 86_400_000;

/** Cached, because the records of a request fall on few days. */
const textsOfDays = new Map<number, string>();
const MOST_TEXTS_OF_DAYS = 1_000;

function textOfDay(sinceEpoch: number): string {
  const known = textsOfDays.get(sinceEpoch);
  if (known !== undefined) return known;
  const text = new Date(sinceEpoch * 86_400_000).toISOString().slice(0, 10);
  if (textsOfDays.size >= MOST_TEXTS_OF_DAYS) textsOfDays.clear();
  textsOfDays.set(sinceEpoch, text);
  return text;
}

export function firstDay(month: string): string {
  return `${month}-01`;
}

export function lastDay(month: string): string {
  return `${month}-${daysInMonth(month)}`;
}

/** 1 for Monday to 7 for Sunday. */
export function weekdayOf(day: string): number {
  return Temporal.PlainDate.from(day).dayOfWeek;
}

function daysInMonth(month: string): number {
  const year = Number(month.slice(0, 4));
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const index = Number(month.slice(5)) - 1;
  return index === 1 && isLeapYear ? 29 : (MONTH_DAYS[index] ?? 0);
}

/**
 * Parses an instant to its stored form: ISO 8601 with an offset or `Z`, or a bare day, which means its
 * midnight in the zone. Digits beyond the millisecond are dropped. `undefined` for anything else, including a
 * time without an offset.
 */
export function instantFrom(text: string, timeZone: string): string | undefined {
  if (isStoredInstant(text)) return text;
  if (isDay(text)) return dayRange(text, timeZone).start;
  if (!INSTANT.test(text)) return undefined;
  try {
    const milliseconds = Temporal.Instant.from(text).epochMilliseconds;
    return isWritable(milliseconds) ? new Date(milliseconds).toISOString() : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws RangeError if it is not an instant */
function millisecondsOf(text: string): number {
  return isStoredInstant(text) ? Date.parse(text) : Temporal.Instant.from(text).epochMilliseconds;
}

/** In milliseconds. From `start` until before `end`, the zone is `offset` ahead of UTC. */
interface OffsetPeriod {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
}

/**
 * Cached, because Temporal takes 10 µs per instant and a register of marks has thousands, while the offset
 * of a zone stays the same for months.
 */
const periodsByZone = new Map<string, OffsetPeriod[]>();
const KEPT_PERIODS = 100;

function offsetAt(milliseconds: number, timeZone: string): number {
  const kept = periodsByZone.get(timeZone) ?? [];
  const found = kept.find(({ start, end }) => start <= milliseconds && milliseconds < end);
  if (found !== undefined) return found.offset;
  const period = offsetPeriodAt(milliseconds, timeZone);
  periodsByZone.set(timeZone, [period, ...kept.slice(0, KEPT_PERIODS - 1)]);
  return period.offset;
}

function offsetPeriodAt(milliseconds: number, timeZone: string): OffsetPeriod {
  const here = Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(timeZone);
  // The next transition, to find the one at or before the instant: the previous transition is always strictly
  // earlier.
  const after = Temporal.Instant.fromEpochMilliseconds(milliseconds + 1).toZonedDateTimeISO(timeZone);
  return {
    start: after.getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    end: here.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: here.offsetNanoseconds / 1e6,
  };
}

/** Cached, because a look-up of a midnight costs some 10 µs, and a request makes several. */
const startsByDayAndZone = new Map<string, string>();
const KEPT_DAYS = 1_000;

function rangeOf(firstDayOfRange: string, dayAfter: string, timeZone: string): InstantRange {
  return { start: startOf(firstDayOfRange, timeZone), end: startOf(dayAfter, timeZone) };
}

/** The first instant of a day: 00:00, or 01:00 where the clocks are put forward at midnight. */
function startOf(day: string, timeZone: string): string {
  if (!isDay(day)) return day.startsWith('-') ? FIRST_INSTANT : AFTER_LAST_INSTANT;
  const key = `${day} ${timeZone}`;
  const kept = startsByDayAndZone.get(key);
  if (kept !== undefined) return kept;
  const start = instantText(Temporal.PlainDate.from(day).toZonedDateTime({ timeZone }).epochMilliseconds);
  if (startsByDayAndZone.size >= KEPT_DAYS) startsByDayAndZone.clear();
  startsByDayAndZone.set(key, start);
  return start;
}

/** The first and last day may extend beyond the years 0000 and 9999; the texts still sort correctly there. */
function instantText(milliseconds: number): string {
  if (isWritable(milliseconds)) return new Date(milliseconds).toISOString();
  return milliseconds < 0 ? FIRST_INSTANT : AFTER_LAST_INSTANT;
}

function isWritable(milliseconds: number): boolean {
  return milliseconds >= FIRST_MILLISECOND && milliseconds <= LAST_MILLISECOND;
}

const FIRST_INSTANT = '0000-01-01T00:00:00.000Z';
const AFTER_LAST_INSTANT = '9999-12-31T24:00:00.000Z';
const FIRST_MILLISECOND = Date.parse(FIRST_INSTANT);
const LAST_MILLISECOND = Date.parse('9999-12-31T23:59:59.999Z');

function dayText(date: { readonly year: number; readonly month: number; readonly day: number }): string {
  return `${monthText(date)}-${String(date.day).padStart(2, '0')}`;
}

function monthText(date: { readonly year: number; readonly month: number }): string {
  return `${String(date.year).padStart(4, '0')}-${String(date.month).padStart(2, '0')}`;
}
