/**
 * Whether the days are the first days of months, as in reports by month. The axis then shows months. The
 * first day may be later in its month, if the requested range begins there.
 */
export function areMonthStarts(days: readonly string[]): boolean {
  const [first = '', ...others] = days;
  const isFirst = (day: string) => /^\d{4}-\d\d-01$/.test(day);
  return days.length > (isFirst(first) ? 1 : 2) && others.every(isFirst);
}

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

/** A longer label would take the room of its bars. */
const MOST_LETTERS = 20;

/**
 * Shortens a label of more than 20 letters, e.g. `Donaudampfschifffah…`. An emoji of several characters
 * stays whole.
 */
export function shortenLabel(label: string): string {
  if (label.length <= MOST_LETTERS) return label;
  const letters = [...new Intl.Segmenter().segment(label)].map(({ segment }) => segment);
  return letters.length <= MOST_LETTERS ? label : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`;
}
