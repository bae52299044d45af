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
