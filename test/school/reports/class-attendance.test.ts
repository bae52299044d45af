import { describe, expect, it } from '@jest/globals';
import { classAttendance } from '../../../src/school/reports/class-attendance.js';
import {
  ACCOUNTANT,
  FARIDA,
  KAVITA,
  useTwelveStudents,
  VIEWER,
} from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const APRIL_AND_MAY = { class: '5', start: '2026-04', end: '2026-05' };

describe('classAttendance refuses', () => {
  it.each([
    [{ ...APRIL_AND_MAY, start: '2026-13' }, 'start', '2026-13'],
    [{ ...APRIL_AND_MAY, end: '2026-04-31' }, 'end', '2026-04-31'],
    [{ ...APRIL_AND_MAY, start: '2026-06' }, 'end', '2026-05'],
    [{ ...APRIL_AND_MAY, start: '2025-05' }, 'end', '2026-05'],
    [{ class: '5', start: '2026-04' }, 'end', undefined],
    [{ ...APRIL_AND_MAY, clas: '6' }, 'clas', '6'],
  ])('%j by the name of the parameter', async (sent, parameter, value) => {
    await expect(school.run(classAttendance, sent)).rejects.toMatchObject({
      status: 400,
      errors: [expect.objectContaining(value === undefined ? { parameter } : { parameter, sent: value })],
    });
  });

  it('a class the school does not have', async () => {
    await expect(school.run(classAttendance, { ...APRIL_AND_MAY, class: '6' })).rejects.toMatchObject({
      status: 404,
      message: 'There is no class "6".',
    });
  });

  it('a section the class does not have', async () => {
    await expect(school.run(classAttendance, { ...APRIL_AND_MAY, section: 'C' })).rejects.toMatchObject({
      status: 404,
      message: 'Class 5 has no section "C"; it has A, B.',
    });
  });

  it('a role without the right', async () => {
    await expect(school.run(classAttendance, APRIL_AND_MAY, ACCOUNTANT)).rejects.toMatchObject({
      status: 403,
    });
  });

  it('a teacher of another section, and of another class', async () => {
    const other = { ...APRIL_AND_MAY, section: 'A' };
    await expect(school.run(classAttendance, other, FARIDA)).rejects.toMatchObject({ status: 403 });
    await expect(
      school.run(classAttendance, { ...APRIL_AND_MAY, class: '10' }, FARIDA),
    ).rejects.toMatchObject({ status: 403 });
  });
});

/** What a line has, in short: days, % of the month, brought forward, % to date. */
function line(
  register: string,
  counts: readonly [
    present: number,
    absent: number,
    late: number,
    halfDay: number,
    leave: number,
    unmarked: number,
  ],
  days: readonly [workingDays: number, presentDays: number, percent: number],
  session: readonly [presentDays: number, workingDays: number, percentToDate: number],
) {
  const [present, absent, late, halfDay, leave, unmarked] = counts;
  return {
    ...{ register, present, absent, late, halfDay, leave, unmarked },
    ...{ workingDays: days[0], presentDays: days[1], percent: days[2] },
    broughtForwardPresentDays: session[0],
    broughtForwardWorkingDays: session[1],
    percentToDate: session[2],
  };
}

const AARAV = { rollNo: 1, studentId: 'stu-01', admissionNo: 'A-101', name: 'Aarav Sharma' };
const BHAVNA = { rollNo: 2, studentId: 'stu-02', admissionNo: 'A-102', name: 'Bhavna Rao' };
const CHITRA = { rollNo: 3, studentId: 'stu-03', admissionNo: 'A-103', name: 'चित्रा देवी' };
const DEV = { rollNo: 2, studentId: 'stu-04', admissionNo: 'A-104', name: 'Dev Patel' };
const ESHA = { rollNo: 1, studentId: 'stu-05', admissionNo: 'A-105', name: 'Esha Khan' };
const FARHAN = { rollNo: 3, studentId: 'stu-06', admissionNo: 'A-106', name: 'Farhan Ali' };

const APRIL_A = { month: '2026-04', section: 'A' };
const APRIL_B = { month: '2026-04', section: 'B' };
const MAY_A = { month: '2026-05', section: 'A' };
const MAY_B = { month: '2026-05', section: 'B' };

/** 21 working days in April, 9 in May. Dev has roll number 2 in the section he is in now. */
const LINES_A = [
  {
    ...APRIL_A,
    ...AARAV,
    ...line('PPLP*PPAPPP*P*PPPP*PPPPP**P***', [19, 1, 1, 0, 0, 0], [21, 20, 95.24], [0, 0, 95.24]),
  },
  {
    ...APRIL_A,
    ...BHAVNA,
    ...line('PHPP*PPPPPP*P*PVVP*PPPPP**P***', [18, 0, 0, 1, 2, 0], [21, 18.5, 88.1], [0, 0, 88.1]),
  },
  {
    ...APRIL_A,
    ...DEV,
    ...line('PPPP*PPPPPP*P*PPPP*AAAAA**A***', [15, 6, 0, 0, 0, 0], [21, 15, 71.43], [0, 0, 71.43]),
  },
  {
    ...APRIL_A,
    ...CHITRA,
    ...line('PPPP*PPPPPP*P*PPPP*PP?PP**P***', [20, 0, 0, 0, 0, 1], [21, 20, 95.24], [0, 0, 95.24]),
  },
];
const LINES_A_MAY = [
  {
    ...MAY_A,
    ...AARAV,
    ...line('****PPPP**PPPPP****************', [9, 0, 0, 0, 0, 0], [9, 9, 100], [20, 21, 96.67]),
  },
  {
    ...MAY_A,
    ...BHAVNA,
    ...line('****APPP**PPPPP****************', [8, 1, 0, 0, 0, 0], [9, 8, 88.89], [18.5, 21, 88.33]),
  },
  {
    ...MAY_A,
    ...DEV,
    ...line('****PPPP**–––––––––––––––––––––', [4, 0, 0, 0, 0, 0], [4, 4, 100], [15, 21, 75]),
  },
  {
    ...MAY_A,
    ...CHITRA,
    ...line('****PPPP**PPPPP****************', [9, 0, 0, 0, 0, 0], [9, 9, 100], [20, 21, 96.67]),
  },
];

describe('classAttendance of the twelve students', () => {
  it('is the register of class 5 in April and May, as written by hand', async () => {
    const { rows, totals, warnings } = await school.run(classAttendance, APRIL_AND_MAY);
    expect(rows).toEqual([
      ...LINES_A,
      {
        ...APRIL_B,
        ...ESHA,
        ...line('PPPP*PPPPPP*P*PPPP*PPPPP**P***', [21, 0, 0, 0, 0, 0], [21, 21, 100], [0, 0, 100]),
      },
      {
        ...APRIL_B,
        ...FARHAN,
        ...line('PPPP*PPPPPP*P*PPPP*PPPPP**A***', [20, 1, 0, 0, 0, 0], [21, 20, 95.24], [0, 0, 95.24]),
      },
      ...LINES_A_MAY,
      {
        ...MAY_B,
        ...ESHA,
        ...line('****PPPP**PPPPP****************', [9, 0, 0, 0, 0, 0], [9, 9, 100], [21, 21, 100]),
      },
      {
        ...MAY_B,
        ...DEV,
        ...line('––––––––––LHPP?****************', [2, 0, 1, 1, 0, 1], [5, 3.5, 70], [15, 21, 75]),
      },
      {
        ...MAY_B,
        ...FARHAN,
        ...line('****PAPP**PPPPP****************', [8, 1, 0, 0, 0, 0], [9, 8, 88.89], [20, 21, 93.33]),
      },
    ]);
    const { months, ...sums } = totals;
    expect(sums).toEqual({
      workingDays: 30,
      students: 6,
      present: 162,
      absent: 10,
      late: 2,
      halfDay: 2,
      leave: 2,
      unmarked: 2,
      presentDays: 165,
      workingDaysOnRoll: 180,
      percent: 91.67,
    });
    expect(months).toMatchObject([
      {
        month: '2026-04',
        workingDays: 21,
        students: 6,
        presentDays: 114.5,
        workingDaysOnRoll: 126,
        unmarked: 1,
        percent: 90.87,
      },
      {
        month: '2026-05',
        workingDays: 9,
        students: 6,
        presentDays: 50.5,
        workingDaysOnRoll: 54,
        unmarked: 1,
        percent: 93.52,
      },
    ]);
    expect(warnings).toEqual([
      {
        collection: 'attendance',
        reason: 'status is none of present, absent, late, half_day, leave',
        count: 1,
        ids: ['att-2026-04-22-03'],
      },
      { collection: 'attendance', reason: 'student or created is unusable', count: 1, ids: ['att-wrong'] },
      {
        collection: 'attendance',
        reason: 'the day is no school day of the class',
        count: 1,
        ids: ['att-2026-04-05-01'],
      },
      { collection: 'holiday', reason: 'date is not a day', count: 1, ids: ['hol-wrong'] },
    ]);
  });

  it('counts each day: the working Saturday, the day of the half day, the day somebody is unmarked', async () => {
    const { totals } = await school.run(classAttendance, APRIL_AND_MAY);
    const [april, may] = totals.months as unknown as { days: { day: string }[]; holidays: object[] }[];
    expect(april?.days.map(({ day }) => day.slice(8)).join(' ')).toBe(
      '01 02 03 04 06 07 08 09 10 11 13 15 16 17 18 20 21 22 23 24 27',
    );
    const day = (wanted: string) =>
      [...(april?.days ?? []), ...(may?.days ?? [])].find((one) => one.day === wanted);
    const none = { present: 0, absent: 0, late: 0, halfDay: 0, leave: 0, unmarked: 0 };
    expect(day('2026-04-02')).toEqual({
      ...none,
      day: '2026-04-02',
      onRoll: 6,
      present: 5,
      halfDay: 1,
      percent: 91.67,
    });
    expect(day('2026-04-11')).toEqual({ ...none, day: '2026-04-11', onRoll: 6, present: 6, percent: 100 });
    expect(day('2026-04-22')).toEqual({
      ...none,
      day: '2026-04-22',
      onRoll: 6,
      present: 4,
      absent: 1,
      unmarked: 1,
      percent: 66.67,
    });
    expect(day('2026-05-15')).toEqual({
      ...none,
      day: '2026-05-15',
      onRoll: 6,
      present: 5,
      unmarked: 1,
      percent: 83.33,
    });
    expect(april?.holidays).toEqual([
      { day: '2026-04-14', name: 'Ambedkar Jayanti' },
      { day: '2026-04-28', name: 'Spring break' },
      { day: '2026-04-29', name: 'Spring break' },
      { day: '2026-04-30', name: 'Spring break' },
    ]);
    expect(may?.holidays.slice(0, 5)).toEqual([
      { day: '2026-05-01', name: 'Spring break' },
      { day: '2026-05-02', name: 'Spring break' },
      { day: '2026-05-03', name: 'Spring break' },
      { day: '2026-05-04', name: 'Spring break' },
      { day: '2026-05-16', name: 'Summer vacation' },
    ]);
  });

  it('shows a teacher the sections taught, with the student who has left the section since', async () => {
    const { rows } = await school.run(classAttendance, APRIL_AND_MAY, KAVITA);
    expect(rows).toEqual([...LINES_A, ...LINES_A_MAY]);
    const section = await school.run(classAttendance, { ...APRIL_AND_MAY, section: 'A' }, VIEWER);
    expect(section.rows).toEqual(rows);
  });

  it('has nobody on roll before the day of joining, and rounds half up', async () => {
    const { rows, totals, warnings } = await school.run(classAttendance, {
      class: '1',
      start: '2026-08-01',
      end: '2026-08-15',
    });
    expect(rows).toEqual([
      // Nothing was marked from April to July: 21 + 9 + 13 + 25 working days.
      {
        ...{
          month: '2026-08',
          section: 'A',
          rollNo: 1,
          studentId: 'stu-07',
          admissionNo: 'A-107',
          name: 'Gauri Sharma',
        },
        ...line('P*PPPPP**PPAPP*', [10, 1, 0, 0, 0, 0], [11, 10, 90.91], [0, 68, 12.66]),
      },
      {
        ...{
          month: '2026-08',
          section: 'A',
          rollNo: 2,
          studentId: 'stu-08',
          admissionNo: 'A-108',
          name: 'Harsh Vora',
        },
        ...line('–––––––––PPHPL*', [3, 0, 1, 1, 0, 0], [5, 4.5, 90], [0, 0, 90]),
      },
    ]);
    // 14.5 of 16 is 90.625 %.
    expect(totals).toMatchObject({
      workingDays: 11,
      students: 2,
      presentDays: 14.5,
      workingDaysOnRoll: 16,
      percent: 90.63,
    });
    expect(warnings).toContainEqual({
      collection: 'attendance',
      reason: 'the student is not on roll on the day',
      count: 1,
      ids: ['att-2026-08-05-08'],
    });
  });

  it('ends the roll with the day of leaving, and knows the holidays of the class', async () => {
    const { rows } = await school.run(classAttendance, {
      class: '10',
      start: '2026-12-14',
      end: '2026-12-18',
    });
    expect(rows.map(({ name, register }) => [name, register])).toEqual([
      ['Ishan Bose', 'PAAA?'],
      ['Jaya Nair', '?????'],
      ['Kabir Das', '?????'],
      ['Lata Joshi', 'PP–––'],
    ]);
    const april = await school.run(classAttendance, { class: '10', start: '2026-04-01', end: '2026-04-03' });
    expect(april.rows[0]).toMatchObject({ register: '?*?', workingDays: 2 });
  });

  it('stops at today, and has no percentage where there is no working day', async () => {
    const { rows, totals } = await school.run(classAttendance, {
      class: '5',
      section: 'B',
      start: '2027-01-17',
      end: '2027-02',
    });
    expect(rows.map(({ register }) => register)).toEqual(['*??A', '*??L', '*???']);
    expect(totals).toMatchObject({ workingDays: 3, workingDaysOnRoll: 9, unmarked: 7, percent: 11.11 });
    const sunday = await school.run(classAttendance, { class: '5', start: '2027-01-17', end: '2027-01-17' });
    expect(sunday.totals).toMatchObject({ workingDays: 0, percent: null });
    const future = await school.run(classAttendance, { class: '5', start: '2027-03', end: '2027-03' });
    expect(future).toMatchObject({ rows: [], totals: { workingDays: 0, percent: null, months: [] } });
  });

  it('is empty of a class without students', async () => {
    const { rows, totals } = await school.run(classAttendance, { ...APRIL_AND_MAY, class: 'UKG' });
    expect(rows).toEqual([]);
    expect(totals).toMatchObject({ workingDays: 30, students: 0, workingDaysOnRoll: 0, percent: null });
  });

  it('reads so', async () => {
    expect(
      await school.review(classAttendance, { class: '5', section: 'B', start: '2026-05', end: '2026-05' }),
    ).toMatchSnapshot();
  });
});

describe('classAttendance where leave counts present', () => {
  const kind = useTwelveStudents({ leaveCountsPresent: true });

  it('adds the days of leave', async () => {
    const { rows } = await kind.run(classAttendance, {
      class: '5',
      section: 'A',
      start: '2026-04',
      end: '2026-04',
    });
    expect(rows[1]).toMatchObject({ name: 'Bhavna Rao', leave: 2, presentDays: 20.5, percent: 97.62 });
  });
});
