/** Strength, the day sheet, the teachers and their workload, on the twelve students. */
import { describe, expect, it } from '@jest/globals';
import { daySheet } from '../../../src/school/reports/day-sheet.js';
import { strength } from '../../../src/school/reports/strength.js';
import { teachers, teacherWorkload } from '../../../src/school/reports/teachers.js';
import {
  ACCOUNTANT,
  CLERK,
  FARIDA,
  KAVITA,
  NOBODY,
  useTwelveStudents,
  VIEWER,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

describe('strength', () => {
  it('refuses who has no role of it', async () => {
    await expect(school.run(strength, {}, NOBODY)).rejects.toMatchObject({ status: 403 });
  });

  it('counts each section by gender, classes in order, who joined and who left', async () => {
    const { rows, totals } = await school.run(strength, {}, VIEWER);
    expect(rows).toEqual([
      { class: '1', section: 'A', boys: 1, girls: 1, other: 0, strength: 2, joined: 2, left: 0 },
      { class: '5', section: 'A', boys: 1, girls: 2, other: 0, strength: 3, joined: 0, left: 0 },
      { class: '5', section: 'B', boys: 2, girls: 1, other: 0, strength: 3, joined: 0, left: 0 },
      { class: '10', section: 'A', boys: 1, girls: 1, other: 1, strength: 3, joined: 0, left: 1 },
    ]);
    expect(totals).toEqual({ boys: 5, girls: 5, other: 1, strength: 11, joined: 2, left: 1 });
  });

  it('counts on another day of the session', async () => {
    const { totals } = await school.run(strength, { date: '2026-04-01' }, VIEWER);
    expect(totals).toEqual({ boys: 4, girls: 6, other: 1, strength: 11, joined: 1, left: 0 });
  });
});

describe('day sheet', () => {
  it('refuses an accountant, and a day that is none', async () => {
    await expect(school.run(daySheet, {}, ACCOUNTANT)).rejects.toMatchObject({ status: 403 });
    await expect(school.run(daySheet, { date: 'tomorrow' }, CLERK)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/date is "tomorrow"; expected a day/),
    });
  });

  it('takes the words for days that filters take', async () => {
    const run = async (date?: string) => (await school.run(daySheet, { date }, CLERK)).rows;
    expect(await run('today')).toEqual(await run());
    expect(await run('yesterday')).not.toEqual(await run());
  });

  it('lists who is absent or on leave today, with the phone', async () => {
    const { rows, totals } = await school.run(daySheet, {}, CLERK);
    expect(rows).toEqual([
      {
        class: '5',
        section: 'A',
        rollNo: 1,
        studentId: 'stu-01',
        admissionNo: 'A-101',
        name: 'Aarav Sharma',
        guardian: 'Rajesh Sharma',
        phone: '+919800000001',
        status: 'absent',
        remark: null,
      },
      {
        class: '5',
        section: 'B',
        rollNo: 1,
        studentId: 'stu-05',
        admissionNo: 'A-105',
        name: 'Esha Khan',
        guardian: 'Imran Khan',
        phone: '+919800000005',
        status: 'absent',
        remark: null,
      },
      {
        class: '10',
        section: 'A',
        rollNo: 1,
        studentId: 'stu-09',
        admissionNo: 'A-109',
        name: 'Ishan Bose',
        guardian: 'Amit Bose',
        phone: '+919800000009',
        status: 'leave',
        remark: null,
      },
    ]);
    expect(totals).toEqual({
      isSchoolDay: true,
      holiday: null,
      marked: 6,
      absent: 2,
      leave: 1,
      sections: [
        { class: '5', section: 'A', marked: 3, absent: 1, leave: 0 },
        { class: '5', section: 'B', marked: 2, absent: 1, leave: 0 },
        { class: '10', section: 'A', marked: 1, absent: 0, leave: 1 },
      ],
      unmarked: [{ class: '1', section: 'A', students: 2 }],
    });
  });

  it('names a holiday, and the sections of a school day that nobody has marked', async () => {
    const totalsOn = async (date: string, caller = CLERK) =>
      (await school.run(daySheet, { date }, caller)).totals;
    expect(await totalsOn('2026-04-05')).toMatchObject({ isSchoolDay: false, holiday: null, unmarked: [] });
    expect(await totalsOn('2026-04-14')).toMatchObject({
      isSchoolDay: false,
      holiday: 'Ambedkar Jayanti',
      unmarked: [],
    });
    const unmarked = [{ class: '1', section: 'A', students: 1 }];
    expect(await totalsOn('2026-04-02')).toMatchObject({ isSchoolDay: true, unmarked });
    const later = [...unmarked, { class: '10', section: 'A', students: 4 }];
    expect(await totalsOn('2026-04-24')).toMatchObject({ isSchoolDay: true, unmarked: later });
    expect(await totalsOn('2026-04-24', KAVITA)).toMatchObject({ unmarked: [] });
  });

  it('shows a teacher the sections taught alone', async () => {
    const idsFor = async (caller: typeof KAVITA) =>
      (await school.run(daySheet, {}, caller)).rows.map(({ studentId }) => studentId);
    expect(await idsFor(KAVITA)).toEqual(['stu-01']);
    expect(await idsFor(FARIDA)).toEqual(['stu-05']);
  });

  it('counts a mark of ten past midnight on its own day, and warns of a status that is none', async () => {
    expect(
      (await school.run(daySheet, { date: '2026-04-01', class: '5', section: 'B' }, CLERK)).totals,
    ).toMatchObject({ marked: 2 });
    const { warnings } = await school.run(daySheet, { date: '2026-04-22' }, CLERK);
    expect(warnings).toEqual([
      {
        collection: 'attendance',
        reason: 'status is none of the marks',
        count: 1,
        ids: ['att-2026-04-22-03'],
      },
    ]);
  });
});

describe('teachers', () => {
  it('refuses whom phones are hidden from', async () => {
    await expect(school.run(teachers, {}, KAVITA)).rejects.toMatchObject({ status: 403 });
    await expect(school.run(teachers, {}, VIEWER)).rejects.toMatchObject({ status: 403 });
  });

  it('lists the active ones by name, with what they are class teacher of, and no credential', async () => {
    const { rows, totals } = await school.run(teachers, {}, CLERK);
    expect(
      rows.map(({ userId, department, roles, classTeacherOf }) => [
        userId,
        department,
        roles,
        classTeacherOf,
      ]),
    ).toEqual([
      ['usr-farida', 'Primary', ['teacher'], [{ class: '5', section: 'B' }]],
      ['usr-kavita', 'Primary', ['teacher'], [{ class: '5', section: 'A' }]],
      ['usr-ravi', 'Primary', ['head_teacher', 'teacher'], [{ class: '1', section: 'A' }]],
      ['usr-sunil', 'Science', ['teacher'], [{ class: '10', section: 'A' }]],
    ]);
    expect(totals).toEqual({ teachers: 4, classTeachers: 4 });
    expect(JSON.stringify(rows)).not.toMatch(/user_?name|password/i);
  });

  it('takes a role, a department, and those who are not active', async () => {
    const idsOf = async (sent: Record<string, string>) =>
      (await school.run(teachers, sent, CLERK)).rows.map(({ userId }) => userId);
    expect(await idsOf({ roles: 'head_teacher' })).toEqual(['usr-ravi']);
    expect(await idsOf({ department: 'Science' })).toEqual(['usr-sunil']);
    expect(await idsOf({ active: 'false' })).toEqual(['usr-old']);
  });
});

describe('statement and answer', () => {
  it.each([
    [strength, { session: '2026-27' }],
    [daySheet, { date: '2027-01-20' }],
  ])('stand beside each other for review: %#', async (report, sent) => {
    expect(await school.review(report, sent)).toMatchSnapshot(report.name);
  });
});

describe('teacher workload', () => {
  it('refuses a teacher', async () => {
    await expect(school.run(teacherWorkload, {}, KAVITA)).rejects.toMatchObject({ status: 403 });
  });

  it('lists active teachers, who has most students first', async () => {
    const { rows, totals } = await school.run(
      teacherWorkload,
      { from: '2026-04-01', to: '2026-04-30' },
      CLERK,
    );
    expect(
      rows.map(({ userId, sections, students, marks, daysMarked }) => [
        userId,
        sections,
        students,
        marks,
        daysMarked,
      ]),
    ).toEqual([
      ['usr-farida', [{ class: '5', section: 'B' }], 3, 0, 0],
      ['usr-kavita', [{ class: '5', section: 'A' }], 3, 0, 0],
      ['usr-sunil', [{ class: '10', section: 'A' }], 3, 0, 0],
      ['usr-ravi', [{ class: '1', section: 'A' }], 2, 0, 0],
    ]);
    expect(totals).toEqual({ teachers: 4, sections: 4, students: 11, marks: 0, studentsATeacher: 2.75 });
  });
});
