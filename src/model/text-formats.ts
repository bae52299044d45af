/** The formats that a text field may declare: `month` and `session`. @see decisions 11 */
import { isMonth } from './calendar.js';
import type { Field } from './collection.js';

/** What texts of a format are, in the words of an error. */
export const MONTH_EXPECTATION = 'a month YYYY-MM';
export const SESSION_EXPECTATION = 'a session YYYY-YY, e.g. 2026-27';

/** What the declared format of a text asks of it: a month is `YYYY-MM`, a session `YYYY-YY`. */
export function isOfFormat(field: Field, text: string): boolean {
  if (field.format === 'month') return isMonth(text);
  if (field.format === 'session') return isSession(text);
  return true;
}

/** `2026-27`: a school year by its two calendar years. */
function isSession(text: string): boolean {
  const match = /^(\d{4})-(\d{2})$/.exec(text);
  return match !== null && (Number(match[1]) + 1) % 100 === Number(match[2]);
}
