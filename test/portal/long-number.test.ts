/** Numbers that JavaScript would round, as the portal reads and writes them. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isLongNumber,
  numberOfText,
  parseExactly,
  printExactly,
} from '../../src/portal/browser/gateway/long-number.js';

describe('a number', () => {
  it.each(['0', '-0', '7', '1200.50', '0.1', '-12.5', '007', '9007199254740991', '0.000001'])(
    'that JavaScript holds is one of its own: %s',
    (text) => {
      expect(numberOfText(text)).toBe(Number(text));
    },
  );

  it.each([
    '9007199254740993',
    '123456789012345678.91',
    '-0.12345678901234567890',
    '100000000000000000000001',
  ])('that it would round keeps its digits: %s', (text) => {
    expect(numberOfText(text)).toEqual({ $number: text });
    expect(printExactly({ amount: numberOfText(text) })).toBe(`{"amount":${text}}`);
  });

  it('is written as it was typed, or as the same number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.nat(30), (whole, places) => {
        const digits = String(whole < 0n ? -whole : whole).padStart(places + 1, '0');
        const at = digits.length - places;
        const part = places > 0 ? `.${digits.slice(at)}` : '';
        const text = `${whole < 0n ? '-' : ''}${digits.slice(0, at)}${part}`;
        const value = numberOfText(text);
        expect(isLongNumber(value) ? value.$number : text).toBe(text);
        if (!isLongNumber(value)) expect(numberOfText(String(value))).toBe(value);
      }),
    );
  });
});

describe('a text of JSON', () => {
  it('is parsed as JSON is, where no number is long', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const text = JSON.stringify(value);
        expect(printExactly(JSON.parse(text))).toBe(text);
        expect(parseExactly('{"a":[1,"x",null,2.5]}')).toEqual({ a: [1, 'x', null, 2.5] });
      }),
    );
  });

  it('keeps texts that look like such a number', () => {
    const value = { name: '{"$number":"1"}', other: '12345678901234567890' };
    expect(printExactly(value)).toBe(JSON.stringify(value));
    expect(parseExactly(JSON.stringify(value))).toEqual(value);
  });
});
