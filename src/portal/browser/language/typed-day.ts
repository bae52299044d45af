/** Days as people of the school write them, the day first: 26/11/2026, 26-11-2026, 26.11.2026, 26112026. */
import { withAsciiDigits } from '../../../base/text/ascii-digits.js';

const DAY_FIRST = /^(?<day>\d{1,2})(?<between>[/.\- ])(?<month>\d{1,2})\k<between>(?<year>\d{4})$/;
const DIGITS_ALONE = /^(?<day>\d\d)(?<month>\d\d)(?<year>\d{4})$/;
const YEAR_FIRST = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/;

/** The day as `YYYY-MM-DD`; `undefined` for a text that is no day of the calendar, such as 31/02/2026. */
export function parseTypedDay(text: string): string | undefined {
  const typed = withAsciiDigits(text).trim();
  const found = [DAY_FIRST, DIGITS_ALONE, YEAR_FIRST].map((form) => form.exec(typed)).find(Boolean);
  const { day = '', month = '', year = '' } = found?.groups ?? {};
  const written = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = Date.parse(written);
  // The 31st of a shorter month would be a day of the next one.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(written) ? written : undefined;
}

/** `2026-11-26` as 26/11/2026; a text that is no day as it stands. */
export function printTypedDay(day: string): string {
  const { year, month, day: ofMonth } = YEAR_FIRST.exec(day)?.groups ?? {};
  return year === undefined ? day : `${ofMonth}/${month}/${year}`;
}

/** Whether a language has the day first. Default: the language of the browser, by which its own fields go. */
export function writesDayFirst(language?: string): boolean {
  return /^26\D11/.test(
    new Intl.DateTimeFormat(language, { timeZone: 'UTC' }).format(Date.UTC(2026, 10, 26)),
  );
}
