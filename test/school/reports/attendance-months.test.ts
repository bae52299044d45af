/** `attendance_months` is in step with the records after whatever was done to them. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import type { JsonObject } from '../../../src/base/json/json.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { runsOf } from '../../full-length.js';
import { useReports } from './use-reports.js';

const test = useReports('2026-07-31T12:00:00.000Z');

const student = fc.constantFrom('anu', 'bina "B"');
const day = fc.constantFrom('2026-04-01', '2026-04-30', '2026-05-31', '2026-05-01', '2026-05-02');
const status = fc.constantFrom('present', 'absent', 'late', 'half_day', 'leave', 'N/A', null);
/** An old database holds records without what they need. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 12, nil: undefined });

interface Mark {
  readonly data: JsonObject;
  readonly key: string | null;
}

const mark: fc.Arbitrary<Mark> = fc
  .record({
    student,
    day,
    place: fc.record({
      class: sometimes(fc.constantFrom('5', '6')),
      section: sometimes(fc.constantFrom('A', 'B')),
      status: sometimes(status),
      remark: fc.option(fc.constantFrom('Fever', 'Bus'), { nil: undefined }),
    }),
    key: fc.constantFrom('its own', 'its own', 'its own', 'its own', 'none', 'no list', 'no day'),
  })
  .map(({ student, day, place, key }) => ({
    data: {
      ...(JSON.parse(JSON.stringify(place)) as JsonObject),
      student: { value: student, label: student },
    },
    key: keyText(student, day, key),
  }));

function keyText(student: string, day: string, kind: string): string | null {
  switch (kind) {
    case 'none':
      return null;
    case 'no list':
      return 'anu 2026-04-01';
    case 'no day':
      return JSON.stringify([student, `later than ${day}`]);
    default:
      return JSON.stringify([student, day]);
  }
}

const id = fc.integer({ min: 1, max: 5 });
const isKept = fc.boolean();
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('store'), id, mark, isKept }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('remark', 'delete', 'restore', 'purge', 'exchange', 'put in the place of'),
      id,
      mark,
      isKept,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function statementOf(domain: string, { kind, id, mark }: Step): Sql {
  const all = sql`domain = ${domain} and collection = 'attendance'`;
  const record = sql`${all} and id = ${`${id}`}`;
  const values = sql`${JSON.stringify(mark.data)}::jsonb,
    jsonb_build_object('student_day', ${mark.key}::text)`;
  switch (kind) {
    case 'remark':
      return sql`update records set data = data || '{"remark": "Seen"}' where ${record}`;
    case 'delete':
      return sql`update records set deleted_at = now() where ${record}`;
    case 'restore':
      return sql`update records set deleted_at = null where ${record}`;
    case 'purge':
      return sql`delete from records where ${record}`;
    case 'exchange':
      return sql`update records set data = data || jsonb_build_object('status', case data->>'status'
        when 'present' then 'absent' else 'present' end) where ${all}`;
    case 'put in the place of':
      // One statement that takes a mark of the day away and puts another there.
      return sql`
with gone as (
  update records set deleted_at = now(), keys = null where ${all} and deleted_at is null
    and keys->>'student_day' = ${mark.key} returning id
)
insert into records (domain, collection, id, data, keys)
select ${domain}, 'attendance', 'instead-' || gen_random_uuid(), ${values} where exists (select from gone)`;
    default:
      return sql`
insert into records (domain, collection, id, data, keys) values (${domain}, 'attendance', ${`${id}`},
  ${values})
on conflict (domain, collection, id) do update set data = excluded.data, keys = excluded.keys,
  deleted_at = null`;
  }
}

class Undone extends Error {}

/** A second mark of a day is refused, and then nothing has changed. */
async function take(domain: string, step: Step): Promise<void> {
  try {
    await test.database.transaction(async (transaction) => {
      await transaction.query(statementOf(domain, step));
      if (!step.isKept) throw new Undone();
    });
  } catch (error) {
    const isTaken = error instanceof ServiceError && error.code === 'CONFLICT';
    if (!(error instanceof Undone || isTaken)) throw error;
  }
}

const monthsKept = (domain: string) => sql`
select to_jsonb(m)::text as row from attendance_months m where domain = ${domain}
  order by student, month, class, section`;

/** Told anew from the records, mark by mark and by other means than the triggers'. */
const marksOfRecords = (domain: string) => sql`
select r.keys->>'student_day' as key, coalesce(r.data->>'class', '') as class, coalesce(r.data->>'section',
  '') as section,
  case when r.data->>'status' in ('present', 'absent', 'late', 'half_day', 'leave') then r.data->>'status'
    else 'other' end as status
from records r
where domain = ${domain} and collection = 'attendance' and deleted_at is null
  and r.keys->>'student_day' like '["%","____-__-__"]'
order by 1, 2, 3, 4`;

const marksKept = (domain: string) => sql`
select jsonb_build_array(student, month || '-' || lpad(day::text, 2, '0')) as key, class, section, status
from attendance_months m
cross join lateral (
  values ('present', present), ('absent', absent), ('late', late), ('half_day', half_day), ('leave', leave),
    ('other', other)
) as of_status(status, bits)
cross join generate_series(1, 31) as day
where domain = ${domain} and substr(bits::bit(31)::text, day, 1) = '1'`;

const byKey = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).sort();

async function expectInStep(domain: string): Promise<void> {
  const kept = await test.database.query<{ key: unknown }>(marksKept(domain));
  const stored = await test.database.query<{ key: string }>(marksOfRecords(domain));
  expect(byKey(kept)).toEqual(byKey(stored.map((row) => ({ ...row, key: JSON.parse(row.key) }))));
  expect(
    await test.database.query(
      sql`select student from attendance_months where domain = ${domain}
        and present | absent | late | half_day | leave | other = 0`,
    ),
  ).toEqual([]);
}

async function countDays(domain: string): Promise<number> {
  const rows = await test.database.query(marksKept(domain));
  return rows.length;
}

/** Marks of a student on days, all present in 5 A. */
async function store(domain: string, marks: readonly (readonly [student: string, day: string])[]) {
  const rows = marks.map(([student, day]) => ({
    id: `${student}-${day}`,
    data: { student: { value: student, label: student }, class: '5', section: 'A', status: 'present' },
    keys: { student_day: JSON.stringify([student, day]) },
  }));
  await test.database.query(sql`
insert into records (domain, collection, id, data, keys)
select ${domain}, 'attendance', row->>'id', row->'data', row->'keys'
  from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as row`);
}

describe('the months of attendance', () => {
  it('are in step with the marks after any writes, deletes, purges, and what was undone', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const domain = `steps-${++run}`;
        for (const one of steps) await take(domain, one);
        await expectInStep(domain);
      }),
      runsOf(100),
    );
  });

  it('are in step with what many statements of many marks store at once, in whatever order', async () => {
    const days = ['2026-04-01', '2026-04-30', '2026-05-01', '2026-05-31'];
    const students = Array.from({ length: 60 }, (_, index) => `student-${index}`);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...days.map(() => fc.shuffledSubarray(students, { minLength: 40 }))),
        async (orders) => {
          const domain = `many-${++run}`;
          const marks = orders.map((order, index) => order.map((one) => [one, days[index] ?? ''] as const));
          await Promise.all(marks.map((some) => store(domain, some)));
          await expectInStep(domain);
          expect(await countDays(domain)).toBe(marks.flat().length);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('have every day of a month that is marked by many at once', async () => {
    const days = Array.from({ length: 30 }, (_, index) => `2026-04-${String(index + 1).padStart(2, '0')}`);
    await Promise.all(days.map((day) => store('at-once', [['anu', day]])));
    expect(
      await test.database.query(
        sql`select student, present::bit(31)::text as days from attendance_months
          where domain = 'at-once'`,
      ),
    ).toEqual([{ student: 'anu', days: `${'1'.repeat(30)}0` }]);
  });

  it('of one domain are none of another', async () => {
    await store('here', [['anu', '2026-04-01']]);
    await store('there', [['anu', '2026-04-02']]);
    await test.database.query(sql`delete from records where domain = 'there'`);
    expect(
      await test.database.query(
        sql`select domain, present::bit(31)::text as days from attendance_months
          where domain in ('here', 'there')`,
      ),
    ).toEqual([{ domain: 'here', days: `1${'0'.repeat(30)}` }]);
  });

  it('are made anew from the records, the same', async () => {
    await store('anew', [
      ['anu', '2026-04-01'],
      ['anu', '2026-04-30'],
      ['bina', '2026-05-31'],
    ]);
    const before = await test.database.query(monthsKept('anew'));
    expect(before).toHaveLength(2);
    await test.database.query(sql`select fill_attendance_months()::text`);
    expect(await test.database.query(monthsKept('anew'))).toEqual(before);
  });
});
