/** Reads numbers as people write them. */
import { type ExactNumber, isExactNumber, toPlainNumber } from '../../../base/json/json.js';
import { CellFault, cellText } from './cell-fault.js';
import { NUMBER_EXAMPLES, type NumberFormat } from './day-formats.js';

/** A longer text is no number and is not tried. */
const MAX_LENGTH = 400;
const PLAIN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const GROUPED = /^[+-]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?$/;
const EUROPEAN = /^[+-]?(?:\d{1,3}(?:[. \u00a0\u202f]\d{2,3})*[. \u00a0\u202f]\d{3}|\d+)(?:,\d*)?$/;
const CURRENCY = /^(?:₹|Rs\.?|INR|\$|€|£)\s*/i;
const NEGATIVE_IN_PARENTHESES = /^\((.+)\)$/;

/**
 * The number of a cell, exact if a float cannot hold it. Ignores a leading currency and a trailing `/-`, and
 * reads parentheses as a minus: `₹ 1,20,000.50`, `500/-`, `(500)`.
 */
export function parseNumberCell(
  cell: unknown,
  format: NumberFormat = 'grouped',
): number | ExactNumber | CellFault {
  if (typeof cell === 'number' || isExactNumber(cell)) return cell;
  const digits = digitsOf(cellText(cell) ?? '', format);
  return digits === undefined
    ? new CellFault(`a number such as ${NUMBER_EXAMPLES[format]}`)
    : toPlainNumber(digits);
}

/** The digits in the notation of JSON. `undefined` if the text is no number in the format. */
export function digitsOf(text: string, format: NumberFormat): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const bare = text.replace(CURRENCY, '').replace(/(?<!\s)\s*\/-$/, '');
  const inner = NEGATIVE_IN_PARENTHESES.exec(bare)?.[1];
  const number = (inner === undefined ? bare : `-${inner}`).replace(/^([+-]) +/, '$1');
  if (format === 'european') {
    return EUROPEAN.test(number)
      ? tidy(number.replaceAll(/[. \u00a0\u202f]/g, '').replace(',', '.'))
      : undefined;
  }
  if (PLAIN.test(number)) return tidy(number);
  return format === 'grouped' && GROUPED.test(number) ? tidy(number.replaceAll(',', '')) : undefined;
}

/** Removes a plus, leading zeros, and a point without digits beside it. */
function tidy(number: string): string {
  const sign = number.startsWith('-') ? '-' : '';
  const unsigned = number
    .replace(/^[+-]/, '')
    .replace(/^0+(?=\d)/, '')
    .replace(/^\./, '0.');
  return sign + unsigned.replace(/\.(?=$|[eE])/, '');
}
