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

/** What cells have between two things; a space last, which stands within them as well. */
const SEPARATORS = ['/', '-', '–', '|', ',', ';', ':', ' '] as const;

/**
 * The parts of a column whose heading names several things, and of whose cells more than half have as many.
 * None where the cells are something whole, such as a day or a telephone number.
 */
export function proposeParts(column: string, found: ColumnInspection | undefined): readonly ProposedPart[] {
  const headings = findJoinedHeadings(column) ?? column.split(BETWEEN_HEADINGS).filter((one) => one !== '');
  if (headings.length < 2 || found?.likely.kind !== 'text') return [];
  const of = headings.length;
  for (const separator of SEPARATORS) {
    const partsOf = (cell: string) =>
      headings.map((_, at) => partOfCell(cell, { separator, number: at + 1, of }) ?? '');
    const parted = found.examples.map(partsOf).filter((parts) => !parts.includes(''));
    if (2 * parted.length <= found.examples.length) continue;
    return headings.map((heading, at) => {
      const findings = new ColumnFindings(heading, new DistinctBudget());
      for (const [row, parts] of parted.entries()) findings.add(row, parts[at]);
      return { part: { separator, number: at + 1, of }, heading, cells: findings.finish(parted.length) };
    });
  }
  return [];
}
