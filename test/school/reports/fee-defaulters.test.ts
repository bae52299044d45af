import { describe, expect, it } from '@jest/globals';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import { feeDefaulters } from '../../../src/school/reports/fee-defaulters.js';
import {
  ACCOUNTANT,
  CLERK,
  KAVITA,
  scopeOf,
  useTwelveStudents,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const RANGE = { start_month: '2026-10', end_month: '2027-01', as_on: '2026-12-20' };
const run = (sent: SentParameters) => school.run(feeDefaulters, sent, ACCOUNTANT);

describe('fee defaulters refuse', () => {
  it.each([
    ['no months', {}, /start_month is required.*end_month is required/],
    [
      'a month that is none',
      { ...RANGE, start_month: '2026-13' },
      /start_month is "2026-13"; expected a month as YYYY-MM/,
    ],
    [
      'an end before the start',
      { ...RANGE, end_month: '2026-09' },
      /end_month is 2026-09, before start_month 2026-10/,
    ],
    ['25 months', { ...RANGE, end_month: '2028-10' }, /more than 24 months.*expected 2028-09 or earlier/],
    ['an amount of three places', { ...RANGE, minimum: '0.005' }, /minimum is "0.005"; expected an amount/],
    ['a day that is none', { ...RANGE, as_on: '2026-02-30' }, /as_on is "2026-02-30"; expected a day/],
    ['a misspelled parameter', { ...RANGE, fee_haed: 'Tuition' }, /fee_haed is not a parameter.*fee_head/],
  ])('%s: 400', async (_what, sent, message) => {
    await expect(run(sent)).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  it.each([
    ['a clerk', CLERK],
    ['a teacher', KAVITA],
  ])('%s: 403', async (_who, caller) => {
    await expect(school.run(feeDefaulters, RANGE, caller)).rejects.toMatchObject({ status: 403 });
  });

  it('a key without the report among its scopes: 403', async () => {
    const scope = scopeOf(ACCOUNTANT);
    const scopes = { collections: {}, reports: ['fee-summary'], scripts: [] };
    const byKey = { ...scope, principal: { ...scope.principal, scopes } };
    await expect(feeDefaulters.run(school.services, byKey, RANGE)).rejects.toMatchObject({ status: 403 });
  });
});

describe('fee defaulters', () => {
  it('say who owes what, since when', async () => {
    const { rows, totals, warnings } = await run(RANGE);
    const briefly = rows.map(
      ({ studentId, due, concession, net, paid, balance, credit, monthsDue, oldestDueDate, daysOverdue }) => [
        studentId,
        due,
        concession,
        net,
        paid,
        balance,
        credit,
        monthsDue,
        oldestDueDate,
        daysOverdue,
      ],
    );
    const all = ['2026-10', '2026-11', '2026-12'];
    expect(briefly).toEqual([
      ['stu-07', 3999.99, 999.99, 3000, 1000, 2000, 0, ['2026-11', '2026-12'], '2026-11-10', 40],
      ['stu-01', 3000, 0, 3000, 2000, 1000, 0, ['2026-12'], '2026-12-10', 10],
      ['stu-02', 3999.99, 0, 3999.99, 600, 3399.99, 0, all, '2026-10-10', 71],
      ['stu-03', 3000, 300, 2700, 2000, 900, 200, ['2026-12'], '2026-12-10', 10],
      ['stu-05', 3000, 425, 2575, 875, 1700, 0, ['2026-11', '2026-12'], '2026-11-10', 40],
      ['stu-04', 3999.99, 0, 3999.99, 0, 3999.99, 0, all, '2026-10-10', 71],
      ['stu-06', 3000, 0, 3000, 0, 3000, 0, all, '2026-10-10', 71],
      ['stu-09', 3000, 0, 3000, 0, 3000, 0, all, '2026-10-10', 71],
      ['stu-10', 3000, 0, 3000, 1000, 2000, 0, ['2026-11', '2026-12'], '2026-11-10', 40],
      ['stu-11', 2000, 0, 2000, 0, 2000, 0, ['2026-10', '2026-12'], '2026-10-10', 71],
    ]);
    expect(totals).toEqual({
      students: 10,
      due: 31999.97,
      concession: 1724.99,
      net: 30274.98,
      paid: 7475,
      balance: 22999.98,
      credit: 200,
      finePaid: 25.5,
      classes: [
        { class: '1', students: 1, due: 3999.99, concession: 999.99, paid: 1000, balance: 2000, credit: 0 },
        {
          class: '5',
          students: 6,
          due: 19999.98,
          concession: 725,
          paid: 5475,
          balance: 13999.98,
          credit: 200,
        },
        { class: '10', students: 3, due: 8000, concession: 0, paid: 1000, balance: 7000, credit: 0 },
      ],
      // In the order of the heads.
      heads: [
        {
          feeHead: 'Tuition',
          students: 10,
          due: 29000,
          concession: 1475,
          paid: 7225,
          balance: 20500,
          credit: 200,
        },
        {
          feeHead: 'Transport',
          students: 3,
          due: 2999.97,
          concession: 249.99,
          paid: 250,
          balance: 2499.98,
          credit: 0,
        },
      ],
    });
    expect(warnings).toEqual([
      { collection: 'fee_concession', reason: 'value is not a number', count: 1, ids: ['con-6'] },
      { collection: 'fee_due', reason: 'amount is not a number', count: 1, ids: ['due-11-2026-11-Tuition'] },
      { collection: 'fee_due', reason: 'month is not YYYY-MM', count: 1, ids: ['due-09-Oct-Tuition'] },
    ]);
  });

  it('say everything about a student', async () => {
    const { rows } = await run({ ...RANGE, class: '5', section: 'A' });
    expect(rows[2]).toEqual({
      studentId: 'stu-03',
      admissionNo: 'A-103',
      name: 'चित्रा देवी',
      class: '5',
      section: 'A',
      rollNo: 3,
      guardian: 'सीता देवी',
      phone: '+919800000003',
      due: 3000,
      concession: 300,
      net: 2700,
      paid: 2000,
      balance: 900,
      credit: 200,
      finePaid: 0,
      monthsDue: ['2026-12'],
      monthsDueCount: 1,
      oldestDueDate: '2026-12-10',
      daysOverdue: 10,
      lastReceiptNo: 'R-10',
      lastReceiptDate: '2026-11-05',
      lastReceiptAmount: 1000,
      breakdown: [
        {
          month: '2026-10',
          feeHead: 'Tuition',
          due: 1000,
          concession: 100,
          net: 900,
          paid: 1000,
          balance: 0,
          credit: 100,
          finePaid: 0,
        },
        {
          month: '2026-11',
          feeHead: 'Tuition',
          due: 1000,
          concession: 100,
          net: 900,
          paid: 1000,
          balance: 0,
          credit: 100,
          finePaid: 0,
        },
        {
          month: '2026-12',
          feeHead: 'Tuition',
          due: 1000,
          concession: 100,
          net: 900,
          paid: 0,
          balance: 900,
          credit: 0,
          finePaid: 0,
        },
      ],
    });
    // Half past midnight in India is the day before in UTC.
    expect(rows[1]).toMatchObject({
      studentId: 'stu-02',
      lastReceiptNo: 'R-2',
      lastReceiptDate: '2026-10-09',
      lastReceiptAmount: 600,
    });
  });

  it('do not know yet what comes later', async () => {
    // The concession of stu-03 is granted on 20 November, the cheque of stu-04 bounces on 3 November.
    const { rows } = await run({ ...RANGE, as_on: '2026-11-02' });
    const balances = Object.fromEntries(rows.map(({ studentId, balance }) => [String(studentId), balance]));
    expect(balances).toEqual({
      'stu-02': 733.33,
      'stu-06': 1000,
      'stu-09': 1000,
      'stu-08': 1000,
      'stu-11': 1000,
      'stu-12': 1000,
    });
  });

  it('count a rollback from its own day on', async () => {
    const balanceOn = async (day: string) =>
      (await run({ ...RANGE, end_month: '2026-10', as_on: day })).rows.find(
        ({ studentId }) => studentId === 'stu-04',
      )?.balance;
    expect(await balanceOn('2026-11-02')).toBeUndefined();
    expect(await balanceOn('2026-11-03')).toBe(1333.33);
  });

  it('list those who have left when asked to, with demand up to the month they left', async () => {
    const { rows } = await run({ ...RANGE, as_on: '2027-01-20', include_left: 'true', class: '10' });
    expect(rows.find(({ studentId }) => studentId === 'stu-12')).toMatchObject({
      due: 3000,
      paid: 1000,
      balance: 2000,
    });
  });

  it('take one fee head, and a minimum', async () => {
    const { rows, totals } = await run({ ...RANGE, fee_head: 'Transport', minimum: '500.00' });
    expect(rows.map(({ studentId, balance }) => [studentId, balance])).toEqual([
      ['stu-02', 999.99],
      ['stu-04', 999.99],
    ]);
    expect(totals).toMatchObject({ students: 2, balance: 1999.98 });
  });

  it('come in pages that go on where the last one ended', async () => {
    const ids: unknown[] = [];
    let after: string | undefined;
    for (;;) {
      const report = await feeDefaulters.run(school.services, scopeOf(ACCOUNTANT), RANGE);
      const page = await report.page({ first: 4, after });
      ids.push(...page.rows.map(({ studentId }) => studentId));
      expect(page.totals.students?.toString()).toBe('10');
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor ?? undefined;
    }
    expect(ids).toEqual([
      'stu-07',
      'stu-01',
      'stu-02',
      'stu-03',
      'stu-05',
      'stu-04',
      'stu-06',
      'stu-09',
      'stu-10',
      'stu-11',
    ]);
  });

  it('are reviewed as statement and answer', async () => {
    expect(await school.review(feeDefaulters, RANGE)).toMatchSnapshot();
  });
});

describe('one month of fee defaulters', () => {
  it('says of the month what the whole range does', async () => {
    const { totals } = await run({ ...RANGE, start_month: '2026-10', end_month: '2026-10' });
    // October alone: stu-02 733.33, stu-04 1,333.33, stu-06, stu-09 and stu-11 1,000 each.
    expect(totals).toMatchObject({ students: 5, balance: 5066.66 });
  });
});
