/** A column of which each cell holds several things, as "Class/Sec" with "10-A", and what parts them. */
import { type CellPart, partOfCell } from './cells/part-of-cell.js';
import { findJoinedHeadings } from './heading-synonyms.js';
import { ColumnFindings, type ColumnInspection, DistinctBudget } from './reading/column-findings.js';

export interface ProposedPart {
  readonly part: CellPart;
  /** What the heading calls it. */
  readonly heading: string;
  /** What it holds in the first different cells of the column. */
  readonly cells: ColumnInspection;
}

/** What headings have between the names of two things. */
const BETWEEN_HEADINGS = /\s*[/&+,;|–—-]\s*|\s+(?:and|with|cum|व|एवं|और)\s+/iu;

/**
 * What cells have between two things: a space late, which stands within them as well, and nothing last, where
 * digits and letters meet.
 */
const SEPARATORS = ['/', '-', '–', '|', ',', ';', ':', ' ', ''] as const;

/** What a heading names that names several things; fewer than two where it names one. */
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
