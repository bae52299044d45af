import { isTime } from './is-time.js';

/**
 * The day after one, both `YYYY-MM-DD`: the end of a range whose last day was chosen. What is no day stays,
 * and the gateway says so.
 */
export function dayAfter(day: string): string {
  return isTime(day) ? new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10) : day;
}
