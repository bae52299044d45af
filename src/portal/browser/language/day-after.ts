/** The day after one, both `YYYY-MM-DD`: the end of a range whose last day was chosen. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
