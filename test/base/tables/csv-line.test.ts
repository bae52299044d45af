import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { disarmFormula, printCsvLine, rearmFormula } from '../../../src/base/tables/csv-line.js';
import { runsOf } from '../../full-length.js';

describe('a cell of CSV', () => {
  it.each([
    '=1+1',
    '+1+cmd|" /C calc"!A0',
    '-2+3+cmd',
    '@SUM(A1)',
    '＝1+1',
    '＋1+1',
    '－1+1',
    '＠SUM(A1)',
    '﹦1+1',
    ' =1+1',
    '\u00a0=1+1',
    '\u200b=1+1',
    '\ufeff=1+1',
    '\u0000=1+1',
    '\tx',
    '\rx',
    '\nx',
    '\n=1+1',
    '-',
    '＋91 98',
    // Taking one apostrophe away gives this back too.
    "'=1+1",
    "''\tx",
  ])('that a spreadsheet might run is text: %j', (text) => {
    expect(disarmFormula(text)).toBe(`'${text}`);
  });

  it.each([
    '',
    'Sharma',
    'a=1',
    "'",
    "'Sharma",
    '1+1',
    '-12.50',
    '+5',
    '-1e-7',
    '-1,234.50',
    '+919800000003',
    '+91 98-000 (03)',
    ' Sharma',
    '–',
    'चित्रा देवी',
  ])('that is none stays as it is: %j', (text) => {
    expect(disarmFormula(text)).toBe(text);
  });

  it('without a value leaves nothing, and an empty text two quotes', () => {
    expect(printCsvLine([null, '', 'a'])).toBe(',"",a\r\n');
  });

  it('is disarmed before it is quoted', () => {
    expect(printCsvLine(['=HYPERLINK("x","y")', '\n=1', 'a'])).toBe(
      `"'=HYPERLINK(""x"",""y"")","'\n=1",a\r\n`,
    );
  });
});

describe('a cell of CSV that is read', () => {
  it('is what was written, whether or not a spreadsheet might have run it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("'", '=', '-', '+', '1', 'a', '\n', ' ') }), (text) => {
        expect(rearmFormula(disarmFormula(text))).toBe(text);
      }),
      runsOf(1_000),
    );
  });
});
