/** A few rounds of the campaign of the same name, and what is derived after writes that it does not do. */
import { beforeAll, expect, it } from '@jest/globals';
import { Random } from '../../../../src/school/demo/random.js';
import { useGateway } from '../../../contract/gateway.js';
import { expectEventually } from '../../../expect-eventually.js';
import { dropDerivingTriggers, expectDerived } from './expect-derived.js';
import { expectRecomputed } from './expect-recomputed.js';
import { RandomSchool } from './random-school.js';

const gateway = useGateway();

beforeAll(() => dropDerivingTriggers(gateway.sql));

async function send(method: string, path: string, body?: object | string): Promise<Response> {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return await gateway.fetch(path, {
    method,
    as: 'admin',
    ...(text !== undefined && { body: text, headers: { 'content-type': 'application/json' } }),
  });
}

async function graphql(query: string) {
  const answer = JSON.parse(await (await send('POST', '/graphql', { query })).text());
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  return answer.data;
}

const due = (id: string, student: string, month: string) => ({
  ...{ _id: id, student: { value: student }, session: '2026-27', month },
  ...{ fee_head: `Tuition ${id}`, amount: 100, due_date: `${month}-10`, class: '1', section: 'A' },
});

it.each([1, 2, 3])('every report says what its records come to, in school %i', async (seed) => {
  const school = new RandomSchool(gateway, new Random(seed));
  await school.begin();
  for (let index = 0; index < 70; index++) await school.write();
  expect(await expectDerived(gateway.sql)).toBeGreaterThan(10);
  await expectRecomputed(school);
});

it('months that many write at once hold what each of them wrote', async () => {
  await new RandomSchool(gateway, new Random(4)).begin();
  const [student = ''] = await listIds('registration');
  const days = Array.from({ length: 24 }, (_, index) => `2026-04-${String(index + 1).padStart(2, '0')}`);
  await placeInFirst(
    [student],
    days.map((day) => `due-${day}`),
  );
  const mark = (day: string, status: string) => ({
    ...{ _id: `mark-${day}`, created: `${day}T04:00:00.000Z`, class: '1', section: 'A', status },
    student: { value: student },
  });
  const done = await Promise.all(
    days.flatMap((day) => [
      send('POST', '/o/attendance', mark(day, 'present')),
      send('POST', '/o/fee_due', due(`due-${day}`, student, '2026-04')),
    ]),
  );
  expect(done.map(({ status }) => status)).toEqual(done.map(() => 201));
  await expectDerived(gateway.sql);
  const changed = await Promise.all(
    days.flatMap((day, index) => {
      if (index % 3 === 0)
        return [
          send('DELETE', `/o/recs/attendance/mark-${day}`),
          send('DELETE', `/o/recs/fee_due/due-${day}`),
        ];
      return [
        send('PATCH', `/o/recs/attendance/mark-${day}`, { status: 'absent' }),
        send('PATCH', `/o/recs/fee_due/due-${day}`, { month: index % 3 === 1 ? '2026-04' : '2026-05' }),
      ];
    }),
  );
  expect(changed.filter(({ ok }) => !ok)).toEqual([]);
  await expectDerived(gateway.sql);
  const { rows } = await gateway.sql.query(
    `select bit_count(present::bit(31))::int as present, bit_count(absent::bit(31))::int as absent
     from attendance_months where student = $1`,
    [student],
  );
  expect(rows).toEqual([{ present: 0, absent: 16 }]);
});

it('months hold what an import makes and changes', async () => {
  await new RandomSchool(gateway, new Random(5)).begin();
  const [student = '', other = ''] = await listIds('registration');
  const dues = ['known', ...['2026-06', '2026-07'].flatMap((month) => [`one-${month}`, `two-${month}`])];
  await placeInFirst([student, other], dues);
  await send('POST', '/o/fee_due', due('known', student, '2026-06'));
  const records = [
    { ...due('known', student, '2026-06'), amount: 250 },
    ...['2026-06', '2026-07'].flatMap((month) => [
      due(`one-${month}`, student, month),
      due(`two-${month}`, other, month),
    ]),
  ];
  const lines = records.map((record) => JSON.stringify({ ...record, student: record.student.value }));
  const file = new Blob([lines.join('\n')], { type: 'application/x-ndjson' });
  const taken = await gateway.fetch('/imports?collection=fee_due&name=dues.ndjson&by=_id', {
    ...{ method: 'POST', as: 'admin', body: file },
  });
  const { id } = JSON.parse(await taken.text());
  const state = async () => JSON.parse(await (await send('GET', `/imports/${id}`)).text()).state;
  await expectEventually(state, 'ready');
  await send('POST', `/imports/${id}/run`);
  await expectEventually(state, 'done');
  expect(await dueIn('2026-06')).toBe('450');
  await expectDerived(gateway.sql);
});

it('nothing that is kept by months names a person who was erased', async () => {
  const school = new RandomSchool(gateway, new Random(6));
  await school.begin();
  for (let index = 0; index < 15; index++) await school.write();
  for (const student of (await listIds('registration')).slice(0, 2)) {
    await graphql(`mutation { erasePerson(collection: "registration", id: "${student}") { pseudonym } }`);
    await expectDerived(gateway.sql);
    const { rows } = await gateway.sql.query(
      `select 'fees' as kept from fee_months where student = $1
       union all select 'attendance' from attendance_months where student = $1`,
      [student],
    );
    expect(rows).toEqual([]);
  }
});

/** Puts the students in section A of class 1, and adds the fee heads of the dues. */
async function placeInFirst(students: readonly string[], dues: readonly string[]): Promise<void> {
  for (const [index, student] of students.entries()) {
    const place = { class: '1', section: 'A', roll_no: 900 + index, session: '2026-27', earlier_stays: null };
    const { status } = await send('PATCH', `/o/recs/registration/${student}`, place);
    expect(status).toBe(200);
  }
  for (const id of dues) await send('POST', '/o/fee_head', { name: `Tuition ${id}` });
}

async function listIds(collection: string): Promise<readonly string[]> {
  const { rows } = await gateway.sql.query<{ id: string }>(
    `select id from records where domain = 'top' and collection = $1 and deleted_at is null order by id`,
    [collection],
  );
  return rows.map(({ id }) => id);
}

async function dueIn(month: string): Promise<string> {
  const { rows } = await gateway.sql.query<{ due: string }>(
    'select sum(due)::text as due from fee_months where month = $1',
    [month],
  );
  return rows[0]?.due ?? '';
}
