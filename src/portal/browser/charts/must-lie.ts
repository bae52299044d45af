import { shortenLabel } from './shorten-label.js';

/** Of a bar that lies, with the room to the next one: its name is a line of text. */
export const LYING_BAR_PX = 24;

const LETTER_PX = 6.5;
const GAP_PX = 4;
/** The width of the axis beside standing bars. */
const AXIS_WIDTH_PX = 44;

/**
 * Whether the bars of these names lie in a chart of this width: where they stand, each name has the width of
 * its bar, and one that is longer would be slanted or left out.
 */
export function mustLie(labels: readonly string[], widthPx: number): boolean {
  if (widthPx === 0) return false;
  const longest = Math.max(0, ...labels.map((label) => shortenLabel(label).length));
  return longest * LETTER_PX + GAP_PX > (widthPx - AXIS_WIDTH_PX) / labels.length;
}
