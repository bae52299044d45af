import { type ExactNumber, isExactNumber, type JsonValue } from '../json/json.js';

/** A JSON value a condition compares with. */
export type Operand = string | number | boolean | ExactNumber;

export type NumberOperand = number | ExactNumber;

export function isOperand(value: JsonValue | undefined): value is Operand {
  return value !== undefined && value !== null && (typeof value !== 'object' || isExactNumber(value));
}

export function isNumberOperand(operand: Operand): operand is NumberOperand {
  return typeof operand === 'number' || isExactNumber(operand);
}
