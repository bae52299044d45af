/** The types whose values are texts, and the conditions on them: equal, containing, greater and less. */
import { isMonth } from '../calendar.js';
import type { DayCondition, MonthCondition } from '../filter.js';
import { toNormalPart, toNormalText } from '../normal-text.js';
import { isNumberOperand, type Operand } from '../operand.js';
import { DEFAULT_CALLING_CODE, toE164PhoneNumber } from '../phone-number.js';
import { findUnstorableText } from '../unstorable-text.js';
import {
  type Clock,
  likeTest,
  textEquals,
  textRange,
  type ValueCondition,
  type ValueTest,
} from '../value-test.js';
import { type Comparable, invalidOperand, unfittingOperator } from './operand-errors.js';
import type { ScalarType } from './scalar-type.js';

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
  testOf: (condition: ValueCondition): ValueTest => textTest(condition, TEXT),
  isOrdered: false,
  isOfTime: false,
  measures: 'extremes',
  toMeasured: (operand) => (typeof operand === 'string' ? toNormalText(operand) : undefined),
  comparesWith: 'a text',
  periods: [],
  isShared: true,
} as const satisfies ScalarType;

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
  testOf: monthTest,
  isOrdered: true,
  isOfTime: true,
  toMeasured: (operand) => (typeof operand === 'string' && isMonth(operand) ? operand : undefined),
  comparesWith: 'a month YYYY-MM',
} as const satisfies ScalarType;

function monthTest(condition: ValueCondition): ValueTest {
  if (condition.kind === 'within') return { kind: 'is', value: condition.month };
  return textTest(condition, MONTH);
}

/** A school year by its two calendar years, stored `YYYY-YY`. @see decisions 11 */
export const SESSION = {
  ...TEXT,
  declared: { type: 'text', format: 'session' },
  jsonSchema: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
  toStored: (sent) => (typeof sent === 'string' && isSession(sent) ? sent : undefined),
  expectation: 'a session YYYY-YY, e.g. 2026-27',
  isOfFormat: isSession,
} as const satisfies ScalarType;

function isSession(text: string): boolean {
  const match = /^(\d{4})-(\d{2})$/.exec(text);
  return match !== null && (Number(match[1]) + 1) % 100 === Number(match[2]);
}

/** A telephone number, stored in E.164, e.g. `+919876543210`, however it was written. */
export const TELEPHONE = {
  ...TEXT,
  declared: { type: 'text', format: 'phone' },
  jsonSchema: { type: 'string', title: 'Telephone number' },
  toStored: (sent, _timeZone, callingCode = DEFAULT_CALLING_CODE) =>
    typeof sent === 'string' ? toE164PhoneNumber(sent, callingCode) : undefined,
  expectation: 'a telephone number such as 98765 43210 or +91 98765 43210',
  testOf: telephoneTest,
} as const satisfies ScalarType;

/** A number is found in whatever way it is written, and in records that are older than the format. */
function telephoneTest(condition: ValueCondition, { callingCode = DEFAULT_CALLING_CODE }: Clock): ValueTest {
  const test = textTest(condition, TELEPHONE);
  if (test.kind !== 'is' && test.kind !== 'in') return test;
  const values = test.kind === 'is' ? [test.value] : test.values;
  const numbers = values.map((value) =>
    typeof value === 'string' ? (toE164PhoneNumber(value, callingCode) ?? value) : value,
  );
  const all = [...new Set([...values, ...numbers])];
  return all.length === 1 ? test : { kind: 'in', values: all };
}

/** The longest address that a mail server accepts (RFC 5321). */
const MAX_LENGTH = 254;

/** An e-mail address. */
export const EMAIL = {
  ...TEXT,
  declared: { type: 'text', format: 'email' },
  jsonSchema: { type: 'string', format: 'email' },
  toStored: (sent) => (typeof sent === 'string' && isEmailAddress(sent) ? sent : undefined),
  expectation: 'an e-mail address such as name@school.example',
} as const satisfies ScalarType;

function isEmailAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && /^[^\s@"(),:;<>[\]\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text);
}

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

/** The text that followed the first `=` in oquery. */
export function writingOf(condition: DayCondition | MonthCondition): string {
  if (condition.kind === 'within') return `#in${condition.month}`;
  return typeof condition.day === 'string' ? `on${condition.day}` : condition.day.word;
}
