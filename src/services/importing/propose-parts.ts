/** Recognizes columns whose cells hold several values, e.g. "Class/Sec" with "10-A", and their separator. */
import { type CellPart, partOfCell } from './cells/part-of-cell.js';
import { findJoinedHeadings } from './heading-synonyms.js';
import { ColumnFindings, type ColumnInspection, DistinctBudget } from './reading/column-findings.js';

export interface ProposedPart {
  readonly part: CellPart;
  /** The part of the heading that names it. */
  readonly heading: string;
  /** Its values in the first distinct cells of the column. */
  readonly cells: ColumnInspection;
}

/** Separators between two names in a heading. */
const BETWEEN_HEADINGS = /(?:(?<!\s)\s+)?[/&+,;|–—-]\s*|(?<!\s)\s+(?:and|with|cum|व|एवं|और)\s+/iu;

/**
 * Separators in cells, in the order in which they are tried: the space late, because values contain it too,
 * and the empty one, where digits and letters meet, last.
 */
const SEPARATORS = ['/', '-', '–', '|', ',', ';', ':', ' ', ''] as const;

/** The names in a heading that names several fields; fewer than two if it names one. */
export function headingsIn(column: string): readonly string[] {
  return findJoinedHeadings(column) ?? column.split(BETWEEN_HEADINGS).filter((one) => one !== '');
}

/**
 * The parts of a column of which more than half of the cells have as many as there are headings, by what
 * parts most of them. None where the cells are something whole, such as a day or a telephone number.
 */
export function proposeParts(
  headings: readonly string[],
  found: ColumnInspection | undefined,
): readonly ProposedPart[] {
  if (headings.length < 2 || found?.likely.kind !== 'text') return [];
  const of = headings.length;
  const byMost = SEPARATORS.map((separator) => {
    const partsOf = (cell: string) =>
      headings.map((_, at) => partOfCell(cell, { separator, number: at + 1, of }) ?? '');
    return { separator, parted: found.examples.map(partsOf).filter((parts) => !parts.includes('')) };
  }).sort((one, other) => other.parted.length - one.parted.length);
  const [most] = byMost;
  if (most === undefined || 2 * most.parted.length <= found.examples.length) return [];
  return headings.map((heading, at) => {
    const findings = new ColumnFindings(heading, new DistinctBudget());
    for (const [row, parts] of most.parted.entries()) findings.add(row, parts[at]);
    return {
      part: { separator: most.separator, number: at + 1, of },
      heading,
      cells: findings.finish(most.parted.length),
    };
  });
}
