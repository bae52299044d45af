/** Reads the value of a cell by a stated kind and format. */
import { isExactNumber, type JsonValue } from '../../../base/json/json.js';
import { parseDayCell, parseInstantCell } from './day-cell.js';
import type { DayFormat, InstantFormat, NumberFormat } from './day-formats.js';
import { CellFault, parseBooleanCell, parseNumberCell } from './plain-cells.js';

/** The kind of value of a cell, and its format. */
export type CellFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'number'; readonly format?: NumberFormat }
  | { readonly kind: 'integer'; readonly format?: NumberFormat }
  | { readonly kind: 'day'; readonly format: DayFormat }
  | { readonly kind: 'instant'; readonly format: InstantFormat }
  | { readonly kind: 'boolean' };

/**
 * The value of a cell: an unchanged text, a number (exact if a float cannot hold it), a day `YYYY-MM-DD`, an
 * instant as UTC text, or a boolean. The caller handles blank cells (`isBlankCell`); here they are rejected
 * unless the kind is text.
 *
 *   convertCell('1,20,000.50', { kind: 'number' })                   120000.5
 *   convertCell('31/03/26', { kind: 'day', format: 'DD/MM/YY' })     '2026-03-31'
 *   convertCell('maybe', { kind: 'boolean' })                        CellFault with what would be right
 */
export function convertCell(cell: unknown, to: CellFormat, timeZone = 'UTC'): JsonValue | CellFault {
  switch (to.kind) {
    case 'text':
      return textOf(cell);
    case 'number':
      return parseNumberCell(cell, to.format);
    case 'integer':
      return parseIntegerCell(cell, to.format);
    case 'day':
      return parseDayCell(cell, to.format, timeZone);
    case 'instant':
      return parseInstantCell(cell, to.format, timeZone);
    case 'boolean':
      return parseBooleanCell(cell);
  }
}

/** Whether a cell is empty or contains only spaces. */
export function isBlankCell(cell: unknown): boolean {
  return cell === null || cell === undefined || (typeof cell === 'string' && cell.trim() === '');
}

function textOf(cell: unknown): string | CellFault {
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell);
  return isExactNumber(cell) ? String(cell) : new CellFault('a text');
}

function parseIntegerCell(cell: unknown, format?: NumberFormat): JsonValue | CellFault {
  const number = parseNumberCell(cell, format);
  if (number instanceof CellFault || /^-?\d+$/.test(String(number))) return number;
  return new CellFault('a whole number such as 12');
}
