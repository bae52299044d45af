import { withAsciiDigits } from '../../../base/text/ascii-digits.js';

/**
 * The next day, both as `YYYY-MM-DD`: the end of a range whose last day was selected. A text that is not a
 * day is returned unchanged, and the gateway rejects it.
 */
export function dayAfter(day: string): string {
  return isTime(day) ? new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10) : day;
}

/** Whether a text is a day, a month or an instant. A text in an address may be anything. */
export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

const DAY_FIRST = /^(?<day>\d{1,2})(?<between>[/.\- ])(?<month>\d{1,2})\k<between>(?<year>\d{4})$/;
const DIGITS_ALONE = /^(?<day>\d\d)(?<month>\d\d)(?<year>\d{4})$/;
const YEAR_FIRST = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/;

/** The day as `YYYY-MM-DD`; `undefined` for a text that is not a calendar day, such as 31/02/2026. */
export function parseTypedDay(text: string): string | undefined {
  const typed = withAsciiDigits(text).trim();
  const found = [DAY_FIRST, DIGITS_ALONE, YEAR_FIRST].map((form) => form.exec(typed)).find(Boolean);
  const { day = '', month = '', year = '' } = found?.groups ?? {};
  const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = Date.parse(written);
  // The 31st of a shorter month would be a day of the next one.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(written) ? written : undefined;
}

/** `2026-11-26` as 26/11/2026; any other text unchanged. */
export function printTypedDay(day: string): string {
  const { year, month, day: ofMonth } = YEAR_FIRST.exec(day)?.groups ?? {};
  return year === undefined ? day : `${ofMonth}/${month}/${year}`;
}

/** Whether a language has the day first. Default: the language of the browser and its own fields. */
export function writesDayFirst(language?: string): boolean {
  return /^26\D11/.test(
    new Intl.DateTimeFormat(language, { timeZone: 'UTC' }).format(Date.UTC(2026, 10, 26)),
  );
}

/** The days in the queries of dashboard tiles; all of them are `YYYY-MM-DD`. */

export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
}

/** The first day of the session of the day; sessions begin in `firstMonth`, 1 to 12. */
export function startOfSession(day: string, firstMonth: number): string {
  const [year, month] = day.split('-').map(Number) as [number, number];
  const begun = month < firstMonth ? year - 1 : year;
  return `${begun}-${String(firstMonth).padStart(2, '0')}-01`;
}

/** The name of the session of the day, e.g. `2026-27`. */
export function sessionYearOf(day: string, firstMonth: number): string {
  const year = Number(startOfSession(day, firstMonth).slice(0, 4));
  return `${year}-${String((year + 1) % 100).padStart(2, '0')}`;
}

/** The first of the month so many months before. */
export function monthsBefore(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01`);
  date.setUTCMonth(date.getUTCMonth() - months);
  return date.toISOString().slice(0, 10);
}

/** An instant in the local time of a time zone, `YYYY-MM-DDTHH:MM:SS`. */
export function toWallTime(instant: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const shown = format.format(Date.parse(instant)).replace(' ', 'T');
  return shown.replace(/^\d+/, (year) => year.padStart(4, '0'));
}

/**
 * The instant of a local time in a time zone; the later one if the local time occurs twice. While a year is
 * typed, it has fewer digits: 0002 on the way to 2026.
 */
export function fromWallTime(wallTime: string, timeZone: string): string {
  const asUtc = parseAsUtc(wallTime.length === 16 ? `${wallTime}:00` : wallTime);
  // Near a change of the clocks, the first offset may be that of the other side. It is therefore determined
  // once more.
  const first = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(first, timeZone)).toISOString();
}

function offsetAt(instant: number, timeZone: string): number {
  return (
    parseAsUtc(toWallTime(new Date(instant).toISOString(), timeZone)) - Math.floor(instant / 1000) * 1000
  );
}

/** A year of more than four digits has a sign (ECMA-262). */
function parseAsUtc(wallTime: string): number {
  return Date.parse(`${wallTime.replace(/^\d{5,}/, (year) => `+${year.padStart(6, '0')}`)}Z`);
}
