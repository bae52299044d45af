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
