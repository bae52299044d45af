import { isMonth } from '../calendar.js';
import type { ValueCondition, ValueTest } from '../value-test.js';
import type { ScalarType } from './scalar-type.js';
import { TEXT } from './text.js';
import { textTest } from './text-tests.js';

/** A month of the calendar, stored `YYYY-MM`; a text that has an order. */
export const MONTH = {
  ...TEXT,
  declared: { type: 'text', format: 'month' },
  noun: 'month',
  jsonSchema: { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$' },
  toStored: (sent) => (typeof sent === 'string' && isMonth(sent) ? sent : undefined),
  expectation: 'a month YYYY-MM',
  isOfFormat: isMonth,
  title: 'text (a month YYYY-MM)',
  fittingOperators: 'equals (=), starts with (==), within a month (=#in), greater and less than a month',
  operators: ['identity', 'membership', 'text', 'order'],
  testOf,
  isOrdered: true,
  isOfTime: true,
  toMeasured: (operand) => (typeof operand === 'string' && isMonth(operand) ? operand : undefined),
  comparesWith: 'a month YYYY-MM',
} as const satisfies ScalarType;

function testOf(condition: ValueCondition): ValueTest {
  if (condition.kind === 'within') return { kind: 'is', value: condition.month };
  return textTest(condition, MONTH);
}
