import { describe, expect, it } from '@jest/globals';
import { attendanceShortage } from '../../../src/school/reports/student-attendance.js';
import { CLERK, FARIDA, useTwelveStudents, VIEWER } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();
const APRIL_AND_MAY = { start: '2026-04', end: '2026-05' };

describe('attendanceShortage refuses', () => {
  it.each([
    [{ ...APRIL_AND_MAY, below: '101' }, 'below', 400],
    [{ ...APRIL_AND_MAY, below: 'half' }, 'below', 400],
    [{ ...APRIL_AND_MAY, section: 'A' }, 'section', 400],
    [{ ...APRIL_AND_MAY, end: '2026-03' }, 'end', 400],
    [{ ...APRIL_AND_MAY, class: '6' }, 'class', 404],
  ])('%j by the name of the parameter', async (sent, parameter, status) => {
    await expect(school.run(attendanceShortage, sent)).rejects.toMatchObject({
      status,
      errors: [expect.objectContaining({ parameter })],
    });
  });

  it('a role without the right, and a teacher of another section', async () => {
    await expect(school.run(attendanceShortage, APRIL_AND_MAY, VIEWER)).rejects.toMatchObject({
      status: 403,
    });
    await expect(
      school.run(attendanceShortage, { ...APRIL_AND_MAY, class: '5', section: 'A' }, FARIDA),
    ).rejects.toMatchObject({ status: 403 });
  });
});

describe('attendanceShortage of the twelve students', () => {
  // 27 of the 30 working days are 90 %.
  const BHAVNA = {
    ...{ studentId: 'stu-02', admissionNo: 'A-102', name: 'Bhavna Rao', class: '5', section: 'A', rollNo: 2 },
    ...{ guardian: 'Mohan Rao', phone: '+919800000002', workingDays: 30, presentDays: 26.5 },
    ...{ absent: 1, leave: 2, unmarked: 0, percent: 88.33, daysShort: 0.5 },
  };
  const DEV = {
    ...{ studentId: 'stu-04', admissionNo: 'A-104', name: 'Dev Patel', class: '5', section: 'B', rollNo: 2 },
    ...{ guardian: 'Nilesh Patel', phone: '+919800000004', workingDays: 30, presentDays: 22.5 },
    ...{ absent: 6, leave: 0, unmarked: 1, percent: 75, daysShort: 4.5 },
  };

  it('lists who is below, with the days that are missing', async () => {
    const { rows, totals } = await school.run(
      attendanceShortage,
      { ...APRIL_AND_MAY, below: '90', class: '5' },
      CLERK,
    );
    expect(rows).toEqual([BHAVNA, DEV]);
    expect(totals).toEqual({
      ...{ students: 6, below: 2, percent: 91.67 },
      classes: [{ class: '5', students: 6, below: 2, percent: 91.67 }],
    });
  });

  it('does not list who has just the percentage, nor who joined later', async () => {
    const { rows, totals, warnings } = await school.run(attendanceShortage, APRIL_AND_MAY);
    expect(rows.map(({ name, workingDays, percent }) => [name, workingDays, percent])).toEqual([
      ['Gauri Sharma', 30, 0],
      // Class 10 had a holiday of its own.
      ['Ishan Bose', 29, 0],
      ['Jaya Nair', 29, 0],
      ['Kabir Das', 29, 0],
      ['Lata Joshi', 29, 0],
    ]);
    // 165 of 180 + 30 + 116 days.
    expect(totals).toEqual({
      ...{ students: 11, below: 5, percent: 50.61 },
      classes: [
        { class: '1', students: 1, below: 1, percent: 0 },
        { class: '5', students: 6, below: 0, percent: 91.67 },
        { class: '10', students: 4, below: 4, percent: 0 },
      ],
    });
    expect(warnings).toEqual([
      { collection: 'attendance', reason: 'student or created is unusable', count: 1, ids: ['att-wrong'] },
      { collection: 'holiday', reason: 'date is not a day', count: 1, ids: ['hol-wrong'] },
    ]);
  });

  it('is of the session up to today by itself, without who has left', async () => {
    const { rows } = await school.run(attendanceShortage, { class: '10' });
    expect(rows.map(({ name }) => name)).toEqual(['Ishan Bose', 'Jaya Nair', 'Kabir Das']);
  });

  it('shows a teacher the sections taught', async () => {
    const { rows } = await school.run(attendanceShortage, { ...APRIL_AND_MAY, below: '90' }, FARIDA);
    expect(rows).toEqual([DEV]);
  });

  it('reads so', async () => {
    expect(
      await school.review(attendanceShortage, { ...APRIL_AND_MAY, below: '90', class: '5' }),
    ).toMatchSnapshot();
  });
});
