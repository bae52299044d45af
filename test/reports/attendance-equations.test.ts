/** What must hold between the numbers of the reports on attendance and results, on the demo school. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_DEFAULTS } from '../../src/demo/demo-options.js';
import { loadDemo } from '../../src/demo/load.js';
import { attendanceShortage } from '../../src/reports/attendance-shortage.js';
import { classAttendance } from '../../src/reports/class-attendance.js';
import { classGradeBook } from '../../src/reports/class-grade-book.js';
import type { Report } from '../../src/reports/report.js';
import { studentAttendance } from '../../src/reports/student-attendance.js';
import { teacherAttendance } from '../../src/reports/teacher-attendance.js';
import { readText, scopeWith, useReports } from './use-reports.js';

const test = useReports('2027-03-31T12:00:00.000Z');
const CLASSES = ['1', '5', '10', '12'];
const COUNTS = ['present', 'absent', 'late', 'halfDay', 'leave', 'unmarked'];

/** A row or totals whose members are numbers as far as they are looked at. */
type Line = Readonly<Record<string, never>>;

async function ask(report: Report, sent: Record<string, string>): Promise<{ rows: Line[]; totals: Line }> {
  const scope = {
    ...scopeWith(['admin']),
    domain: { id: 'demo', name: 'Demo', parentId: undefined, timeZone: 'Asia/Kolkata' },
  };
  const run = await report.run(test.services, scope, sent);
  return JSON.parse(await readText(run.answer({ format: 'json' })));
}

function sum(lines: readonly Line[], name: string): number {
  return lines.reduce((all, line) => all + Number(line[name]), 0);
}

function counted(line: Line): number {
  return COUNTS.reduce((all, name) => all + Number(line[name]), 0);
}

beforeAll(async () => {
  test.properties.set('weeklyOffs', ['SU', '2SA', '4SA']);
  const demo = { ...DEMO_DEFAULTS, students: 240, today: '2027-03-31' };
  await loadDemo(test.database, test.catalog, { demo, onExisting: 'refuse' });
}, 120_000);

describe.each(CLASSES)('class %s of the demo school', (className) => {
  const session = { class: className, start: '2026-04', end: '2027-03' };

  it('has a letter for every day of every line of its register, and counts that make up its working days', async () => {
    const { rows, totals } = await ask(classAttendance, session);
    expect(rows.length).toBeGreaterThan(0);
    for (const line of rows) {
      const letters: string = line.register ?? '';
      expect([...letters]).toHaveLength(new Date(Date.UTC(2026, monthIndex(line), 0)).getUTCDate());
      const count = (letter: string) => [...letters].filter((one) => one === letter).length;
      expect([count('P'), count('A'), count('L'), count('H'), count('V'), count('?')]).toEqual(
        COUNTS.map((name) => line[name]),
      );
      expect(counted(line)).toBe(line.workingDays);
      expect(line.presentDays).toBe(count('P') + count('L') + count('H') / 2);
    }
    expect(counted(totals)).toBe(totals.workingDaysOnRoll);
    const months: Line[] = totals.months ?? [];
    for (const name of ['presentDays', 'workingDaysOnRoll', 'unmarked', 'workingDays']) {
      expect(sum(months, name)).toBe(totals[name]);
    }
    for (const month of months) {
      const days: Line[] = month.days ?? [];
      expect(days).toHaveLength(Number(month.workingDays));
      expect(sum(days, 'onRoll')).toBe(month.workingDaysOnRoll);
      for (const day of days) expect(counted(day)).toBe(day.onRoll);
    }
  });

  it('brings forward what the months before had', async () => {
    const whole = await ask(classAttendance, session);
    const december = await ask(classAttendance, { class: className, start: '2026-12', end: '2026-12' });
    expect(december.rows).toEqual(whole.rows.filter(({ month }) => month === '2026-12'));
    for (const line of december.rows) {
      const before = whole.rows.filter(
        (other) => other.studentId === line.studentId && String(other.month) < '2026-12',
      );
      expect(line.broughtForwardWorkingDays).toBe(sum(before, 'workingDays'));
      expect(line.broughtForwardPresentDays).toBe(sum(before, 'presentDays'));
    }
  });

  it('counts the same by student as by register, and by section as by class', async () => {
    const register = await ask(classAttendance, session);
    const students = await ask(studentAttendance, session);
    for (const name of [...COUNTS, 'presentDays', 'percent'])
      expect(students.totals[name]).toBe(register.totals[name]);
    const shortage = await ask(attendanceShortage, { ...session, below: '100' });
    const present = new Map(students.rows.map((row) => [row.studentId, row.presentDays]));
    expect(shortage.rows.length).toBeGreaterThan(0);
    for (const row of shortage.rows) expect(row.presentDays).toBe(present.get(row.studentId as never));
    const sections = new Set(register.rows.map(({ section }) => String(section)));
    const bySection = await Promise.all(
      [...sections].map((section) => ask(classAttendance, { ...session, section })),
    );
    expect(bySection.reduce((all, { totals }) => all + Number(totals.workingDaysOnRoll), 0)).toBe(
      register.totals.workingDaysOnRoll,
    );
    expect(bySection.reduce((all, { rows }) => all + rows.length, 0)).toBe(register.rows.length);
  });

  it('has results that are passed, in a compartment, failed or incomplete, and ranks from 1', async () => {
    const { rows, totals } = await ask(classGradeBook, {
      session: '2026-27',
      term: 'halfyear',
      class: className,
    });
    const [pass, compartment, fail, incomplete] = ['pass', 'compartment', 'fail', 'incomplete'].map((name) =>
      Number(totals[name]),
    );
    expect((pass ?? 0) + (compartment ?? 0) + (fail ?? 0) + (incomplete ?? 0)).toBe(totals.students);
    for (const row of rows) {
      const ahead = rows.filter(
        (other) => other.percent !== null && Number(other.percent) > Number(row.percent),
      );
      expect(row.classRank).toBe(row.percent === null ? null : ahead.length + 1);
      expect(row.rank).toBe(
        row.percent === null ? null : ahead.filter(({ section }) => section === row.section).length + 1,
      );
    }
  });
});

it('counts every school day of a staff member once', async () => {
  const { rows, totals } = await ask(teacherAttendance, {
    'name.value': 'usr-teacher',
    start: '2026-04',
    end: '2027-03',
  });
  const counts = ['present', 'absent', 'halfDay', 'leave', 'onDuty', 'unmarked'].map((name) =>
    Number(totals[name]),
  );
  expect(counts.reduce((all, count) => all + count)).toBe(totals.workingDays);
  expect(rows.filter(({ schoolDay }) => schoolDay)).toHaveLength(Number(totals.workingDays));
});

/** Months after `2026-00`. */
function monthIndex({ month }: Line): number {
  const text: string = month ?? '';
  return (Number(text.slice(0, 4)) - 2026) * 12 + Number(text.slice(5));
}
