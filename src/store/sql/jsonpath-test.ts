/**
 * Compiles a `ValueTest` to a jsonpath predicate over `@`. This is the general form, for lists and
 * undeclared paths. The GIN index on the whole record supports its equalities.
 *
 * In lax mode, jsonpath looks into one level of lists at each step, and one level deeper in comparisons.
 * Every predicate therefore tests the type first, which an inner list does not pass.
 */

import { isNumberOperand, type Operand } from '../../base/model/operand.js';
import {
  type InTest,
  type LikeTest,
  lowerSign,
  type NumberRangeTest,
  type TextRangeTest,
  upperSign,
  type ValueTest,
} from '../../base/model/value-test.js';
import { spelledPredicate } from './spellings.js';
import { jsonpathString, jsonText } from './storable-json.js';

const IS_TEXT = '@.type() == "string"';
const IS_NUMBER = '@.type() == "number"';
const IS_BOOLEAN = '@.type() == "boolean"';
export const NEVER = '(1 == 0)';
export const ALWAYS = '(1 == 1)';

/** A predicate in parentheses that is true or false for one value, and never unknown. */
export function jsonpathTest(test: ValueTest): string {
  switch (test.kind) {
    case 'is':
      return `(${typeTest(test.value)} && @ == ${jsonText(test.value)})`;
    case 'in':
      return inTest(test);
    case 'spelled':
      return `(${inTest({ kind: 'in', values: test.values })} || ${spelledPredicate(test)})`;
    case 'numberRange':
      return range(test, IS_NUMBER);
    case 'textRange':
      return range(test, IS_TEXT, WRITINGS[test.among]);
    case 'like':
      return likeTest(test);
    case 'either':
      return `(${test.tests.map(jsonpathTest).join(' || ')})`;
  }
}

function inTest({ values }: InTest): string {
  if (values.length === 0) return NEVER;
  return `(${values.map((value) => jsonpathTest({ kind: 'is', value })).join(' || ')})`;
}

function range({ lower, upper }: NumberRangeTest | TextRangeTest, type: string, writing?: string): string {
  const parts = [type];
  if (lower !== undefined) parts.push(`@ ${lowerSign(lower)} ${jsonText(lower.value)}`);
  if (upper !== undefined) parts.push(`@ ${upperSign(upper)} ${jsonText(upper.value)}`);
  if (writing !== undefined) parts.push(writing);
  return `(${parts.join(' && ')})`;
}

const WRITINGS: Readonly<Record<TextRangeTest['among'], string | undefined>> = {
  all: undefined,
  digits: '@ >= "0" && @ < "A"',
  instants: '@ like_regex "^[0-9]{4}-[0-9]{2}-[0-9]{2}T"',
  days: '@ like_regex "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"',
};

function likeTest({ at, text, isInsensitive }: LikeTest): string {
  if (at === 'start' && !isInsensitive) return `(${IS_TEXT} && @ starts with ${jsonpathString(text)})`;
  return `(${IS_TEXT} && @ like_regex ${patternWithFlags(at, text, isInsensitive)})`;
}

function patternWithFlags(at: LikeTest['at'], text: string, isInsensitive: boolean): string {
  const escaped = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const flag = isInsensitive ? ' flag "i"' : '';
  switch (at) {
    case 'start':
      return `${jsonpathString(`^${escaped}`)}${flag}`;
    case 'whole':
      return `${jsonpathString(`^${escaped}$`)}${flag}`;
    case 'anywhere':
      // Flag q takes the pattern literally.
      return `${jsonpathString(text)} flag "${isInsensitive ? 'i' : ''}q"`;
  }
}

function typeTest(value: Operand): string {
  if (typeof value === 'string') return IS_TEXT;
  return isNumberOperand(value) ? IS_NUMBER : IS_BOOLEAN;
}
