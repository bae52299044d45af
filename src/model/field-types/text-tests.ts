/** Conditions on text: equal, starting with, containing, and by code points greater and less. */
import type { DayCondition, MonthCondition } from '../filter.js';
import { isNumberOperand, type Operand } from '../operand.js';
import { likeTest, textEquals, textRange, type ValueCondition, type ValueTest } from '../value-test.js';
import { type Comparable, invalidOperand, unfittingOperator } from './operand-errors.js';

export function textTest(condition: ValueCondition, type: Comparable): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return textEquals(condition.text, condition.isInsensitive);
    case 'equals':
      return { kind: 'is', value: textOperand(condition, condition.value, type) };
    case 'in':
      return { kind: 'in', values: condition.values.map((value) => textOperand(condition, value, type)) };
    case 'startsWith':
    case 'contains':
    case 'equalsInsensitive':
      return likeTest(condition);
    case 'on':
    case 'within':
      return textEquals(writingOf(condition), condition.isInsensitive);
    default:
      if (typeof condition.value !== 'string') throw unfittingOperator(condition, type);
      return textRange('all', condition.kind, { first: condition.value, last: condition.value });
  }
}

function textOperand(condition: ValueCondition, value: Operand, type: Comparable): string {
  if (typeof value === 'string') return value;
  if (isNumberOperand(value) && condition.kind === 'equals') throw unfittingOperator(condition, type);
  throw invalidOperand(condition, value, 'a text');
}

/** What stood behind the first `=` in oquery. */
export function writingOf(condition: DayCondition | MonthCondition): string {
  if (condition.kind === 'within') return `#in${condition.month}`;
  return typeof condition.day === 'string' ? `on${condition.day}` : condition.day.word;
}
