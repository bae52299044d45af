/** Prints operands as JSON text and pieces of a jsonpath, both passed as parameters. Quotes them. */
import { invalidAt, ServiceError } from '../../base/errors.js';
import { isExactNumber, isJsonObject, type JsonValue, printExactJson } from '../../base/json/json.js';
import type { NumberOperand, Operand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import { isStorableNumber, NUMBER_EXPECTATION } from '../../base/model/storable-number.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';

/**
 * The JSON text of an operand.
 *
 * @throws INVALID_VALUE (400) for text and numbers that no record can hold, and for NaN
 */
export function jsonText(operand: Operand): string {
  if (typeof operand === 'string') return JSON.stringify(storable(operand));
  if (typeof operand === 'boolean') return String(operand);
  return numberText(operand);
}

/** Returns the text unless it contains U+0000 or half of a surrogate pair. @throws INVALID_VALUE (400) */
export function storable(text: string): string {
  const position = findUnstorableText(text);
  if (position === undefined) return text;
  const detail =
    `The text has a character at ${position} that no record can hold (U+0000, or half of a surrogate ` +
    'pair).';
  throw invalidAt(detail, { position, expected: 'text without U+0000 and lone surrogates' });
}

/** `"text"` in a jsonpath, which has the string literals of JSON. */
export function jsonpathString(text: string): string {
  return JSON.stringify(storable(text));
}

/** `."lines"."fee_head"`: every key is quoted, so that none has a special meaning. */
export function jsonpathSteps(path: Path): string {
  let steps = '';
  for (const name of path) steps += `.${jsonpathString(name)}`;
  return steps;
}

function numberText(operand: NumberOperand): string {
  const text = String(operand);
  if (isStorableNumber(operand)) return text;
  const sent = text.slice(0, 40);
  const detail = `${sent} is not ${NUMBER_EXPECTATION}.`;
  throw invalidAt(detail, { expected: NUMBER_EXPECTATION, sent });
}

/** Deeper than any value of a record. */
const MAX_DEPTH = 100;

/**
 * The JSON text of any value that a record could hold. Checks all names, texts and numbers in it.
 *
 * @throws INVALID_VALUE (400)
 */
export function storableJson(value: JsonValue): string {
  assertStorable(value, 0);
  return printExactJson(value);
}

function assertStorable(value: JsonValue, depth: number): void {
  if (depth > MAX_DEPTH) {
    throw new ServiceError('INVALID_VALUE', `A value is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (typeof value === 'string') storable(value);
  else if (typeof value === 'number' || isExactNumber(value)) numberText(value);
  else if (Array.isArray(value)) for (const element of value) assertStorable(element, depth + 1);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      storable(name);
      assertStorable(member, depth + 1);
    }
  }
}
