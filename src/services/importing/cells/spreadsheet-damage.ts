/** Recognizes cells whose value a spreadsheet has destroyed, and cells that people fill in for no value. */
import { isExactNumber } from '../../../base/json/json.js';

const ERRORS =
  /^#(?:REF!|N\/A|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|#{2,})$/i;
const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E\+\d{2,3}$/i;
const LONGEST = 24;
/** Spreadsheets keep 15 digits of a number and replace the others by zeros. */
const MOST_DIGITS = 1e15;

/** `error`: of a formula, such as `#REF!`. `shortened`: a number without its last digits. */
export type SpreadsheetDamage = 'error' | 'shortened';

/**
 * What is wrong with the value, e.g. that `9.15854E+11` has lost its last digits; `undefined` for other
 * cells. A number may be written in that way, a code or a telephone number not.
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

/** What a cell should hold where a spreadsheet has destroyed its value. */
export const UNDAMAGED = 'the original value, in a column that is formatted as text';

const FILLER = /^(?:[-–—_.]+|\(?n\.?\s?[/.]?\s?a\.?\)?|null|nil|none|not (?:available|applicable)|0{7,})$/i;

/** Whether the cell is what people write where there is no value: `-`, `N/A`, `nil`, `0000000000`. */
export function isFiller(text: string): boolean {
  return text.length <= LONGEST && FILLER.test(text.trim());
}
