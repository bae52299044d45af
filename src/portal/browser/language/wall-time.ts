/** `YYYY-MM-DDTHH:MM:SS`, as the clocks of a time zone show an instant. */
export function toWallTime(instant: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return format.format(Date.parse(instant)).replace(' ', 'T');
}

/** The instant at which the clocks of a time zone show this; the later one where they show it twice. */
export function fromWallTime(wallTime: string, timeZone: string): string {
  const asUtc = Date.parse(`${wallTime.length === 16 ? `${wallTime}:00` : wallTime}Z`);
  // An offset taken near a change of the clocks may be that of the other side: it is taken once more there.
  const first = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(first, timeZone)).toISOString();
}

function offsetAt(instant: number, timeZone: string): number {
  return (
    Date.parse(`${toWallTime(new Date(instant).toISOString(), timeZone)}Z`) -
    Math.floor(instant / 1000) * 1000
  );
}
