/** Collects findings about a column, row by row. */

import { isExactNumber } from '../../../base/json/json.js';
import { foldText } from '../../../base/model/normal-text.js';
import { dayInFormat, parseInstantCell } from '../cells/day-cell.js';
import { DAY_FORMATS, INSTANT_FORMATS, NUMBER_FORMATS, type NumberFormat } from '../cells/day-formats.js';
import {
  CellFault,
  digitsOf,
  isBlankCell,
  isFiller,
  parseBooleanCell,
  spreadsheetDamageOf,
  textOfCell,
} from '../cells/plain-cells.js';

type CellKind =
  | 'text'
  | 'number'
  | 'integer'
  | 'day'
  | 'instant'
  | 'boolean'
  | 'email'
  | 'phone'
  | 'list'
  | 'object';

/** A kind of cell, and its format if the kind has several formats. */
interface CellFit {
  readonly kind: CellKind;
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
const CELL_FITS: readonly CellFit[] = [
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
  ...NUMBER_FORMATS.map((format): CellFit => {
    const fits = (text: string) => !CODE.test(text) && digitsOf(text, format) !== undefined;
    return { kind: 'number', format, fits };
  }),
  { kind: 'boolean', fits: (text) => typeof parseBooleanCell(text) === 'boolean' },
  { kind: 'day', format: 'serial', fits: (text) => isWithin(text, SERIALS) },
  { kind: 'instant', format: 'epoch-milliseconds', fits: (text) => isWithin(text, EPOCHS) },
  { kind: 'list', fits: () => false },
  { kind: 'object', fits: () => false },
  { kind: 'text', fits: () => true },
];

/** Which of `CELL_FITS` fit, as bits in their order. */
type FitMask = number;

const TEXT_FITS: FitMask = maskOf(({ kind }) => kind === 'text');
const LIST_FITS = maskOf(({ kind }) => kind === 'list');
const OBJECT_FITS = maskOf(({ kind }) => kind === 'object');
const BOOLEAN_FITS = maskOf(({ kind }) => kind === 'boolean') | TEXT_FITS;

/** The mask of the fits that a predicate names. */
function maskOf(predicate: (fit: CellFit) => boolean): FitMask {
  return CELL_FITS.reduce((mask, fit, index) => (predicate(fit) ? mask | (1 << index) : mask), 0);
}

/** The fits of a value of a row: of the text of a cell, or of a value of a document or sheet. */
function fitsOf(value: unknown): FitMask {
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

function isWithin(text: string, { first, last }: { readonly first: number; readonly last: number }): boolean {
  return /^\d+(?:\.\d+)?$/.test(text) && Number(text) >= first && Number(text) <= last;
}

/** A kind of cell, its format, and the number of cells that fit it. One cell may fit several kinds. */
export interface FoundKind {
  readonly kind: CellFit['kind'];
  /**
   * For a number one of `NUMBER_FORMATS`, for a day of `DAY_FORMATS`, for an instant of `INSTANT_FORMATS`.
   */
  readonly format?: string;
  readonly count: number;
}

/** A cell with its row. */
export interface FoundCell {
  readonly number: number;
  readonly value: string;
}

/** The findings about a column. */
export interface ColumnInspection {
  /** The name of the column, or the path in documents: `guardian.phone`. */
  readonly column: string;
  /** The numbers of filled and of blank cells. */
  readonly filled: number;
  readonly blank: number;
  /** The number of different values, among those that were counted. See `isDistinctExact`. */
  readonly distinct: number;
  /** False if there are more values than were counted. */
  readonly isDistinctExact: boolean;
  /** The first different values. */
  readonly examples: readonly string[];
  /** The different values that were counted; left out of what is stored. */
  readonly values?: readonly string[];
  /** The kind that fits nine of ten cells, otherwise text. */
  readonly likely: { readonly kind: CellFit['kind']; readonly format?: string };
  /** All kinds, except text, that some cells fit; the most frequent first. */
  readonly kinds: readonly FoundKind[];
  /** The cells that do not fit the likely kind. */
  readonly misfits: { readonly count: number; readonly samples: readonly FoundCell[] };
  /** The spellings of cells that people fill in for no value, e.g. `-` and `N/A`, if there are any. */
  readonly fillers?: readonly string[];
  /** The first values that differ only in case and blanks, if there are any. */
  readonly alike?: readonly (readonly [string, string])[];
  /** The cells that a spreadsheet has destroyed, e.g. `9.15854E+11` and `#REF!`, if there are any. */
  readonly damaged?: { readonly count: number; readonly samples: readonly FoundCell[] };
}

const MAX_EXAMPLES = 5;
const MAX_FILLERS = 20;
const MAX_SAMPLE_LENGTH = 100;
const MAX_DISTINCT = 10_000;
/** The share of cells that must fit a kind. */
const LIKELY_SHARE = 0.9;
/** A column of small numbers holds days or instants only if its name matches this. */
const NAMES_OF_TIMES = /date|\bdob\b|birth|\bday\b|\bon\b|\bat\b|time|since|until|दिन|तिथि|तारीख/i;

/** The fits of days and instants with the day first, and with the month first. */
const DAY_FIRST = maskOf(({ format }) => format?.startsWith('DD/MM/') === true);
const MONTH_FIRST = maskOf(({ format }) => format?.startsWith('MM/DD/') === true);
/** Instants in these formats fit all others. */
const UNMISTAKABLE = maskOf(({ format }) => format === 'YYYY-MM-DD' || format?.includes('MMM') === true);
/** The day is the month. */
const SAME_PARTS = /^0?(\d{1,2})\D0?\1\D/;

export type DayOrder = 'day' | 'month';

/** The first cells that show which part of a day comes first; absent if no cell shows it. */
interface DayOrders {
  readonly day: FoundCell | undefined;
  readonly month: FoundCell | undefined;
  /** A cell that may be read either way, e.g. 01/04/2026. */
  readonly either: FoundCell | undefined;
}

/** Cells that fit the same kinds: their number, and the first of them. */
interface Seen {
  count: number;
  readonly samples: FoundCell[];
}

/** Values that were counted one by one, in all columns of a file together. */
export class DistinctBudget {
  #left = 200_000;

  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

/** Collects the findings about one column. Its memory does not grow with the rows. */
export class ColumnFindings {
  readonly #column: string;
  readonly #budget: DistinctBudget;
  readonly #seenByMask = new Map<FitMask, Seen>();
  readonly #fitsByValue = new Map<string, FitMask>();
  #isDistinctExact = true;
  #filled = 0;
  readonly #fillers = new Set<string>();
  readonly #damaged: Seen = { count: 0, samples: [] };

  constructor(column: string, budget: DistinctBudget) {
    this.#column = column;
    this.#budget = budget;
  }

  add(number: number, value: unknown): void {
    if (isBlankCell(value)) return;
    this.#filled += 1;
    const text = textOfCell(value);
    if (isFiller(text) && this.#fillers.size < MAX_FILLERS) this.#fillers.add(text.trim());
    if (spreadsheetDamageOf(value, false) !== undefined) note(this.#damaged, number, text);
    const mask = this.#fitsOf(text, value);
    const seen = this.#seenByMask.get(mask) ?? { count: 0, samples: [] };
    note(seen, number, text);
    this.#seenByMask.set(mask, seen);
  }

  /**
   * `rows`: the number of all rows. Those without an added cell count as blank. `order`: how days are read
   * that may be read either way.
   */
  finish(rows: number, order: DayOrder = 'day'): ColumnInspection {
    const kinds = this.#kinds(order);
    const likely = this.#likely(kinds);
    const bit = maskOf(({ kind, format }) => kind === likely.kind && format === likely.format);
    const misfits = [...this.#seenByMask].filter(([mask]) => (mask & bit) === 0).map(([, seen]) => seen);
    const alike = this.#alike();
    return {
      column: this.#column,
      filled: this.#filled,
      blank: rows - this.#filled,
      distinct: this.#fitsByValue.size,
      isDistinctExact: this.#isDistinctExact,
      examples: [...this.#fitsByValue.keys()].slice(0, MAX_EXAMPLES).map(clip),
      values: [...this.#fitsByValue.keys()],
      likely,
      kinds,
      misfits: {
        count: misfits.reduce((sum, { count }) => sum + count, 0),
        samples: misfits
          .flatMap(({ samples }) => samples)
          .sort((one, other) => one.number - other.number)
          .slice(0, MAX_EXAMPLES),
      },
      ...(this.#fillers.size > 0 && { fillers: [...this.#fillers] }),
      ...(alike.length > 0 && { alike }),
      ...(this.#damaged.count > 0 && { damaged: this.#damaged }),
    };
  }

  dayOrders(): DayOrders {
    return {
      day: this.#firstOf((mask) => (mask & DAY_FIRST) !== 0 && (mask & MONTH_FIRST) === 0),
      month: this.#firstOf((mask) => (mask & MONTH_FIRST) !== 0 && (mask & DAY_FIRST) === 0),
      either: this.#firstOf((mask) => (mask & MONTH_FIRST) !== 0 && (mask & DAY_FIRST) !== 0),
    };
  }

  #firstOf(isMeant: (mask: FitMask) => boolean): FoundCell | undefined {
    const cells = [...this.#seenByMask].flatMap(([mask, { samples }]) =>
      (mask & UNMISTAKABLE) === 0 && isMeant(mask) ? samples : [],
    );
    return cells
      .filter(({ value }) => !SAME_PARTS.test(value))
      .sort((one, other) => one.number - other.number)[0];
  }

  /** Caches the fits of earlier values, so that equal values are not examined again. */
  #fitsOf(text: string, value: unknown): FitMask {
    const known = this.#fitsByValue.get(text);
    if (known !== undefined) return known;
    const mask = fitsOf(value);
    if (this.#fitsByValue.size < MAX_DISTINCT && text.length <= MAX_SAMPLE_LENGTH && this.#budget.take()) {
      this.#fitsByValue.set(text, mask);
    } else this.#isDistinctExact = false;
    return mask;
  }

  #alike(): readonly (readonly [string, string])[] {
    const firsts = new Map<string, string>();
    const alike: (readonly [string, string])[] = [];
    for (const value of this.#fitsByValue.keys()) {
      const folded = foldText(value);
      const first = firsts.get(folded);
      if (first === undefined) firsts.set(folded, value);
      else if (alike.length < MAX_EXAMPLES) alike.push([first, value]);
    }
    return alike;
  }

  #kinds(order: DayOrder): FoundKind[] {
    const isBehind = ({ format }: FoundKind) =>
      format?.startsWith(order === 'day' ? 'MM/DD/' : 'DD/MM/') === true;
    return CELL_FITS.flatMap(({ kind, format }, index): FoundKind[] => {
      const count = this.#countOf(1 << index);
      return count === 0 || kind === 'text' ? [] : [{ kind, ...(format && { format }), count }];
    }).sort((one, other) => other.count - one.count || Number(isBehind(one)) - Number(isBehind(other)));
  }

  #likely(kinds: readonly FoundKind[]): ColumnInspection['likely'] {
    const isOfTime = isNameOfTime(this.#column);
    const enough = kinds.filter(({ count }) => count >= LIKELY_SHARE * this.#filled);
    const [best] = enough.filter(({ count }) => count === enough[0]?.count);
    const byName = enough.find(({ format }) => format === 'serial' || format === 'epoch-milliseconds');
    const found = (isOfTime && byName) || best;
    if (!found) return { kind: 'text' };
    return { kind: found.kind, ...(found.format && { format: found.format }) };
  }

  #countOf(bit: FitMask): number {
    let sum = 0;
    for (const [mask, { count }] of this.#seenByMask) if ((mask & bit) !== 0) sum += count;
    return sum;
  }
}

export function isNameOfTime(column: string): boolean {
  return NAMES_OF_TIMES.test(column.replaceAll('_', ' '));
}

function note(seen: Seen, number: number, text: string): void {
  seen.count += 1;
  if (seen.samples.length < MAX_EXAMPLES) seen.samples.push({ number, value: clip(text) });
}

function clip(text: string): string {
  return text.length > MAX_SAMPLE_LENGTH ? `${text.slice(0, MAX_SAMPLE_LENGTH)}…` : text;
}
