/** Writes over REST beyond one record by its id: put, by a filter, by a key, and several as one. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';

const gateway = useGateway();

async function call(
  method: string,
  path: string,
  sent: { body?: unknown; as?: Role; [header: string]: unknown } = {},
) {
  const { body, as = 'admin', ...headers } = sent;
  const answer = await gateway.fetch(path, {
    method,
    as,
    headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
}

let run = 0;
let name = '';
beforeEach(() => {
  run += 1;
  name = `set ${run}`;
});
const listed = async () => (await call('GET', `/o/recs/task?oquery=name=${name}&sort=_id`)).body;

describe('PUT /o/recs/<collection>/<id>', () => {
  it('creates a record, then replaces it, and says which', async () => {
    const made = await call('PUT', `/o/recs/task/put-${run}`, { body: { name, amount: 1 } });
    expect([made.status, made.headers.get('location')]).toEqual([201, `/o/recs/task/put-${run}`]);
    const replaced = await call('PUT', `/o/recs/task/put-${run}`, { body: { name } });
    expect([replaced.status, replaced.body.amount, replaced.headers.get('etag')]).toEqual([
      200,
      undefined,
      '"2"',
    ]);
  });

  it('only creates with If-None-Match: *, and only replaces with If-Match', async () => {
    const path = `/o/recs/task/put-${run}`;
    expect((await call('PUT', path, { body: { name }, 'if-match': '*' })).status).toBe(412);
    expect((await call('PUT', path, { body: { name }, 'if-match': '"1"' })).status).toBe(412);
    expect((await call('PUT', path, { body: { name }, 'if-none-match': '*' })).status).toBe(201);
    expect((await call('PUT', path, { body: { name }, 'if-none-match': '*' })).status).toBe(412);
    expect((await call('PUT', path, { body: { name }, 'if-match': '"7"' })).status).toBe(412);
    expect((await call('PUT', path, { body: { name }, 'if-none-match': '"1"' })).status).toBe(400);
    const unknown = await call('PUT', '/o/recs/nowhere/x', { body: { name }, 'if-match': '*' });
    expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining('nowhere')]);
  });

  it.each([
    ['PATCH', `/o/recs/task?oquery=name=${name}`, {}],
    ['DELETE', `/o/recs/task?oquery=name=${name}`, undefined],
    ['POST', '/o/task?by=name', { name }],
    ['POST', '/batch', []],
  ])('%s %s refuses a condition that it does not take', async (method, path, body) => {
    for (const header of ['if-match', 'if-none-match']) {
      const { status, body: answer } = await call(method, path, { body, [header]: '*' });
      expect([status, answer.errors[0].parameter.toLowerCase()]).toEqual([400, header]);
    }
  });

  it('answers a repeated key as before, and obeys rights and removal', async () => {
    const path = `/o/recs/task/put-${run}`;
    const sent = { body: { name }, 'idempotency-key': `put-${run}` };
    expect([(await call('PUT', path, sent)).status, (await call('PUT', path, sent)).status]).toEqual([
      201, 201,
    ]);
    expect((await call('PUT', path, { body: { name }, as: 'viewer' })).status).toBe(403);
    await call('DELETE', path);
    expect((await call('PUT', path, { body: { name } })).status).toBe(410);
  });
});

describe('PATCH and DELETE /o/recs/<collection>', () => {
  beforeEach(async () => {
    await call('POST', '/o/task', { body: [1, 2, 3].map((amount) => ({ name, amount })) });
  });

  it('change and remove what a filter selects', async () => {
    const changed = await call('PATCH', `/o/recs/task?oquery=name=${name},amount=>1`, {
      body: { amount: 9 },
    });
    expect([changed.status, changed.body]).toEqual([200, { count: 2, matched: 2 }]);
    const where = encodeURIComponent(JSON.stringify({ name: { equals: name }, amount: { equals: '9' } }));
    const removed = await call('DELETE', `/o/recs/task?where=${where}&sort=_id&limit=1`);
    expect([removed.status, removed.body]).toEqual([200, { count: 1, matched: 1 }]);
    expect((await listed()).map((task: { amount: number }) => task.amount).sort()).toEqual([1, 9]);
  });

  it('never mean everything by mistake', async () => {
    expect((await call('PATCH', '/o/recs/task', { body: { amount: 5 } })).status).toBe(400);
    expect((await call('DELETE', '/o/recs/task')).status).toBe(400);
    expect((await call('DELETE', '/o/recs/task?oquery=')).status).toBe(400);
    expect(
      (await call('PATCH', '/o/recs/task?allowAll=true&limit=1', { body: { amount: 5 } })).body.count,
    ).toBe(1);
  });

  it('obey rights, also where the collection has a read of its own', async () => {
    expect((await call('DELETE', `/o/recs/task?oquery=name=${name}`, { as: 'viewer' })).status).toBe(403);
    const none = await call('PATCH', '/o/recs/attendance?oquery=class=none', { body: { remark: 'x' } });
    expect([none.status, none.body]).toEqual([200, { count: 0, matched: 0 }]);
  });
});

describe('POST /o/<collection>?by=', () => {
  it('changes the record with the key, or creates one', async () => {
    const body = { _id: `by-${run}`, name, amount: 1 };
    expect((await call('POST', '/o/task?by=_id', { body })).status).toBe(201);
    const changed = await call('POST', '/o/task?by=_id', { body: { _id: body._id, amount: 2 } });
    expect([changed.status, changed.body]).toMatchObject([200, { name, amount: 2 }]);
    const many = await call('POST', '/o/task?by=_id', {
      body: [
        { ...body, amount: 3 },
        { _id: `by2-${run}`, name },
      ],
    });
    expect([many.status, many.body.length]).toEqual([200, 2]);
    expect((await call('POST', '/o/task?by=nothing', { body })).status).toBe(400);
  });
});

describe('POST /batch', () => {
  const create = (data: unknown) => ({ method: 'POST', path: '/o/task', body: data });

  it('makes all writes or none', async () => {
    const id = `batch-${run}`;
    const done = await call('POST', '/batch', {
      body: [
        { method: 'PUT', path: `/o/recs/task/${id}`, body: { name, amount: 1 } },
        { method: 'PATCH', path: `/o/recs/task/${id}`, body: { amount: 2 }, headers: { 'If-Match': '"1"' } },
        {
          method: 'PATCH',
          path: `/o/recs/task?oquery=${encodeURIComponent(`name=${name}`)}`,
          body: { amount: 3 },
        },
      ],
    });
    expect([done.status, done.body.map(({ status }: { status: number }) => status)]).toEqual([
      200,
      [201, 200, 200],
    ]);
    expect(done.body[2].body).toEqual({ count: 1, matched: 1 });
    const failed = await call('POST', '/batch', {
      body: [create({ name }), { method: 'DELETE', path: '/o/recs/task/nowhere' }],
    });
    expect([failed.status, failed.body.errors[0].pointer]).toEqual([404, '/1']);
    expect(failed.body.detail).toContain('Request 1 (DELETE /o/recs/task/nowhere)');
    expect(await listed()).toMatchObject([{ _id: id, amount: 3 }]);
  });

  it('is done once per key', async () => {
    const sent = { body: [create({ name })], 'idempotency-key': `batch-${run}` };
    const [one, other] = [await call('POST', '/batch', sent), await call('POST', '/batch', sent)];
    expect([other.body, (await listed()).length]).toEqual([one.body, 1]);
    expect((await call('POST', '/batch', { ...sent, body: [] })).status).toBe(409);
  });

  it.each([
    [{}, ''],
    [[1], '/0'],
    [[{ method: 'GET', path: '/o/recs/task' }], '/0'],
    [[{ method: 'POST', path: '/auth' }], '/0'],
    [[{ method: 'POST', path: '/o/task', body: {}, extra: 1 }], '/0/extra'],
    [[{ method: 'PATCH', path: '/o/recs/task/%ff', body: {} }], '/0/path'],
    [Array.from({ length: 101 }, () => ({ method: 'POST', path: '/o/task', body: {} })), ''],
  ])('refuses what is no list of writes: %#', async (body, pointer) => {
    const answer = await call('POST', '/batch', { body });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  it('needs the rights of each write', async () => {
    expect((await call('POST', '/batch', { body: [create({ name })], as: 'viewer' })).status).toBe(403);
  });
});
