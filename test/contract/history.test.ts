/** What a record was, and the way back to it, by REST and GraphQL. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway();
const JSON_BODY = { 'content-type': 'application/json' };

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection = 'task'`);
  await gateway.sql.query('delete from audit_entries');
  await send(gateway, {
    as: 'admin',
    query: `mutation { createRecord(
      collection: "task", data: {_id: "t-1", name: "Paint", amount: 100, room: {floor: 1}}) { id } }`,
  });
  await patch('t-1', { amount: 120.5, room: { floor: 2 } });
});

async function patch(id: string, data: object): Promise<string> {
  const body = JSON.stringify(data);
  const init = { method: 'PATCH', as: 'admin', headers: JSON_BODY, body } as const;
  const response = await gateway.fetch(`/o/recs/task/${id}`, init);
  expect(response.status).toBe(200);
  return response.headers.get('x-request-id') ?? '';
}

async function read(path: string, as: Role | undefined = 'admin') {
  const response = await gateway.fetch(path, { as });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered };
}

function restore(body: unknown, headers: Record<string, string> = {}) {
  const init = {
    method: 'POST',
    as: 'admin',
    headers: { ...JSON_BODY, ...headers },
    body: JSON.stringify(body),
  } as const;
  return gateway.fetch('/o/recs/task/t-1/restore', init);
}

describe('GET /o/recs/<collection>/<id>/history', () => {
  it('gives the changes, the newest first, nested fields by path', async () => {
    const { status, body } = await read('/o/recs/task/t-1/history');
    expect(status).toBe(200);
    expect(body[0]).toMatchObject({
      version: 2,
      operation: 'updated',
      fromVersion: 1,
      by: { principal: 'usr-admin', requestOperation: '/o/recs/:collection/:id' },
      changes: [
        { path: 'room.floor', kind: 'changed', before: 1, after: 2 },
        { path: 'amount', kind: 'changed', before: 100, after: 120.5 },
      ],
    });
    expect(body[1]).toMatchObject({ version: 1, operation: 'created', fromVersion: null });
    expect(body[1].changes).toContainEqual({ path: 'name', kind: 'added', after: 'Paint' });
  });

  it('gives a page and the way to the next', async () => {
    const { body, headers } = await read('/o/recs/task/t-1/history?limit=1');
    expect([body.length, headers.get('x-next-cursor')]).toEqual([1, '2']);
    const next = await read('/o/recs/task/t-1/history?limit=1&after=2');
    expect([next.body[0].version, next.headers.get('link')]).toEqual([1, null]);
  });

  it('does not say who changed a record to those who do not administer', async () => {
    const { body } = await read('/o/recs/task/t-1/history', 'viewer');
    expect(body[0].by).toBeNull();
  });

  it.each([
    ['without a credential', '/o/recs/task/t-1/history', undefined, 401],
    ['of a record that is none', '/o/recs/task/t-9/history', 'admin', 404],
    ['of a collection that is none', '/o/recs/nothing/t-1/history', 'admin', 404],
    ['of a collection one may not read', '/o/recs/fee_receipt/x/history', 'teacher', 403],
    ['with a limit that is none', '/o/recs/task/t-1/history?limit=x', 'admin', 400],
    ['with a page that is too large', '/o/recs/task/t-1/history?limit=100000', 'admin', 400],
    ['with a cursor that is none', '/o/recs/task/t-1/history?after=x', 'admin', 400],
    ['with a parameter that is none', '/o/recs/task/t-1/history?sort=x', 'admin', 400],
  ] as const)('%s is refused', async (_what, path, as, status) => {
    const response = await gateway.fetch(path, { as });
    expect(response.status).toBe(status);
  });
});

describe('POST /o/recs/<collection>/<id>/restore', () => {
  it('makes the record again what it was', async () => {
    const response = await restore({ version: 1 });
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"3"']);
    expect(await response.json()).toMatchObject({ _id: 't-1', amount: 100, room: { floor: 1 } });
  });

  it('brings back a removed record', async () => {
    await gateway.fetch('/o/recs/task/t-1', { method: 'DELETE', as: 'admin' });
    expect((await read('/o/recs/task/t-1')).status).toBe(410);
    expect((await restore({ version: 2 })).status).toBe(200);
    expect((await read('/o/recs/task/t-1')).body).toMatchObject({ amount: 120.5 });
  });

  it('is done once for a key', async () => {
    const headers = { 'idempotency-key': 'again' };
    const first = await (await restore({ version: 1 }, headers)).text();
    expect(await (await restore({ version: 1 }, headers)).text()).toBe(first);
    expect((await read('/o/recs/task/t-1/history')).body).toHaveLength(3);
  });

  it.each([
    ['without a credential', { version: 1 }, { as: undefined }, 401],
    ['by who may only read', { version: 1 }, { as: 'viewer' }, 403],
    ['to a version that is none', { version: 7 }, {}, 404],
    ['to no version', {}, {}, 400],
    ['to a version that is no number', { version: 'x' }, {}, 400],
    ['with more than a version', { version: 1, name: 'x' }, {}, 400],
    ['with a list', [1], {}, 400],
    ['of a record that has changed', { version: 1 }, { headers: { 'if-match': '"1"' } }, 412],
    ['with If-None-Match', { version: 1 }, { headers: { 'if-none-match': '"1"' } }, 400],
  ] as const)('%s is refused', async (_what, body, options, status) => {
    const as: Role | undefined = 'as' in options ? options.as : 'admin';
    const sent: Record<string, string> = 'headers' in options ? options.headers : {};
    const init = { method: 'POST', as, headers: { ...JSON_BODY, ...sent }, body: JSON.stringify(body) };
    expect((await gateway.fetch('/o/recs/task/t-1/restore', init)).status).toBe(status);
    const { rows } = await gateway.sql.query(`select version from records where id = 't-1'`);
    expect(rows[0].version).toBe(2);
  });
});

describe('GraphQL', () => {
  it('gives history by pages', async () => {
    const query = `query($after: String) { 
      recordHistory(collection: "task", id: "t-1", first: 1, after: $after) {
        nodes { version operation at by { requestId } changes { path kind before after } }
        pageInfo { hasNextPage endCursor } } }`;
    const { recordHistory: first } = await ask(gateway, query, { as: 'admin' });
    expect(first.nodes[0].changes[1]).toEqual({ path: 'amount', kind: 'CHANGED', before: 100, after: 120.5 });
    expect(first.pageInfo).toEqual({ hasNextPage: true, endCursor: '2' });
    const { recordHistory: second } = await ask(gateway, query, { as: 'admin', variables: { after: '2' } });
    expect([second.nodes[0].version, second.pageInfo.hasNextPage]).toEqual([1, false]);
  });

  it('gives a record as it was at a version and at an instant', async () => {
    const { recordAt } = await ask(
      gateway,
      '{ recordAt(collection: "task", id: "t-1", version: 1) { version data } }',
      { as: 'viewer' },
    );
    expect(recordAt).toMatchObject({ version: 1, data: { amount: 100 } });
    const now = await ask(
      gateway,
      '{ recordAt(collection: "task", id: "t-1", at: "2999-01-01") { version } }',
      { as: 'viewer' },
    );
    expect(now.recordAt.version).toBe(2);
  });

  it.each([
    ['neither version nor instant', '{ recordAt(collection: "task", id: "t-1") { id } }', 'INVALID_VALUE'],
    [
      'both',
      '{ recordAt(collection: "task", id: "t-1", version: 1, at: "2026-01-01") { id } }',
      'INVALID_VALUE',
    ],
    [
      'an instant before it was there',
      '{ recordAt(collection: "task", id: "t-1", at: "0000-01-01") { id } }',
      'NOT_FOUND',
    ],
    [
      'a version that is none',
      '{ recordAt(collection: "task", id: "t-1", version: -1) { id } }',
      'NOT_FOUND',
    ],
    ['a record that is none', '{ recordAt(collection: "task", id: "t-9", version: 1) { id } }', 'NOT_FOUND'],
    [
      'too large a page',
      '{ recordHistory(collection: "task", id: "t-1", first: 100000) { nodes { at } } }',
      'LIMIT_EXCEEDED',
    ],
    ['a request that is none', 'mutation { undoChange(requestId: "none") { changed } }', 'NOT_FOUND'],
  ])('refuses %s', async (_what, query, code) => {
    expect(await codesOf(gateway, { query, as: 'admin' })).toEqual([code]);
  });

  it('restores and undoes within one transaction, or neither', async () => {
    const requestId = await patch('t-1', { name: 'Later' });
    const both = `mutation @transaction {
      restoreRecord(collection: "task", id: "t-1", version: 1) { version }
      undoChange(requestId: "${requestId}") { changed } }`;
    const { errors } = await send(gateway, { query: both, as: 'admin' });
    expect(errors.map(({ extensions }) => extensions.code)).toContain('CONFLICT');
    expect((await read('/o/recs/task/t-1')).body.name).toBe('Later');
  });

  it('undoes a bulk write by the id of its request', async () => {
    const body = JSON.stringify({
      query: 'mutation { updateRecords(collection: "task", allowAll: true, set: {name: "All"}) { count } }',
    });
    const bulk = await gateway.fetch('/graphql', { method: 'POST', as: 'admin', headers: JSON_BODY, body });
    const requestId = bulk.headers.get('x-request-id');
    const { undoChange } = await ask(
      gateway,
      'mutation($id: String!) { undoChange(requestId: $id) { changed removed broughtBack } }',
      { as: 'admin', variables: { id: requestId } },
    );
    expect(undoChange).toEqual({ changed: 1, removed: 0, broughtBack: 0 });
    expect((await read('/o/recs/task/t-1')).body.name).toBe('Paint');
  });
});
