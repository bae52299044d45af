/** The class register is what the marks say, day by day: told anew here, without SQL and without months. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { classAttendance } from '../../../src/school/reports/class-attendance.js';
import { sql } from '../../../src/store/sql.js';
import { runsOf } from '../../full-length.js';
import { readText, scopeWith, useReports } from './use-reports.js';

const TODAY = '2026-07-20';
const test = useReports(`${TODAY}T12:00:00.000Z`);
const SCHOOLS = 100;
const LETTERS = { present: 'P', absent: 'A', late: 'L', half_day: 'H', leave: 'V' } as const;
const WORTH: Readonly<Record<string, number>> = { present: 1, late: 1, half_day: 0.5 };

const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const dayOfTerm = fc.integer({ min: 0, max: 121 }).map((days) => dayAfter('2026-04-01', days));
const place = fc.record({ class: fc.constantFrom('5', '5', '6'), section: fc.constantFrom('A', 'B') });

const student = fc.record({
  place,
  admittedOn: fc.option(dayOfTerm, { freq: 3, nil: '2024-04-01' }),
  leftOn: fc.option(dayOfTerm, { freq: 4, nil: '9999-12-31' }),
  /** Where marks are from a day on, besides where the student is registered. */
  moves: fc.array(fc.record({ day: dayOfTerm, place }), { maxLength: 3 }),
  marks: fc.uniqueArray(
    fc.record({
      day: dayOfTerm,
      status: fc.constantFrom('present', 'absent', 'late', 'half_day', 'leave', 'N/A'),
    }),
    { maxLength: 60, selector: ({ day }) => day },
  ),
});
const school = fc.record({
  students: fc.array(student, { minLength: 1, maxLength: 5 }),
  holidays: fc.array(
    fc.record({ day: dayOfTerm, working: fc.boolean(), classes: fc.constantFrom([], ['5'], ['6']) }),
    { maxLength: 8 },
  ),
});
const range = fc.constantFrom(
  ['2026-04', '2026-07'],
  ['2026-05', '2026-06'],
  ['2026-05-11', '2026-06-20'],
  ['2026-07-05', '2026-07-05'],
);
type School = typeof school extends fc.Arbitrary<infer Value> ? Value : never;
type Student = School['students'][number];

interface Mark {
  readonly day: string;
  readonly status: string;
  readonly class: string;
  readonly section: string;
}

function marksOf({ marks, moves, place }: Student): Mark[] {
  return marks
    .map(({ day, status }) => {
      const move = moves.filter((one) => one.day <= day).toSorted((a, b) => (a.day < b.day ? 1 : -1))[0];
      return { day, status, ...(move?.place ?? place) };
    })
    .toSorted((a, b) => (a.day < b.day ? -1 : 1));
}

async function insertSchool(domain: string, { students, holidays }: School): Promise<void> {
  const rows = [
    { collection: 'class', id: 'c5', data: { name: '5', sections: [{ name: 'A' }, { name: 'B' }] } },
    ...holidays.map(({ day, ...rest }, index) => ({
      collection: 'holiday',
      id: `h${index}`,
      data: { date: day, name: 'Holiday', ...rest },
    })),
    ...students.map(({ place, admittedOn, leftOn }, index) => ({
      collection: 'registration',
      id: `s${index}`,
      data: { ...place, name: 'Student', session: '2026-27', admitted_on: admittedOn, left_on: leftOn },
    })),
    ...students.flatMap((student, index) =>
      marksOf(student).map((mark) => ({
        collection: 'attendance',
        id: `a${index}-${mark.day}`,
        data: { ...mark, created: `${mark.day}T03:30:00.000Z`, student: { value: `s${index}` } },
        keys: { student_day: JSON.stringify([`s${index}`, mark.day]) },
      })),
    ),
  ];
  await test.database.query(sql`
insert into records (domain, collection, id, data, keys)
select ${domain}, row->>'collection', row->>'id', row->'data', row->'keys'
  from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
}

interface Line {
  readonly studentId: string;
  readonly month: string;
  readonly section: string;
  readonly register: string;
  readonly broughtForwardPresentDays: number;
  readonly broughtForwardWorkingDays: number;
}

function registerOf({ students, holidays }: School, first: string, last: string): Line[] {
  const until = last < TODAY ? last : TODAY;
  const isWorking = (className: string, day: string) => {
    const ofDay = holidays.filter(
      (one) =>
        one.day === day && (one.classes.length === 0 || one.classes.some((name) => name === className)),
    );
    if (ofDay.length > 0) return ofDay.some(({ working }) => working);
    return new Date(day).getUTCDay() !== 0;
  };
  return students.flatMap((student, index) => {
    const marks = marksOf(student).filter(({ day }) => day <= until);
    const isAsked =
      student.place.class === '5' ||
      marksOf(student).some(
        (mark) => mark.class === '5' && mark.day >= dayAfter(first, -1) && mark.day <= dayAfter(until, 1),
      );
    if (!isAsked) return [];
    const isOnRoll = (day: string) => student.admittedOn <= day && day <= student.leftOn;
    const placeOf = (day: string) => marks.findLast((mark) => mark.day <= day) ?? marks[0] ?? student.place;
    const letterOf = (day: string, section: string) => {
      const at = placeOf(day);
      if (!isOnRoll(day) || at.class !== '5' || at.section !== section) return '–';
      if (!isWorking('5', day)) return '*';
      const status = marks.find((mark) => mark.day === day)?.status;
      return LETTERS[status as keyof typeof LETTERS] ?? '?';
    };
    return daysBy(first, until, (day) => day.slice(0, 7)).flatMap(([month, days]) => {
      const from = days[0] ?? first;
      const before = daysBy('2026-04-01', dayAfter(from, -1), () => 'all').flatMap(([, all]) => all);
      return ['A', 'B']
        .map((section) => ({
          studentId: `s${index}`,
          month,
          section,
          register: days.map((day) => letterOf(day, section)).join(''),
          broughtForwardPresentDays: marks
            .filter(({ day, ...mark }) => day < from && isOnRoll(day) && isWorking(mark.class, day))
            .reduce((sum, { status }) => sum + (WORTH[status] ?? 0), 0),
          broughtForwardWorkingDays: before.filter((day) => isOnRoll(day) && isWorking('5', day)).length,
        }))
        .filter(({ register }) => /[^–]/.test(register));
    });
  });
}

function daysBy(first: string, last: string, nameOf: (day: string) => string): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (let day = first; day <= last; day = dayAfter(day, 1)) {
    groups.set(nameOf(day), [...(groups.get(nameOf(day)) ?? []), day]);
  }
  return [...groups];
}

describe('the class register', () => {
  it('is what the marks of random schools say, whoever moved, joined or left', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(school, range, async (one, [start = '', end = '']) => {
        const domain = `register-${count++}`;
        await insertSchool(domain, one);
        const scope = {
          ...scopeWith(['admin']),
          domain: { id: domain, name: domain, parentId: undefined, timeZone: 'Asia/Kolkata' },
        };
        const run = await classAttendance.run(test.services, scope, { class: '5', start, end });
        const { rows } = JSON.parse(await readText(run.answer({ format: 'json' }))) as { rows: Line[] };
        const told = registerOf(
          one,
          start.length === 7 ? `${start}-01` : start,
          end.length === 7 ? lastOfMonth(end) : end,
        );
        const byKey = (lines: readonly Line[]) =>
          new Map(
            lines.map((line) => [
              `${line.month} ${line.section} ${line.studentId}`,
              [line.register, line.broughtForwardPresentDays, line.broughtForwardWorkingDays],
            ]),
          );
        expect(byKey(rows)).toEqual(byKey(told));
      }),
      runsOf(SCHOOLS),
    );
  });
});

function lastOfMonth(month: string): string {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString().slice(0, 10);
}
