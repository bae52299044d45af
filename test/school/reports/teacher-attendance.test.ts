import { describe, expect, it } from '@jest/globals';
import { teacherAttendance } from '../../../src/school/reports/teacher-attendance.js';
import {
  ACCOUNTANT,
  CLERK,
  FARIDA,
  KAVITA,
  useTwelveStudents,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const KAVITAS = { 'name.value': 'usr-kavita' };

describe('teacherAttendance refuses', () => {
  it.each([
    [{}, 'name.value', 400],
    [{ ...KAVITAS, start: 'January' }, 'start', 400],
    [{ ...KAVITAS, start: '2027-01-02', end: '2027-01-01' }, 'end', 400],
    [{ 'name.value': 'usr-nobody' }, 'name.value', 404],
  ])('%j by the name of the parameter', async (sent, parameter, status) => {
    await expect(school.run(teacherAttendance, sent)).rejects.toMatchObject({
      status,
      errors: [expect.objectContaining({ parameter })],
    });
  });

  it('a role without the right, and the days of a colleague', async () => {
    await expect(school.run(teacherAttendance, KAVITAS, ACCOUNTANT)).rejects.toMatchObject({ status: 403 });
    await expect(school.run(teacherAttendance, KAVITAS, FARIDA)).rejects.toMatchObject({ status: 403 });
  });
});

describe('teacherAttendance', () => {
  it('counts the school days of this month up to today', async () => {
    const { rows, totals, warnings } = await school.run(teacherAttendance, KAVITAS, CLERK);
    expect(totals).toEqual({
      ...{ userId: 'usr-kavita', name: 'Kavita Joshi', department: 'Primary' },
      ...{ workingDays: 16, present: 8, absent: 1, halfDay: 1, leave: 2, onDuty: 1, unmarked: 3 },
      leaveByType: [
        { leaveType: 'casual', days: 1.5 },
        { leaveType: 'sick', days: 1 },
      ],
      ...{ presentDays: 9.5, percent: 59.38, lateIns: 1, missingOuts: 1, otherDays: 1 },
    });
    expect(rows.map(({ day, status }) => `${String(day).slice(8)} ${String(status)}`)).toEqual([
      '01 present',
      '02 present',
      '04 present',
      '05 absent',
      '06 half_day',
      '07 leave',
      '08 leave',
      '10 present',
      '11 on_duty',
      '12 present',
      '13 present',
      '14 present',
      '15 unmarked',
      '16 unmarked',
      '18 present',
      '19 unmarked',
      '20 present',
    ]);
    const none = { lateIn: false, missingOut: false, leaveType: null, remark: null };
    expect(rows[1]).toEqual({
      ...none,
      ...{ day: '2027-01-02', status: 'present', schoolDay: true, lateIn: true },
      ...{ inTime: '2027-01-02T02:35:00.000Z', outTime: '2027-01-02T08:30:00.000Z' },
    });
    // Eight o'clock is in time.
    expect(rows[2]).toMatchObject({ day: '2027-01-04', lateIn: false, missingOut: true, outTime: null });
    expect(rows[7]).toMatchObject({ day: '2027-01-10', schoolDay: false });
    expect(rows[8]).toMatchObject({ ...none, day: '2027-01-11', remark: 'CBSE training' });
    expect(rows[11]).toMatchObject({ day: '2027-01-14', inTime: null, lateIn: false });
    expect(rows[16]).toMatchObject({ day: '2027-01-20', missingOut: false });
    expect(warnings).toEqual([
      { collection: 'holiday', reason: 'date is not a day', count: 1, ids: ['hol-wrong'] },
      {
        collection: 'teacher_attendance',
        reason: 'in_time or out_time is not an instant',
        count: 1,
        ids: ['tat-2027-01-14-kavita'],
      },
      {
        collection: 'teacher_attendance',
        reason: 'status is none of present, absent, half_day, leave, on_duty',
        count: 1,
        ids: ['tat-2027-01-19-kavita'],
      },
    ]);
  });

  it('shows a teacher the own days', async () => {
    const { totals } = await school.run(teacherAttendance, { ...KAVITAS, start: '2027-01-20' }, KAVITA);
    expect(totals).toMatchObject({ workingDays: 1, present: 1, percent: 100 });
  });

  it('ends with the day of leaving, and knows no holiday of a class', async () => {
    const { totals } = await school.run(teacherAttendance, {
      'name.value': 'usr-old',
      start: '2026-04',
      end: '2026-05',
    });
    // All 21 working days of April; 30 April, the last, is in the spring break.
    expect(totals).toMatchObject({ workingDays: 21, unmarked: 21, presentDays: 0, percent: 0 });
    const none = await school.run(teacherAttendance, {
      'name.value': 'usr-old',
      start: '2026-06',
      end: '2026-06',
    });
    expect(none).toMatchObject({ rows: [], totals: { workingDays: 0, presentDays: 0, percent: null } });
  });

  it('reads so', async () => {
    expect(
      await school.review(teacherAttendance, { ...KAVITAS, start: '2027-01-04', end: '2027-01-08' }),
    ).toMatchSnapshot();
  });
});
