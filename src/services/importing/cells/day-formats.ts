/**
 * The formats of cells in a file, each with an example, and the parts of cells. This file imports nothing,
 * because the portal offers the same formats.
 */

/**
 * Days. The parts may be separated by `/`, `-`, `.` or a space, and may lack a leading zero. Two digits of a
 * year mean 1969 to 2068. `serial` is the number of the day in a spreadsheet: 45747 is 2025-03-31. Counted
 * from 1904 (`serial-1904`), that day is 44285.
 */
export const DAY_EXAMPLES = {
  'YYYY-MM-DD': '2026-03-31',
  'DD/MM/YYYY': '31/03/2026',
  'MM/DD/YYYY': '03/31/2026',
  'DD/MM/YY': '31/03/26',
  'MM/DD/YY': '03/31/26',
  'DD MMM YYYY': '31-Mar-2026',
  'DD MMM YY': '31-Mar-26',
  YYYYMMDD: '20260331',
  serial: '46112',
  'serial-1904': '44650',
} as const;
export type WholeDayFormat = keyof typeof DAY_EXAMPLES;
/** A month, such as `2026-11`: the cells are its days, such as `12`. */
export type DayFormat = WholeDayFormat | `${number}-${number}`;
export const DAY_FORMATS = Object.keys(DAY_EXAMPLES) as readonly WholeDayFormat[];

/**
 * Numbers: `plain` is 120000.50, `grouped` also accepts 1,20,000.50 and 120,000.50, `european` accepts
 * 120000,50, 120.000,50 and 120 000,50.
 */
export const NUMBER_EXAMPLES = {
  plain: '120000.50',
  grouped: '1,20,000.50',
  european: '1.20.000,50',
} as const;
export type NumberFormat = keyof typeof NUMBER_EXAMPLES;
export const NUMBER_FORMATS = Object.keys(NUMBER_EXAMPLES) as readonly NumberFormat[];

/**
 * Instants: a day in one of its formats, followed by a time (`31/03/2026 9:30 PM`), in the time zone unless
 * the text names another. `YYYY-MM-DD` is ISO 8601. In the number of a spreadsheet, the fraction is the
 * time. `epoch-seconds` and `epoch-milliseconds` count from 1970.
 */
export const INSTANT_FORMATS = [...DAY_FORMATS, 'epoch-seconds', 'epoch-milliseconds'] as const;
export type InstantFormat = (typeof INSTANT_FORMATS)[number] | DayFormat;

/** One of several values in the cells of a column: the class or the section of "10-A". */
export interface CellPart {
  /**
   * The text between the parts. Several spaces count as one. If it is empty, a part ends where digits and
   * letters meet, with any sign or space between them.
   */
  readonly separator: string;
  /** The number of the part, from 1. */
  readonly number: number;
  /** The number of parts of a cell. */
  readonly of: number;
}

/**
 * The trimmed text of the part. `undefined` if the cell has more or fewer parts, because the number of a
 * part is then ambiguous.
 *
 *   partOfCell('10 - A', { separator: '-', number: 2, of: 2 })     'A'
 *   partOfCell('10A', { separator: '', number: 2, of: 2 })         'A'
 *   partOfCell('10-A-7', { separator: '-', number: 2, of: 2 })     undefined
 */
export function partOfCell(text: string, { separator, number, of }: CellPart): string | undefined {
  const parts = text.trim().split(splitterOf(separator));
  return parts.length === of ? parts[number - 1]?.trim() : undefined;
}

/** Combining marks, e.g. the vowels of Hindi, belong to the letter before them. */
const DIGITS_MEET_LETTERS = /(?<=\p{Nd})[\s\-–./]*(?=\p{L})|(?<=[\p{L}\p{M}])[\s\-–./]*(?=\p{Nd})/u;

function splitterOf(separator: string): string | RegExp {
  if (separator === '') return DIGITS_MEET_LETTERS;
  return separator.trim() === '' ? /\s+/ : separator;
}
