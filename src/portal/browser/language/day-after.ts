import { isTime } from './is-time.js';

/**
 * The next day, both as `YYYY-MM-DD`: the end of a range whose last day was selected. A text that is no day
 * is returned unchanged, and the gateway rejects it.
 */
export function dayAfter(day: string): string {
  return isTime(day) ? new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10) : day;
}
