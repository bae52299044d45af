import { describe, expect, it } from '@jest/globals';
import { studentAttendance } from '../../../src/school/reports/student-attendance.js';
import { ACCOUNTANT, FARIDA, KAVITA, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

describe('studentAttendance refuses', () => {
  it.each([
    [{}, 'admission_no', 400],
    [{ admissionNo: 'A-101', class: '5' }, 'admission_no', 400],
    [{ admissionNo: 'A-101', section: 'A' }, 'section', 400],
    [{ class: '5', start: '2026-02-30' }, 'start', 400],
    [{ class: '5', start: '2027-01-10', end: '2027-01-09' }, 'end', 400],
    [{ class: '6' }, 'class', 404],
    [{ admissionNo: 'A-999' }, 'admission_no', 404],
  ])('%j by the name of the parameter', async (sent, parameter, status) => {
    await expect(school.run(studentAttendance, sent)).rejects.toMatchObject({
      status,
      errors: [expect.objectContaining({ parameter })],
    });
  });

  it('a role without the right, a teacher of another section', async () => {
    await expect(school.run(studentAttendance, { class: '5' }, ACCOUNTANT)).rejects.toMatchObject({
      status: 403,
    });
    await expect(school.run(studentAttendance, { class: '5', section: 'A' }, FARIDA)).rejects.toMatchObject({
      status: 403,
    });
    await expect(school.run(studentAttendance, { admissionNo: 'A-101' }, FARIDA)).rejects.toMatchObject({
      status: 404,
    });
  });
});

/** Counts in short. */
function counts(row: object | undefined) {
  const {
    workingDays,
    present,
    absent,
    late,
    halfDay,
    leave,
    unmarked,
    presentDays,
    percent,
    absenceStreak,
  } = row as Record<string, unknown>;
  return [workingDays, present, absent, late, halfDay, leave, unmarked, presentDays, percent, absenceStreak];
}

describe('studentAttendance of the twelve students', () => {
  it('is this month up to today, by itself, with the streak of absence over an unmarked day', async () => {
    const { rows, totals } = await school.run(studentAttendance, { class: '5', section: 'A' }, KAVITA);
    expect(rows.map((row) => [row.name, ...counts(row)])).toEqual([
      ['Aarav Sharma', 16, 12, 3, 0, 0, 0, 1, 12, 75, 3],
      ['Bhavna Rao', 16, 16, 0, 0, 0, 0, 0, 16, 100, 0],
      ['चित्रा देवी', 16, 15, 0, 0, 1, 0, 0, 15.5, 96.88, 0],
    ]);
    expect(totals).toEqual({
      ...{ students: 3, workingDays: 48, present: 43, absent: 3, late: 0, halfDay: 1, leave: 0, unmarked: 1 },
      ...{ presentDays: 43.5, percent: 90.63 },
    });
  });

  it('follows a student from section to section', async () => {
    const sent = { admission_no: 'A-104', start: '2026-05', end: '2026-05' };
    const { rows } = await school.run(studentAttendance, sent);
    const inA = { class: '5', section: 'A' };
    const inB = { class: '5', section: 'B' };
    expect(rows).toEqual([
      {
        ...{ studentId: 'stu-04', admissionNo: 'A-104', name: 'Dev Patel', ...inB, rollNo: 2 },
        ...{ workingDays: 9, present: 6, absent: 0, late: 1, halfDay: 1, leave: 0, unmarked: 1 },
        ...{ presentDays: 7.5, percent: 83.33, absenceStreak: 0 },
        days: [
          { day: '2026-05-05', status: 'present', ...inA },
          { day: '2026-05-06', status: 'present', ...inA },
          { day: '2026-05-07', status: 'present', ...inA },
          { day: '2026-05-08', status: 'present', ...inA },
          { day: '2026-05-11', status: 'late', ...inB },
          { day: '2026-05-12', status: 'half_day', ...inB },
          { day: '2026-05-13', status: 'present', ...inB },
          { day: '2026-05-14', status: 'present', ...inB },
          { day: '2026-05-15', status: 'unmarked', ...inB },
        ],
      },
    ]);
    // His teacher of now sees the days since.
    const seen = await school.run(studentAttendance, sent, FARIDA);
    expect(counts(seen.rows[0])).toEqual([5, 2, 0, 1, 1, 0, 1, 3.5, 70, 0]);
  });

  it('counts the streak up to the end of the range, from before its start', async () => {
    const { rows } = await school.run(studentAttendance, {
      admissionNo: 'A-109',
      start: '2026-12-17',
      end: '2026-12-18',
    });
    expect(counts(rows[0])).toEqual([2, 0, 1, 0, 0, 0, 1, 0, 0, 3]);
    const { rows: later } = await school.run(studentAttendance, { admissionNo: 'A-109' });
    expect(later[0]).toMatchObject({ leave: 1, absenceStreak: 0 });
  });

  it('has no row of a student who has left, and 0 % of one never marked', async () => {
    const { rows } = await school.run(studentAttendance, { class: '10' });
    expect(rows.map(({ name, percent }) => [name, percent])).toEqual([
      ['Ishan Bose', 0],
      ['Jaya Nair', 0],
      ['Kabir Das', 0],
    ]);
  });

  it('reads so', async () => {
    expect(
      await school.review(studentAttendance, {
        admissionNo: 'A-101',
        start: '2027-01-14',
        end: '2027-01-20',
      }),
    ).toMatchSnapshot();
  });
});
