import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExactNumber } from '../../../../src/base/json/json.js';
import {
  parseDayCell,
  parseInstantCell,
  parseMonthCell,
  parseSessionCell,
} from '../../../../src/services/importing/cells/day-cell.js';
import type {
  DayFormat,
  InstantFormat,
  NumberFormat,
} from '../../../../src/services/importing/cells/day-formats.js';
import {
  CellFault,
  isBlankCell,
  parseBooleanCell,
  parseNumberCell,
  parseTextCell,
  spreadsheetDamageOf,
} from '../../../../src/services/importing/cells/plain-cells.js';
import { runsOf } from '../../../full-length.js';

const KOLKATA = 'Asia/Kolkata';

/** The value that a reader makes of a cell, or what would be right. */
function shown(value: unknown): unknown {
  return value instanceof CellFault ? `not ${value.expected}` : value;
}

describe('a number of a cell', () => {
  it.each<[unknown, NumberFormat | undefined, unknown]>([
    ['1200', undefined, 1200],
    [' -12.50 ', 'plain', -12.5],
    ['+7', 'plain', 7],
    ['.5', 'plain', 0.5],
    ['5.', 'plain', 5],
    ['007', 'plain', 7],
    ['0', 'plain', 0],
    ['1e3', 'plain', 1000],
    [12.5, 'plain', 12.5],
    ['1,20,000.50', 'grouped', 120000.5],
    ['120,000.50', undefined, 120000.5],
    ['12,34,56,789', 'grouped', 123456789],
    ['₹ 1,20,000.50', 'grouped', 120000.5],
    ['Rs. 500/-', 'grouped', 500],
    ['(1,500.00)', 'grouped', -1500],
    ['१,२०,०००', 'grouped', 120000],
    ['1.20.000,50', 'european', 120000.5],
    ['120 000,5', 'european', 120000.5],
    ['1,5', 'european', 1.5],
    ['12345678901234567890', 'plain', new ExactNumber('12345678901234567890')],
    ['0.12345678901234567890', 'plain', new ExactNumber('0.12345678901234567890')],
    ['1,20,000.50', 'plain', 'not a number such as 120000.50'],
    ['1,2', 'grouped', 'not a number such as 1,20,000.50'],
    ['12,0000', 'grouped', 'not a number such as 1,20,000.50'],
    ['1.5', 'european', 'not a number such as 1.20.000,50'],
    ['12 apples', 'grouped', 'not a number such as 1,20,000.50'],
    ['', 'grouped', 'not a number such as 1,20,000.50'],
    ['-', 'grouped', 'not a number such as 1,20,000.50'],
    [true, 'plain', 'not a number such as 120000.50'],
    [['5'], 'plain', 'not a number such as 120000.50'],
  ])('%j as %s is %j', (cell, format, expected) => {
    expect(shown(parseNumberCell(cell, format))).toEqual(expected);
  });

  it('is what was written, whichever way its digits are grouped', () => {
    const number = fc.record({
      whole: fc.bigInt({ min: 0n, max: 10n ** 14n }),
      cents: fc.integer({ min: 0, max: 99 }),
    });
    fc.assert(
      fc.property(number, fc.constantFrom('en-IN', 'en-US', 'de-DE'), ({ whole, cents }, locale) => {
        const point = locale === 'de-DE' ? ',' : '.';
        const fraction = String(cents).padStart(2, '0');
        const text = `${whole.toLocaleString(locale)}${point}${fraction}`;
        const format = locale === 'de-DE' ? 'european' : 'grouped';
        expect(Number(parseNumberCell(text, format))).toBe(Number(`${whole}.${fraction}`));
      }),
      runsOf(1_000),
    );
  });
});

describe('a day of a cell', () => {
  it.each<[unknown, DayFormat, string]>([
    ['31/03/2026', 'DD/MM/YYYY', '2026-03-31'],
    ['1-4-2026', 'DD/MM/YYYY', '2026-04-01'],
    ['31.03.2026', 'DD/MM/YYYY', '2026-03-31'],
    ['03/31/2026', 'MM/DD/YYYY', '2026-03-31'],
    ['31/03/26', 'DD/MM/YY', '2026-03-31'],
    ['31/03/69', 'DD/MM/YY', '1969-03-31'],
    ['31/03/68', 'DD/MM/YY', '2068-03-31'],
    ['2', '2026-11', '2026-11-02'],
    ['2026-11-30', '2026-12', '2026-11-30'],
    ['31', '2026-11', 'not the number of a day of 2026-11, such as 12'],
    ['03/31/26', 'MM/DD/YY', '2026-03-31'],
    ['31-Mar-2026', 'DD MMM YYYY', '2026-03-31'],
    ['1st April, 2026', 'DD MMM YYYY', '2026-04-01'],
    ['5 Sept 2026', 'DD MMM YYYY', '2026-09-05'],
    ['31 Mar 26', 'DD MMM YY', '2026-03-31'],
    ['20260331', 'YYYYMMDD', '2026-03-31'],
    ['2026/3/31', 'YYYY-MM-DD', '2026-03-31'],
    ['45747', 'serial', '2025-03-31'],
    [45747, 'serial', '2025-03-31'],
    ['44285', 'serial-1904', '2025-03-31'],
    ['1', 'serial', '1900-01-01'],
    ['59', 'serial', '1900-02-28'],
    ['61', 'serial', '1900-03-01'],
    ['0', 'serial-1904', '1904-01-01'],
    ['३१/०३/२०२६', 'DD/MM/YYYY', '2026-03-31'],
    // Written from its year on it is no other day, whatever the column is said to hold.
    ['2026-03-31', 'DD/MM/YYYY', '2026-03-31'],
    ['2026-03-31T00:00:00', 'DD/MM/YYYY', '2026-03-31'],
    // So it is with the name of its month.
    ['1-Jun-15', 'DD/MM/YYYY', '2015-06-01'],
    ['14 September 2015', 'MM/DD/YY', '2015-09-14'],
    ['31-Mar-26', 'DD MMM YYYY', '2026-03-31'],
    ['31-Mar-2026', 'YYYY-MM-DD', '2026-03-31'],
    ['2026-03-30T18:30:00.000Z', 'YYYY-MM-DD', '2026-03-31'],
    ['31/02/2026', 'DD/MM/YYYY', 'not a day such as 31/03/2026 (DD/MM/YYYY)'],
    ['03/31/2026', 'DD/MM/YYYY', 'not a day such as 31/03/2026 (DD/MM/YYYY)'],
    ['31/03/26', 'DD/MM/YYYY', 'not a day such as 31/03/2026 (DD/MM/YYYY)'],
    ['31-Ma-2026', 'DD MMM YYYY', 'not a day such as 31-Mar-2026 (DD MMM YYYY)'],
    ['60', 'serial', 'not a day such as 46112 (serial)'],
    ['0', 'serial', 'not a day such as 46112 (serial)'],
    ['2958466', 'serial', 'not a day such as 46112 (serial)'],
    ['', 'YYYY-MM-DD', 'not a day such as 2026-03-31 (YYYY-MM-DD)'],
    [true, 'YYYY-MM-DD', 'not a day such as 2026-03-31 (YYYY-MM-DD)'],
  ])('%j as %s is %s', (cell, format, expected) => {
    expect(shown(parseDayCell(cell, format, KOLKATA))).toBe(expected);
  });
});

describe('an instant of a cell', () => {
  it.each<[unknown, InstantFormat, string]>([
    ['2026-03-31T09:30:00+05:30', 'YYYY-MM-DD', '2026-03-31T04:00:00.000Z'],
    ['2026-03-31 09:30', 'YYYY-MM-DD', '2026-03-31T04:00:00.000Z'],
    ['2026-03-31', 'YYYY-MM-DD', '2026-03-30T18:30:00.000Z'],
    ['31/03/2026 09:30', 'DD/MM/YYYY', '2026-03-31T04:00:00.000Z'],
    ['31/03/2026 9:30:15 PM', 'DD/MM/YYYY', '2026-03-31T16:00:15.000Z'],
    ['31/03/2026, 12:05 am', 'DD/MM/YYYY', '2026-03-30T18:35:00.000Z'],
    ['31-Mar-2026 9.30 p.m.', 'DD MMM YYYY', '2026-03-31T16:00:00.000Z'],
    ['31-Mar-26 9.30 p.m.', 'DD/MM/YYYY', '2026-03-31T16:00:00.000Z'],
    ['46112.3958333333', 'serial', '2026-03-31T04:00:00.000Z'],
    ['1774929600', 'epoch-seconds', '2026-03-31T04:00:00.000Z'],
    [1774929600123, 'epoch-milliseconds', '2026-03-31T04:00:00.123Z'],
    ['2026-03-31T04:00:00.000Z', 'DD/MM/YYYY', '2026-03-31T04:00:00.000Z'],
    ['31/03/2026 25:00', 'DD/MM/YYYY', 'not an instant such as 31/03/2026 09:30 (DD/MM/YYYY)'],
    ['31/03/2026 13:00 PM', 'DD/MM/YYYY', 'not an instant such as 31/03/2026 09:30 (DD/MM/YYYY)'],
    ['soon', 'epoch-seconds', 'not the seconds since 1970, such as 1774953000'],
    ['x', 'serial', 'not the number of a day, such as 46112.395833'],
    ['', 'YYYY-MM-DD', 'not an instant such as 2026-03-31T09:30:00+05:30 (YYYY-MM-DD)'],
  ])('%j as %s is %s', (cell, format, expected) => {
    expect(shown(parseInstantCell(cell, format, KOLKATA))).toBe(expected);
  });
});

describe('a boolean of a cell', () => {
  it.each([
    ['Yes', true],
    ['n', false],
    ['1', true],
    [0, false],
    ['हाँ', true],
    ['नहीं', false],
    [true, true],
    ['maybe', 'not yes or no (true, false, y, n, 1, 0)'],
    ['', 'not yes or no (true, false, y, n, 1, 0)'],
  ])('%j is %j', (cell, expected) => {
    expect(shown(parseBooleanCell(cell))).toBe(expected);
  });
});

describe('a text of a cell', () => {
  it.each([
    [' as it stands ', ' as it stands '],
    [12.5, '12.5'],
    [true, 'true'],
    [new ExactNumber('1.50'), '1.50'],
    [['a'], 'not a text'],
    [{ a: 1 }, 'not a text'],
  ])('%j is %j', (cell, expected) => {
    expect(shown(parseTextCell(cell))).toBe(expected);
  });
});

it.each([
  [null, true],
  [undefined, true],
  ['', true],
  [' \t', true],
  ['0', false],
  [0, false],
  [false, false],
])('isBlankCell(%j) is %j', (cell, expected) => {
  expect(isBlankCell(cell)).toBe(expected);
});

it('gives up a text without end at once', () => {
  const text = `1${' '.repeat(1024 ** 2)}2`;
  const readers = [parseNumberCell, parseBooleanCell].map((read) => read(text));
  const days = [parseDayCell(text, 'DD MMM YYYY'), parseInstantCell(text, 'YYYY-MM-DD')];
  for (const value of [...readers, ...days]) expect(value).toBeInstanceOf(CellFault);
});

describe('a month or a session of a cell', () => {
  it.each([
    ['Apr-26', '2026-04'],
    ['April 2026', '2026-04'],
    ["Sept'26", '2026-09'],
    ['2026-Apr', '2026-04'],
    ['अप्रैल 2026', '2026-04'],
    ['04/2026', '2026-04'],
    ['4-2026', '2026-04'],
    ['2026/4', '2026-04'],
    ['202604', '2026-04'],
    ['2026-04-01', '2026-04'],
    ['2026-04-15T00:00:00', '2026-04'],
    ['01/04/2026', '2026-04'],
    ['04/01/2026', undefined],
    ['13/2026', undefined],
    ['April', undefined],
    ['26-Apr', undefined],
    [46113, undefined],
  ])('%s is the month %s', (cell, month) => {
    const found = parseMonthCell(cell);
    expect(found instanceof CellFault ? undefined : found).toBe(month);
  });

  it.each([
    ['2026-27', '2026-27'],
    ['2026-2027', '2026-27'],
    ['2026/27', '2026-27'],
    ['2026 – 2027', '2026-27'],
    ['26-27', '2026-27'],
    ['1999-2000', '1999-00'],
    ['2026-28', '2026-28'],
    ['2026-1927', '2026-1927'],
  ])('%s is the session %s', (cell, session) => {
    expect(parseSessionCell(cell)).toBe(session);
  });
});

describe('a value that a spreadsheet has destroyed', () => {
  it.each([
    ['9.15854E+11', true, false],
    ['2,02512E+11', true, false],
    [1e21, true, false],
    [12345678901234567000, true, false],
    ['#REF!', true, true],
    ['#N/A', true, true],
    ['########', true, true],
    ['GV-01600', false, false],
    ['5E3', false, false],
    ['#5 Main Road', false, false],
    [919876543210, false, false],
  ])('%s: as a text %s, as a number %s', (cell, asText, asNumber) => {
    expect([
      spreadsheetDamageOf(cell, false) !== undefined,
      spreadsheetDamageOf(cell, true) !== undefined,
    ]).toEqual([asText, asNumber]);
  });
});
