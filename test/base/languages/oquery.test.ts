import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import { ExactNumber } from '../../../src/base/json/json.js';
import { parseOquery } from '../../../src/base/languages/oquery.js';
import { OQUERY_LIMITS } from '../../../src/base/languages/oquery-conditions.js';
import type { Condition, Filter } from '../../../src/base/model/filter.js';
import { runsOf } from '../../full-length.js';
import { printOquery } from './print-oquery.js';

describe('oquery', () => {
  it('reads every documented operator', () => {
    expectFilter('name=Rao', { kind: 'looseEquals', path: ['name'], text: 'Rao' });
    expectFilter('name==Ra', { kind: 'startsWith', path: ['name'], text: 'Ra' });
    expectFilter('name=!=Ra', { kind: 'not', filter: { kind: 'startsWith', path: ['name'], text: 'Ra' } });
    expectFilter('roles=*teacher', { kind: 'contains', path: ['roles'], text: 'teacher' });
    expectFilter('roles=!*teacher', {
      kind: 'not',
      filter: { kind: 'contains', path: ['roles'], text: 'teacher' },
    });
    expectFilter('amount===5', { kind: 'equals', path: ['amount'], value: new ExactNumber('5') });
    expectFilter('amount=>100', { kind: 'greaterThan', path: ['amount'], value: new ExactNumber('100') });
    expectFilter('amount=<12.50', { kind: 'lessThan', path: ['amount'], value: new ExactNumber('12.50') });
    expectFilter('created_on=today', { kind: 'on', path: ['created_on'], day: { word: 'today' } });
    expectFilter('created_on=yesterday', { kind: 'on', path: ['created_on'], day: { word: 'yesterday' } });
    expectFilter('created_on=daybeforeyesterday', {
      kind: 'on',
      path: ['created_on'],
      day: { word: 'daybeforeyesterday' },
    });
    expectFilter('created_on=#in2026-04', { kind: 'within', path: ['created_on'], month: '2026-04' });
    expectFilter('created_on=on2026-04-01', { kind: 'on', path: ['created_on'], day: '2026-04-01' });
  });

  it('joins conditions that all must hold', () => {
    expectFilter('active=true,roles=*teacher', {
      kind: 'all',
      filters: [
        { kind: 'looseEquals', path: ['active'], text: 'true' },
        { kind: 'contains', path: ['roles'], text: 'teacher' },
      ],
    });
  });

  it('takes the empty text for no filter at all', () => {
    expectFilter('', { kind: 'all', filters: [] });
  });

  it('steps into a path at each dot', () => {
    expectFilter('name.value=U1', { kind: 'looseEquals', path: ['name', 'value'], text: 'U1' });
    expectFilter('$a-b._c.0=x', { kind: 'looseEquals', path: ['$a-b', '_c', '0'], text: 'x' });
  });

  it('takes the longest operator at the first =', () => {
    expectFilter('name==!x', { kind: 'startsWith', path: ['name'], text: '!x' });
    expectFilter('name=!x', { kind: 'looseEquals', path: ['name'], text: '!x' });
    expectFilter('name=a=b', { kind: 'looseEquals', path: ['name'], text: 'a=b' });
    expectFilter('name=*=', { kind: 'contains', path: ['name'], text: '=' });
    expectFilter('name==>5', { kind: 'startsWith', path: ['name'], text: '>5' });
    expectFilter('name=', { kind: 'looseEquals', path: ['name'], text: '' });
  });

  it('takes an escaped character for itself', () => {
    expectFilter('name=Rao\\, A.,code=1', {
      kind: 'all',
      filters: [
        { kind: 'looseEquals', path: ['name'], text: 'Rao, A.' },
        { kind: 'looseEquals', path: ['code'], text: '1' },
      ],
    });
    expectFilter('name=\\*x', { kind: 'looseEquals', path: ['name'], text: '*x' });
    expectFilter('name=\\=x', { kind: 'looseEquals', path: ['name'], text: '=x' });
    expectFilter('name=a\\\\', { kind: 'looseEquals', path: ['name'], text: 'a\\' });
    expectFilter('name=\\😀', { kind: 'looseEquals', path: ['name'], text: '😀' });
  });

  it('takes date words only as the whole value, and never escaped', () => {
    expectFilter('shift=todayish', { kind: 'looseEquals', path: ['shift'], text: 'todayish' });
    expectFilter('shift=\\today', { kind: 'looseEquals', path: ['shift'], text: 'today' });
    expectFilter('shift=Today', { kind: 'looseEquals', path: ['shift'], text: 'Today' });
    expectFilter('shift=onsite', { kind: 'looseEquals', path: ['shift'], text: 'onsite' });
    expectFilter('shift=on2026-04-01x', { kind: 'looseEquals', path: ['shift'], text: 'on2026-04-01x' });
    expectFilter('shift=on2026-02-30', { kind: 'looseEquals', path: ['shift'], text: 'on2026-02-30' });
    expectFilter('shift=o\\n2026-04-01', { kind: 'looseEquals', path: ['shift'], text: 'on2026-04-01' });
    expectFilter('shift=#in2026-13', { kind: 'looseEquals', path: ['shift'], text: '#in2026-13' });
    expectFilter('shift=#in2026-04-01', { kind: 'looseEquals', path: ['shift'], text: '#in2026-04-01' });
  });

  it('compares with dates, too', () => {
    expectFilter('date=>2026-04-01', { kind: 'greaterThan', path: ['date'], value: '2026-04-01' });
    expectFilter('month=<2026-04', { kind: 'lessThan', path: ['month'], value: '2026-04' });
    expectFilter('at=<2026-04-01T09:30:00+05:30', {
      kind: 'lessThan',
      path: ['at'],
      value: '2026-04-01T09:30:00+05:30',
    });
  });

  it('ignores case where it is told to', () => {
    const ignoringCase = { isInsensitive: true };
    expect(parseOquery('name=rao', ignoringCase)).toEqual({
      kind: 'looseEquals',
      path: ['name'],
      text: 'rao',
      isInsensitive: true,
    });
    expect(parseOquery('name=!*rao', ignoringCase)).toEqual({
      kind: 'not',
      filter: { kind: 'contains', path: ['name'], text: 'rao', isInsensitive: true },
    });
    expect(parseOquery('amount===5', ignoringCase)).toEqual({
      kind: 'equals',
      path: ['amount'],
      value: new ExactNumber('5'),
    });
  });

  it('says where it is malformed, what was expected there, and in which condition', () => {
    expectErrors('name', 4, 'an operator that begins with "="');
    expectErrors('a=1,name', 8, 'an operator that begins with "="', 'name');
    expectErrors('=1', 0, 'a field: ', '=1');
    expectErrors('a b=1', 1, 'a field: ', 'a b=1');
    expectErrors('a..b=1', 2, 'a field: ');
    expectErrors('.a=1', 0, 'a field: ');
    expectErrors('a=1,', 4, 'a field: ', '');
    expectErrors(',a=1', 0, 'a field: ', '');
    expectErrors('a=1,,b=2', 4, 'a field: ', '');
    expectErrors('a=x\\', 4, 'a character after "\\"');
    expectErrors('a===', 4, 'a number such as');
    expectErrors('b=1,a===five', 8, 'a number such as', 'a===five');
    expectErrors('a===05', 4, 'a number such as');
    expectErrors('a=>tomorrow', 3, 'a number, or a date');
    expectErrors('a=>2026-02-30', 3, 'a number, or a date');
    expectErrors('a=x\0', 3, 'a character that text can hold', '\0');
    expectErrors('a=x\ud800y', 3, 'a character that text can hold');
  });

  it('looks for no empty text, which every text has in it', () => {
    expectErrors('name=*', 6, 'a text to look for');
    expectErrors('name==', 6, 'a text to look for');
    expectErrors('name=!*', 7, 'a text to look for');
    expectErrors('name=!=', 7, 'a text to look for');
  });

  it('tells all of it in the message', () => {
    expect(errorOf('b=1,a===five').message).toBe(
      'oquery, position 8: expected a number such as 5, -3 or 12.50, found "five", in the condition ' +
        '"a===five".',
    );
  });

  it('has at most 32 conditions and 4 KiB', () => {
    const most = Array.from({ length: OQUERY_LIMITS.maxConditions }, () => 'a=1').join(',');
    expect(parseOquery(most)).toMatchObject({ kind: 'all' });
    expect(errorOf(`${most},a=1`).code).toBe('LIMIT_EXCEEDED');
    expect(parseOquery(`a=${'x'.repeat(4094)}`)).toMatchObject({ kind: 'looseEquals' });
    expect(errorOf(`a=${'x'.repeat(4095)}`).code).toBe('LIMIT_EXCEEDED');
    expect(errorOf(`a=${'ह'.repeat(1400)}`).code).toBe('LIMIT_EXCEEDED');
  });

  it('fails on any input in no way but its own', () => {
    const pieces = [
      '=',
      '==',
      '===',
      '=!=',
      '=*',
      '=!*',
      '=>',
      '=<',
      '=#in',
      '=on',
      '\\',
      ',',
      '.',
      'a',
      '5',
      '2026-04-01',
      'today',
      ' ',
      '\0',
    ];
    const inputs = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((parts) => parts.join('')),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    );
    const check = fc.property(inputs, (text) => {
      try {
        parseOquery(text);
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        const { code, status } = error as ServiceError;
        expect([code, status]).toEqual([expect.stringMatching(/^(MALFORMED_FILTER|LIMIT_EXCEEDED)$/), 400]);
      }
    });
    fc.assert(check, runsOf(3_000));
  });
});

describe('printOquery', () => {
  it('is read back as the same filter', () => {
    const check = fc.property(sayable, (filter) => {
      const text = printOquery(filter);
      fc.pre(Buffer.byteLength(text) <= OQUERY_LIMITS.maxBytes);
      expect(parseOquery(text)).toEqual(filter);
    });
    fc.assert(check, runsOf(3_000));
  });

  it('prints what was read in one canonical form', () => {
    const check = fc.property(sayable, (filter) => {
      const text = printOquery(filter);
      fc.pre(Buffer.byteLength(text) <= OQUERY_LIMITS.maxBytes);
      expect(printOquery(parseOquery(text))).toBe(text);
    });
    fc.assert(check, runsOf(1_000));
  });

  it('escapes what would be read as something else', () => {
    expect(printOquery({ kind: 'looseEquals', path: ['a'], text: '*x' })).toBe('a=\\*x');
    expect(printOquery({ kind: 'looseEquals', path: ['a'], text: 'today' })).toBe('a=\\today');
    expect(printOquery({ kind: 'startsWith', path: ['a'], text: '=x' })).toBe('a==\\=x');
    expect(printOquery({ kind: 'contains', path: ['a'], text: 'x,y\\' })).toBe('a=*x\\,y\\\\');
  });

  it('refuses what oquery has no words for', () => {
    const condition: Condition = { kind: 'looseEquals', path: ['a'], text: '1' };
    const unspeakable: Filter[] = [
      { kind: 'any', filters: [condition, condition] },
      { kind: 'not', filter: condition },
      { kind: 'isNull', path: ['a'] },
      { kind: 'looseEquals', path: ['a b'], text: '1' },
      { kind: 'looseEquals', path: [], text: '1' },
    ];
    for (const filter of unspeakable) expect(() => printOquery(filter)).toThrow(ServiceError);
  });
});

const path = fc.array(fc.stringMatching(/^[A-Za-z0-9_$-]{1,5}$/), { minLength: 1, maxLength: 3 });
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'=*!<>#\\,.on2'), maxLength: 5 }),
    fc.constantFrom('today', 'yesterday', 'on2026-04-01', '#in2026-04', 'onsite', '5', '', '2026-04-01'),
  )
  .filter((one) => !one.includes('\0'));
const someText = text.filter((one) => one !== '');
const number = fc.oneof(
  fc.integer().map((one) => new ExactNumber(String(one))),
  fc.constantFrom('0.10', '-0', '1e5', '12345678901234567890.5').map((one) => new ExactNumber(one)),
);
const date = fc.constantFrom('2026-04-01', '2026-04', '2026-04-01T00:00Z');
const textSearch = fc.record({
  kind: fc.constantFrom('startsWith' as const, 'contains' as const),
  path,
  text: someText,
});
const condition: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ kind: fc.constant('looseEquals' as const), path, text }),
  textSearch,
  fc.record({ kind: fc.constant('not' as const), filter: textSearch }),
  fc.record({ kind: fc.constant('equals' as const), path, value: number }),
  fc.record({
    kind: fc.constantFrom('greaterThan' as const, 'lessThan' as const),
    path,
    value: fc.oneof(number, date),
  }),
  fc.record({
    kind: fc.constant('on' as const),
    path,
    day: fc.oneof(fc.constantFrom('2026-04-01', '2024-02-29'), fc.constant({ word: 'yesterday' as const })),
  }),
  fc.record({ kind: fc.constant('within' as const), path, month: fc.constantFrom('2026-04', '1999-12') }),
);

/** What oquery can say: one condition as it is, or several. */
const sayable: fc.Arbitrary<Filter> = fc.oneof(
  condition,
  fc
    .array(condition, { minLength: 2, maxLength: OQUERY_LIMITS.maxConditions })
    .map((filters): Filter => ({ kind: 'all', filters })),
);

function expectFilter(oquery: string, filter: Filter): void {
  expect(parseOquery(oquery)).toEqual(filter);
}

function expectErrors(oquery: string, position: number, expected: string, inCondition = oquery): void {
  const [first] = errorOf(oquery).errors ?? [];
  expect(first).toMatchObject({
    parameter: 'oquery',
    position,
    expected: expect.stringContaining(expected),
  });
  if (inCondition !== oquery) expect(first?.sent).toBe(inCondition);
}

function errorOf(oquery: string): ServiceError {
  try {
    parseOquery(oquery);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error(`${oquery} was read without an error`);
}
