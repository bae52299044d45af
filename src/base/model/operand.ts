import { type ExactNumber, isExactNumber } from '../json/json.js';

/** A JSON value a condition compares with. */
export type Operand = string | number | boolean | ExactNumber;

export type NumberOperand = number | ExactNumber;

export function isNumberOperand(operand: Operand): operand is NumberOperand {
  return typeof operand === 'number' || isExactNumber(operand);
}
