import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { groupInLakhs, parseTypedNumber } from '../../src/portal/browser/language/typed-number.js';

describe('a number as it is typed or pasted', () => {
  it.each([
    ['1,20,000.50', '120000.50'],
    ['120,000.50', '120000.50'],
    ['1,000', '1000'],
    ['12 000', '12000'],
    ['12\u202f34\u00a0567', '1234567'],
    [' 42 \n', '42'],
    ['०१२', '12'],
    ['१,२०,०००.५०', '120000.50'],
    ['১২', '12'],
    ['₹ 1,20,000', '120000'],
    ['-₹5', '-5'],
    ['Rs. 500/-', '500'],
    ['+5', '5'],
    ['−5', '-5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-0.10', '-0.10'],
    ['1.2E+05', '1.2e+05'],
    ['99999999999999999999.12', '99999999999999999999.12'],
  ])('%j is %s', (text, number) => {
    expect(parseTypedNumber(text)).toBe(number);
  });

  it.each([
    '',
    ' ',
    '-',
    '.',
    ',',
    'abc',
    '1,5',
    '1,20',
    '12,34',
    '1.234,50',
    '1.2.3',
    '1/2',
    '1-2',
    '5 kg',
    '1,,000',
  ])('%j is none', (text) => {
    expect(parseTypedNumber(text)).toBeUndefined();
  });

  it('may have its unit behind it', () => {
    expect(parseTypedNumber('1,20,000.50 INR', 'INR')).toBe('120000.50');
    expect(parseTypedNumber('5kg', 'kg')).toBe('5');
    expect(parseTypedNumber('kg', 'kg')).toBeUndefined();
  });

  it.each([
    ['1', '1'],
    ['999', '999'],
    ['1000', '1,000'],
    ['120000.5', '1,20,000.5'],
    ['-123456789012.345678', '-1,23,45,67,89,012.345678'],
    ['1e+21', '1e+21'],
  ])('%s is shown as %s', (number, shown) => {
    expect(groupInLakhs(number)).toBe(shown);
  });

  it('is the same after it was shown', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (number) => {
        expect(parseTypedNumber(groupInLakhs(String(number)))).toBe(String(number));
      }),
    );
  });
});
