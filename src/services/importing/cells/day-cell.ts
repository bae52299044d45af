/** Reads days as people and spreadsheets write them. */
import { dayOf, instantFrom, isDay } from '../../../base/model/calendar.js';
import { CellFault, cellText } from './cell-fault.js';
import { DAY_EXAMPLES, type DayFormat, type WholeDayFormat } from './day-formats.js';

const ISO = /^(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})$/;
const WITH_LONG_YEAR = /^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})$/;
const WITH_SHORT_YEAR = /^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{2})$/;
const WITH_MONTH_NAME = /^(\d{1,2})(?:st|nd|rd|th)?[-/. ,]{0,2}([a-z]{3,9})\.?[-/. ,]{0,2}(\d{4}|\d{2})$/i;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
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

/** What a cell should hold in the format. */
export function expectedDay(format: DayFormat): string {
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
  const day = dayInFormat(text, format);
  if (day !== undefined) return day;
  for (const other of UNMISTAKABLE) {
    const written = dayInFormat(text, other);
    if (written !== undefined) return written;
  }
  return undefined;
}

/** The day of a text in exactly this format. */
export function dayInFormat(text: string, format: DayFormat): string | undefined {
  switch (format) {
    case 'YYYY-MM-DD':
      return dayOfParts(ISO.exec(text), [1, 2, 3]);
    case 'DD/MM/YYYY':
      return dayOfParts(WITH_LONG_YEAR.exec(text), [3, 2, 1]);
    case 'MM/DD/YYYY':
      return dayOfParts(WITH_LONG_YEAR.exec(text), [3, 1, 2]);
    case 'DD/MM/YY':
      return dayOfParts(WITH_SHORT_YEAR.exec(text), [3, 2, 1]);
    case 'MM/DD/YY':
      return dayOfParts(WITH_SHORT_YEAR.exec(text), [3, 1, 2]);
    case 'DD MMM YYYY':
      return dayWithMonthName(text, 4);
    case 'DD MMM YY':
      return dayWithMonthName(text, 2);
    case 'YYYYMMDD':
      return dayOfParts(COMPACT.exec(text), [1, 2, 3]);
    case 'serial':
    case 'serial-1904':
      return /^\d{1,7}$/.test(text) ? dayOfSerial(Number(text), format) : undefined;
    default:
      return /^\d{1,2}$/.test(text) ? dayOfNumbers(format.slice(0, 4), format.slice(5), text) : undefined;
  }
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

function dayOfParts(
  parts: RegExpExecArray | null,
  [year, month, day]: readonly [number, number, number],
): string | undefined {
  return parts ? dayOfNumbers(parts[year] ?? '', parts[month] ?? '', parts[day] ?? '') : undefined;
}

function dayOfNumbers(year: string, month: string, day: string): string | undefined {
  const text = `${fullYear(year)}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(text) ? text : undefined;
}

function fullYear(year: string): string {
  if (year.length === 4) return year;
  return Number(year) >= FIRST_YEAR_OF_1900 ? `19${year}` : `20${year}`;
}

function dayWithMonthName(text: string, yearLength: 2 | 4): string | undefined {
  const [, day = '', name = '', year = ''] = WITH_MONTH_NAME.exec(text) ?? [];
  if (year.length !== yearLength) return undefined;
  return dayOfNumbers(year, String(monthNumber(name)), day);
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
