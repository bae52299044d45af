/** Reads booleans as people write them in tables. */
import { CellFault, cellText } from './cell-fault.js';

/** In lower case. */
const VALUES_BY_WORD: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 't', '1', 'on', 'हाँ', 'हां', 'हा'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'f', '0', 'off', 'नहीं', 'नही'].map((word) => [word, false] as const),
]);

/** The boolean of a cell: `true`, `yes`, `y`, `1`, `on`, `हाँ` and their opposites, in any case. */
export function parseBooleanCell(cell: unknown): boolean | CellFault {
  if (typeof cell === 'boolean') return cell;
  return (
    VALUES_BY_WORD.get(cellText(cell)?.toLowerCase() ?? '') ??
    new CellFault('yes or no (true, false, y, n, 1, 0)')
  );
}
