import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { containsWords, type SortValue, sortRows } from '../../src/portal/browser/shell/sort-rows.js';

interface Row {
  readonly class: string | null;
  readonly owes: number | null;
}

const COLUMNS = [
  { name: 'class', valueOf: (row: Row) => row.class },
  { name: 'owes', valueOf: (row: Row) => row.owes },
];

describe('sorting', () => {
  const rows: readonly Row[] = [
    { class: '10', owes: 9.5 },
    { class: '9', owes: 10.25 },
    { class: '', owes: null },
    { class: 'UKG', owes: -1 },
  ];

  it.each([
    ['class', ['9', '10', 'UKG', '']],
    ['-class', ['UKG', '10', '9', '']],
    ['owes', ['UKG', '10', '9', '']],
    ['-owes', ['9', '10', 'UKG', '']],
    ['', ['10', '9', '', 'UKG']],
    ['unknown', ['10', '9', '', 'UKG']],
  ])(
    'by %j takes numbers by size, texts with the numbers in them, and missing values last',
    (sort, order) => {
      expect(sortRows(rows, COLUMNS, sort).map((row) => row.class)).toEqual(order);
    },
  );

  it('takes days and instants in the order of time', () => {
    const days = ['2026-11-02', '2026-04-30', '2025-12-31', '2026-11-01'];
    const column = { name: 'day', valueOf: (day: string) => day };
    expect(sortRows(days, [column], 'day')).toEqual(['2025-12-31', '2026-04-30', '2026-11-01', '2026-11-02']);
  });

  it('keeps every row, and the order of rows with the same value', () => {
    const value = fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 3 }), fc.constant(Number.NaN));
    fc.assert(
      fc.property(fc.array(value), fc.constantFrom('v', '-v'), (values, sort) => {
        const given = values.map((one, place) => ({ one: one as SortValue, place }));
        const sorted = sortRows(given, [{ name: 'v', valueOf: ({ one }) => one }], sort);
        expect(sorted.map(({ place }) => place).toSorted((a, b) => a - b)).toEqual([...values.keys()]);
        for (const [index, row] of sorted.entries()) {
          const before = sorted[index - 1];
          if (before && Object.is(before.one, row.one)) expect(before.place).toBeLessThan(row.place);
        }
      }),
    );
  });
});

describe('words', () => {
  it.each([
    ['Asha Sharma, 5 A', 'sharma asha', true],
    ['Asha Sharma, 5 A', '', true],
    ['Asha Sharma, 5 A', 'asha verma', false],
  ])('of %j are found by %j: %j', (text, words, isFound) => {
    expect(containsWords(text, words)).toBe(isFound);
  });
});
