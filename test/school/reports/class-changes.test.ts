/** Students who changed class: the same days for marks and working days, whichever class is asked about. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { SentParameters } from '../../../src/school/reports/engine/parameters.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import { attendanceShortage, studentAttendance } from '../../../src/school/reports/student-attendance.js';
import { readText, scopeWith, useReports } from './use-reports.js';

const test = useReports('2026-07-31T12:00:00.000Z');
const RANGE = { start: '2026-04-01', end: '2026-07-31' };
/** Every day that is no Sunday. */
const WORKING_DAYS = Array.from({ length: 122 }, (_, index) => new Date(Date.UTC(2026, 3, 1 + index)))
  .filter((day) => day.getUTCDay() !== 0)
  .map((day) => day.toISOString().slice(0, 10));

/**
 * `moved` is in 4 until June and always there; `truant` moves too, and is never there in July; `stays` was
 * never marked.
 */
const classOn = (day: string) => (day < '2026-07-01' ? '4' : '5');

beforeAll(async () => {
  await test.insert(
    'class',
    ['4', '5'].map((name) => ({ _id: `c${name}`, name, order: Number(name), sections: [{ name: 'A' }] })),
  );
  // A holiday of class 5 while both were in class 4: they had school.
  await test.insert('holiday', [{ _id: 'h1', date: '2026-06-10', name: 'Excursion', classes: ['5'] }]);
  await test.insert(
    'registration',
    ['moved', 'truant', 'stays'].map((id) => ({
      ...{ _id: id, sequence: id, name: id, class: '5', section: 'A', session: '2026-27' },
      ...{ status: 'active', admitted_on: '2024-04-01' },
    })),
  );
  await test.mark(
    WORKING_DAYS.flatMap((day) => [
      { student: 'moved', day, class: classOn(day), status: 'present' },
      { student: 'truant', day, class: classOn(day), status: day < '2026-07-01' ? 'present' : 'absent' },
    ]),
  );
});

async function rowsOf(report: Report, sent: SentParameters): Promise<readonly JsonObject[]> {
  const answer = (await report.run(test.services, scopeWith(['admin']), sent)).answer({ format: 'json' });
  return (JSON.parse(await readText(answer)) as { rows: JsonObject[] }).rows;
}

describe('attendance shortage of a class', () => {
  it('does not list who was always there, in another class before', async () => {
    const rows = await rowsOf(attendanceShortage, { ...RANGE, class: '5', below: '100' });
    expect(
      rows.map(({ studentId, class: className, workingDays, presentDays, absent, unmarked, percent }) => [
        studentId,
        className,
        workingDays,
        presentDays,
        absent,
        unmarked,
        percent,
      ]),
    ).toEqual([
      ['stays', '5', 104, 0, 0, 104, 0],
      ['truant', '5', 105, 78, 27, 0, 74.29],
    ]);
  });

  it('lists those of the registration, none of whom is in the class before', async () => {
    expect(await rowsOf(attendanceShortage, { ...RANGE, class: '4', below: '100' })).toEqual([]);
  });

  it('says the same as without a class, and as the days of each student', async () => {
    const all = await rowsOf(attendanceShortage, { ...RANGE, below: '100' });
    expect(all).toEqual(await rowsOf(attendanceShortage, { ...RANGE, class: '5', below: '100' }));
    for (const row of all) {
      const [student] = await rowsOf(studentAttendance, { ...RANGE, admission_no: String(row.admissionNo) });
      const { workingDays, presentDays, absent, leave, unmarked, percent } = row;
      expect(student).toMatchObject({ workingDays, presentDays, absent, leave, unmarked, percent });
    }
  });

  it('counts a month before the change by the class of that month', async () => {
    const june = { start: '2026-06', end: '2026-06', below: '100' };
    expect(
      (await rowsOf(attendanceShortage, { ...june, class: '5' })).map(({ studentId }) => studentId),
    ).toEqual(['stays']);
  });
});
