/**
 * Days of the demo school as numbers (days since 1970-01-01), because a generator counts them by the million.
 * The school is in India: its clock is UTC+05:30 all year, so no time-zone data is needed.
 */

export type EpochDay = number;

const DAY_MS = 86_400_000;
const INDIA_OFFSET_MS = 330 * 60_000;

export function epochDay(year: number, month: number, dayOfMonth: number): EpochDay {
  return Date.UTC(year, month - 1, dayOfMonth) / DAY_MS;
}

/** `YYYY-MM-DD` to its number. */
export function parseEpochDay(text: string): EpochDay {
  return Date.parse(`${text}T00:00:00Z`) / DAY_MS;
}

const dayTexts = new Map<EpochDay, string>();

/** `YYYY-MM-DD`. */
export function dayText(day: EpochDay): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 10);
    if (dayTexts.size < 20_000) dayTexts.set(day, text);
  }
  return text;
}

/** `YYYY-MM`. */
export function monthText(day: EpochDay): string {
  return dayText(day).slice(0, 7);
}

/** The UTC text of a second of the school's day: 0 is midnight in India. */
export function instantText(day: EpochDay, secondOfDay: number): string {
  return new Date(day * DAY_MS + secondOfDay * 1000 - INDIA_OFFSET_MS).toISOString();
}

/** 0 is Sunday. */
export function weekday(day: EpochDay): number {
  return (day + 4) % 7;
}

export function dayOfMonth(day: EpochDay): number {
  return Number(dayText(day).slice(8));
}

/** `hh:mm` of the school's day in seconds. */
export function clock(hours: number, minutes: number): number {
  return hours * 3600 + minutes * 60;
}
