/** The days that the tiles of the dashboard ask about; all of them are `YYYY-MM-DD`. */

export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
}

/** The first of April, with which the session of the day began. */
export function startOfSession(day: string): string {
  const year = Number(day.slice(0, 4));
  return `${day.slice(5, 7) < '04' ? year - 1 : year}-04-01`;
}

/** The first of the month so many months before. */
export function monthsBefore(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01`);
  date.setUTCMonth(date.getUTCMonth() - months);
  return date.toISOString().slice(0, 10);
}
