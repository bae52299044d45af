import { describe, expect, it } from '@jest/globals';
import { matchesPattern, parseLinearPattern } from '../../../src/base/model/linear-pattern.js';

describe('parseLinearPattern', () => {
  it.each([
    ['^\\d{11}$', ['27240100101'], ['2724010010', '272401001011', 'x7240100101']],
    ['^[A-Z]{4}0[A-Z0-9]{6}$', ['SBIN0001234'], ['SBIN1001234', 'sbin0001234']],
    ['^a?b*c+$', ['c', 'abbc', 'cc', 'ac'], ['', 'ab', 'aac']],
    ['^\\d{2,3}$|^none$', ['12', '123', 'none'], ['1', '1234', 'nones']],
    ['^x{2,}$', ['xx', 'xxxxx'], ['x']],
    ['^[^|$]+\\|$', ['ab|'], ['a|b|', '|']],
    ['^.{1,3}$', ['अ', '😀😀😀'], ['', '😀😀😀😀']],
    ['^\\p{L}+-\\d$', ['ñ-1'], ['1-1']],
  ])('matches %s as ECMAScript does', (source, matching, others) => {
    const pattern = parseLinearPattern(source);
    expect(matching.filter((text) => !matchesPattern(pattern, text))).toEqual([]);
    expect(others.filter((text) => matchesPattern(pattern, text))).toEqual([]);
    const native = new RegExp(source, 'su');
    for (const text of [...matching, ...others])
      expect(matchesPattern(pattern, text)).toBe(native.test(text));
  });

  it.each([
    '(a+)+',
    '^(a+)+$',
    '^a',
    'a$',
    '^a**$',
    '^(?=a)$',
    '^\\1$',
    '^[a$',
    '^a{3,2}$',
    '^\\d{201}$',
    '^x{1,999}$',
    '',
  ])('refuses %s', (source) => {
    expect(() => parseLinearPattern(source)).toThrow();
  });

  it('takes steps in proportion to the text, whatever the quantifiers', () => {
    const pattern = parseLinearPattern(`^${'a*'.repeat(80)}b$`);
    expect(matchesPattern(pattern, 'a'.repeat(20_000))).toBe(false);
  });
});
