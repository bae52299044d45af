import { isExactNumber, type JsonScalar } from '../json/json.js';
import { instantFrom, isDay } from './calendar.js';

/**
 * Whether a range from one value to another is empty, because its start is behind its end. False for values
 * that cannot be compared without more knowledge, such as a day and an instant.
 */
export function isBehind(from: JsonScalar, to: JsonScalar): boolean {
  if (isNumber(from) && isNumber(to)) return Number(String(from)) > Number(String(to));
  if (typeof from !== 'string' || typeof to !== 'string' || isDay(from) !== isDay(to)) return false;
  const [start, end] = [timeOf(from), timeOf(to)];
  return start !== undefined && end !== undefined && start > end;
}

function isNumber(value: JsonScalar): boolean {
  return typeof value === 'number' || isExactNumber(value);
}

/** A text that orders days among each other, instants and months likewise. */
function timeOf(text: string): string | undefined {
  return /^\d{4}-\d{2}$/.test(text) ? text : instantFrom(text, 'UTC');
}
