/** Errors for conditions that do not fit the type of their field. */
import { faultAt, invalidAt, type ServiceError } from '../../errors.js';
import type { Condition } from '../filter.js';
import type { Operand } from '../operand.js';
import type { ValueCondition } from '../value-test.js';

/** A type, for error messages. */
export interface Comparable {
  /** The declared type in the words of errors, e.g. `text (a month YYYY-MM)`. */
  readonly title: string;
  /** The operators that have a meaning for it, as oquery writes them. */
  readonly fittingOperators: string;
}

/**
 * INVALID_VALUE (400): the operand is not a value of the type. `type` describes the declaration and the
 * expected value.
 */
export function invalidOperand(
  condition: ValueCondition,
  value: Operand,
  expected: string,
  type?: Comparable,
): ServiceError {
  const field = condition.path.join('.');
  const declared = type === undefined ? '' : ` is declared ${type.title} and`;
  const sent = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const hint = hintAtHash(value) || hintAtDateWord(value, expected);
  const compared = `compares with ${expected}, not with ${sent}.${hint}`;
  const detail = `The field "${field}"${declared} ${compared}`;
  return invalidAt(detail, { expected, sent: String(value) });
}

/** A URL ends at `#`: `created_on=#in2026-04`, not encoded, arrives as `created_on=`. */
function hintAtHash(value: Operand): string {
  return value === '' ? ' In an address "#" is written %23, as in =%23in2026-04.' : '';
}

/** The hint for misspelt date words such as `Today`, `=>today`, `#in2026-9`, `on2026-11-8`. */
export const DATE_WORDS =
  ' Date words of oquery follow =, in lower case: today, yesterday, daybeforeyesterday, #in2026-09, on2026-11-08.';
export const NEAR_DATE_WORD = /^#|^(?:on|in)[\d ]|^(?:to|ye|da|tm).*[yw]$/i;

function hintAtDateWord(value: Operand, expected: string): string {
  return expected.includes('YYYY-MM') && NEAR_DATE_WORD.test(String(value)) ? DATE_WORDS : '';
}

/** MALFORMED_FILTER (400): the operator does not apply to values of the type. */
export function unfittingOperator(condition: Condition, type: Comparable): ServiceError {
  const field = condition.path.join('.');
  const { title, fittingOperators: expected } = type;
  const detail =
    `The field "${field}" is declared ${title}: ${OPERATOR_NAMES[condition.kind]} does not fit it. ` +
    `Right would be ${expected}.`;
  return faultAt('MALFORMED_FILTER', detail, { expected, sent: condition.kind });
}

const OPERATOR_NAMES: Readonly<Record<Condition['kind'], string>> = {
  looseEquals: '"equals" (=)',
  equals: '"equals" a number (===)',
  in: '"in"',
  startsWith: '"starts with" (==, =!=)',
  contains: '"contains" (=*, =!*)',
  equalsInsensitive: '"equals" ignoring case',
  greaterThan: '"greater than" (=>)',
  greaterOrEqual: '"greater or equal"',
  lessThan: '"less than" (=<)',
  lessOrEqual: '"less or equal"',
  on: 'a day',
  within: 'a month',
  isNull: '"is null"',
  exists: '"exists"',
  element: 'a condition on list elements',
};
