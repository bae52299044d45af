/** The days that the tiles of the dashboard ask about; all of them are `YYYY-MM-DD`. */

export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
}

/** The first day of the session of the day; sessions begin in `firstMonth`, 1 to 12. */
export function startOfSession(day: string, firstMonth: number): string {
  const [year, month] = day.split('-').map(Number) as [number, number];
  const begun = month < firstMonth ? year - 1 : year;
  return `${begun}-${String(firstMonth).padStart(2, '0')}-01`;
}

/** The name of the session of the day, e.g. `2026-27`. */
export function sessionOf(day: string, firstMonth: number): string {
  const year = Number(startOfSession(day, firstMonth).slice(0, 4));
  return `${year}-${String((year + 1) % 100).padStart(2, '0')}`;
}

/** The first of the month so many months before. */
export function monthsBefore(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01`);
  date.setUTCMonth(date.getUTCMonth() - months);
  return date.toISOString().slice(0, 10);
}
