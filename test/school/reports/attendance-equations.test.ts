/**
 * What must hold between the numbers of the reports on attendance and results, whatever the school: on
 * random small schools, each a domain of its own, and on the demo school.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEMO_DEFAULTS } from '../../../src/school/demo/demo-options.js';
import { loadDemo } from '../../../src/school/demo/load.js';
import { classAttendance } from '../../../src/school/reports/class-attendance.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import { classGradeBook } from '../../../src/school/reports/grade-book.js';
import { attendanceShortage, studentAttendance } from '../../../src/school/reports/student-attendance.js';
import { teacherAttendance } from '../../../src/school/reports/teacher-attendance.js';
import { sql } from '../../../src/store/sql.js';
import { IS_FULL_LENGTH, runsOf } from '../../full-length.js';
import { readText, scopeWith, useReports } from './use-reports.js';

const test = useReports('2027-03-31T12:00:00.000Z');
const SCHOOLS = 200;
const COUNTS = ['present', 'absent', 'late', 'halfDay', 'leave', 'unmarked'];

/** A row or totals whose members are numbers as far as they are looked at. */
type Line = Readonly<Record<string, never>>;
type Ask = (
  report: Report,
  sent: Readonly<Record<string, string>>,
) => Promise<{ rows: Line[]; totals: Line }>;

function askOf(domain: string): Ask {
  const scope = {
    ...scopeWith(['admin']),
    domain: { id: domain, name: domain, parentId: undefined, timeZone: 'Asia/Kolkata' },
  };
  return async (report, sent) => {
    const run = await report.run(test.services, scope, sent);
    return JSON.parse(await readText(run.answer({ format: 'json' })));
  };
}

function sum(lines: readonly Line[], name: string): number {
  return lines.reduce((all, line) => all + Number(line[name]), 0);
}

function counted(line: Line): number {
  return COUNTS.reduce((all, name) => all + Number(line[name]), 0);
}

/** A class and the months asked for, `YYYY-MM`. */
type Months = Readonly<Record<'class' | 'start' | 'end', string>>;

/** A letter for every day of every line of the register, and counts that make up its working days. */
async function expectRegister(ask: Ask, range: Months): Promise<void> {
  const { rows, totals } = await ask(classAttendance, range);
  const leaveCounts = test.properties.get('leaveCountsPresent') === true;
  for (const line of rows) {
    const letters: string = line.register ?? '';
    expect([...letters]).toHaveLength(new Date(Date.UTC(2026, monthIndex(line), 0)).getUTCDate());
    const count = (letter: string) => [...letters].filter((one) => one === letter).length;
    expect(['P', 'A', 'L', 'H', 'V', '?'].map(count)).toEqual(COUNTS.map((name) => line[name]));
    expect(counted(line)).toBe(line.workingDays);
    expect(line.presentDays).toBe(count('P') + count('L') + count('H') / 2 + (leaveCounts ? count('V') : 0));
  }
  expect(counted(totals)).toBe(totals.workingDaysOnRoll);
  expect(sum(rows, 'workingDays')).toBe(totals.workingDaysOnRoll);
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
}

/** A line brings forward what the student's lines before it had, whichever month was asked for. */
async function expectBroughtForward(ask: Ask, range: Months, month: string): Promise<void> {
  const whole = await ask(classAttendance, range);
  const one = await ask(classAttendance, { class: range.class, start: month, end: month });
  expect(one.rows).toEqual(whole.rows.filter((line) => line.month === month));
  for (const student of new Set(whole.rows.map(({ studentId }) => String(studentId)))) {
    const lines = whole.rows
      .filter(({ studentId }) => studentId === student)
      .toSorted((a, b) => Number(a.broughtForwardWorkingDays) - Number(b.broughtForwardWorkingDays));
    for (const [index, line] of lines.entries()) {
      // Lines without a working day, which bring the same forward, may stand on either side of one another.
      const before = lines.slice(0, index);
      expect(line.broughtForwardWorkingDays).toBe(sum(before, 'workingDays'));
      expect(line.broughtForwardPresentDays).toBe(sum(before, 'presentDays'));
    }
  }
}

/**
 * The same by student as by register, below 100 % as by student (who left is nobody to call), and by section
 * as by class.
 */
async function expectSameByStudent(ask: Ask, range: Months, domain: string): Promise<void> {
  const register = await ask(classAttendance, range);
  const students = await ask(studentAttendance, range);
  for (const name of [...COUNTS, 'presentDays', 'percent'])
    expect(students.totals[name]).toBe(register.totals[name]);
  const shortage = await ask(attendanceShortage, { ...range, below: '100' });
  const studentsById = new Map(students.rows.map((row) => [String(row.studentId), row]));
  for (const row of shortage.rows) {
    expect(row.presentDays).toBe(studentsById.get(String(row.studentId))?.presentDays);
  }
  const left = await listStudentsWhoLeft(domain, range.end);
  const below = students.rows.filter(
    ({ percent, studentId }) => percent !== null && Number(percent) < 100 && !left.has(String(studentId)),
  );
  expect(shortage.rows.map(({ studentId }) => studentId).toSorted()).toEqual(
    below.map(({ studentId }) => studentId).toSorted(),
  );
  const sections = new Set(register.rows.map(({ section }) => String(section)));
  const bySection = await Promise.all(
    [...sections].map((section) => ask(classAttendance, { ...range, section })),
  );
  expect(bySection.reduce((all, { totals }) => all + Number(totals.workingDaysOnRoll), 0)).toBe(
    register.totals.workingDaysOnRoll,
  );
  expect(bySection.reduce((all, { rows }) => all + rows.length, 0)).toBe(register.rows.length);
}

/** Those whose last day came before the last day of the month. */
async function listStudentsWhoLeft(domain: string, month: string): Promise<ReadonlySet<string>> {
  const rows = await test.database.query<{ id: string }>(sql`
select id from records where domain = ${domain} and collection = 'registration'
  and (data->>'left_on')::date < ${`${month}-01`}::date + interval '1 month - 1 day'`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Every result is passed, in a compartment, failed, incomplete or exempt from all; ranks count from 1, with
 * the same rank for the same percentage.
 */
async function expectResults(ask: Ask, className: string): Promise<void> {
  const { rows, totals } = await ask(classGradeBook, {
    session: '2026-27',
    term: 'halfyear',
    class: className,
  });
  const outcomes = ['pass', 'compartment', 'fail', 'incomplete'];
  for (const outcome of outcomes) {
    expect(rows.filter(({ result }) => result === outcome)).toHaveLength(Number(totals[outcome]));
  }
  const exempt = rows.filter(({ result }) => result === null);
  expect(outcomes.reduce((all, name) => all + Number(totals[name]), exempt.length)).toBe(totals.students);
  for (const row of rows) {
    const ahead = rows.filter(
      (other) => other.percent !== null && Number(other.percent) > Number(row.percent),
    );
    expect(row.classRank).toBe(row.percent === null ? null : ahead.length + 1);
    expect(row.rank).toBe(
      row.percent === null ? null : ahead.filter(({ section }) => section === row.section).length + 1,
    );
    const subjects: Line[] = row.subjects ?? [];
    const isIncomplete = subjects.some(({ state }) => String(state) === 'incomplete');
    expect(row.result === 'incomplete').toBe(isIncomplete);
  }
  const footers: Line[] = totals.subjects ?? [];
  for (const footer of footers) {
    const subjects = rows
      .flatMap((row): Line[] => row.subjects ?? [])
      .filter(({ subject }) => subject === footer.subject);
    const graded = subjects.filter(({ state }) => String(state) === 'graded');
    expect(graded).toHaveLength(Number(footer.graded));
    expect(subjects.filter(({ state }) => String(state) === 'incomplete')).toHaveLength(
      Number(footer.incomplete),
    );
    const percents = graded.map(({ percent }) => Number(percent));
    expect(footer.highest).toBe(percents.length === 0 ? null : Math.max(...percents));
  }
}

const WEEKLY_OFFS = [['SU'], ['SU', '2SA', '4SA'], []];
const dayOfTerm = fc
  .integer({ min: 0, max: 91 })
  .map((days) => new Date(Date.UTC(2026, 3, 1 + days)).toISOString().slice(0, 10));

const schools = fc.record({
  weeklyOffs: fc.constantFrom(...WEEKLY_OFFS),
  leaveCountsPresent: fc.boolean(),
  students: fc.array(
    fc.record({
      section: fc.constantFrom('A', 'B'),
      admittedOn: fc.option(dayOfTerm, { freq: 3, nil: '2024-04-01' }),
      leftAfter: fc.option(fc.integer({ min: 0, max: 91 }), { freq: 4 }),
      marks: fc.uniqueArray(
        fc.record({
          day: dayOfTerm,
          status: fc.constantFrom('present', 'present', 'absent', 'late', 'half_day', 'leave', 'N/A'),
        }),
        { maxLength: 40, selector: ({ day }) => day },
      ),
      subjects: fc.array(
        fc.array(
          fc.record({
            state: fc.constantFrom('scored', 'scored', 'scored', 'absent', 'exempt', 'not_entered'),
            max: fc.constantFrom(20, 50, 80, 100),
            share: fc.integer({ min: 0, max: 200 }),
            weight: fc.constantFrom(20, 50, 80),
          }),
          { minLength: 1, maxLength: 3 },
        ),
        { minLength: 1, maxLength: 4 },
      ),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  holidays: fc.array(
    fc.record({ day: dayOfTerm, isWorking: fc.boolean(), classes: fc.constantFrom([], ['5'], ['6']) }),
    { maxLength: 8 },
  ),
});
type School = typeof schools extends fc.Arbitrary<infer Value> ? Value : never;

const SUBJECTS = ['English', 'Mathematics', 'हिन्दी', 'Science'];

async function insertSchool(domain: string, school: School): Promise<void> {
  const rows = [
    {
      collection: 'class',
      id: 'c5',
      data: { name: '5', category: 'Primary', order: 5, sections: [{ name: 'A' }, { name: 'B' }] },
    },
    ...school.holidays.map((holiday, index) => ({
      collection: 'holiday',
      id: `h${index}`,
      data: {
        date: holiday.day,
        name: `Holiday ${index}`,
        working: holiday.isWorking,
        classes: holiday.classes,
      },
    })),
    ...school.students.flatMap((student, index) => recordsOf(student, index)),
  ];
  await test.database.query(sql`
insert into records (domain, collection, id, data, keys)
select ${domain}, row->>'collection', row->>'id', row->'data', row->'keys'
  from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
}

function recordsOf(student: School['students'][number], index: number) {
  const { section, admittedOn, leftAfter } = student;
  const reference = { value: `s${index}`, label: `Student ${index}` };
  const leftOn =
    leftAfter === null
      ? undefined
      : new Date(Math.max(Date.parse('2026-04-01'), Date.parse(admittedOn)) + leftAfter * 86_400_000)
          .toISOString()
          .slice(0, 10);
  return [
    {
      collection: 'registration',
      id: `s${index}`,
      data: {
        sequence: `A${index}`,
        name: `Student ${index}`,
        class: '5',
        section,
        session: '2026-27',
        admitted_on: admittedOn,
        ...(leftOn ? { left_on: leftOn, status: 'withdrawn' } : { status: 'active' }),
      },
    },
    ...student.marks.map(({ day, status }) => ({
      collection: 'attendance',
      id: `a${index}-${day}`,
      data: {
        created: `${day}T03:30:00.000Z`,
        student: reference,
        class: '5',
        section,
        status,
      },
      keys: { student_day: JSON.stringify([`s${index}`, day]) },
    })),
    {
      collection: 'result',
      id: `r${index}`,
      data: {
        session: '2026-27',
        term: 'halfyear',
        admission_no: `A${index}`,
        student: reference,
        class: '5',
        section,
        subjects: student.subjects.map((components, place) => ({
          subject: SUBJECTS[place],
          components: components.map(({ state, max, share, weight }, part) => ({
            ...{ name: `Part ${part}`, max, weight, state },
            ...(state === 'scored' ? { marks: (max * share) / 200 } : {}),
          })),
        })),
      },
    },
  ];
}

it('holds on random small schools', async () => {
  let count = 0;
  const range = { class: '5', start: '2026-04', end: '2026-07' };
  await fc.assert(
    fc.asyncProperty(schools, async (school) => {
      const domain = `school-${count++}`;
      await insertSchool(domain, school);
      test.properties.set('weeklyOffs', school.weeklyOffs);
      test.properties.set('leaveCountsPresent', school.leaveCountsPresent);
      const ask = askOf(domain);
      await expectRegister(ask, range);
      await expectBroughtForward(ask, range, '2026-05');
      await expectSameByStudent(ask, range, domain);
      await expectResults(ask, '5');
    }),
    runsOf(SCHOOLS),
  );
}, 240_000);

describe('the demo school', () => {
  beforeAll(async () => {
    test.properties.set('weeklyOffs', ['SU', '2SA', '4SA']);
    test.properties.set('leaveCountsPresent', false);
    const demo = { ...DEMO_DEFAULTS, students: IS_FULL_LENGTH ? 240 : 60, today: '2027-03-31' };
    await loadDemo(test.database, test.catalog, { demo, onExisting: 'refuse' });
  });

  it.each(['1', '5', '10', '12'])('holds in class %s', async (className) => {
    const ask = askOf('demo');
    const range = { class: className, start: '2026-04', end: '2027-03' };
    await expectRegister(ask, range);
    await expectBroughtForward(ask, range, '2026-12');
    await expectSameByStudent(ask, range, 'demo');
    await expectResults(ask, className);
  });

  it('counts every school day of a staff member once', async () => {
    const { rows, totals } = await askOf('demo')(teacherAttendance, {
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
});

/** Months after `2026-00`. */
function monthIndex({ month }: Line): number {
  const text: string = month ?? '';
  return (Number(text.slice(0, 4)) - 2026) * 12 + Number(text.slice(5));
}
