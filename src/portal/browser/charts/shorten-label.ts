/** More than this takes the room of the bars that it names. */
const MOST_LETTERS = 20;

/**
 * The beginning of what a part of a chart is called, where it is longer than 20 letters, e.g.
 * `Donaudampfschifffah…`.
 * An emoji of several characters stays whole.
 */
export function shortenLabel(label: string): string {
  if (label.length <= MOST_LETTERS) return label;
  const letters = [...new Intl.Segmenter().segment(label)].map(({ segment }) => segment);
  return letters.length <= MOST_LETTERS ? label : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`;
}
