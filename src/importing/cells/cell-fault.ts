import { isExactNumber } from '../../json.js';

/** A cell that does not fit its type. A value, not an error, because a file may have a million of them. */
export class CellFault {
  /** What would be right, e.g. `a day such as 31/03/2026 (DD/MM/YYYY)`. */
  readonly expected: string;

  constructor(expected: string) {
    this.expected = expected;
  }
}

/**
 * The text that stands in a cell, without the spaces around it and with ASCII digits for those of
 * Devanagari and other scripts; `undefined` where something else than a text or number stands in it.
 */
export function cellText(cell: unknown): string | undefined {
  if (typeof cell === 'string') return toAsciiDigits(cell.trim());
  return typeof cell === 'number' || isExactNumber(cell) ? String(cell) : undefined;
}

const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;

function toAsciiDigits(text: string): string {
  // Few texts have other digits, and looking for them is slow.
  return isAscii(text) ? text : text.replaceAll(OTHER_DIGIT, (digit) => String(valueOfDigit(digit)));
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** The digits of a script have consecutive code points. */
function valueOfDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}
