const MAX_LENGTH = 40;

/**
 * The name of a collection here for one of MongoDB: `FeeReceipts` is `fee_receipts`, `exams.marks` is
 * `exams_marks`. Other than those that are taken.
 */
export function toCollectionName(name: string, taken: ReadonlySet<string>): string {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  const base = (/^[a-z]/.test(snake) ? snake : `c_${snake}`).slice(0, MAX_LENGTH).replace(/_$/, '');
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `_${count}`;
    const found = base.slice(0, MAX_LENGTH - ending.length) + ending;
    if (!taken.has(found)) return found;
  }
}
