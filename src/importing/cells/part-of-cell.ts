/** One of several things that stand in the cells of a column: the class and the section of "10-A". */
export interface CellPart {
  /**
   * What stands between the parts; one space is as good as many. Empty: the parts are where digits and
   * letters meet, whatever sign or space is between them.
   */
  readonly separator: string;
  /** Which part is meant, counted from 1. */
  readonly number: number;
  /** How many parts a cell has. */
  readonly of: number;
}

/**
 * What stands in the part, without the spaces around it; `undefined` where the cell has more or fewer parts,
 * for then any of them may be another one.
 *
 *   partOfCell('10 - A', { separator: '-', number: 2, of: 2 })     'A'
 *   partOfCell('10A', { separator: '', number: 2, of: 2 })         'A'
 *   partOfCell('10-A-7', { separator: '-', number: 2, of: 2 })     undefined
 */
export function partOfCell(text: string, { separator, number, of }: CellPart): string | undefined {
  const parts = text.trim().split(splitterOf(separator));
  return parts.length === of ? parts[number - 1]?.trim() : undefined;
}

/** Marks belong to the letter before them, as the vowels of Hindi do. */
const DIGITS_MEET_LETTERS = /(?<=\p{Nd})[\s\-–./]*(?=\p{L})|(?<=[\p{L}\p{M}])[\s\-–./]*(?=\p{Nd})/u;

function splitterOf(separator: string): string | RegExp {
  if (separator === '') return DIGITS_MEET_LETTERS;
  return separator.trim() === '' ? /\s+/ : separator;
}
