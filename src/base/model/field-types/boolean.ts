import type { Operand } from '../operand.js';
import type { ValueCondition, ValueTest } from '../value-test.js';
import { invalidOperand, unfittingOperator } from './operand-errors.js';
import type { ScalarType } from './scalar-type.js';
import { writingOf } from './text.js';

/** Yes or no. */
export const BOOLEAN = {
  declared: { type: 'boolean' },
  noun: 'boolean',
  json: 'boolean',
  jsonSchema: { type: 'boolean' },
  toStored: (sent) => (typeof sent === 'boolean' ? sent : undefined),
  expectation: 'true or false',
  isDefault: (value) => typeof value === 'boolean',
  title: 'boolean',
  fittingOperators: 'equals (=) true or false',
  operators: ['identity'],
  testOf: booleanTest,
  isOrdered: false,
  isOfTime: false,
  measures: 'counts',
  toMeasured: () => undefined,
  comparesWith: 'no operand: it has no order',
  periods: [],
  isShared: true,
} as const satisfies ScalarType;

function booleanTest(condition: ValueCondition): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return { kind: 'is', value: booleanWritten(condition, condition.text) };
    case 'on':
    case 'within':
      return { kind: 'is', value: booleanWritten(condition, writingOf(condition)) };
    case 'equals':
      return { kind: 'is', value: booleanOperand(condition, condition.value) };
    case 'in':
      return { kind: 'in', values: condition.values.map((value) => booleanOperand(condition, value)) };
    default:
      throw unfittingOperator(condition, BOOLEAN);
  }
}

function booleanOperand(condition: ValueCondition, value: Operand): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOperand(condition, value, BOOLEAN.expectation, BOOLEAN);
}

function booleanWritten(condition: ValueCondition, text: string): boolean {
  const flag = toFlag(text);
  if (flag !== undefined) return flag;
  throw invalidOperand(condition, text, BOOLEAN.expectation, BOOLEAN);
}

/** `true` and `false` in any case, as programs write them; `undefined` for other texts. */
export function toFlag(text: string): boolean | undefined {
  if (/^true$/i.test(text)) return true;
  return /^false$/i.test(text) ? false : undefined;
}
