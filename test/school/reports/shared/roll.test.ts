/** On the roll: the same students on the same day, whichever report is asked. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../src/base/json/json.js';
import { classAttendance } from '../../../../src/school/reports/class-attendance.js';
import { daySheet } from '../../../../src/school/reports/day-sheet.js';
import type { SentParameters } from '../../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../../src/school/reports/engine/report.js';
import { feeDefaulters, outstandingAgeing } from '../../../../src/school/reports/fee-defaulters.js';
import { feeSummary } from '../../../../src/school/reports/fee-summary.js';
import { classesByCategory, strength } from '../../../../src/school/reports/strength.js';
import { attendanceShortage, studentAttendance } from '../../../../src/school/reports/student-attendance.js';
import { studentConcession } from '../../../../src/school/reports/student-concession.js';
import { teacherWorkload } from '../../../../src/school/reports/teachers.js';
import { runReport, useReports } from '../use-reports.js';

// A Friday, and the days on both sides of it.
const [YESTERDAY, TODAY, TOMORROW] = ['2026-11-19', '2026-11-20', '2026-11-21'];
const test = useReports(`${TODAY}T06:00:00.000Z`);

/** Of each student what the rule looks at. */
const STUDENTS: Readonly<Record<string, JsonObject>> = {
  stays: { status: 'active' },
  leavesToday: { status: 'transferred', left_on: TODAY },
  leftYesterday: { status: 'transferred', left_on: YESTERDAY },
  saidToStay: { status: 'active', left_on: YESTERDAY },
  withdrawn: { status: 'withdrawn' },
  transferred: { status: 'transferred', left_on: null },
  onABreak: { status: 'on a break' },
  withoutStatus: {},
  admittedToday: { status: 'active', admitted_on: TODAY },
  admittedTomorrow: { status: 'active', admitted_on: TOMORROW },
  unusable: { status: 'active', left_on: 'soon' },
};
const ON_ROLL = {
  [YESTERDAY]: [
    'leavesToday',
    'leftYesterday',
    'onABreak',
    'saidToStay',
    'stays',
    'transferred',
    'withdrawn',
    'withoutStatus',
  ],
  [TODAY]: ['admittedToday', 'leavesToday', 'onABreak', 'stays', 'withoutStatus'],
  [TOMORROW]: ['admittedToday', 'admittedTomorrow', 'onABreak', 'stays', 'withoutStatus'],
};
const UNUSABLE = {
  collection: 'registration',
  reason: 'admitted_on or left_on is not a day',
  count: 1,
  ids: ['unusable'],
};

beforeAll(async () => {
  const ids = Object.keys(STUDENTS);
  const ref = (id: string) => ({ value: id, label: id });
  const place = { class: '5', section: 'A', session: '2026-27' };
  await test.insert('class', [
    {
      _id: 'c5',
      ...{ name: '5', category: 'Primary', order: 5 },
      sections: [{ name: 'A', class_teacher: ref('kavita'), capacity: 40 }],
    },
  ]);
  await test.insert('pltf_user', [{ _id: 'kavita', name: 'Kavita', active: true, roles: ['teacher'] }]);
  await test.insert(
    'registration',
    ids.map((id) => ({
      _id: id,
      sequence: id,
      name: id,
      ...place,
      admitted_on: '2024-04-01',
      ...STUDENTS[id],
    })),
  );
  await test.insert(
    'fee_due',
    ids.flatMap((id) => [
      { _id: `due-${id}`, ...dueOf(id, '2026-10'), due_date: '2026-10-10' },
      { _id: `later-${id}`, ...dueOf(id, '2026-12'), due_date: '2026-11-01' },
    ]),
  );
  await test.insert(
    'fee_concession',
    ids.map((id) => ({
      ...{ _id: `con-${id}`, name: ref(id), kind: 'amount', value: 10, session: '2026-27' },
      ...{ from_month: '2026-10', to_month: '2026-12', created_on: '2026-04-01T00:00:00.000Z' },
    })),
  );
  await test.mark(
    ids.flatMap((student) =>
      [YESTERDAY, TODAY].map((day) => ({ student, day, class: '5', status: 'absent' })),
    ),
  );

  function dueOf(id: string, month: string): JsonObject {
    return { student: ref(id), session: '2026-27', month, fee_head: 'Tuition', amount: 100 };
  }
});

const run = (report: Report, sent: SentParameters) => runReport(test.services, report, sent);

const MONTHS = { start_month: '2026-10', end_month: '2026-12' };

describe('on the roll', () => {
  describe.each([YESTERDAY, TODAY, TOMORROW])('on %s', (day) => {
    const present = ON_ROLL[day as keyof typeof ON_ROLL];

    it.each<[string, Report, SentParameters]>([
      ['fee defaulters', feeDefaulters, { ...MONTHS, as_on: day }],
      ['outstanding ageing', outstandingAgeing, { as_on: day }],
    ])('are those whom %s list', async (_name, report, sent) => {
      const { rows, warnings } = await run(report, sent);
      expect(rows.map(({ studentId }) => studentId).toSorted()).toEqual(present);
      expect(warnings).toContainEqual(UNUSABLE);
      const all = await run(report, { ...sent, include_left: 'true' });
      expect(all.rows).toHaveLength(Object.keys(STUDENTS).length);
      expect(all.warnings).toEqual([]);
    });
  });

  describe.each([YESTERDAY, TODAY])('on %s', (day) => {
    const present = ON_ROLL[day as keyof typeof ON_ROLL];

    it.each<[string, Report, SentParameters]>([
      ['the class register', classAttendance, { class: '5', start: day, end: day }],
      ['student attendance', studentAttendance, { class: '5', start: day, end: day }],
      ['the day sheet', daySheet, { date: day }],
    ])(
      'are those whom %s counts, with a warning for the marks of the others',
      async (_name, report, sent) => {
        const { rows, warnings } = await run(report, sent);
        expect(rows.map(({ studentId }) => studentId).toSorted()).toEqual(present);
        expect(warnings).toContainEqual(
          expect.objectContaining({
            collection: 'attendance',
            reason: 'the student is not on roll on the day',
          }),
        );
      },
    );
  });

  it.each<[string, SentParameters]>([
    ['the whole school', {}],
    ['a class', { class: '5' }],
  ])('are those of whom attendance shortage of %s may complain', async (_name, sent) => {
    for (const day of [YESTERDAY, TODAY]) {
      const { rows, warnings } = await run(attendanceShortage, { ...sent, start: day, end: day });
      expect(rows.map(({ studentId }) => studentId).toSorted()).toEqual(ON_ROLL[day as keyof typeof ON_ROLL]);
      expect(warnings).toEqual([UNUSABLE]);
    }
  });

  it('are the strength of today, in every report that counts it', async () => {
    const bySection = await run(strength, {});
    // Four are gone since yesterday at the latest; who comes tomorrow has neither joined nor left.
    expect(bySection.totals).toMatchObject({ strength: 5, other: 5, joined: 1, left: 4 });
    expect(bySection.warnings).toEqual([UNUSABLE]);
    const byCategory = await run(classesByCategory, {});
    expect(byCategory.totals).toMatchObject({ strength: 5, capacity: 40, freeSeats: 35 });
    expect(byCategory.warnings).toEqual([UNUSABLE]);
    const byTeacher = await run(teacherWorkload, {});
    expect(byTeacher.totals).toMatchObject({ students: 5 });
    expect(byTeacher.warnings).toEqual([UNUSABLE]);
  });

  it('are, of a session to come, those of its first day', async () => {
    await test.insert('registration', [
      {
        ...{ _id: 'next', sequence: 'next', name: 'next', class: '6', section: 'A', session: '2027-28' },
        ...{ admitted_on: '2027-04-01', status: 'active' },
      },
    ]);
    expect((await run(strength, { session: '2027-28' })).totals).toMatchObject({
      strength: 1,
      joined: 1,
      left: 0,
    });
  });
});

describe('the demand of who has left', () => {
  /** Dues of October and December, the latter asked for in advance. */
  const demandOf = async (id: string, asOn: string) =>
    (await run(feeDefaulters, { ...MONTHS, as_on: asOn, include_left: 'true' })).rows.find(
      ({ studentId }) => studentId === id,
    )?.due;

  it('ends with the month of leaving once the last day is over', async () => {
    expect(await demandOf('leavesToday', TODAY)).toBe(200);
    expect(await demandOf('leavesToday', TOMORROW)).toBe(100);
    expect(await demandOf('withdrawn', YESTERDAY)).toBe(200);
    expect(await demandOf('withdrawn', TODAY)).toBe(100);
    expect(await demandOf('onABreak', TODAY)).toBe(200);
  });

  it('is the same in the summary and in the concessions of a student', async () => {
    // Eleven students in October; in December without the five who have left by tomorrow.
    const { rows } = await run(feeSummary, { type: 'month', as_on: TOMORROW });
    const demands = Object.fromEntries(rows.map(({ month, demand }) => [month, demand]));
    expect(demands).toMatchObject({ '2026-10': 1100, '2026-12': 600 });
    const concessionOf = async (id: string, asOn: string) =>
      (await run(studentConcession, { 'name.value': id, as_on: asOn })).totals.total;
    expect(await concessionOf('leavesToday', TODAY)).toBe(20);
    expect(await concessionOf('leavesToday', TOMORROW)).toBe(10);
  });
});

describe('a student who left and came back', () => {
  const registers = { class: '5', start: '2026-09-01', end: TODAY };
  const earlier = { class: '5', session: '2026-27', from: '2026-04-01', to: '2026-09-10' };

  beforeAll(async () => {
    await test.insert('registration', [
      {
        ...{ _id: 'back', sequence: 'back', name: 'Back', class: '5', section: 'A', session: '2026-27' },
        ...{ admitted_on: '2026-11-18', status: 'active', earlier_stays: [{ ...earlier, section: 'B' }] },
      },
    ]);
    const marks = ['2026-09-09', '2026-09-10', '2026-09-11', '2026-11-18', TODAY];
    await test.mark(marks.map((day) => ({ student: 'back', day, class: '5', status: 'present' })));
  });

  it('is on the roll in both stays, and not between them', async () => {
    const { rows, warnings } = await run(studentAttendance, {
      ...{ admission_no: 'back', start: '2026-09-01', end: TODAY },
    });
    // Nine working days up to 10 September and three from 18 November; two and two of them are marked.
    expect(rows).toEqual([expect.objectContaining({ workingDays: 12, present: 4, unmarked: 8 })]);
    expect(warnings).toEqual([
      {
        ...{ collection: 'attendance', reason: 'the student is not on roll on the day', count: 1 },
        ids: ['back-2026-09-11'],
      },
    ]);
  });

  it('has working days of both stays in the register, and in what it brings forward', async () => {
    const { rows } = await run(classAttendance, registers);
    const own = rows.filter(({ studentId, month }) => studentId === 'back' && month !== '2026-10');
    const days = own.map(({ month, section, workingDays, broughtForwardWorkingDays: brought }) => ({
      ...{ month, section, workingDays, brought },
    }));
    // 131 working days from April to August. The marks of 9 and 10 September are of section A.
    expect(days).toEqual([
      { month: '2026-09', section: 'A', workingDays: 2, brought: 131 },
      { month: '2026-09', section: 'B', workingDays: 7, brought: 131 },
      { month: '2026-11', section: 'A', workingDays: 3, brought: 140 },
    ]);
  });

  it('owes nothing for the months between, once back or away', async () => {
    const due = (month: string) => ({
      ...{ _id: `due-back-${month}`, student: { value: 'back' }, session: '2026-27', month },
      ...{ fee_head: 'Tuition', amount: 100, due_date: `${month}-05` },
    });
    await test.insert('fee_due', ['2026-09', '2026-10', '2026-11'].map(due));
    const owedOn = async (asOn: string) => {
      const { rows } = await run(feeDefaulters, {
        ...{ start_month: '2026-09', end_month: '2026-12', as_on: asOn, include_left: 'true' },
      });
      return rows.find(({ studentId }) => studentId === 'back')?.monthsDue;
    };
    expect(await owedOn(TODAY)).toEqual(['2026-09', '2026-11']);
    expect(await owedOn('2026-11-17')).toEqual(['2026-09']);
    expect(await owedOn('2026-09-10')).toEqual(['2026-09']);
  });
});
