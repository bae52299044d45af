/** ` Did you mean "task"?` for a name that is a letter or two away from a known one; empty when none is. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const wanted = name.toLowerCase();
  // About a third of the letters wrong is still a slip of the hand; more is another word.
  let best = Math.floor(wanted.length / 3) + 1;
  let suggestion: string | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance >= best) continue;
    best = distance;
    suggestion = candidate;
  }
  return suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
}

/** Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
