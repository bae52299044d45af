/**
 * Lists what a cell may mean, judged by its text alone: `1` is a whole number and a yes, and 01/02/2026 is
 * one of two days.
 */

import { isExactNumber } from '../../../base/json/json.js';
import { parseBooleanCell } from '../cells/boolean-cell.js';
import { CellFault } from '../cells/cell-fault.js';
import type { CellFormat } from '../cells/convert-cell.js';
import { dayInFormat } from '../cells/day-cell.js';
import { DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS, type NumberFormat } from '../cells/day-formats.js';
import { parseInstantCell } from '../cells/instant-cell.js';
import { digitsOf } from '../cells/number-cell.js';

/** A kind of cell, and its format if the kind has several formats. */
export interface CellFit {
  readonly kind: CellFormat['kind'] | 'email' | 'phone' | 'list' | 'object';
  readonly format?: string;
  /** Whether the text fits. Not called for long texts. */
  readonly fits: (text: string) => boolean;
}

/** A short text without letters but those of months, which is worth trying as a number, day or instant. */
const MAX_TRIED_LENGTH = 64;

const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const PHONE = /^(?:\+|00)?(?:91[ -]?)?(?:0?[6-9]\d{4}[ -]?\d{5}|\(?0\d{2,4}\)?[ -]?\d{6,8})$/;
const FOREIGN_PHONE = /^\+[1-9][\d ()-]{7,17}\d$/;
/** A number would lose leading zeros, so such a text is a code: an admission number, a PIN. */
const CODE = /^[+-]?0\d/;

/** From 1954 to 2119: numbers that a spreadsheet is likely to mean as days. */
const SERIALS = { first: 20_000, last: 80_000 };
/** From 2001 to 2033, in milliseconds. */
const EPOCHS = { first: 1e12, last: 2e12 };

/** The most specific first: if two fit equally many cells, the first one is chosen. */
export const CELL_FITS: readonly CellFit[] = [
  { kind: 'email', fits: (text) => text.includes('@') && EMAIL.test(text) },
  { kind: 'phone', fits: (text) => PHONE.test(text) || FOREIGN_PHONE.test(text) },
  ...DAY_FORMATS.filter(isNoNumber).map(
    (format): CellFit => ({
      kind: 'day',
      format,
      fits: (text) => dayInFormat(text, format) !== undefined,
    }),
  ),
  ...INSTANT_FORMATS.filter(isNoNumber).map(
    (format): CellFit => ({
      kind: 'instant',
      format,
      fits: (text) => text.includes(':') && !(parseInstantCell(text, format) instanceof CellFault),
    }),
  ),
  { kind: 'integer', format: 'plain', fits: (text) => isInteger(text, 'plain') },
  { kind: 'integer', format: 'grouped', fits: (text) => isInteger(text, 'grouped') },
  ...NUMBER_FORMATS.map(
    (format): CellFit => ({ kind: 'number', format, fits: (text) => isNumber(text, format) }),
  ),
  { kind: 'boolean', fits: (text) => typeof parseBooleanCell(text) === 'boolean' },
  { kind: 'day', format: 'serial', fits: (text) => isWithin(text, SERIALS) },
  { kind: 'instant', format: 'epoch-milliseconds', fits: (text) => isWithin(text, EPOCHS) },
  { kind: 'list', fits: () => false },
  { kind: 'object', fits: () => false },
  { kind: 'text', fits: () => true },
];

/** Which of `CELL_FITS` fit, as bits in their order. */
export type FitMask = number;

const TEXT_FITS: FitMask = maskOf(({ kind }) => kind === 'text');
const LIST_FITS = maskOf(({ kind }) => kind === 'list');
const OBJECT_FITS = maskOf(({ kind }) => kind === 'object');
const BOOLEAN_FITS = maskOf(({ kind }) => kind === 'boolean') | TEXT_FITS;

/** The mask of the fits that a predicate names. */
export function maskOf(predicate: (fit: CellFit) => boolean): FitMask {
  return CELL_FITS.reduce((mask, fit, index) => (predicate(fit) ? mask | (1 << index) : mask), 0);
}

/** The fits of a value of a row: of the text of a cell, or of a value of a document or sheet. */
export function fitsOf(value: unknown): FitMask {
  if (typeof value === 'boolean') return BOOLEAN_FITS;
  if (Array.isArray(value)) return LIST_FITS;
  if (typeof value === 'object' && value !== null && !isExactNumber(value)) return OBJECT_FITS;
  const text = String(value).trim();
  if (text.length > MAX_TRIED_LENGTH) return TEXT_FITS;
  // Most texts of a table are names, which fit no other kind.
  const isWorthTrying = /[\d@]/u.test(text) || /\p{Nd}/u.test(text) || text.length <= 6;
  return isWorthTrying ? maskOf(({ fits }) => fits(text)) : TEXT_FITS;
}

/** Whole numbers fit these formats too; only the name of the column decides. */
function isNoNumber(format: string): boolean {
  return !/^(?:serial|epoch)/.test(format);
}

function isInteger(text: string, format: NumberFormat): boolean {
  return !CODE.test(text) && /^[+-]?[\d,]+$/.test(text) && digitsOf(text, format) !== undefined;
}

function isNumber(text: string, format: NumberFormat): boolean {
  return !CODE.test(text) && digitsOf(text, format) !== undefined;
}

function isWithin(text: string, { first, last }: { readonly first: number; readonly last: number }): boolean {
  return /^\d+(?:\.\d+)?$/.test(text) && Number(text) >= first && Number(text) <= last;
}
