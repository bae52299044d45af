/** The shorter reports on the twelve students, each answer written by hand. */
import { describe, expect, it } from '@jest/globals';
import { dailyUniqueSms } from '../../../src/school/reports/daily-unique-sms.js';
import { leaveRequests } from '../../../src/school/reports/leave-requests.js';
import { rolledBackReceipts } from '../../../src/school/reports/rolled-back-receipts.js';
import { classesByCategory } from '../../../src/school/reports/strength.js';
import { studentConcession } from '../../../src/school/reports/student-concession.js';
import {
  ACCOUNTANT,
  CLERK,
  KAVITA,
  NOBODY,
  useTwelveStudents,
  VIEWER,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

describe("student's current concession", () => {
  it('refuses no student (400) and a clerk (403)', async () => {
    await expect(school.run(studentConcession, {}, ACCOUNTANT)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/name\.value is required/),
    });
    await expect(school.run(studentConcession, { 'name.value': 'stu-05' }, CLERK)).rejects.toMatchObject({
      status: 403,
    });
  });

  it('lists what is in force this month, and what all of it takes off the session', async () => {
    const { rows, totals } = await school.run(
      studentConcession,
      { 'name.value': 'stu-05', as_on: '2026-12-20' },
      ACCOUNTANT,
    );
    expect(rows).toEqual([
      {
        id: 'con-3',
        feeHead: 'Tuition',
        kind: 'percent',
        value: 12.5,
        session: '2026-27',
        fromMonth: '2026-04',
        toMonth: '2027-03',
        type: 'staff',
        reason: 'Mother teaches here',
        approvedBy: null,
        grantedOn: '2026-04-01',
      },
    ]);
    expect(totals).toEqual({
      concessions: 1,
      amounts: [
        { month: '2026-10', feeHead: 'Tuition', demand: 1000, concession: 125 },
        { month: '2026-11', feeHead: 'Tuition', demand: 1000, concession: 175 },
        { month: '2026-12', feeHead: 'Tuition', demand: 1000, concession: 125 },
        { month: '2027-01', feeHead: 'Tuition', demand: 1000, concession: 125 },
      ],
      total: 550,
    });
  });

  it('knows neither what was revoked nor what is granted later; an unknown student has none', async () => {
    for (const student of ['stu-01', 'stu-09', 'stu-99']) {
      const { rows, totals } = await school.run(
        studentConcession,
        { 'name.value': student, as_on: '2026-12-20' },
        ACCOUNTANT,
      );
      expect({ rows, totals }).toEqual({ rows: [], totals: { concessions: 0, amounts: [], total: 0 } });
    }
  });

  it('warns of a value that is no number', async () => {
    const { warnings } = await school.run(
      studentConcession,
      { 'name.value': 'stu-06', as_on: '2026-12-20' },
      ACCOUNTANT,
    );
    expect(warnings).toEqual([
      { collection: 'fee_concession', reason: 'value is not a number', count: 1, ids: ['con-6'] },
    ]);
  });
});

describe('leave requests', () => {
  it('refuses a viewer', async () => {
    await expect(school.run(leaveRequests, {}, VIEWER)).rejects.toMatchObject({ status: 403 });
  });

  it('lists those made on the day, days across the end of a month counted', async () => {
    const { rows, totals, warnings } = await school.run(leaveRequests, { date: '2026-10-06' }, CLERK);
    expect(rows).toEqual([
      {
        id: 'leave-1',
        createdOn: '2026-10-05T18:35:00.000Z',
        kind: 'student',
        personId: 'stu-01',
        person: 'Aarav Sharma',
        class: '5 A',
        department: null,
        from: '2026-10-30',
        to: '2026-11-02',
        days: 4,
        leaveType: 'sick',
        reason: 'Fever',
        status: 'approved',
        decidedBy: 'Dr. Lakshmi Menon',
      },
      {
        id: 'leave-2',
        createdOn: '2026-10-06T04:30:00.000Z',
        kind: 'staff',
        personId: 'usr-kavita',
        person: 'Kavita Joshi',
        class: null,
        department: 'Primary',
        from: '2026-10-08',
        to: '2026-10-08',
        days: 1,
        leaveType: 'casual',
        reason: null,
        status: 'pending',
        decidedBy: null,
      },
    ]);
    expect(totals).toEqual({
      requests: 2,
      days: 5,
      byKindAndStatus: [
        { kind: 'staff', status: 'pending', requests: 1, days: 1 },
        { kind: 'student', status: 'approved', requests: 1, days: 4 },
      ],
    });
    expect(warnings).toEqual([
      { collection: 'leave_request', reason: 'from or to is not a day', count: 1, ids: ['leave-3'] },
    ]);
  });
});

describe('daily unique SMS', () => {
  it('counts the same text to the same number once, and segments by the alphabet', async () => {
    const { rows, totals, warnings } = await school.run(dailyUniqueSms, { date: '2026-10-06' }, CLERK);
    const reminder = 'Dear parent, the fee of October is due on the 10th.';
    expect(rows).toEqual([
      {
        to: '+919800000001',
        recipient: 'Aarav Sharma',
        text: reminder,
        category: 'fee',
        messages: 2,
        firstAt: '2026-10-05T18:40:00.000Z',
        lastAt: '2026-10-06T12:30:00.000Z',
        statuses: [
          { status: 'delivered', messages: 1 },
          { status: 'failed', messages: 1 },
        ],
        segments: 2,
      },
      {
        to: '+919800000002',
        recipient: null,
        text: reminder,
        category: 'fee',
        messages: 1,
        firstAt: '2026-10-06T03:30:00.000Z',
        lastAt: '2026-10-06T03:30:00.000Z',
        statuses: [{ status: 'delivered', messages: 1 }],
        segments: 1,
      },
      {
        to: '+919800000002',
        recipient: null,
        text: `${'a'.repeat(159)}€`,
        category: 'notice',
        messages: 1,
        firstAt: '2026-10-06T03:31:00.000Z',
        lastAt: '2026-10-06T03:31:00.000Z',
        statuses: [{ status: 'delivered', messages: 1 }],
        segments: 2,
      },
      {
        to: '+919800000003',
        recipient: null,
        text: 'क'.repeat(71),
        category: 'absence',
        messages: 1,
        firstAt: '2026-10-06T03:32:00.000Z',
        lastAt: '2026-10-06T03:32:00.000Z',
        statuses: [{ status: 'sent', messages: 1 }],
        segments: 2,
      },
    ]);
    expect(totals).toEqual({
      sent: 5,
      uniqueMessages: 4,
      uniqueRecipients: 3,
      failed: 1,
      segments: 7,
      categories: [
        { category: 'absence', messages: 1, uniqueMessages: 1, segments: 2 },
        { category: 'fee', messages: 3, uniqueMessages: 2, segments: 3 },
        { category: 'notice', messages: 1, uniqueMessages: 1, segments: 2 },
      ],
    });
    expect(warnings).toEqual([
      { collection: 'sms_log', reason: 'to is not a number', count: 1, ids: ['sms-6'] },
    ]);
  });
});

describe('rolled-back receipts', () => {
  it('refuse a day beside a range, and half a range', async () => {
    const run = (sent: Record<string, string>) => school.run(rolledBackReceipts, sent, ACCOUNTANT);
    await expect(run({ date: '2026-10-15', from: '2026-10-15', to: '2026-10-15' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/date does not go with from and to/),
    });
    await expect(run({ from: '2026-10-15' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/to is missing/),
    });
  });

  it('say what was rolled back on a day, and what replaces it', async () => {
    const { rows, totals } = await school.run(rolledBackReceipts, { date: '2026-10-15' }, ACCOUNTANT);
    expect(rows).toEqual([
      {
        receiptNo: 'R-6',
        date: '2026-10-15T06:10:00.000Z',
        studentId: 'stu-10',
        student: 'Jaya Nair',
        class: '5',
        section: 'A',
        heads: [{ feeHead: 'Tuition', amount: 1000 }],
        fine: 0,
        total: 1000,
        paymentType: 'cash',
        collectedBy: 'Meena Iyer',
        rolledBackAt: '2026-10-15T07:00:00.000Z',
        rolledBackBy: 'Dr. Lakshmi Menon',
        reason: 'Wrong student',
        type: 'entry_error',
        replacement: 'R-7',
      },
    ]);
    expect(totals).toEqual({
      receipts: 1,
      heads: [{ feeHead: 'Tuition', amount: 1000 }],
      fine: 0,
      total: 1000,
      types: [{ type: 'entry_error', receipts: 1, amount: 1000 }],
      paymentTypes: [{ paymentType: 'cash', amount: 1000 }],
    });
  });

  it('take the day of the rollback, or of the receipt', async () => {
    const range = { from: '2026-11-01', to: '2026-11-30' };
    const numbers = async (sent: Record<string, string>) =>
      (await school.run(rolledBackReceipts, sent, ACCOUNTANT)).rows.map(({ receiptNo }) => receiptNo);
    expect(await numbers(range)).toEqual(['R-8']);
    expect(await numbers({ ...range, date_basis: 'RECEIPT' })).toEqual(['R-13']);
    expect(await numbers({})).toEqual([]);
  });
});

describe('classes by category', () => {
  it('refuses who has no role of it; a teacher sees all of it', async () => {
    await expect(school.run(classesByCategory, {}, NOBODY)).rejects.toMatchObject({ status: 403 });
    expect((await school.run(classesByCategory, {}, KAVITA)).rows).toHaveLength(3);
  });

  it('gives strength and seats at each level, classes by their order', async () => {
    const { rows, totals } = await school.run(classesByCategory, { session: '2026-27' });
    expect(
      rows.map(({ category, strength, boys, girls, other, capacity, freeSeats }) => [
        category,
        strength,
        boys,
        girls,
        other,
        capacity,
        freeSeats,
      ]),
    ).toEqual([
      ['Pre-primary', 0, 0, 0, 0, 20, 20],
      ['Primary', 8, 4, 4, 0, 72, 64],
      ['Secondary', 3, 1, 1, 1, 0, 0],
    ]);
    expect(rows[1]?.classes).toEqual([
      {
        class: '1',
        sections: [
          {
            section: 'A',
            classTeacherId: 'usr-ravi',
            classTeacher: 'Ravi Kumar',
            room: '101',
            strength: 2,
            boys: 1,
            girls: 1,
            other: 0,
            capacity: 30,
            freeSeats: 28,
          },
        ],
        strength: 2,
        boys: 1,
        girls: 1,
        other: 0,
        capacity: 30,
        freeSeats: 28,
      },
      {
        class: '5',
        sections: [
          {
            section: 'A',
            classTeacherId: 'usr-kavita',
            classTeacher: 'Kavita Joshi',
            room: '105',
            strength: 3,
            boys: 1,
            girls: 2,
            other: 0,
            capacity: 40,
            freeSeats: 37,
          },
          {
            section: 'B',
            classTeacherId: 'usr-farida',
            classTeacher: 'Farida Sheikh',
            room: '106',
            strength: 3,
            boys: 2,
            girls: 1,
            other: 0,
            capacity: 2,
            freeSeats: -1,
          },
        ],
        strength: 6,
        boys: 3,
        girls: 3,
        other: 0,
        capacity: 42,
        freeSeats: 36,
      },
    ]);
    expect(totals).toEqual({
      classes: 4,
      sections: 5,
      strength: 11,
      boys: 5,
      girls: 5,
      other: 1,
      capacity: 92,
      freeSeats: 84,
    });
  });
});

describe('statement and answer', () => {
  it.each([
    [studentConcession, { 'name.value': 'stu-05', as_on: '2026-12-20' }],
    [leaveRequests, { date: '2026-10-06' }],
    [dailyUniqueSms, { date: '2026-10-06' }],
    [rolledBackReceipts, { date: '2026-10-15' }],
    [classesByCategory, { session: '2026-27' }],
  ])('stand beside each other for review: %#', async (report, sent) => {
    expect(await school.review(report, sent)).toMatchSnapshot(report.name);
  });
});
