import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseOquery } from '../../src/base/languages/oquery.js';
import type { OqueryOperator } from '../../src/base/languages/oquery-conditions.js';
import {
  type FilterCondition,
  parseConditions,
  printConditions,
  printWhere,
} from '../../src/portal/browser/records/filter-conditions.js';

describe('the conditions of a filter', () => {
  it.each<[string, readonly FilterCondition[]]>([
    ['', []],
    ['class=5', [{ field: 'class', operator: '=', value: '5' }]],
    ['name=*sh', [{ field: 'name', operator: '=*', value: 'sh' }]],
    ['name=!*sh', [{ field: 'name', operator: '=!*', value: 'sh' }]],
    ['class=!=1', [{ field: 'class', operator: '=!=', value: '1' }]],
    ['created=daybeforeyesterday', [{ field: 'created', operator: '=daybeforeyesterday', value: '' }]],
    ['name==As,name=!*sh', []],
    ['created=today', [{ field: 'created', operator: '=today', value: '' }]],
    ['created=on2026-04-01', [{ field: 'created', operator: '=on', value: '2026-04-01' }]],
    ['created=#in2026-04', [{ field: 'created', operator: '=#in', value: '2026-04' }]],
    [String.raw`name=a\,b`, [{ field: 'name', operator: '=', value: 'a,b' }]],
    ['student.value=stu-1', [{ field: 'student.value', operator: '=', value: 'stu-1' }]],
  ])('%s', (oquery, expected) => {
    const conditions = parseConditions(oquery);
    if (expected.length > 0 || oquery === '') expect(conditions).toEqual(expected);
    expect(printConditions(conditions ?? [])).toBe(oquery);
  });

  it.each(['class', '=5', 'cl ass=5', 'class=5,'])('are none in %s', (oquery) => {
    expect(parseConditions(oquery)).toBeUndefined();
  });

  it('say what was written, whatever was typed, and the gateway takes it', () => {
    const operators: readonly OqueryOperator[] = ['=', '=!=', '==', '=*', '=!*'];
    const typed = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text.isWellFormed());
    const one = fc.record({
      field: fc.constantFrom('name', 'student.label'),
      operator: fc.constantFrom(...operators),
      value: typed.filter((text) => !text.includes('\0')),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 4 }), (conditions) => {
        const oquery = printConditions(conditions);
        expect(parseConditions(oquery)).toEqual(conditions);
        expect(() => parseOquery(oquery)).not.toThrow();
      }),
    );
  });

  it('leave out rows that are not filled in yet', () => {
    expect(printConditions([{ field: 'class', operator: '=', value: '' }])).toBe('');
  });
});

describe('printWhere', () => {
  it.each([
    ['class=5', '{"class":{"equals":"5"}}'],
    ['total=>100,class=!=5', '{"and":[{"total":{"greaterThan":100}},{"not":{"class":{"startsWith":"5"}}}]}'],
    ['student.value=stu-1', '{"student":{"id":{"equals":"stu-1"}}}'],
    ['name=!*sh', '{"not":{"name":{"contains":"sh"}}}'],
    ['created=yesterday', '{"created":{"yesterday":true}}'],
    ['total=9007199254740993', '{"total":{"equals":9007199254740993}}'],
    ['total=>0.12345678901234567891', '{"total":{"greaterThan":0.12345678901234567891}}'],
    ['total=<007', '{"total":{"lessThan":7}}'],
    ['total=many', '{"total":{"equals":"many"}}'],
    ['', ''],
  ])('%s', (oquery, where) => {
    expect(printWhere(parseConditions(oquery) ?? [], (field) => field === 'total')).toBe(where);
  });
});
