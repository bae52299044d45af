/** Reads days as people and spreadsheets write them. */

import { Temporal } from 'temporal-polyfill';
import { dayOf, instantFrom, isDay, isMonth } from '../../../base/model/calendar.js';
import { DAY_EXAMPLES, type DayFormat, type InstantFormat, type WholeDayFormat } from './day-formats.js';
import { CellFault, cellText } from './plain-cells.js';

/** The formats other than the numbers of spreadsheets. */
const PATTERNS: Readonly<Record<Exclude<WholeDayFormat, 'serial' | 'serial-1904'>, RegExp>> = {
  'YYYY-MM-DD': /^(?<year>\d{4})[-/. ](?<month>\d{1,2})[-/. ](?<day>\d{1,2})$/,
  'DD/MM/YYYY': /^(?<day>\d{1,2})[-/. ](?<month>\d{1,2})[-/. ](?<year>\d{4})$/,
  'MM/DD/YYYY': /^(?<month>\d{1,2})[-/. ](?<day>\d{1,2})[-/. ](?<year>\d{4})$/,
  'DD/MM/YY': /^(?<day>\d{1,2})[-/. ](?<month>\d{1,2})[-/. ](?<year>\d{2})$/,
  'MM/DD/YY': /^(?<month>\d{1,2})[-/. ](?<day>\d{1,2})[-/. ](?<year>\d{2})$/,
  'DD MMM YYYY': withMonthName('\\d{4}'),
  'DD MMM YY': withMonthName('\\d{2}'),
  YYYYMMDD: /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})$/,
};

function withMonthName(year: string): RegExp {
  const day = '(?<day>\\d{1,2})(?:st|nd|rd|th)?[-/. ,]{0,2}';
  return new RegExp(`^${day}(?<month>[a-z]{3,9})\\.?[-/. ,]{0,2}(?<year>${year})$`, 'i');
}

const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july'].concat([
  'august',
  'september',
  'october',
  'november',
  'december',
]);
const HINDI_MONTHS: readonly (readonly string[])[] = [
  ...[['जनवरी'], ['फरवरी', 'फ़रवरी'], ['मार्च'], ['अप्रैल'], ['मई'], ['जून'], ['जुलाई'], ['अगस्त']],
  ...[
    ['सितंबर', 'सितम्बर'],
    ['अक्टूबर', 'अक्तूबर'],
    ['नवंबर', 'नवम्बर'],
    ['दिसंबर', 'दिसम्बर'],
  ],
];
/** A year with these two digits or higher ones belongs to the 20th century, as in POSIX. */
const FIRST_YEAR_OF_1900 = 69;
const LAST_SERIAL = 2_958_465;
/** Spreadsheets have a 29 February 1900, which did not exist. */
const NO_SUCH_DAY = 60;
const MS_OF_A_DAY = 86_400_000;

/**
 * The day of a cell, `YYYY-MM-DD`. An unambiguous day is accepted in any format: one that starts with the
 * year, or has the name of the month. For an instant, returns its day in the time zone.
 */
export function parseDayCell(cell: unknown, format: DayFormat, timeZone = 'UTC'): string | CellFault {
  const text = cellText(cell);
  const day = text === undefined ? undefined : (dayWritten(text, format) ?? dayOfInstant(text, timeZone));
  return day ?? new CellFault(expectedDay(format));
}

/** The expected content of a cell in the format. */
function expectedDay(format: DayFormat): string {
  return isWholeDay(format)
    ? `a day such as ${DAY_EXAMPLES[format]} (${format})`
    : `the number of a day of ${format}, such as 12`;
}

function isWholeDay(format: DayFormat): format is WholeDayFormat {
  return Object.hasOwn(DAY_EXAMPLES, format);
}

const UNMISTAKABLE = ['YYYY-MM-DD', 'DD MMM YYYY', 'DD MMM YY'] as const;

/** The day of a text in the format, or in an unambiguous format. `undefined` if it is no day. */
export function dayWritten(text: string, format: DayFormat): string | undefined {
  for (const one of [format, ...UNMISTAKABLE]) {
    const day = dayInFormat(text, one);
    if (day !== undefined) return day;
  }
  return undefined;
}

/** The day of a text in exactly this format. */
export function dayInFormat(text: string, format: DayFormat): string | undefined {
  if (format === 'serial' || format === 'serial-1904')
    return /^\d{1,7}$/.test(text) ? dayOfSerial(Number(text), format) : undefined;
  if (!isWholeDay(format))
    return /^\d{1,2}$/.test(text) ? dayOfNumbers(format.slice(0, 4), format.slice(5), text) : undefined;
  const { year, month = '', day = '' } = PATTERNS[format].exec(text)?.groups ?? {};
  if (year === undefined) return undefined;
  return dayOfNumbers(year, /^\d/.test(month) ? month : String(monthNumber(month)), day);
}

/**
 * The day with this serial number in a spreadsheet, without the time of day. `undefined` if there is none.
 */
export function dayOfSerial(serial: number, system: 'serial' | 'serial-1904'): string | undefined {
  const days = Math.floor(serial);
  if (system === 'serial-1904') {
    return days >= 0 && days <= LAST_SERIAL - 1462 ? dayAfter('1904-01-01', days) : undefined;
  }
  if (days < 1 || days > LAST_SERIAL || days === NO_SUCH_DAY) return undefined;
  return dayAfter(days < NO_SUCH_DAY ? '1899-12-31' : '1899-12-30', days);
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * MS_OF_A_DAY).toISOString().slice(0, 10);
}

function dayOfNumbers(year: string, month: string, day: string): string | undefined {
  const text = `${fullYear(year)}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(text) ? text : undefined;
}

function fullYear(year: string): string {
  if (year.length === 4) return year;
  return Number(year) >= FIRST_YEAR_OF_1900 ? `19${year}` : `20${year}`;
}

/** 4 of `Apr`, `april` and `अप्रैल`; 0 if the text is not the name of a month. */
export function monthNumber(name: string): number {
  const lower = name.toLowerCase();
  const isName = (known: string) => known.startsWith(lower);
  const inEnglish = MONTHS.findIndex((known) => isName(known) || (lower === 'sept' && known === 'september'));
  return (inEnglish < 0 ? HINDI_MONTHS.findIndex((names) => names.includes(lower)) : inEnglish) + 1;
}

const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/;

function dayOfInstant(text: string, timeZone: string): string | undefined {
  const [, local] = LOCAL_TIME.exec(text) ?? [];
  if (local !== undefined) return isDay(local) ? local : undefined;
  const instant = text.length > 10 ? instantFrom(text, timeZone) : undefined;
  return instant && dayOf(instant, timeZone);
}

const WITH_TIME =
  /^(.*[^\s,])(?:T|,? +)(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)? ?([ap]\.?m\.?)?$/i;
/** A longer text is no instant and is not tried. */
const MAX_LENGTH = 64;

/**
 * The instant of a cell as UTC text, `2026-03-31T16:00:00.000Z`. A day without a time is its midnight in the
 * zone.
 */
export function parseInstantCell(cell: unknown, format: InstantFormat, timeZone = 'UTC'): string | CellFault {
  const text = cellText(cell);
  const isTried = text && text.length <= MAX_LENGTH;
  return (isTried && instantWritten(text, format, timeZone)) || new CellFault(expectation(format));
}

function instantWritten(text: string, format: InstantFormat, timeZone: string): string | undefined {
  if (format === 'epoch-seconds' || format === 'epoch-milliseconds') {
    return /^-?\d{1,15}$/.test(text)
      ? ofEpoch(Number(text) * (format === 'epoch-seconds' ? 1_000 : 1))
      : undefined;
  }
  if ((format === 'serial' || format === 'serial-1904') && /^\d{1,7}\.\d+$/.test(text)) {
    return ofSerial(Number(text), format, timeZone);
  }
  const parts = WITH_TIME.exec(text);
  const day = dayWritten(parts?.[1] ?? text, format);
  if (day === undefined) return instantFrom(text, timeZone);
  return parts ? ofLocalTime(day, parts, timeZone) : instantFrom(day, timeZone);
}

function ofLocalTime(day: string, parts: RegExpExecArray, timeZone: string): string | undefined {
  const [, , hours = '', minute, seconds = '00', fraction = '0', half] = parts;
  const hour = half ? (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hours);
  if (hour > 23 || Number(minute) > 59 || Number(seconds) > 59 || (half && Number(hours) > 12))
    return undefined;
  return inZone(`${day}T${String(hour).padStart(2, '0')}:${minute}:${seconds}.${fraction}`, timeZone);
}

/** Rounds to the nearest second, because spreadsheets count time in floats. */
function ofSerial(serial: number, system: 'serial' | 'serial-1904', timeZone: string): string | undefined {
  const seconds = Math.round((serial - Math.floor(serial)) * 86_400);
  const day = dayOfSerial(Math.floor(serial) + (seconds === 86_400 ? 1 : 0), system);
  const time = new Date((seconds * 1_000) % MS_OF_A_DAY).toISOString().slice(11, 23);
  return day && inZone(`${day}T${time}`, timeZone);
}

function inZone(local: string, timeZone: string): string | undefined {
  return ofEpoch(Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds);
}

function ofEpoch(milliseconds: number): string | undefined {
  const instant = new Date(milliseconds);
  if (Number.isNaN(instant.getTime())) return undefined;
  const text = instant.toISOString();
  return text.length === 24 ? text : undefined;
}

function expectation(format: InstantFormat): string {
  if (format === 'epoch-seconds') return 'the seconds since 1970, such as 1774953000';
  if (format === 'epoch-milliseconds') return 'the milliseconds since 1970, such as 1774953000000';
  if (format === 'serial' || format === 'serial-1904') return 'the number of a day, such as 46112.395833';
  if (format === 'YYYY-MM-DD') return `an instant such as 2026-03-31T09:30:00+05:30 (${format})`;
  return isWholeDay(format)
    ? `an instant such as ${DAY_EXAMPLES[format]} 09:30 (${format})`
    : expectedDay(format);
}

const NAMED = /^(\p{L}[\p{L}\p{M}]{2,12})\.?[\s\-/.,'’]*(\d{4}|\d{2})$/u;
const YEAR_AND_NAME = /^(\d{4})[\s\-/.,]*(\p{L}[\p{L}\p{M}]{2,12})\.?$/u;
const NUMBERED = /^(\d{1,2})[-/. ](\d{4})$/;
const YEAR_FIRST = /^(\d{4})(?:[-/. ](?=\d{1,2}$)|(?=\d{2}$))(\d{1,2})$/;
const DAY = /^(\d{4})[-/.](\d{2})[-/.](\d{2})(?:[T ]\d{2}:\d{2}.*)?$/;
const FIRST_DAY = /^0?1[-/.](\d{1,2})[-/.](\d{4})$/;

/**
 * The month of a cell, `YYYY-MM`: of `Apr-26`, `April 2026`, `04/2026`, a day in ISO form, as workbooks have
 * in the cells of dates, and `01/04/2026`. A day other than the first in another form is ambiguous.
 *
 *   parseMonthCell('Apr-26')     '2026-04'
 */
export function parseMonthCell(cell: unknown): string | CellFault {
  const text = cellText(cell) ?? '';
  return monthWritten(text) ?? new CellFault('a month such as 2026-04, Apr-26 or 04/2026');
}

function monthWritten(text: string): string | undefined {
  if (text.length > 32) return undefined;
  const [, name = '', yearOfName = ''] = NAMED.exec(text) ?? [];
  if (name !== '') return monthFrom(yearOfName, monthNumber(name));
  const [, year = '', nameBehind = ''] = YEAR_AND_NAME.exec(text) ?? [];
  if (year !== '') return monthFrom(year, monthNumber(nameBehind));
  const [, ofDay = '', month = '', day = ''] = DAY.exec(text) ?? [];
  if (ofDay !== '') return isDay(`${ofDay}-${month}-${day}`) ? `${ofDay}-${month}` : undefined;
  const [, number, yearBehind = ''] = NUMBERED.exec(text) ?? FIRST_DAY.exec(text) ?? [];
  if (yearBehind !== '') return monthFrom(yearBehind, Number(number));
  const [, first = '', second] = YEAR_FIRST.exec(text) ?? [];
  return first === '' ? undefined : monthFrom(first, Number(second));
}

function monthFrom(year: string, number: number): string | undefined {
  const month = `${year.padStart(4, '20')}-${String(number).padStart(2, '0')}`;
  return isMonth(month) ? month : undefined;
}

const SESSION = /^(?:(?:ay|fy|session|सत्र)\s*)?(\d{4}|\d{2})\s*[-–—/]\s*(\d{4}|\d{2})$/iu;

/**
 * The session of a cell, `2026-27`: of `2026-2027`, `2026/27` and `26-27`. A text that is no two years in
 * succession is returned as it is, and refused by the rule of the field.
 */
export function parseSessionCell(cell: unknown): string | CellFault {
  const text = cellText(cell);
  if (text === undefined) return new CellFault('a session such as 2026-27');
  const [, first = '', second = ''] = SESSION.exec(text) ?? [];
  if (first === '') return text;
  const start = Number(first.padStart(4, '20'));
  const end = Number(second) % 100;
  return (start + 1) % 100 === end && (second.length === 2 || Number(second) === start + 1)
    ? `${start}-${String(end).padStart(2, '0')}`
    : text;
}
