/** Holds every report of a random school against what its raw records come to. */
import { expect } from '@jest/globals';
import { Decimal } from 'decimal.js';
import type { RandomSchool } from './random-school.js';
import {
  addDays,
  balanceOf,
  daysOf,
  isOnRoll,
  itemsOf,
  type RawRecord,
  type RawSchool,
} from './recompute.js';

export async function expectRecomputed(school: RandomSchool): Promise<void> {
  const records = await school.read();
  await expectOwed(school, records);
  await expectSummary(school, records);
  await expectCollected(school, records);
  await expectStrength(school, records);
  await expectAttendance(school, records);
}

/** Who owes what, by defaulters and by ageing. */
async function expectOwed(school: RandomSchool, records: RawSchool): Promise<void> {
  const { today, months } = school;
  const items = itemsOf(records, today, ({ due_date: day }) => day <= today);
  for (const include of ['true', 'false']) {
    const owing = (records.registration ?? [])
      .filter((student) => include === 'true' || isOnRoll(student, today, today))
      .map((student) => ({
        student: student._id,
        ...balanceOf(items.filter((item) => item.student === student._id)),
      }))
      .filter(({ balance }) => Number(balance) > 0)
      .sort(byStudent);
    const range = { start_month: months[0] ?? '', end_month: months.at(-1) ?? '', include_left: include };
    const { rows } = await school.report('fee-defaulters', range);
    const told = rows.map(({ studentId, due, concession, paid, balance, credit }: RawRecord) => ({
      student: studentId,
      ...inMoney({ due, concession, paid, balance, credit }),
    }));
    expect(told.sort(byStudent)).toEqual(owing);
    const ageing = await school.report('outstanding-ageing', { include_left: include });
    const aged = ageing.rows.map(({ studentId, balance }: RawRecord) => ({
      student: studentId,
      ...inMoney({ balance }),
    }));
    expect(aged.sort(byStudent)).toEqual(owing.map(({ student, balance }) => ({ student, balance })));
  }
}

async function expectSummary(school: RandomSchool, records: RawSchool): Promise<void> {
  const items = itemsOf(records, school.today, () => true);
  for (const [type, key] of [
    ['month', 'month'],
    ['head', 'head'],
  ] as const) {
    const { rows } = await school.report('fee-summary', { type });
    for (const row of rows) {
      const own = items.filter((item) => item[key] === (row.month ?? row.feeHead));
      const { due, concession, paid, balance, credit } = balanceOf(own);
      const students = [...new Set(own.map(({ student }) => student))].map((student) =>
        balanceOf(own.filter((item) => item.student === student)),
      );
      const billed = students.filter((student) => Number(student.due) > 0);
      expect({
        ...inMoney({ due: row.demand, concession: row.concession, paid: row.collectedFor }),
        ...inMoney({ balance: row.outstanding, credit: row.credit }),
        ...{ billed: row.studentsBilled, clear: row.studentsClear },
      }).toEqual({
        ...{ due, concession, paid, balance, credit },
        billed: billed.length,
        clear: billed.filter((student) => Number(student.balance) === 0).length,
      });
    }
  }
}

/** What came in today, by way of paying and by head, and what was rolled back. */
async function expectCollected(school: RandomSchool, records: RawSchool): Promise<void> {
  const receipts = records.fee_receipt ?? [];
  const active = receipts.filter(({ status }) => status === 'active');
  // A round that goes on past midnight has two days.
  const range = { from: addDays(school.today, -1), to: addDays(school.today, 1) };
  const { totals } = await school.report('daily-fee-collection', { ...range, payment_type: 'all' });
  expect(totals.receipts).toBe(active.length);
  expect(Number(totals.total)).toBe(sumOf(active.map(({ total }) => total)));
  expect(totals.difference).toBe(0);
  for (const { paymentType, amount } of totals.paymentTypes) {
    expect(amount).toBe(
      sumOf(active.filter((one) => one.payment_type === paymentType).map(({ total }) => total)),
    );
  }
  const lines = active.flatMap((receipt): RawRecord[] => receipt.lines);
  for (const { feeHead, amount } of totals.heads) {
    expect(amount).toBe(sumOf(lines.filter((line) => line.fee_head === feeHead).map((line) => line.amount)));
  }
  const back = receipts.filter(({ status }) => status === 'rolled_back');
  const rolledBack = await school.report('rolled-back-receipts', range);
  expect(rolledBack.totals.receipts).toBe(back.length);
  expect(rolledBack.totals.total).toBe(sumOf(back.map(({ total }) => total)));
}

async function expectStrength(school: RandomSchool, records: RawSchool): Promise<void> {
  const present = (records.registration ?? []).filter((student) =>
    isOnRoll(student, school.today, school.today),
  );
  const { rows, totals } = await school.report('strength', {});
  expect(totals.strength).toBe(present.length);
  for (const { class: name, section, strength } of rows) {
    expect(strength).toBe(present.filter((one) => one.class === name && one.section === section).length);
  }
  expect((await school.report('classes-by-category', {})).totals.strength).toBe(present.length);
}

async function expectAttendance(school: RandomSchool, records: RawSchool): Promise<void> {
  const range = { first: addDays(school.today, -20), last: school.today };
  const days = daysOf(records, range, school.today);
  const sent = { start: range.first, end: range.last };
  for (const className of [undefined, '1', '2']) {
    const short = days
      .filter(({ student, workingDays, presentDays }) => {
        const registration = records.registration?.find(({ _id }) => _id === student);
        return (
          registration !== undefined &&
          isOnRoll(registration, school.today, school.today) &&
          (className === undefined || registration.class === className) &&
          presentDays < workingDays
        );
      })
      .sort(byStudent);
    const { rows } = await school.report('attendance-shortage', {
      ...sent,
      below: '100',
      ...(className !== undefined && { class: className }),
    });
    const told = rows.map(({ studentId, workingDays, presentDays, unmarked }: RawRecord) => ({
      ...{ student: studentId, workingDays, presentDays, unmarked },
    }));
    expect(told.sort(byStudent)).toEqual(short);
  }
  for (const { student, ...counts } of days.slice(0, 3)) {
    const admissionNo = records.registration?.find(({ _id }) => _id === student)?.sequence;
    const { rows } = await school.report('student-attendance', { ...sent, admission_no: admissionNo });
    const { workingDays = 0, presentDays = 0, unmarked = 0 } = rows[0] ?? {};
    expect({ workingDays, presentDays, unmarked }).toEqual(counts);
  }
}

function byStudent(a: { readonly student: string }, b: { readonly student: string }): number {
  return a.student.localeCompare(b.student);
}

function inMoney(amounts: Readonly<Record<string, number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, new Decimal(amount).toFixed(2)]),
  );
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum.plus(amount), new Decimal(0)).toNumber();
}
