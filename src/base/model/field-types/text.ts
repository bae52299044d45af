import { toNormalText } from '../normal-text.js';
import { findUnstorableText } from '../unstorable-text.js';
import type { ValueCondition, ValueTest } from '../value-test.js';
import type { ScalarType } from './scalar-type.js';
import { textTest } from './text-tests.js';

/** Any text. */
export const TEXT = {
  declared: { type: 'text' },
  noun: 'text',
  json: 'string',
  jsonSchema: { type: 'string' },
  toStored: (sent) => (typeof sent === 'string' && findUnstorableText(sent) === undefined ? sent : undefined),
  expectation: 'text',
  isDefault: (value) => typeof value === 'string',
  title: 'text',
  fittingOperators: 'equals (=), starts with (==), contains (=*)',
  operators: ['identity', 'membership', 'text'],
  testOf,
  isOrdered: false,
  isOfTime: false,
  measures: 'extremes',
  toMeasured: (operand) => (typeof operand === 'string' ? toNormalText(operand) : undefined),
  comparesWith: 'a text',
  periods: [],
  isShared: true,
} as const satisfies ScalarType;

function testOf(condition: ValueCondition): ValueTest {
  return textTest(condition, TEXT);
}
