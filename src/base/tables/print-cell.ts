/**
 * The cells of a worksheet (ECMA-376).
 *
 * No cell is a formula: texts, headings too, are inline strings, which a spreadsheet does not run. Numbers,
 * percents and money are numbers with their format, days are dates, instants dates with a time. A spreadsheet
 * computes in floats: amounts over fifteen digits lose their last ones there, as in any workbook.
 */
import type { CellType } from './cell.js';
import { encodeXstring } from './xstring.js';

/** Indexes into `cellXfs` of the styles of a `Workbook`. */
export const STYLE = {
  plain: 0,
  heading: 1,
  money: 2,
  day: 3,
  instant: 4,
  number: 5,
  totalText: 6,
  totalMoney: 7,
  totalNumber: 8,
  localInstant: 9,
} as const;

/** The longest text of a cell; spreadsheets report files with longer ones as damaged. */
const MAX_CELL_CHARACTERS = 32_767;
const CUT = '…';
/** Spreadsheets wrongly count a 29 February 1900. */
const FIRST_DAY = '1900-03-01';

export function printRow(cells: readonly string[]): string {
  return `<row>${cells.join('')}</row>`;
}

export function printCell(type: CellType, value: string | null): string {
  if (value === null) return '<c/>';
  switch (type) {
    case 'money':
      return numberCell(value, STYLE.money);
    case 'whole':
    case 'decimal':
      return numberCell(value, STYLE.plain);
    case 'number':
    case 'percent':
      return numberCell(value, STYLE.number);
    case 'day':
      return dateCell(`${value}T00:00:00Z`, value, STYLE.day);
    case 'instant':
      return instantCell(value);
    case 'flag':
      return `<c t="b"><v>${value === 'true' ? 1 : 0}</v></c>`;
    case 'month':
    case 'json':
    case 'text':
      return textCell(value, STYLE.plain);
  }
}

export function textCell(text: string, style: number): string {
  const printed = escapeXml(encodeXstring(cut(text)));
  return `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${printed}</t></is></c>`;
}

/**
 * Whether a cell preserves the text. It does not preserve an empty text, which looks like no cell; half of a
 * character; the first days of 1900, which spreadsheets count wrongly; and numbers of 16 or 17 digits,
 * which are read as floats.
 */
export function workbookHolds(type: CellType, text: string): boolean {
  switch (type) {
    case 'day':
    case 'instant':
      return text >= FIRST_DAY;
    case 'flag':
      return true;
    case 'month':
    case 'json':
    case 'text':
      return text !== '' && text.isWellFormed();
    case 'whole':
    case 'number':
    case 'percent':
    case 'money':
    case 'decimal': {
      const { length } = text.replace(/e.*/i, '').replaceAll(/\D/g, '').replace(/^0+/, '');
      return length < 16 || length > 17;
    }
  }
}

/** A text that is not a number is shown as it is. */
export function numberCell(digits: string, style: number): string {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(digits)) return textCell(digits, STYLE.plain);
  return `<c s="${style}"><v>${escapeXml(digits)}</v></c>`;
}

/** Days since 1899-12-30, the workbook's day 0. A text that is not a date is shown as it is. */
function dateCell(instant: string, text: string, style: number): string {
  const milliseconds = Date.parse(instant);
  if (Number.isNaN(milliseconds)) return textCell(text, STYLE.plain);
  return numberCell(String(milliseconds / 86_400_000 + 25_569), style);
}

/** In UTC, or a day or local time of the school. @see localText */
function instantCell(value: string): string {
  if (value.endsWith('Z')) return dateCell(value, value, STYLE.instant);
  if (value.length === 10) return printCell('day', value);
  return dateCell(`${value.replace(' ', 'T')}Z`, value, STYLE.localInstant);
}

/** Ends a text that is too long in an ellipsis, never between the halves of a character. */
function cut(text: string): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  return `${text.slice(0, MAX_CELL_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '')}${CUT}`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
