import { ExactNumber } from '../../json/json.js';
import { isNumberOperand, type NumberOperand, type Operand } from '../operand.js';
import { isStorableNumber } from '../storable-number.js';
import { numberRange, type ValueCondition, type ValueTest } from '../value-test.js';
import { invalidOperand, unfittingOperator } from './operand-errors.js';
import type { ScalarType } from './scalar-type.js';
import { writingOf } from './text.js';

/** Any number that GraphQL can print, which uses floats; 5 and 5.0 are one. */
export const NUMBER = {
  declared: { type: 'number' },
  noun: 'number',
  json: 'number',
  jsonSchema: { type: 'number' },
  toStored: (sent) => (isStorableNumber(sent) && Number.isFinite(Number(String(sent))) ? sent : undefined),
  expectation: 'a number',
  isDefault: (value) => typeof value === 'number',
  title: 'number',
  fittingOperators: 'equals (= or ===), greater than (=>), less than (=<) with a number',
  operators: ['identity', 'membership', 'order'],
  testOf: numberTest,
  isOrdered: true,
  isOfTime: false,
  measures: 'sums',
  toMeasured: (operand) => (isNumberOperand(operand) ? operand : undefined),
  comparesWith: 'a number',
  periods: [],
  isShared: false,
} as const satisfies ScalarType;

/** Money and other exact amounts: a number that a front end must not round. */
export const DECIMAL = {
  ...NUMBER,
  declared: { type: 'number', isDecimal: true },
  toStored: (sent) => (isStorableNumber(sent) ? sent : undefined),
  jsonSchema: { type: 'number', title: 'Exact amount' },
} as const satisfies ScalarType;

function numberTest(condition: ValueCondition): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return { kind: 'is', value: numberWritten(condition, condition.text) };
    case 'on':
    case 'within':
      return { kind: 'is', value: numberWritten(condition, writingOf(condition)) };
    case 'equals':
      return { kind: 'is', value: numberOperand(condition, condition.value) };
    case 'in':
      return { kind: 'in', values: condition.values.map((value) => numberOperand(condition, value)) };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      throw unfittingOperator(condition, NUMBER);
    default:
      return numberRange(condition.kind, numberOperand(condition, condition.value));
  }
}

function numberOperand(condition: ValueCondition, value: Operand): NumberOperand {
  if (isNumberOperand(value)) return value;
  throw invalidOperand(condition, value, 'a number', NUMBER);
}

const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function numberWritten(condition: ValueCondition, text: string): NumberOperand {
  if (JSON_NUMBER.test(text)) return new ExactNumber(text);
  throw invalidOperand(condition, text, 'a number such as 5, -3 or 12.50', NUMBER);
}
