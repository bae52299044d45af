/** Days as people type them. */
import { describe, expect, it } from '@jest/globals';
import { parseTypedDay, printTypedDay, writesDayFirst } from '../../src/portal/browser/language/days.js';

describe('parseTypedDay', () => {
  it.each([
    ['26/11/2026', '2026-11-26'],
    ['6/1/2026', '2026-01-06'],
    [' 26-11-2026 ', '2026-11-26'],
    ['26.11.2026', '2026-11-26'],
    ['26 11 2026', '2026-11-26'],
    ['26112026', '2026-11-26'],
    ['२६/११/२०२६', '2026-11-26'],
    ['2026-11-26', '2026-11-26'],
    ['29/02/2028', '2028-02-29'],
  ])('takes %j as %s', (text, day) => {
    expect(parseTypedDay(text)).toBe(day);
  });

  it.each(['', '26', '26/11', '26/11/26', '11/26/2026', '31/02/2026', '29/02/2026', '26/11-2026', 'today'])(
    'takes %j for no day',
    (text) => {
      expect(parseTypedDay(text)).toBeUndefined();
    },
  );
});

describe('printTypedDay', () => {
  it('has the day first', () => {
    expect(printTypedDay('2026-01-06')).toBe('06/01/2026');
  });

  it.each(['', 'today', '2026-01'])('leaves %j as it is', (text) => {
    expect(printTypedDay(text)).toBe(text);
  });
});

describe('writesDayFirst', () => {
  it.each([
    ['en-IN', true],
    ['hi-IN', true],
    ['en-GB', true],
    ['en-US', false],
    ['sv-SE', false],
  ])('is for %s: %s', (language, expected) => {
    expect(writesDayFirst(language)).toBe(expected);
  });
});
