/** An instant in the local time of a time zone, `YYYY-MM-DDTHH:MM:SS`. */
export function toWallTime(instant: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const shown = format.format(Date.parse(instant)).replace(' ', 'T');
  return shown.replace(/^\d+/, (year) => year.padStart(4, '0'));
}

/**
 * The instant of a local time in a time zone; the later one if the local time occurs twice. While a year is
 * typed, it has fewer digits: 0002 on the way to 2026.
 */
export function fromWallTime(wallTime: string, timeZone: string): string {
  const asUtc = parseAsUtc(wallTime.length === 16 ? `${wallTime}:00` : wallTime);
  // Near a change of the clocks, the first offset may be that of the other side. It is therefore determined
  // once more.
  const first = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(first, timeZone)).toISOString();
}

function offsetAt(instant: number, timeZone: string): number {
  return (
    parseAsUtc(toWallTime(new Date(instant).toISOString(), timeZone)) - Math.floor(instant / 1000) * 1000
  );
}

/** A year of more than four digits has a sign (ECMA-262). */
function parseAsUtc(wallTime: string): number {
  return Date.parse(`${wallTime.replace(/^\d{5,}/, (year) => `+${year.padStart(6, '0')}`)}Z`);
}
