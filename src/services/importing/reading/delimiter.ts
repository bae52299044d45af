/** Detects the character that separates the cells of a text. */
const QUOTE = '"';

export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/**
 * The delimiter for which most of the first lines have the same number of cells, more than one. If this
 * holds for several delimiters, the one with more cells. A comma if it holds for none.
 *
 * Delimiters and line ends within quotes do not count.
 */
export function findDelimiter(sample: string): Delimiter {
  const counts = DELIMITERS.map((delimiter) => ({ delimiter, ...regularity(sample, delimiter) }));
  const [best] = counts
    .filter(({ cells }) => cells > 1)
    .sort((one, other) => other.share - one.share || other.cells - one.cells);
  return best?.delimiter ?? ',';
}

/** The number of cells that most lines have, and the share of those lines. */
function regularity(sample: string, delimiter: Delimiter): { cells: number; share: number } {
  const lines = cellsOfLines(sample, delimiter);
  const linesByCells = new Map<number, number>();
  for (const cells of lines) linesByCells.set(cells, (linesByCells.get(cells) ?? 0) + 1);
  let most = { cells: 0, lines: 0 };
  for (const [cells, count] of linesByCells)
    if (cells > 1 && count > most.lines) most = { cells, lines: count };
  return { cells: most.cells, share: most.lines / Math.max(1, lines.length) };
}

/** Leaves out the last line unless it is the only one, because the sample may end within it. */
function cellsOfLines(sample: string, delimiter: Delimiter): number[] {
  const lines: number[] = [];
  let cells = 1;
  let isQuoted = false;
  let isBlank = true;
  for (let at = 0; at < sample.length; at += 1) {
    const character = sample[at];
    if (character === QUOTE) isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === delimiter) cells += 1;
    if (character === '\n' || character === '\r') {
      if (!isBlank) lines.push(cells);
      cells = 1;
      isBlank = true;
    } else isBlank = false;
  }
  return lines.length > 0 || isBlank ? lines : [cells];
}
