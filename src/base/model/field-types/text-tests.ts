/** Conditions on text: equal, starting with, containing, and by code points greater and less. */
import type { DayCondition, MonthCondition } from '../filter.js';
import { toNormalPart, toNormalText } from '../normal-text.js';
import { isNumberOperand, type Operand } from '../operand.js';
import { likeTest, textEquals, textRange, type ValueCondition, type ValueTest } from '../value-test.js';
import { type Comparable, invalidOperand, unfittingOperator } from './operand-errors.js';

/** Operands are in normal form, as stored texts are; an equal text is also found as it was sent. */
export function textTest(condition: ValueCondition, type: Comparable): ValueTest {
  switch (condition.kind) {
    case 'looseEquals':
      return equalsText(condition.text, condition.isInsensitive);
    case 'equals':
      return isAmong([textOperand(condition, condition.value, type)]);
    case 'in':
      return { kind: 'in', values: waysOf(condition.values.map((v) => textOperand(condition, v, type))) };
    case 'startsWith':
    case 'contains':
      return likeTest({ ...condition, text: toNormalPart(condition.text) });
    case 'equalsInsensitive':
      return likeTest({ ...condition, text: toNormalText(condition.text) });
    case 'on':
    case 'within':
      return equalsText(writingOf(condition), condition.isInsensitive);
    default: {
      if (typeof condition.value !== 'string') throw unfittingOperator(condition, type);
      const bound = toNormalText(condition.value);
      return textRange('all', condition.kind, { first: bound, last: bound });
    }
  }
}

function equalsText(text: string, isInsensitive: boolean | undefined): ValueTest {
  return isInsensitive === true ? textEquals(toNormalText(text), true) : isAmong([text]);
}

function isAmong(texts: readonly string[]): ValueTest {
  const [value = '', ...others] = waysOf(texts);
  return others.length === 0 ? { kind: 'is', value } : { kind: 'in', values: [value, ...others] };
}

/** The operands in normal form, and as they were sent: as records older than the form have them. */
export function waysOf<Value>(operands: readonly Value[]): readonly (Value | string)[] {
  const normal = operands.map((operand) => (typeof operand === 'string' ? toNormalText(operand) : operand));
  const isNormal = normal.every((operand, index) => operand === operands[index]);
  return isNormal ? operands : [...new Set([...normal, ...operands])];
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
