/** Operands as JSON text and as pieces of a jsonpath: the one place that quotes. Both travel as parameters, never as SQL. */
import { ServiceError } from '../../errors.js';
import type { Path } from '../../filter/path.js';
import { findUnstorable } from '../../filter/storable-text.js';
import { type ExactNumber, isExactNumber } from '../../json.js';

/** A JSON value a condition compares with. */
export type Operand = string | number | boolean | ExactNumber;

export type NumberOperand = number | ExactNumber;

/** Every number Postgres' numeric could hold by its digits alone; the exponent is bounded beside it. */
const MAX_DIGITS = 400;
const MAX_EXPONENT = 307;

/** The JSON text of an operand. @throws INVALID_VALUE (400) for text no record can hold, numbers beyond 1e308 and NaN. */
export function jsonText(operand: Operand): string {
  if (typeof operand === 'string') return JSON.stringify(storable(operand));
  if (typeof operand === 'boolean') return String(operand);
  return numberText(operand);
}

/** The text, unless it has U+0000 or half a surrogate pair. @throws INVALID_VALUE (400) */
export function storable(text: string): string {
  const position = findUnstorable(text);
  if (position === undefined) return text;
  const detail = `The text has a character at ${position} that no record can hold (U+0000, or half of a surrogate pair).`;
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, position, expected: 'text without U+0000 and lone surrogates' }],
  });
}

/** `"text"` in a jsonpath: its string literals are written as in JSON. */
export function jsonpathString(text: string): string {
  return JSON.stringify(storable(text));
}

/** `."lines"."fee_head"`: every key quoted, so that none can mean anything but itself. */
export function jsonpathSteps(path: Path): string {
  let steps = '';
  for (const name of path) steps += `.${jsonpathString(name)}`;
  return steps;
}

export function isNumberOperand(operand: Operand): operand is NumberOperand {
  return typeof operand === 'number' || isExactNumber(operand);
}

function numberText(operand: NumberOperand): string {
  const text = String(operand);
  const exponent = /[eE]([+-]?\d+)$/.exec(text)?.[1] ?? '0';
  const isInRange = Math.abs(Number(exponent)) <= MAX_EXPONENT && text.length <= MAX_DIGITS;
  if (isInRange && /^-?\d/.test(text) && Math.abs(Number(text)) < 1e308) return text;
  const detail = `${text.slice(0, 40)} is not a number between -1e308 and 1e308 of at most ${MAX_DIGITS} digits.`;
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, expected: 'a number between -1e308 and 1e308', sent: text.slice(0, 40) }],
  });
}
