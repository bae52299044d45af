import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway();

/**
 * A filter by a name that is not declared is answered, for records may hold such fields; who mistyped one is
 * told.
 */
async function hintsOf(
  query: string,
  as: 'admin' | 'viewer' = 'admin',
): Promise<readonly string[] | undefined> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors, extensions } = (await response.json()) as Answered;
  expect(errors).toBeUndefined();
  return extensions?.hints;
}

const CLASS = 'No field "clas" is declared on attendance. Did you mean "class"?';

describe('a step of a path that leads nowhere', () => {
  const reference = (name: string) =>
    `"student" of attendance is a reference: it holds only "value" and "label", not "${name}". A condition ` +
    'on the record that it points to is written as `record` in `where`, or after a $lookup in a script.';

  it.each([
    ['attendance', 'oquery=student.class=5', reference('class')],
    ['attendance', 'sort=student.class', reference('class')],
    ['attendance', 'oquery=student.value.class=5', reference('value.class')],
    ['attendance', 'project=student.class', reference('class')],
    ['attendance', 'oquery=student.value=s-1,student.label=*A', null],
    [
      'fee_receipt',
      'oquery=lines.fee_hed=x',
      'No field "fee_hed" is declared on "lines" of fee_receipt. Did you mean "fee_head"?',
    ],
    ['fee_receipt', 'oquery=lines.bicycle=x', 'No field "bicycle" is declared on "lines" of fee_receipt.'],
    ['fee_receipt', 'sort=lines.0.fee_head', null],
    ['task', 'oquery=name.first=x', '"name" of task is a text; it has no members.'],
    ['task', 'sort=created_on,_id', null],
  ])('is pointed out: %s?%s', async (collection, query, hint) => {
    const response = await gateway.fetch(`/o/recs/${collection}?${query}`, { as: 'admin' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-hint')).toBe(hint);
  });

  it('is pointed out where one record is read', async () => {
    await ask(gateway, 'mutation { createRecord(collection: "task", data: {_id: "one", name: "x"}) { id } }');
    const response = await gateway.fetch('/o/recs/task/one?project=nam', { as: 'admin' });
    expect(response.headers.get('x-hint')).toBe('No field "nam" is declared on task. Did you mean "name"?');
  });

  it('is pointed out where a record is written', async () => {
    const send = async (method: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const response = await gateway.fetch(path, {
        method,
        headers,
        body: JSON.stringify(body),
        as: 'admin',
      });
      return response.headers.get('x-hint');
    };
    const hint = 'No field "amuont" is declared on task. Did you mean "amount"?';
    expect(await send('POST', '/o/task', [{ _id: 'two', name: 'x', amuont: 1 }])).toBe(hint);
    expect(await send('PATCH', '/o/recs/task/two', { amuont: 2 })).toBe(hint);
    expect(await send('PUT', '/o/recs/task/two', { name: 'x', amuont: 2 })).toBe(hint);
    expect(await send('PUT', '/o/recs/task/two', { name: 'x', amount: 2, bicycle: 1 })).toBeNull();
  });
});

describe('a name that is nearly a declared one', () => {
  beforeAll(async () => {
    await ask(
      gateway,
      'mutation { createRecord(collection: "task", data: {name: "x", nickname: "y", amountt: 1}) { id } }',
    );
  });

  it.each([
    ['in an oquery', '{ attendanceRecords(oquery: "clas=5") { totalCount } }', [CLASS]],
    [
      'in an oquery of any collection',
      '{ records(collection: "attendance", oquery: "clas=5") { totalCount } }',
      [CLASS],
    ],
    [
      'in an order of any collection',
      '{ records(collection: "attendance", orderBy: [{field: "clas"}]) { totalCount } }',
      [CLASS],
    ],
    [
      'in a projection',
      '{ records(collection: "attendance", project: ["clas", "sectoin"]) { nodes { data } } }',
      [CLASS, 'No field "sectoin" is declared on attendance. Did you mean "section"?'],
    ],
    [
      'not where it is declared',
      '{ attendanceRecords(oquery: "class=5,created_on=today") { totalCount } }',
      undefined,
    ],
    [
      'also where it is like no other',
      '{ attendanceRecords(oquery: "bicycle=5") { totalCount } }',
      ['No field "bicycle" is declared on attendance.'],
    ],
    [
      'in a change of many records',
      'mutation { updateRecords(collection: "task", oquery: "nam=x", set: {amuont: 1}) { count } }',
      [
        'No field "nam" is declared on task. Did you mean "name"?',
        'No field "amuont" is declared on task. Did you mean "amount"?',
      ],
    ],
    [
      'in what is stored',
      'mutation { createRecord(collection: "task", data: {name: "y", amuont: 1, bicycle: 2}) { id } }',
      ['No field "amuont" is declared on task. Did you mean "amount"?'],
    ],
  ])('is pointed out, %s', async (_, query, expected) => {
    for (let time = 1; time <= 2; time += 1) expect(await hintsOf(query)).toEqual(expected);
  });

  it('finds what holds it all the same', async () => {
    const query = '{ records(collection: "task", oquery: "amountt===1") { totalCount } }';
    expect((await send(gateway, { as: 'admin', query })).data).toEqual({ records: { totalCount: 1 } });
  });

  it('is not pointed out by the name of a field the caller may not see', async () => {
    const query = '{ records(collection: "registration", oquery: "guardian_phon=5") { totalCount } }';
    expect(await hintsOf(query, 'viewer')).toEqual(['No field "guardian_phon" is declared on registration.']);
    expect(await hintsOf(query)).toHaveLength(1);
  });

  it('is pointed out where a key is asked for that is not grouped by', async () => {
    const query = (key: string) => `{ tasksAggregate(groupBy: [MANAGER]) { key { ${key} } count } }`;
    expect(await hintsOf(query('name'))).toEqual([
      '`key.name` is null in every group: groupBy does not name it. In `key`, for MANAGER select `manager`.',
    ]);
    expect(await hintsOf(query('manager'))).toBeUndefined();
    expect(await hintsOf('{ tasksAggregate { key { name } count } }')).toEqual([
      '`key.name` is null in every group: groupBy does not name it.',
    ]);
  });

  it('is pointed out by a header on REST', async () => {
    const hintOf = async (query: string) =>
      (await gateway.fetch(`/o/recs/attendance?${query}`, { as: 'admin' })).headers.get('x-hint');
    expect(await hintOf('oquery=clas=5')).toBe(CLASS);
    expect(await hintOf('sort=clas')).toBe(CLASS);
    expect(await hintOf('project=clas')).toBe(CLASS);
    expect(await hintOf('oquery=class=5')).toBeNull();
  });
});

describe('conditions that no record satisfies together', () => {
  const hintOn = (field: string) =>
    `No record satisfies both conditions on "${field}: all conditions of a filter must hold. ` +
    'For one or the other, use `in` or `or` in `where`, `$in` or `$or` in a script.';

  it.each([
    ['attendance', 'oquery=status=absent,status=late', 'status" of attendance'],
    ['attendance', 'oquery=student=s-1,student=s-2', 'student" of attendance'],
    ['attendance', 'oquery=created=today,created=yesterday', 'created" of attendance'],
    ['attendance', 'oquery=created=on2026-04-01,created=on2026-04-02', 'created" of attendance'],
    ['task', 'oquery=amount=>500,amount=<100', 'amount" of task'],
    ['task', 'oquery=created_on=>2026-04-02,created_on=<2026-04-01', 'created_on" of task'],
    ['task', 'where={"and":[{"name":{"equals":"a"}},{"name":{"equals":"b"}}]}', 'name" of task'],
    ['task', 'oquery=_id=a,_id=b', '_id" of task'],
    ['attendance', 'oquery=status=absent,status=absent', undefined],
    ['attendance', 'oquery=created=today,status=absent', undefined],
    ['pltf_user', 'oquery=roles=teacher,roles=admin', undefined],
    ['fee_receipt', 'oquery=lines.fee_head=A,lines.fee_head=B', undefined],
    ['task', 'oquery=amount=>100,amount=<500', undefined],
    ['task', 'oquery=nickname=a,nickname=b', 'nickname'],
    ['task', 'where={"or":[{"name":{"equals":"a"}},{"name":{"equals":"b"}}]}', undefined],
  ])('are pointed out: %s?%s', async (collection, query, field) => {
    const path = `/o/recs/${collection}?${query.replaceAll('"', '%22')}`;
    const response = await gateway.fetch(path, { as: 'admin' });
    expect(response.status).toBe(200);
    const isUndeclared = field === 'nickname';
    const hint = isUndeclared ? 'No field "nickname" is declared on task.' : field && hintOn(field);
    expect(response.headers.get('x-hint')).toBe(hint ?? null);
  });
});

describe('a plus sign in an address', () => {
  const HINT = 'In an address "+" means a blank. Write %2B for a plus sign, as in =%2B919876543210.';

  it.each([
    ['recs/registration?oquery=guardian_phone=+919876543210', HINT],
    ['recs/registration?oquery=guardian_phone==+91', HINT],
    ['recs/registration?oquery=guardian_phone%3D%2A+91', HINT],
    ['recs/registration?where={%22guardian_phone%22:{%22equals%22:%22+91987%22}}', HINT],
    ['recs/registration?oquery=guardian_phone=%2B919876543210', null],
    ['recs/registration?oquery=name=Asha+Rao', null],
  ])('before a number is pointed out: %s', async (path, hint) => {
    const response = await gateway.fetch(`/o/${path}`, { as: 'admin' });
    expect([response.status, response.headers.get('x-hint')]).toEqual([200, hint]);
  });
});
