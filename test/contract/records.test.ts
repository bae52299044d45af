import { beforeAll, describe, expect, it } from '@jest/globals';
import { today, yearOfSession } from '../../src/base/model/calendar.js';
import { itAnswers, useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway();
const JSON_BODY = { 'content-type': 'application/json' };

async function list(path: string): Promise<unknown> {
  const response = await gateway.fetch(path, { as: 'viewer' });
  expect(response.status).toBe(200);
  return await response.json();
}

beforeAll(async () => {
  const tasks = [
    {
      _id: 't1',
      name: 'Paint, the wall',
      amount: 100,
      created_on: '2026-04-01T04:30:00Z',
      room: { floor: 1 },
    },
    { _id: 't2', name: 'Mend chairs', amount: 250.5, created_on: '2026-04-30T18:29:59Z' },
    { _id: 't3', name: 'mend tables', amount: 3, created_on: '2026-04-30T18:30:00Z', urgent: true },
  ];
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'clerk',
    headers: JSON_BODY,
    body: JSON.stringify(tasks),
  });
  expect(response.status).toBe(201);
});

describe('GET /o/recs/<collection>', () => {
  it.each([
    ['stream=true', ['t1', 't2', 't3']],
    ['', ['t1', 't2', 't3']],
    ['oquery=', ['t1', 't2', 't3']],
    ['oquery=name=Mend chairs', ['t2']],
    ['oquery=name==Mend', ['t2']],
    ['oquery=name==mend&ci=true', ['t2', 't3']],
    ['oquery=name=*end', ['t2', 't3']],
    ['oquery=name=!*end', ['t1']],
    ['oquery=name=!=Mend', ['t1', 't3']],
    ['oquery=amount===250.5', ['t2']],
    ['oquery=amount=>3', ['t1', 't2']],
    ['oquery=amount=<100', ['t3']],
    ['oquery=amount=>3,name=*wall', ['t1']],
    ['oquery=name=Paint%5C, the wall', ['t1']],
    ['oquery=created_on=%23in2026-04', ['t1', 't2']],
    ['oquery=created_on=on2026-05-01', ['t3']],
    ['oquery=urgent=true', ['t3']],
    ['oquery=created_on=today', []],
    ['sort=-amount', ['t2', 't1', 't3']],
    ['sort=amount&limit=2', ['t3', 't1']],
    ['sort=amount&skip=1', ['t1', 't2']],
    ['limit=2000&sort=amount&skip=2', ['t2']],
    ['_=1700000000', ['t1', 't2', 't3']],
  ])('?%s', async (query, ids) => {
    const records = await list(`/o/recs/task?${query.replaceAll(' ', '%20')}`);
    expect(records).toEqual(ids.map((_id) => expect.objectContaining({ _id })));
  });

  it('gives the data of a record and its _id', async () => {
    expect(await list('/o/recs/task?oquery=amount===100')).toEqual([
      {
        _id: 't1',
        name: 'Paint, the wall',
        amount: 100,
        created_on: '2026-04-01T04:30:00.000Z',
        room: { floor: 1 },
      },
    ]);
  });

  it.each(['project', 'projection'])('gives the fields of %s and _id, nested ones nested', async (name) => {
    expect(await list(`/o/recs/task?oquery=amount===100&${name}=name,room.floor,nonsense`)).toEqual([
      { _id: 't1', name: 'Paint, the wall', room: { floor: 1 } },
    ]);
  });

  it('links from page to page, and from the last one nowhere', async () => {
    const first = await gateway.fetch('/o/recs/task?sort=-amount&limit=2&project=name', { as: 'viewer' });
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
    const second = await gateway.fetch(
      new URL(next, `${gateway.url}/o/recs/task`).href.slice(gateway.url.length),
      {
        as: 'viewer',
      },
    );
    expect(await second.json()).toEqual([{ _id: 't3', name: 'mend tables' }]);
    expect(second.headers.get('link')).toBeNull();
    const cursor = first.headers.get('x-next-cursor') ?? '';
    const again = await list(`/o/recs/task?sort=-amount&limit=2&after=${encodeURIComponent(cursor)}`);
    expect(again).toEqual([expect.objectContaining({ _id: 't3' })]);
  });

  it('streams without a link where stream=true asks for it, whatever the limit', async () => {
    const response = await gateway.fetch('/o/recs/task?stream=true&sort=-amount&limit=2&project=name', {
      as: 'viewer',
    });
    expect(response.headers.get('link')).toBeNull();
    expect(await response.json()).toHaveLength(2);
  });

  it('writes one record a line for Accept: application/x-ndjson, streamed or paged', async () => {
    for (const query of ['project=name&sort=name', 'project=name&sort=name&limit=3']) {
      const response = await gateway.fetch(`/o/recs/task?${query}`, {
        as: 'viewer',
        headers: { accept: 'application/x-ndjson' },
      });
      expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      const lines = (await response.text()).split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line)._id)).toEqual(['t2', 't1', 't3']);
    }
  });

  it('answers HEAD as GET, without a body', async () => {
    const response = await gateway.fetch('/o/recs/task', { method: 'HEAD', as: 'viewer' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.text()).toBe('');
  });

  it('takes the month operator with a bare # as old clients send it', async () => {
    const { hostname, port } = new URL(gateway.url);
    const { connect } = await import('node:net');
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /o/recs/task?stream=true&oquery=created_on=#in2026-04&project=name HTTP/1.1\r\nhost: ` +
        `a\r\nconnection: close\r\nauthorization: Bearer ${gateway.tokenOf('viewer')}\r\n\r\n`,
    );
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toContain('200 OK');
    expect(answer).toContain('"t1"');
    expect(answer).not.toContain('"t3"');
  });
});

describe('POST /o/recs/<collection>', () => {
  itAnswers(gateway, [
    {
      name: 'reads by parameters in a JSON body',
      method: 'POST',
      path: '/o/recs/task?stream=true',
      as: 'viewer',
      body: { oquery: 'amount=>3', project: 'name', limit: 1, sort: '-amount' },
      status: 200,
      expectBody: [{ _id: 't2', name: 'Mend chairs' }],
    },
    {
      name: 'reads by parameters in a form',
      method: 'POST',
      path: '/o/recs/task',
      as: 'viewer',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'oquery=amount%3D%3D%3D3&project=name',
      status: 200,
      expectBody: [{ _id: 't3', name: 'mend tables' }],
    },
  ]);
});

describe("a student's current concession", () => {
  beforeAll(async () => {
    const concession = { name: { value: 's9', label: 'Ravi' }, kind: 'percent', value: 10 };
    const year = yearOfSession(today('Asia/Kolkata', new Date()));
    const session = `${year}-${String((year + 1) % 100).padStart(2, '0')}`;
    const months = { session, from_month: `${year}-04`, to_month: `${year + 1}-03` };
    const records = [
      { _id: 'now', ...concession, ...months },
      { _id: 'over', ...concession, session: '2000-01', from_month: '2000-04', to_month: '2000-12' },
      { _id: 'revoked', ...concession, ...months, revoked_on: '2001-01-01' },
      { _id: 'other', ...concession, ...months, name: { value: 's8', label: 'Ali' } },
    ];
    await gateway.sql.query(
      `insert into records (domain, collection, id, data) values
         ('top', 'registration', 's8', '{"name": "Ali"}'), ('top', 'registration', 's9', '{"name": "Ravi"}')`,
    );
    const answer = await gateway.fetch('/o/fee_concession', {
      method: 'POST',
      as: 'admin',
      headers: JSON_BODY,
      body: JSON.stringify(records),
    });
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([201, '']);
  });

  const path = '/o/recs/fee_concession?stream=true';
  const found = [expect.objectContaining({ _id: 'now' })];
  itAnswers(gateway, [
    {
      name: 'by query',
      method: 'POST',
      path: `${path}&name.value=s9`,
      as: 'accountant',
      status: 200,
      expectBody: found,
    },
    {
      name: 'by body',
      method: 'POST',
      path,
      as: 'accountant',
      body: { 'name.value': 's9' },
      status: 200,
      expectBody: found,
    },
    {
      name: 'by nested body',
      method: 'POST',
      path,
      as: 'accountant',
      body: { name: { value: 's9' } },
      status: 200,
      expectBody: found,
    },
    {
      name: 'by GET: a collection like any other',
      path: '/o/recs/fee_concession?oquery=name=s9&project=kind&sort=_id&limit=1',
      as: 'accountant',
      status: 200,
      expectBody: [{ _id: 'now', kind: 'percent' }],
    },
    {
      name: 'of an unknown student',
      method: 'POST',
      path: `${path}&name.value=nobody`,
      as: 'accountant',
      status: 200,
      expectBody: [],
    },
    {
      name: 'of nobody',
      method: 'POST',
      path,
      as: 'accountant',
      status: 400,
      expectBody: { errors: [expect.objectContaining({ parameter: 'name.value' })] },
    },
    {
      name: 'of two',
      method: 'POST',
      path: `${path}&name.value=s9`,
      as: 'accountant',
      body: { 'name.value': 's8' },
      status: 400,
    },
  ]);
});

describe('creating', () => {
  itAnswers(gateway, [
    {
      name: 'by path',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      body: { _id: 'c1', name: 'By path', amount: 1.5 },
      status: 201,
      expectHeaders: { location: '/o/recs/task/c1', etag: '"1"' },
      expectBody: { _id: 'c1', name: 'By path', amount: 1.5, created_on: expect.stringMatching(/Z$/) },
    },
    {
      name: 'by query',
      method: 'POST',
      path: '/o/?collection=task',
      as: 'clerk',
      body: { _id: 'c2', name: 'By query' },
      status: 201,
      expectHeaders: { location: '/o/recs/task/c2' },
    },
    {
      name: 'by a member of the body, which is not stored',
      method: 'POST',
      path: '/o/',
      as: 'clerk',
      body: { _collection: 'task', _id: 'c3', name: 'By body' },
      status: 201,
    },
    {
      name: 'without the slash',
      method: 'POST',
      path: '/o?collection=task',
      as: 'clerk',
      body: { _id: 'c4', name: 'a' },
      status: 201,
    },
    {
      name: 'by all three, which agree',
      method: 'POST',
      path: '/o/task?collection=task',
      as: 'clerk',
      body: { _collection: 'task', _id: 'c5', name: 'By all' },
      status: 201,
    },
    {
      name: 'a list, in its order',
      method: 'POST',
      path: '/o/task',
      as: 'clerk',
      body: [
        { _id: 'c7', name: 'First' },
        { _id: 'c6', name: 'Second' },
      ],
      status: 201,
      expectHeaders: { location: null },
      expectBody: [expect.objectContaining({ _id: 'c7' }), expect.objectContaining({ _id: 'c6' })],
    },
    {
      name: 'what was stored has no _collection',
      path: '/o/recs/task/c3',
      as: 'viewer',
      status: 200,
      expectBody: { _id: 'c3', name: 'By body' },
    },
  ]);

  it('keeps every digit of a number', async () => {
    const body = '{"_id":"digits","name":"Digits","amount":1250.10,"large":12345678901234567890.123}';
    await gateway.fetch('/o/task', { method: 'POST', as: 'clerk', headers: JSON_BODY, body });
    const text = await (await gateway.fetch('/o/recs/task/digits', { as: 'viewer' })).text();
    expect(text).toContain('1250.10');
    expect(text).toContain('12345678901234567890.123');
  });

  it('answers a repeated request with its Idempotency-Key as the first time, and stores once', async () => {
    const send = () =>
      gateway.fetch('/o/task', {
        method: 'POST',
        as: 'clerk',
        headers: { ...JSON_BODY, 'idempotency-key': 'once' },
        body: '{"name":"Only once"}',
      });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await list('/o/recs/task?oquery=name=Only%20once')).toHaveLength(1);
  });
});

describe('a single record', () => {
  beforeAll(async () => {
    const body = JSON.stringify({ _id: 'single', name: 'Single', amount: 1, note: 'n' });
    await gateway.fetch('/o/task', { method: 'POST', as: 'clerk', headers: JSON_BODY, body });
  });

  const path = '/o/recs/task/single';
  itAnswers(gateway, [
    {
      name: 'has its version as ETag',
      path,
      as: 'viewer',
      status: 200,
      expectHeaders: { etag: '"1"' },
      expectBody: { _id: 'single', amount: 1 },
    },
    {
      name: 'gives chosen fields',
      path: `${path}?project=name`,
      as: 'viewer',
      status: 200,
      expectBody: { _id: 'single', name: 'Single' },
    },
    {
      name: 'is unchanged for who has it',
      path,
      as: 'viewer',
      headers: { 'if-none-match': '"1"' },
      status: 304,
      expectHeaders: { etag: '"1"' },
    },
    {
      name: 'is given to who has another version',
      path,
      as: 'viewer',
      headers: { 'if-none-match': '"0"' },
      status: 200,
    },
    {
      name: 'is changed field by field',
      method: 'PATCH',
      path,
      as: 'clerk',
      headers: { 'if-match': '"1"' },
      body: { amount: 2 },
      status: 200,
      expectHeaders: { etag: '"2"' },
      expectBody: { _id: 'single', name: 'Single', amount: 2, note: 'n' },
    },
    {
      name: 'takes a merge patch',
      method: 'PATCH',
      path,
      as: 'clerk',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"amount":3}',
      status: 200,
      expectHeaders: { etag: '"3"' },
    },
    {
      name: 'is replaced as a whole',
      method: 'PUT',
      path,
      as: 'clerk',
      headers: { 'if-match': '*' },
      body: { _id: 'single', _collection: 'task', name: 'New' },
      status: 200,
      expectHeaders: { etag: '"4"' },
    },
    { name: 'has lost what was not sent', path, as: 'viewer', status: 200, expectBody: { name: 'New' } },
    {
      name: 'has nothing of the names of its address',
      path: '/o/recs/task?oquery=_id=single&project=_collection,name',
      as: 'viewer',
      status: 200,
      expectBody: [{ _id: 'single', name: 'New' }],
    },
    {
      name: 'stays in its collection',
      method: 'PATCH',
      path,
      as: 'clerk',
      body: { _collection: 'class', amount: 9 },
      status: 400,
      expectBody: { errors: [{ pointer: '/_collection', detail: '_collection is "task" by the path' }] },
    },
    { name: 'is removed', method: 'DELETE', path, as: 'clerk', headers: { 'if-match': '"4"' }, status: 204 },
    { name: 'is gone then', path, as: 'viewer', status: 410 },
  ]);

  it('is found under a percent-encoded id, and with a slash at the end', async () => {
    const body = JSON.stringify({ _id: 'a:b.c', name: 'Colon' });
    const created = await gateway.fetch('/o/task', { method: 'POST', as: 'clerk', headers: JSON_BODY, body });
    expect(created.headers.get('location')).toBe('/o/recs/task/a%3Ab.c');
    for (const encoded of ['a%3Ab.c', 'a:b.c', 'a%3Ab%2Ec/']) {
      expect((await gateway.fetch(`/o/recs/task/${encoded}`, { as: 'viewer' })).status).toBe(200);
    }
  });
});

describe('the documented parameters beside oquery', () => {
  beforeAll(async () => {
    const student = {
      _id: 's1',
      name: 'Asha',
      sequence: 'A-1',
      class: '5',
      section: 'A',
      session: '2026-27',
      admitted_on: '2026-04-01',
      status: 'active',
    };
    const send = (path: string, body: unknown) =>
      gateway.fetch(path, { method: 'POST', as: 'admin', headers: JSON_BODY, body: JSON.stringify(body) });
    const answers = [
      await send('/o/registration', student),
      await send('/o/attendance', [
        {
          _id: 'a1',
          created: '2026-04-01T04:00:00Z',
          student: 's1',
          class: '5',
          section: 'A',
          status: 'present',
        },
        {
          _id: 'a2',
          created: '2026-04-02T04:00:00Z',
          student: 's1',
          class: '5',
          section: 'A',
          status: 'absent',
        },
        {
          _id: 'a3',
          created: '2026-04-02T18:30:00Z',
          student: 's1',
          class: '5',
          section: 'A',
          status: 'late',
        },
      ]),
      await send('/o/teacher_attendance', [
        { _id: 'ta1', created_on: '2026-04-01T03:00:00Z', name: 'usr-teacher', status: 'present' },
        { _id: 'ta2', created_on: '2026-04-02T03:00:00Z', name: 'usr-teacher', status: 'absent' },
      ]),
    ];
    expect(await Promise.all(answers.map(async (answer) => (answer.ok ? '' : await answer.text())))).toEqual([
      '',
      '',
      '',
    ]);
  });

  it.each([
    ['/o/recs/registration?stream=true&sequence=A-1', ['s1']],
    ['/o/recs/registration?stream=true&oquery=sequence=A-1', ['s1']],
    ['/o/recs/attendance?class=5&start=2026-04-02&end=2026-04-02', ['a2']],
    ['/o/recs/attendance?start=2026-04-02', ['a2', 'a3']],
    ['/o/recs/attendance?end=2026-04-02&oquery=status=present', ['a1']],
    ['/o/recs/attendance?class=5&oquery=class=5,status=late', ['a3']],
    ['/o/recs/registration?oquery=sequence=A-2', []],
    ['/o/recs/registration?sequence=A-1&oquery=sequence=A-1', ['s1']],
    [
      '/o/recs/teacher_attendance?oquery=created_on=on2026-04-02,name.value=usr-teacher' +
        '&name.value=usr-teacher&created_on=2026-04-02',
      ['ta2'],
    ],
    ['/o/recs/attendance?stream=true&oquery=created=today', []],
    ['/o/recs/teacher_attendance?name.value=usr-teacher&created_on=2026-04-02', ['ta2']],
    ['/o/recs/teacher_attendance?created_on=yesterday', []],
    ['/o/recs/pltf_user?stream=true&oquery=active=true,roles=*teacher', ['usr-teacher']],
    ['/o/recs/pltf_user?roles=teach', ['usr-teacher']],
    ['/o/recs/result?session=2026-27&term=halfyear&admission_no=A-1', []],
  ])('%s', async (path, ids) => {
    const response = await gateway.fetch(`${path}${path.includes('?') ? '&' : '?'}sort=_id`, { as: 'admin' });
    const records = await response.json();
    expect(records).toEqual(ids.map((_id) => expect.objectContaining({ _id })));
  });

  it.each([
    ['attendance?class=13', 404, 'There is no class "13".'],
    ['attendance?class=5A', 404, 'There is no class "5A".'],
    ['registration?sequence=A-2', 404, 'There is no student with the admission number "A-2".'],
    ['result?admission_no=A-2', 404, 'There is no student with the admission number "A-2".'],
    ['pltf_user?roles=techer', 404, 'Nobody has a role with "techer". Did you mean "teacher"?'],
    ['teacher_attendance?name.value=nobody', 404, 'There is no staff member with the ID "nobody".'],
    ['attendance?start=2026-04-02&end=2026-04-01', 400, 'end is 2026-04-01, before start 2026-04-02'],
    ['attendance?start=9999-12-31&end=0001-01-01', 400, 'end is 0001-01-01, before start 9999-12-31'],
    ['attendance?oquery=created=today&start=2026-04-02', 400, 'start excludes created=today in oquery'],
    ['attendance?oquery=created=%23in2026-04&end=2026-04-02', 400, 'end excludes created=#in2026-04'],
    ['attendance?oquery=class=6&class=5', 400, 'The parameter class excludes class=6 in oquery.'],
    ['teacher_attendance?oquery=created_on=today&created_on=2026-04-02', 400, 'excludes created_on=today'],
  ])('%s is %i, not an empty list', async (path, status, detail) => {
    const response = await gateway.fetch(`/o/recs/${path}`, { as: 'admin' });
    const problem = (await response.json()) as { readonly detail: string };
    expect({ status: response.status, detail: problem.detail }).toEqual({
      status,
      detail: expect.stringContaining(detail),
    });
  });

  it('says nothing of a name where the caller may not read the names', async () => {
    // The key reads attendance, and neither classes nor students.
    const scopes = { collections: { attendance: ['read'] }, reports: [], scripts: [] };
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "attendance", scopes: $s}) { key } }',
      { as: 'admin', variables: { s: scopes } },
    );
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    const response = await gateway.fetch('/o/recs/attendance?class=13', { headers });
    expect([response.status, await response.json()]).toEqual([200, []]);
  });

  it('points out that nobody has the ID whose concessions are asked for', async () => {
    const hintOf = async (path: string, method = 'GET') => {
      const response = await gateway.fetch(path, { method, as: 'admin' });
      expect(response.status).toBe(200);
      return response.headers.get('x-hint');
    };
    const read = '/o/recs/fee_concession?stream=true&name.value=';
    expect(await hintOf(`${read}s1`, 'POST')).toBeNull();
    expect(await hintOf(`${read}nobody`, 'POST')).toBe('There is no student with the ID "nobody".');
    const report = '/reports/student-concession?name.value=';
    expect(await hintOf(`${report}s1`)).toBeNull();
    expect(await hintOf(`${report}nobody`)).toBe('There is no student with the ID "nobody".');
  });
});
