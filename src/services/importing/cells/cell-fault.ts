import { isExactNumber } from '../../../base/json/json.js';
import { withAsciiDigits } from '../../../base/text/ascii-digits.js';

/** A cell that does not fit its type. A value, not an error, because a file may have a million of them. */
export class CellFault {
  /** What would be right, e.g. `a day such as 31/03/2026 (DD/MM/YYYY)`. */
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
