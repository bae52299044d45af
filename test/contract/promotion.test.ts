/** Students are promoted by class: once, all or none, and taken back by one undo. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/base/json/json.js';
import { type Role, useGateway } from './gateway.js';
import { type GraphqlAnswer, send } from './graphql.js';

const gateway = useGateway();

const PROMOTE = `mutation ($promotion: PromoteStudentsInput!) {
  promoteStudents(promotion: $promotion) {
    requestId dryRun toSession promoted stayed left
    students { studentId outcome fromClass fromSection fromRollNo toClass toSection toRollNo }
  }
}`;

const NUMBERED = { session: '2026-27', admitted_on: '2024-04-01', status: 'active' };
const STUDENTS: readonly JsonObject[] = [
  { _id: 'zoya', name: 'Zoya', class: '5', section: 'A', roll_no: 1, ...NUMBERED },
  { _id: 'asha', name: 'Asha', class: '5', section: 'A', roll_no: 2, ...NUMBERED },
  { _id: 'bela', name: 'Bela', class: '5', section: 'B', roll_no: 1, ...NUMBERED },
  { _id: 'gone', name: 'Gone', class: '5', section: 'A', ...NUMBERED, left_on: '2026-09-01' },
  { _id: 'omar', name: 'Omar', class: '6', section: 'A', roll_no: 1, ...NUMBERED },
];

async function ask(promotion: object, as: Role = 'clerk', headers = {}): Promise<GraphqlAnswer> {
  return await send(gateway, { query: PROMOTE, variables: { promotion }, as, headers });
}

async function post(path: string, body: object, headers = {}) {
  const response = await gateway.fetch(path, {
    ...{ method: 'POST', as: 'admin', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: await response.json() };
}

async function readAll(): Promise<ReadonlyMap<string, JsonObject>> {
  const response = await gateway.fetch('/o/recs/registration?stream=true', { as: 'admin' });
  const records = (await response.json()) as readonly JsonObject[];
  return new Map(records.map((record) => [String(record._id), record]));
}

beforeEach(async () => {
  await gateway.sql.query(`delete from records where domain = 'top' and collection <> 'pltf_user'`);
  const sections = ['A', 'B'].map((name) => ({ name }));
  await post(
    '/o/class',
    ['5', '6'].map((name) => ({ name, category: 'Primary', sections })),
  );
  const students = STUDENTS.map((student) => ({ sequence: String(student._id), ...student }));
  expect((await post('/o/registration', students)).status).toBe(201);
});

const BOTH = {
  fromSession: '2026-27',
  classes: [
    { class: '5', toClass: '6' },
    { class: '6', leaves: true },
  ],
};

describe('promoteStudents', () => {
  it('moves classes to the next session, and keeps the former place', async () => {
    const before = await readAll();
    const { data } = await ask({
      ...BOTH,
      exceptions: [{ studentId: 'bela', toClass: '5', toSection: 'A' }],
    });
    expect(data.promoteStudents).toMatchObject({ toSession: '2027-28', promoted: 2, stayed: 1, left: 1 });
    const after = await readAll();
    const from = { from: '2024-04-01', to: '2027-03-31', session: '2026-27' };
    expect(after.get('asha')).toMatchObject({
      ...{ session: '2027-28', class: '6', section: 'A', roll_no: 1, admitted_on: '2024-04-01' },
      earlier_stays: [{ ...from, class: '5', section: 'A', roll_no: 2 }],
    });
    expect(after.get('zoya')).toMatchObject({ class: '6', section: 'A', roll_no: 2 });
    expect(after.get('bela')).toMatchObject({
      ...{ session: '2027-28', class: '5', section: 'A', roll_no: 1 },
      earlier_stays: [{ ...from, class: '5', section: 'B', roll_no: 1 }],
    });
    expect(after.get('omar')).toMatchObject({ class: '6', left_on: '2027-03-31', status: 'withdrawn' });
    expect(after.get('gone')).toEqual(before.get('gone'));
  });

  it('shows every student in a dry run, and changes nothing', async () => {
    const before = await readAll();
    const { data } = await ask({ ...BOTH, rollNumbers: 'KEEP', dryRun: true });
    expect(data.promoteStudents.students).toEqual([
      move('asha', ['5', 'A', 2], ['6', 'A', 2]),
      move('zoya', ['5', 'A', 1], ['6', 'A', 1]),
      move('bela', ['5', 'B', 1], ['6', 'B', 1]),
      move('omar', ['6', 'A', 1], [null, null, null]),
    ]);
    expect(await readAll()).toEqual(before);
  });

  it('is taken back by one undo', async () => {
    const before = await readAll();
    const { data } = await ask(BOTH, 'admin');
    const { requestId } = data.promoteStudents;
    const query = `mutation { undoChange(requestId: "${requestId}") { changed removed } }`;
    const undone = await send(gateway, { query, as: 'admin' });
    expect(undone.data.undoChange).toEqual({ changed: 4, removed: 0 });
    expect(await readAll()).toEqual(before);
  });

  it('does nothing a second time', async () => {
    await ask({ fromSession: '2026-27', classes: [{ class: '5', toClass: '6' }] });
    const before = await readAll();
    const again = await ask({ fromSession: '2026-27', classes: [{ class: '5', toClass: '6' }] });
    expect(again.errors[0]).toMatchObject({
      message: 'All 3 students of these classes are already in 2027-28.',
      extensions: { code: 'CONFLICT' },
    });
    expect(await readAll()).toEqual(before);
    // Those who came from class 5 stay where they are.
    const { data } = await ask({ fromSession: '2026-27', classes: [{ class: '6', leaves: true }] });
    expect(data.promoteStudents).toMatchObject({ left: 1, promoted: 0 });
  });

  it('takes any spelling of a class and section', async () => {
    const classes = [{ class: ' 5\u00a0', section: 'a', toClass: '\u200b6', toSection: ' b' }];
    const { data } = await ask({ fromSession: '2026-27', classes });
    expect(data.promoteStudents).toMatchObject({ promoted: 2 });
    expect((await readAll()).get('asha')).toMatchObject({ class: '6', section: 'B' });
  });

  it('is done once per Idempotency-Key, also by REST', async () => {
    const key = { 'idempotency-key': 'promote-once' };
    const first = await post('/promotions', BOTH, key);
    expect(first).toMatchObject({ status: 200, body: { promoted: 3, left: 1 } });
    expect(await post('/promotions', BOTH, key)).toEqual(first);
    expect((await readAll()).get('asha')).toMatchObject({ class: '6', session: '2027-28' });
  });

  it.each<[string, Role, object, string, string]>([
    ['a role that may not change students', 'teacher', BOTH, 'FORBIDDEN', ''],
    [
      'a class without students',
      'clerk',
      { classes: [{ class: '55', toClass: '6' }] },
      'NOT_FOUND',
      'class 55',
    ],
    [
      'an unknown class',
      'clerk',
      { classes: [{ class: '5', toClass: '66' }] },
      'INVALID_VALUE',
      'toClass is',
    ],
    [
      'an unknown section',
      'clerk',
      { classes: [{ class: '5', toClass: '6', toSection: 'Q' }] },
      'INVALID_VALUE',
      'a section of class 6 (A, B)',
    ],
    ['no target', 'clerk', { classes: [{ class: '5' }] }, 'INVALID_VALUE', 'either toClass, or leaves'],
    [
      'a last day too early',
      'clerk',
      { leftOn: '2016-03-31' },
      'INVALID_VALUE',
      'a day from 2026-04-01 to 2028-03-31',
    ],
    [
      'a last day too late',
      'clerk',
      { leftOn: '2062-03-31' },
      'INVALID_VALUE',
      'a day from 2026-04-01 to 2028-03-31',
    ],
    ['a session before', 'clerk', { toSession: '2025-26' }, 'INVALID_VALUE', 'a session after 2026-27'],
    [
      'a student of another class',
      'clerk',
      { classes: [{ class: '5', toClass: '6' }], exceptions: [{ studentId: 'omar', leaves: true }] },
      'INVALID_VALUE',
      'a student of these classes',
    ],
  ])('refuses %s', async (_name, role, promotion, code, words) => {
    const before = await readAll();
    const { errors } = await ask({ ...BOTH, ...promotion }, role);
    expect(errors[0]?.extensions.code).toBe(code);
    expect(errors[0]?.message).toContain(words);
    expect(await readAll()).toEqual(before);
  });

  it('refuses a misspelt member by REST', async () => {
    const { status, body } = await post('/promotions', { ...BOTH, clases: [] });
    expect(status).toBe(400);
    expect((body as { errors: { pointer: string }[] }).errors[0]?.pointer).toBe('/clases');
  });

  it('promotes 5,000 students in one call', async () => {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'registration', 'many-' || n, $1::jsonb
         || jsonb_build_object('sequence', 'many-' || n, 'name', 'Student ' || n)
       from generate_series(1, 5000) as n`,
      [{ class: '5', section: 'B', ...NUMBERED }],
    );
    const { data, errors } = await ask(BOTH, 'admin');
    expect(errors).toEqual([]);
    expect(data.promoteStudents).toMatchObject({ promoted: 5003, left: 1 });
    const query = `mutation { undoChange(requestId: "${data.promoteStudents.requestId}") { changed } }`;
    expect((await send(gateway, { query, as: 'admin' })).data.undoChange).toEqual({ changed: 5004 });
  });
});

type Place = readonly [string | null, string | null, number | null];

function move(studentId: string, from: Place, to: Place): object {
  const [[fromClass, fromSection, fromRollNo], [toClass, toSection, toRollNo]] = [from, to];
  const outcome = toClass === null ? 'LEFT' : 'PROMOTED';
  return { studentId, outcome, fromClass, fromSection, fromRollNo, toClass, toSection, toRollNo };
}
