/** A longer name is hardly a typo, and comparing costs the square of its length. */
const MAX_NAME_LENGTH = 64;
/** The most names to compare; callers can declare any number of collections, scripts and domains. */
const MAX_COMPARED = 500;

/** ` Did you mean "task"?` if the name is a typo or two away from a known one; otherwise empty. */
export function didYouMean(name: string, known: Iterable<string>): string {
  // Up to a third of the letters wrong counts as a typo; beyond that it is a different word.
  const suggestion = findNearest(name, known, Math.floor(name.length / 3));
  return suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
}

/** The known name that is at most `maxChanges` changes of a letter, or swaps of neighbours, away. */
export function findNearest(name: string, known: Iterable<string>, maxChanges: number): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  let best = maxChanges + 1;
  let suggestion: string | undefined;
  let compared = 0;
  for (const candidate of known) {
    // Every missing or extra letter is at least one change.
    if (Math.abs(candidate.length - wanted.length) >= best) continue;
    if (compared === MAX_COMPARED) break;
    compared += 1;
    const distance = editDistance(wanted, candidate.toLowerCase(), best);
    if (distance >= best) continue;
    best = distance;
    suggestion = candidate;
  }
  return suggestion;
}

/**
 * Levenshtein distance with swaps: two neighbours that changed places are one change, so `taks` is near
 * `task`. It stops once it is at least `enough`.
 */
export function editDistance(one: string, other: string, enough = Infinity): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      let least = Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const beforeSwap = beforePrevious[column - 2];
      if (
        beforeSwap !== undefined &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1]
      ) {
        least = Math.min(least, beforeSwap + 1);
      }
      current.push(least);
    }
    // A swap goes back two rows.
    if (Math.min(...previous, ...current) >= enough) return enough;
    beforePrevious = previous;
    previous = current;
  }
  return previous[other.length] ?? 0;
}
