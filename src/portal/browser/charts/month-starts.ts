/**
 * Whether days are the months of a year told by their first days, as reports by month give them: an axis
 * shows months then. The first may begin later, with the range that was asked for.
 */
export function areMonthStarts(days: readonly string[]): boolean {
  const [first = '', ...others] = days;
  const isFirst = (day: string) => /^\d{4}-\d\d-01$/.test(day);
  return days.length > (isFirst(first) ? 1 : 2) && others.every(isFirst);
}
