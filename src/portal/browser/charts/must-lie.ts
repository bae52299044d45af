import { shortenLabel } from './shorten-label.js';

/** The height of a horizontal bar with the gap to the next one. Its name takes one line of text. */
export const LYING_BAR_PX = 24;

const LETTER_PX = 6.5;
const GAP_PX = 4;
/** The width of the axis beside upright bars. */
const AXIS_WIDTH_PX = 44;

/**
 * Whether a chart of this width shows bars with these names horizontally. With upright bars, each name has
 * the width of its bar, and a longer name would be slanted or left out.
 */
export function mustLie(labels: readonly string[], widthPx: number): boolean {
  if (widthPx === 0) return false;
  const longest = Math.max(0, ...labels.map((label) => shortenLabel(label).length));
  return longest * LETTER_PX + GAP_PX > (widthPx - AXIS_WIDTH_PX) / labels.length;
}
