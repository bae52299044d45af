import { describe, expect, it } from '@jest/globals';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import { feeSummary } from '../../../src/school/reports/fee-summary.js';
import { ACCOUNTANT, CLERK, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const run = (sent: SentParameters) =>
  school.run(feeSummary, { session: '2026-27', as_on: '2026-12-20', ...sent }, ACCOUNTANT);

describe('fee summary refuses', () => {
  it.each([
    ['no type', {}, /type is required: one of month, head/],
    ['another type', { type: 'student' }, /type is "student"; expected one of month, head/],
    [
      'a session that is none',
      { type: 'month', session: '2026-28' },
      /session is "2026-28"; expected a school year/,
    ],
  ])('%s: 400', async (_what, sent, message) => {
    await expect(run(sent)).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  it('a clerk: 403', async () => {
    await expect(school.run(feeSummary, { type: 'month' }, CLERK)).rejects.toMatchObject({ status: 403 });
  });
});

const nothing = {
  feeHead: null,
  demand: 0,
  concession: 0,
  net: 0,
  collectedFor: 0,
  collectedIn: 0,
  fine: 0,
  outstanding: 0,
  credit: 0,
  collectionPercent: null,
  studentsBilled: 0,
  studentsClear: 0,
};

describe('fee summary', () => {
  it('has a row a month, April to March', async () => {
    const { rows, totals } = await run({ type: 'month' });
    expect(rows).toHaveLength(12);
    expect(rows[0]).toEqual({ month: '2026-04', ...nothing });
    expect(rows.slice(6, 10)).toEqual([
      {
        month: '2026-10',
        feeHead: null,
        demand: 12999.99,
        concession: 558.33,
        net: 12441.66,
        collectedFor: 7475,
        collectedIn: 5500.5,
        fine: 25.5,
        outstanding: 5066.66,
        credit: 100,
        collectionPercent: 60.08,
        studentsBilled: 12,
        studentsClear: 7,
      },
      {
        month: '2026-11',
        feeHead: null,
        demand: 11999.99,
        concession: 608.33,
        net: 11391.66,
        collectedFor: 3000,
        collectedIn: 6000,
        fine: 0,
        outstanding: 8491.66,
        credit: 100,
        collectionPercent: 26.34,
        studentsBilled: 11,
        studentsClear: 3,
      },
      {
        month: '2026-12',
        feeHead: null,
        demand: 12999.99,
        concession: 558.33,
        net: 12441.66,
        collectedFor: 1000,
        collectedIn: 1000,
        fine: 0,
        outstanding: 11441.66,
        credit: 0,
        collectionPercent: 8.04,
        studentsBilled: 12,
        studentsClear: 1,
      },
      {
        month: '2027-01',
        feeHead: null,
        demand: 11999.99,
        concession: 558.33,
        net: 11441.66,
        collectedFor: 1000,
        collectedIn: 0,
        fine: 0,
        outstanding: 10441.66,
        credit: 0,
        collectionPercent: 8.74,
        studentsBilled: 11,
        studentsClear: 1,
      },
    ]);
    expect(rows[11]).toEqual({ month: '2027-03', ...nothing });
    expect(totals).toEqual({
      demand: 49999.96,
      concession: 2283.32,
      net: 47716.64,
      collectedFor: 12475,
      collectedIn: 12500.5,
      fine: 25.5,
      outstanding: 35441.64,
      credit: 200,
      collectionPercent: 26.14,
      studentsBilled: 12,
      studentsClear: 1,
    });
  });

  it('has a row a fee head, in their order', async () => {
    const { rows, totals, warnings } = await run({ type: 'head' });
    expect(rows).toEqual([
      {
        month: null,
        feeHead: 'Tuition',
        demand: 46000,
        concession: 1950,
        net: 44050,
        collectedFor: 12225,
        collectedIn: null,
        fine: 25.5,
        outstanding: 32025,
        credit: 200,
        collectionPercent: 27.75,
        studentsBilled: 12,
        studentsClear: 1,
      },
      {
        month: null,
        feeHead: 'Transport',
        demand: 3999.96,
        concession: 333.32,
        net: 3666.64,
        collectedFor: 250,
        collectedIn: null,
        fine: 0,
        outstanding: 3416.64,
        credit: 0,
        collectionPercent: 6.82,
        studentsBilled: 3,
        studentsClear: 0,
      },
    ]);
    expect(totals).toMatchObject({ demand: 49999.96, outstanding: 35441.64, studentsClear: 1 });
    expect(warnings).toEqual([
      { collection: 'fee_concession', reason: 'value is not a number', count: 1, ids: ['con-6'] },
      { collection: 'fee_due', reason: 'amount is not a number', count: 1, ids: ['due-11-2026-11-Tuition'] },
      { collection: 'fee_due', reason: 'month is not YYYY-MM', count: 1, ids: ['due-09-Oct-Tuition'] },
    ]);
  });

  it('is reviewed as statement and answer', async () => {
    expect(
      await school.review(feeSummary, { type: 'month', session: '2026-27', as_on: '2026-12-20' }),
    ).toMatchSnapshot();
  });
});
