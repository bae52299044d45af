/** `YYYY-MM-DDTHH:MM:SS`, as the clocks of a time zone show an instant. */
export function toWallTime(instant: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const shown = format.format(Date.parse(instant)).replace(' ', 'T');
  return shown.replace(/^\d+/, (year) => year.padStart(4, '0'));
}

/**
 * The instant at which the clocks of a time zone show this; the later one where they show it twice. Years of
 * fewer digits come while one is typed: 0002 on the way to 2026.
 */
export function fromWallTime(wallTime: string, timeZone: string): string {
  const asUtc = parseAsUtc(wallTime.length === 16 ? `${wallTime}:00` : wallTime);
  // An offset taken near a change of the clocks may be that of the other side: it is taken once more there.
  const first = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(first, timeZone)).toISOString();
}

function offsetAt(instant: number, timeZone: string): number {
  return (
    parseAsUtc(toWallTime(new Date(instant).toISOString(), timeZone)) - Math.floor(instant / 1000) * 1000
  );
}

/** More than four digits of a year are written with a sign (ECMA-262). */
function parseAsUtc(wallTime: string): number {
  return Date.parse(`${wallTime.replace(/^\d{5,}/, (year) => `+${year.padStart(6, '0')}`)}Z`);
}
