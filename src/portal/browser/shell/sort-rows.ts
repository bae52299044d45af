/** The rows of a list in the order of one of its columns, and those that contain some words. */

/** Numbers and amounts as numbers; days, months and instants as ISO 8601. `null` and '' are missing. */
export type SortValue = string | number | boolean | null;

export interface SortedColumn<Row> {
  /** The name of the column in an order, which is `name`, or `-name` for descending. */
  readonly name: string;
  valueOf(row: Row): SortValue;
}

export function directionOf(name: string, sort: string): 'ascending' | 'descending' | 'none' {
  if (sort === name) return 'ascending';
  return sort === `-${name}` ? 'descending' : 'none';
}

/**
 * Numbers by size, texts with the numbers in them by size (class 9 before 10), missing values last in either
 * direction. Rows with the same value stay in their order, as all rows do under an unknown order.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly SortedColumn<Row>[],
  sort: string,
): readonly Row[] {
  const column = columns.find(({ name }) => directionOf(name, sort) !== 'none');
  if (!column) return rows;
  const sign = directionOf(column.name, sort) === 'ascending' ? 1 : -1;
  const { compare } = new Intl.Collator('en', { numeric: true });
  const keyed = rows.map((row) => ({ row, value: column.valueOf(row) }));
  keyed.sort(({ value: one }, { value: other }) => {
    if (isMissing(one) || isMissing(other)) return Number(isMissing(one)) - Number(isMissing(other));
    const areNumbers = typeof one === 'number' && typeof other === 'number';
    return sign * (areNumbers ? one - other : compare(String(one), String(other)));
  });
  return keyed.map(({ row }) => row);
}

function isMissing(value: SortValue): boolean {
  return value === null || value === '' || Number.isNaN(value);
}

/** Whether a text contains each of the words, in any case and order. */
export function containsWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}
