import {
  type ExactNumber,
  isExactNumber,
  type JsonObject,
  type JsonValue,
  printExactJson,
  toPlainNumber,
} from '../../../base/json/json.js';
import { withAsciiDigits } from '../../../base/text/ascii-digits.js';
import { NUMBER_EXAMPLES, type NumberFormat } from './day-formats.js';

/** A cell that does not fit its type. A value, not an error, because a file may have a million of them. */
export class CellFault {
  /** A description of right values, e.g. `a day such as 31/03/2026 (DD/MM/YYYY)`. */
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

/**
 * The text of a cell, trimmed, with ASCII digits in place of those of Devanagari and other scripts.
 * `undefined` if the cell holds something other than a text or number.
 */
export function cellText(cell: unknown): string | undefined {
  if (typeof cell === 'string') return withAsciiDigits(cell.trim());
  return typeof cell === 'number' || isExactNumber(cell) ? String(cell) : undefined;
}

/** A cell as text: a list or an object as JSON, an empty cell as the empty text. */
export function textOfCell(cell: unknown): string {
  return isNestedCell(cell) ? printExactJson(cell) : String(cell ?? '');
}

/** Whether a cell is a list or an object, as in documents. */
export function isNestedCell(cell: unknown): cell is readonly JsonValue[] | JsonObject {
  return typeof cell === 'object' && cell !== null && !isExactNumber(cell);
}

/** In lower case. */
const VALUES_BY_WORD: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 't', '1', 'on', 'हाँ', 'हां', 'हा'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'f', '0', 'off', 'नहीं', 'नही'].map((word) => [word, false] as const),
]);

/** The boolean of a cell: `true`, `yes`, `y`, `1`, `on`, `हाँ` and their opposites, in any case. */
export function parseBooleanCell(cell: unknown): boolean | CellFault {
  if (typeof cell === 'boolean') return cell;
  return (
    VALUES_BY_WORD.get(cellText(cell)?.toLowerCase() ?? '') ??
    new CellFault('yes or no (true, false, y, n, 1, 0)')
  );
}

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

/** A text as it is, or a number or boolean as text. */
export function parseTextCell(cell: unknown): string | CellFault {
  if (typeof cell === 'string') return cell;
  const isPlain = typeof cell === 'number' || typeof cell === 'boolean' || isExactNumber(cell);
  return isPlain ? String(cell) : new CellFault('a text');
}

/** Whether a cell is empty or contains only spaces. */
export function isBlankCell(cell: unknown): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

const ERRORS =
  /^#(?:REF!|N\/A|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|#{2,})$/i;
const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E\+\d{2,3}$/i;
const LONGEST = 24;
/** Spreadsheets keep 15 digits of a number and replace the others by zeros. */
const MOST_DIGITS = 1e15;

/** `error`: of a formula, such as `#REF!`. `shortened`: a number without its last digits. */
type SpreadsheetDamage = 'error' | 'shortened';

/**
 * The damage of a value, e.g. `9.15854E+11`, which has lost its last digits; `undefined` for other cells. A
 * number may be written in that way, a code or a telephone number not.
 */
export function spreadsheetDamageOf(cell: unknown, isNumber: boolean): SpreadsheetDamage | undefined {
  if (typeof cell === 'string') {
    if (cell.length > LONGEST) return undefined;
    const text = cell.trim();
    if (text.startsWith('#') && ERRORS.test(text)) return 'error';
    return !isNumber && text.includes('+') && SHORTENED.test(text) ? 'shortened' : undefined;
  }
  if (isNumber || (typeof cell !== 'number' && !isExactNumber(cell))) return undefined;
  return Math.abs(Number(cell)) >= MOST_DIGITS ? 'shortened' : undefined;
}

/** The expected content of a cell whose value a spreadsheet has destroyed. */
export const UNDAMAGED = 'the original value, in a column that is formatted as text';

const FILLER = /^(?:[-–—_.]+|\(?n\.?\s?[/.]?\s?a\.?\)?|null|nil|none|not (?:available|applicable)|0{7,})$/i;

/** Whether the cell is what people write where there is no value: `-`, `N/A`, `nil`, `0000000000`. */
export function isFiller(text: string): boolean {
  return text.length <= LONGEST && FILLER.test(text.trim());
}
