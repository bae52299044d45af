/** The middle one; of an even number of values the greater of the two in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Of 100 such intervals, 95 have the true median in them: the law of the values is not asked for. */
export function medianInterval(values: readonly number[]): readonly [least: number, most: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  // How likely it is that at most `outside` values are below the true median, as with coins.
  let ways = 1;
  let below = 2 ** -count;
  let outside = 0;
  for (;;) {
    ways = (ways * (count - outside)) / (outside + 1);
    below += ways * 2 ** -count;
    if (below > 0.025) break;
    outside += 1;
  }
  return [sorted[outside] ?? Number.NaN, sorted[count - 1 - outside] ?? Number.NaN];
}
