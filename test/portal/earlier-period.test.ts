import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  earlierPeriod,
  type PeriodComparison,
  pairRows,
} from '../../src/portal/browser/reports/earlier-period.js';

describe('the earlier period', () => {
  it.each<[PeriodComparison, Record<string, unknown>, Record<string, string>]>([
    [
      'period',
      { startMonth: '2026-04', endMonth: '2026-09', asOn: '2026-11-30' },
      { startMonth: '2025-10', endMonth: '2026-03', asOn: '2026-05-30' },
    ],
    ['year', { startMonth: '2026-04', endMonth: '2026-09' }, { startMonth: '2025-04', endMonth: '2025-09' }],
    ['period', { start: '2026-11', end: '2026-11-20' }, { start: '2026-10-12', end: '2026-10-31' }],
    ['period', { from: '2026-02-01', to: '2026-02-28' }, { from: '2026-01-01', to: '2026-01-31' }],
    ['year', { from: '2025-02-01', to: '2025-02-28' }, { from: '2024-02-01', to: '2024-02-29' }],
    ['year', { from: '2024-02-01', to: '2024-02-29' }, { from: '2023-02-01', to: '2023-02-28' }],
    ['period', { date: '2026-03-01', class: '5' }, { date: '2026-02-28' }],
    ['year', { date: '2026-11-20', session: '2026-27' }, { date: '2025-11-20', session: '2025-26' }],
    ['period', { session: '2026-27', asOn: '2026-11-30' }, { session: '2025-26', asOn: '2025-11-30' }],
    ['year', { session: '2000-01' }, { session: '1999-00' }],
    ['period', { asOn: '2026-11-01' }, { asOn: '2026-10-31' }],
  ])('by %s of %j is %j', (comparison, understood, changed) => {
    expect(earlierPeriod(understood, comparison)?.changed).toEqual(changed);
  });

  it('does not exist of a report without one, nor of an examination', () => {
    expect(earlierPeriod({ class: '5', from: null, to: null }, 'year')).toBeUndefined();
    expect(earlierPeriod({ session: '2026-27', term: 'halfyear' }, 'year')).toBeUndefined();
  });

  const day = fc
    .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));

  it('ends on the day before the period, and a period of days is as long as it', () => {
    fc.assert(
      fc.property(day, day, (one, other) => {
        const [from, to] = one <= other ? [one, other] : [other, one];
        const changed = earlierPeriod({ from, to }, 'period')?.changed as { from: string; to: string };
        expect(Date.parse(from) - Date.parse(changed.to)).toBe(86_400_000);
        const isOfMonths = changed.from.endsWith('-01') && from.endsWith('-01');
        const lengths = [
          Date.parse(to) - Date.parse(from),
          Date.parse(changed.to) - Date.parse(changed.from),
        ];
        if (!isOfMonths) expect(lengths[0]).toBe(lengths[1]);
      }),
    );
  });

  it('of months has as many months', () => {
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 11 }), (first, more) => {
        const number = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
        const print = (of: number) => `${Math.floor(of / 12)}-${String((of % 12) + 1).padStart(2, '0')}`;
        const startMonth = first.slice(0, 7);
        const endMonth = print(number(startMonth) + more);
        const changed = earlierPeriod({ startMonth, endMonth }, 'period')?.changed;
        expect(changed).toEqual({
          startMonth: print(number(startMonth) - more - 1),
          endMonth: print(number(startMonth) - 1),
        });
      }),
    );
  });
});

describe('the earlier row', () => {
  const shift = (time: string) => time.replace('2026', '2025');

  it('is that of the same student, whatever the class was, and of the same month a year before', () => {
    const earlier = [
      { studentId: 's1', class: '4', month: '2025-11', percent: 90 },
      { studentId: 's2', class: '4', month: '2025-11', percent: 80 },
    ];
    const row = { studentId: 's1', class: '5', month: '2026-11', percent: 95 };
    const pairs = pairRows([row], earlier, shift);
    expect(pairs?.of(row)).toBe(earlier[0]);
    expect(pairs?.others).toBe(1);
  });

  it('is that of the same head', () => {
    const row = { month: '2026-04', feeHead: 'Tuition' };
    const earlier = [
      { month: '2025-04', feeHead: 'Bus' },
      { month: '2025-04', feeHead: 'Tuition' },
    ];
    expect(pairRows([row], earlier, shift)?.of(row)).toBe(earlier[1]);
  });

  it('is not known where several rows are of the same', () => {
    const receipts = [{ studentId: 's1' }, { studentId: 's1' }];
    expect(pairRows(receipts, [], shift)).toBeUndefined();
  });
});
