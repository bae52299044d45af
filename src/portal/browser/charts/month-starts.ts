/**
 * Whether the days are the first days of months, as in reports by month. The axis then shows months. The
 * first day may be later in its month, if the requested range begins there.
 */
export function areMonthStarts(days: readonly string[]): boolean {
  const [first = '', ...others] = days;
  const isFirst = (day: string) => /^\d{4}-\d\d-01$/.test(day);
  return days.length > (isFirst(first) ? 1 : 2) && others.every(isFirst);
}
