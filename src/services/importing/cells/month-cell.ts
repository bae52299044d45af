/** Reads months and sessions as people and spreadsheets write them. */
import { isDay, isMonth } from '../../../base/model/calendar.js';
import { CellFault, cellText } from './cell-fault.js';
import { monthNumber } from './day-cell.js';

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
