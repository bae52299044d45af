/** The two fee reports beyond the document, on the twelve students. */
import { describe, expect, it } from '@jest/globals';
import { outstandingAgeing } from '../../../src/school/reports/fee-defaulters.js';
import { collectionTrend } from '../../../src/school/reports/rolled-back-receipts.js';
import { ACCOUNTANT, CLERK, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

describe('collection trend', () => {
  it('refuses a clerk, and an interval that is none', async () => {
    await expect(school.run(collectionTrend, {}, CLERK)).rejects.toMatchObject({ status: 403 });
    await expect(school.run(collectionTrend, { interval: 'year' }, ACCOUNTANT)).rejects.toMatchObject({
      status: 400,
    });
  });

  it('has a row a month, the first and the last as far as the range goes', async () => {
    const sent = { from: '2026-09-15', to: '2026-12-20', interval: 'month', as_on: '2026-12-20' };
    const { rows, totals } = await school.run(collectionTrend, sent, ACCOUNTANT);
    expect(rows).toEqual([
      {
        start: '2026-09-15',
        end: '2026-09-30',
        receipts: 0,
        students: 0,
        total: 0,
        cumulative: 0,
        change: null,
      },
      {
        start: '2026-10-01',
        end: '2026-10-31',
        receipts: 6,
        students: 6,
        total: 5500.5,
        cumulative: 5500.5,
        change: 5500.5,
      },
      {
        start: '2026-11-01',
        end: '2026-11-30',
        receipts: 3,
        students: 3,
        total: 6000,
        cumulative: 11500.5,
        change: 499.5,
      },
      {
        start: '2026-12-01',
        end: '2026-12-20',
        receipts: 1,
        students: 1,
        total: 1000,
        cumulative: 12500.5,
        change: -5000,
      },
    ]);
    expect(totals).toEqual({ receipts: 10, students: 8, total: 12500.5, average: 3125.13 });
  });

  it('has weeks from Monday', async () => {
    const { rows } = await school.run(
      collectionTrend,
      { from: '2026-10-08', to: '2026-10-15', interval: 'week', as_on: '2026-12-20' },
      ACCOUNTANT,
    );
    expect(rows.map(({ start, end, total }) => [start, end, total])).toEqual([
      ['2026-10-08', '2026-10-11', 2600],
      ['2026-10-12', '2026-10-15', 2900.5],
    ]);
  });
});

describe('outstanding ageing', () => {
  it('puts what is owed where its due date says, and sums up to the defaulters', async () => {
    // As on 20 December: due on 10 December 10 days ago, on 10 November 40, on 10 October 71.
    const { rows, totals } = await school.run(outstandingAgeing, { as_on: '2026-12-20' }, ACCOUNTANT);
    expect(rows).toHaveLength(10);
    expect(rows.find(({ studentId }) => studentId === 'stu-02')).toEqual({
      studentId: 'stu-02',
      admissionNo: 'A-102',
      name: 'Bhavna Rao',
      class: '5',
      section: 'A',
      rollNo: 2,
      phone: '+919800000002',
      days0To30: 1333.33,
      days31To60: 1333.33,
      days61To90: 733.33,
      daysOver90: 0,
      balance: 3399.99,
      oldestDueDate: '2026-10-10',
    });
    expect(totals).toMatchObject({
      students: 10,
      days0To30: 10441.66,
      days31To60: 7491.66,
      days61To90: 5066.66,
      daysOver90: 0,
      balance: 22999.98,
    });
  });

  it('grows older', async () => {
    const { totals } = await school.run(
      outstandingAgeing,
      { as_on: '2027-01-20', class: '10', include_left: 'true' },
      ACCOUNTANT,
    );
    // October is 102 days ago, November 71, December 41, January 10. stu-09's concession of 100 % is granted
    // by now. stu-10: Nov, Dec, Jan. stu-11: Oct, Dec, Jan. stu-12: Nov, Dec.
    expect(totals).toMatchObject({
      students: 3,
      days0To30: 2000,
      days31To60: 3000,
      days61To90: 2000,
      daysOver90: 1000,
      balance: 8000,
    });
  });
});

describe('statement and answer', () => {
  it.each([
    [collectionTrend, { from: '2026-10-01', to: '2026-11-30', interval: 'month', as_on: '2026-12-20' }],
    [outstandingAgeing, { as_on: '2026-12-20' }],
  ])('stand beside each other for review: %#', async (report, sent) => {
    expect(await school.review(report, sent)).toMatchSnapshot(report.name);
  });
});
