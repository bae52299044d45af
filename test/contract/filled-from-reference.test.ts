/** A text that must agree with the record at a reference follows from it where it is not sent. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();

async function rest(method: string, path: string, body: object, as: 'admin' | 'teacher' = 'admin') {
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch(path, { method, as, headers, body: JSON.stringify(body) });
  return { status: response.status, body: JSON.parse((await response.text()) || 'null') };
}

const WRITTEN = { name: 'Written', max: 80, weight: 100, marks: 50, state: 'scored' };
const MARKS = {
  ...{ term: 'halfyear', session: '2025-26' },
  subjects: [{ subject: 'Maths', components: [WRITTEN] }],
};

beforeAll(async () => {
  const sections = [{ name: 'A' }, { name: 'B' }];
  for (const name of ['4', '5']) await rest('POST', '/o/class', { name, category: 'primary', sections });
  await rest('POST', '/o/registration', {
    ...{ _id: 's-1', sequence: 'GV-1', name: 'Asha', class: '5', section: 'B', session: '2026-27' },
    ...{ admitted_on: '2025-04-01', gender: 'female', status: 'active' },
    earlier_stays: [{ session: '2025-26', class: '4', section: 'A', from: '2025-04-01', to: '2026-03-31' }],
  });
});

const DOORS: Readonly<Record<string, () => Promise<unknown>>> = {
  'REST, one': () => rest('POST', '/o/result', { ...MARKS, student: 's-1' }),
  'REST, a list': () => rest('POST', '/o/result', [{ ...MARKS, student: 's-1' }] as object),
  'REST, a replacement': async () => {
    const place = { admission_no: 'GV-1', class: '4', section: 'A' };
    await rest('POST', '/o/result', { ...MARKS, _id: 'r-1', student: 's-1', ...place });
    expect((await rest('PUT', '/o/recs/result/r-1', { ...MARKS, student: 's-1' })).status).toBe(200);
  },
  'GraphQL, typed': () =>
    ask(
      gateway,
      `mutation {
        createResult(data: {
          student: {id: "s-1"}, term: HALFYEAR, session: "2025-26", subjects: [{
            subject: "Maths", components: [{name: "Written", max: 80, weight: 100, marks: 50, state: SCORED}]
          }]
        }) { id }
      }`,
    ),
  'GraphQL, an upsert': () =>
    ask(gateway, 'mutation($d: [JSON!]!) { upsertRecords(collection: "result", data: $d) { count } }', {
      variables: { d: [{ ...MARKS, _id: 'r-1', student: 's-1' }] },
    }),
  'a script': async () => {
    const code = `export default (data) => platform.db.create('result', data)`;
    await ask(gateway, 'mutation($s: SaveScriptInput!) { saveScript(script: $s) { name } }', {
      variables: { s: { name: 'mark', code } },
    });
    await ask(gateway, 'mutation($a: JSON) { runScript(name: "mark", arguments: $a) { error { code } } }', {
      variables: { a: { ...MARKS, student: 's-1' } },
    });
  },
};

describe('results without admission number, class and section', () => {
  it.each(Object.keys(DOORS))('get those of the student in that session: %s', async (door) => {
    await gateway.sql.query(`delete from records where collection = 'result'`);
    await DOORS[door]?.();
    const { rows } = await gateway.sql.query<{ place: string }>(
      `select concat_ws(' ', data->>'admission_no', data->>'class', data->>'section') as place,
         (keys->>'student_term') is null as is_keyless
       from records where collection = 'result' and deleted_at is null`,
    );
    expect(rows.map(({ place }) => place)).toEqual(['GV-1 4 A']);
  });
});

it('fills in marks of attendance from a file by the day', async () => {
  const { take, run } = importSteps(gateway);
  const { id } = await take(
    'attendance',
    'student,created,status\ns-1,2026-03-02,present\ns-1,2026-07-01,absent\n',
  );
  const done = await run(id, 'mode=rows');
  const errors = await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' });
  expect([done.counts, await errors.text()]).toMatchObject([{ created: 2, refused: 0 }, '[]']);
  const { rows } = await gateway.sql.query(
    `select data->>'class' as class, data->>'section' as section from records
     where collection = 'attendance' order by data->>'created'`,
  );
  expect(rows).toEqual([
    { class: '4', section: 'A' },
    { class: '5', section: 'B' },
  ]);
});

it('refuses a record from which nothing follows, and says what is missing', async () => {
  const unknown = await rest('POST', '/o/result', { ...MARKS, session: '2020-21', student: 's-1' });
  expect(unknown.status).toBe(400);
  expect(unknown.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    '/class',
    '/section',
  ]);
  const { errors } = await send(gateway, {
    ...{ as: 'admin', query: 'mutation($d: JSON!) { createRecord(collection: "result", data: $d) { id } }' },
    variables: { d: { ...MARKS, student: 'nobody' } },
  });
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['INVALID_VALUE']);
});
