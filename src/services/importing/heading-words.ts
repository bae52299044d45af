/** The words of a heading or of a field's name, made comparable: "Date of Admission" and `admitted_on`. */

/** In lower case and in the singular, in the order in which they stand. */
export function headingWords(name: string): readonly string[] {
  return (
    name
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).map(inSingular);
}

/** In lower case, without an article, spaces and signs; a number is a `no`. */
export function plainHeading(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^(the|a|an)\s+/, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
    .replace(/number$/, 'no');
}

/** Titles of collections are plural, headings mostly singular. */
function inSingular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Words that say that a column has days, but not the days of what. */
const WORDS_OF_DAYS: ReadonlySet<string> = new Set([
  ...['date', 'day', 'dt', 'time', 'when', 'of', 'on', 'at', 'the', 'for', 'was', 'ha', 'been'],
]);

/**
 * What a day is of, as the stems of its words: `admit` of "Date of Admission" and of `admitted_on`.
 * `undefined` where nothing remains, or a heading does not say that it is of a day.
 */
export function eventOf(name: string): string | undefined {
  const words = headingWords(name);
  const events = words.filter((word) => !WORDS_OF_DAYS.has(word));
  if (events.length === 0 || events.length === words.length) return undefined;
  return events.map(stemOf).sort().join(' ');
}

/** Endings of words for the same event: admission, admitted; enrolment, enrolled. */
const ENDINGS = ['ment', 'ion', 'ing', 'al', 'ed'] as const;
const LEAST_STEM = 4;

function stemOf(word: string): string {
  // Admission, permission, submission.
  if (word.endsWith('mission')) return word.replace(/ssion$/, 't');
  const withdrawn = word.replace(/wn$/, 'w');
  const ending = ENDINGS.find((one) => word.endsWith(one) && word.length - one.length >= LEAST_STEM);
  const stem = ending === undefined ? withdrawn : word.slice(0, -ending.length);
  return stem.replace(/(.)\1$/, '$1').replace(/e$/, '');
}
