import { describe, expect, it } from '@jest/globals';
import { dailyFeeCollection } from '../../../src/school/reports/daily-fee-collection.js';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import { sql } from '../../../src/store/sql.js';
import { ACCOUNTANT, KAVITA, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const run = (sent: SentParameters) =>
  school.run(dailyFeeCollection, { payment_type: 'all', as_on: '2026-12-20', ...sent }, ACCOUNTANT);

const heads = (tuition: number, transport: number) => [
  { feeHead: 'Tuition', amount: tuition },
  { feeHead: 'Transport', amount: transport },
];
const types = (cash: number, cheque: number, card: number, neft: number) => [
  { paymentType: 'cash', amount: cash },
  { paymentType: 'cheque', amount: cheque },
  { paymentType: 'card', amount: card },
  { paymentType: 'neft', amount: neft },
];

describe('daily fee collection refuses', () => {
  it.each([
    [
      'no parameters',
      { payment_type: undefined },
      /from is required.*to is required.*payment_type is required/,
    ],
    [
      'another way of paying',
      { from: '2026-10-01', to: '2026-10-02', payment_type: 'upi' },
      /payment_type is "upi"; expected one of cash, cheque, card, neft, all/,
    ],
    ['an end before its start', { from: '2026-10-02', to: '2026-10-01' }, /to is 2026-10-01, before from/],
    ['more than a year', { from: '2025-10-01', to: '2026-10-02' }, /more than a year/],
  ])('%s: 400', async (_what, sent, message) => {
    await expect(run(sent)).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  it('a teacher: 403', async () => {
    const sent = { from: '2026-10-01', to: '2026-10-02', payment_type: 'all' };
    await expect(school.run(dailyFeeCollection, sent, KAVITA)).rejects.toMatchObject({ status: 403 });
  });
});

describe('daily fee collection', () => {
  it('has a row a day, the receipt of half past midnight on its own day', async () => {
    const { rows, totals, warnings } = await run({ from: '2026-10-08', to: '2026-10-15' });
    expect(rows.map(({ day }) => day)).toEqual(
      ['08', '09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-10-${day}`),
    );
    expect(rows[0]).toEqual({
      day: '2026-10-08',
      receipts: 1,
      rolledBack: 0,
      firstReceiptNo: 'R-1',
      lastReceiptNo: 'R-1',
      heads: heads(1000, 0),
      fine: 0,
      total: 1000,
      paymentTypes: types(1000, 0, 0, 0),
    });
    expect(rows[1]).toEqual({
      day: '2026-10-09',
      receipts: 2,
      rolledBack: 0,
      firstReceiptNo: 'R-2',
      lastReceiptNo: 'R-3',
      heads: heads(1600, 0),
      fine: 0,
      total: 1600,
      paymentTypes: types(0, 600, 1000, 0),
    });
    expect(rows[2]).toEqual({
      day: '2026-10-10',
      receipts: 0,
      rolledBack: 0,
      firstReceiptNo: null,
      lastReceiptNo: null,
      heads: heads(0, 0),
      fine: 0,
      total: 0,
      paymentTypes: types(0, 0, 0, 0),
    });
    expect(rows[7]).toEqual({
      day: '2026-10-15',
      receipts: 2,
      rolledBack: 0,
      firstReceiptNo: 'R-5',
      lastReceiptNo: 'R-7',
      heads: heads(1875, 0),
      fine: 25.5,
      total: 1900.5,
      paymentTypes: types(1900.5, 0, 0, 0),
    });
    expect(totals).toEqual({
      receipts: 6,
      rolledBack: 0,
      heads: heads(5225, 250),
      fine: 25.5,
      total: 5500.5,
      paymentTypes: types(2900.5, 600, 1000, 1000),
      collectors: [{ collectorId: 'usr-accountant', collector: 'Meena Iyer', receipts: 6, amount: 5500.5 }],
      difference: 0,
      missingReceiptNumbers: [],
      missingReceiptCount: 0,
    });
    expect(warnings).toEqual([]);
  });

  it('as a day book leaves the day of the receipt and takes back on the day of the rollback', async () => {
    const october = await run({ from: '2026-10-15', to: '2026-10-28', date_basis: 'DAY_BOOK' });
    expect(october.rows[0]).toMatchObject({
      receipts: 3,
      rolledBack: 1,
      total: 1900.5,
      lastReceiptNo: 'R-7',
    });
    expect(october.rows[13]).toMatchObject({ day: '2026-10-28', total: 1333.33, heads: heads(1000, 333.33) });
    const november = await run({ from: '2026-11-03', to: '2026-11-05', date_basis: 'DAY_BOOK' });
    expect(november.rows[0]).toMatchObject({
      receipts: 0,
      rolledBack: 1,
      heads: heads(-1000, -333.33),
      total: -1333.33,
      paymentTypes: types(0, -1333.33, 0, 0),
    });
    expect(november.totals).toMatchObject({
      receipts: 3,
      rolledBack: 1,
      heads: heads(5000, -333.33),
      total: 4666.67,
      paymentTypes: types(2000, -1333.33, 0, 4000),
      difference: 0,
    });
  });

  it('counts R-9 before R-10 and misses R-11', async () => {
    const { rows, totals } = await run({ from: '2026-11-05', to: '2026-11-05' });
    expect(rows[0]).toMatchObject({
      receipts: 3,
      firstReceiptNo: 'R-9',
      lastReceiptNo: 'R-12',
      heads: [{ feeHead: 'Tuition', amount: 6000 }],
    });
    expect(totals).toMatchObject({
      collectors: [
        { collectorId: 'usr-admin', collector: 'Dr. Lakshmi Menon', receipts: 1, amount: 4000 },
        { collectorId: 'usr-accountant', collector: 'Meena Iyer', receipts: 2, amount: 2000 },
      ],
      missingReceiptNumbers: ['R-11'],
      missingReceiptCount: 1,
    });
  });

  it('takes one way of paying', async () => {
    const { rows, totals } = await run({ from: '2026-10-09', to: '2026-10-09', payment_type: 'card' });
    expect(rows[0]).toMatchObject({
      receipts: 1,
      firstReceiptNo: 'R-3',
      total: 1000,
      paymentTypes: [{ paymentType: 'card', amount: 1000 }],
    });
    expect(totals).toMatchObject({ total: 1000, difference: 0, missingReceiptNumbers: [] });
  });

  it('leaves a receipt with an amount stored as text out whole, and says so', async () => {
    const { totals, warnings } = await run({ from: '2027-01-05', to: '2027-01-05', as_on: '2027-01-20' });
    expect(totals).toMatchObject({ receipts: 0, total: 0, difference: 0 });
    expect(warnings).toEqual([
      { collection: 'fee_receipt', reason: 'amount of a line is not a number', count: 1, ids: ['rec-16'] },
    ]);
  });

  it('is reviewed as statement and answer', async () => {
    expect(
      await school.review(dailyFeeCollection, {
        from: '2026-11-03',
        to: '2026-11-05',
        payment_type: 'all',
        date_basis: 'DAY_BOOK',
        as_on: '2026-12-20',
      }),
    ).toMatchSnapshot();
  });

  it('misses no number of another day, and writes those it misses as their neighbours', async () => {
    const receipts = [
      ['B-008', '2026-11-11'],
      ['B-010', '2025-12-01'],
      ['B-012', '2026-11-11'],
    ].map(([receipt_no, day]) => ({
      receipt_no,
      date: `${day}T06:30:00.000Z`,
      status: 'active',
      lines: [],
      total: 0,
    }));
    await school.services.database.query(sql`
      insert into records (domain, collection, id, data)
      select ${school.scope().domain.id}, 'fee_receipt', data->>'receipt_no', data
      from jsonb_array_elements(${JSON.stringify(receipts)}::jsonb) as data`);
    const { totals } = await run({ from: '2026-11-11', to: '2026-11-11' });
    expect(totals).toMatchObject({ missingReceiptNumbers: ['B-009', 'B-011'], missingReceiptCount: 2 });
  });
});
