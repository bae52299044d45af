/** Numbers that a record may hold. The same rule applies to numbers in filters. */
import { isExactNumber, type JsonValue } from '../json/json.js';

const MAX_LENGTH = 200;
const MAX_EXPONENT = 400;

/** The words of an error. */
const EXPONENTS = `exponent within ±${MAX_EXPONENT}`;
export const NUMBER_EXPECTATION = `a number of at most ${MAX_LENGTH} digits, ${EXPONENTS}`;

/** PostgreSQL writes `1e400000` out in full: a short body could make a value of 100,000 digits. */
export function isStorableNumber(value: JsonValue): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (!isExactNumber(value)) return false;
  const text = value.toString();
  const exponent = /e([+-]?\d+)$/i.exec(text)?.[1] ?? '0';
  return text.length <= MAX_LENGTH && Math.abs(Number(exponent)) <= MAX_EXPONENT;
}
