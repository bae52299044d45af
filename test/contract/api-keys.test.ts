/** API keys of people: from where they may be used, their rotation, and what they were used for. */
import { describe, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway({
  API_KEY_ROLES: 'admin,clerk,accountant',
  RATE_LIMIT_PER_MINUTE: '1000',
  TRUST_PROXY: '1',
});

const SCOPES = { collections: { task: ['read', 'create'] }, reports: [], scripts: [] };

async function makeKey(data: object = {}, as: Role = 'clerk'): Promise<{ id: string; key: string }> {
  const { createApiKey } = await ask(
    gateway,
    'mutation ($data: CreateApiKeyInput!) { createApiKey(data: $data) { id key } }',
    { variables: { data: { name: 'till', scopes: SCOPES, ...data } }, as },
  );
  return createApiKey;
}

/** A request by the key, from an address that the proxy in front names. */
async function useKey(key: string, { from = '203.0.113.7', path = '/o/recs/task' } = {}) {
  return await gateway.fetch(path, {
    headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': from },
  });
}

async function listed(id: string, as: Role = 'clerk'): Promise<Answered> {
  const { apiKeys } = await ask(
    gateway,
    '{ apiKeys { id name scopes expiresAt allowedAddresses lastUsedAt lastUsedAddress replaces revokedAt } }',
    { as },
  );
  return apiKeys.find((one: Answered) => one.id === id);
}

/** What two requests come to that both have begun to wait for the key before the first of them gets it. */
async function whileLocked<T>(id: string, begin: () => readonly Promise<T>[]): Promise<readonly T[]> {
  const waiting = `
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const holder = await gateway.sql.connect();
  try {
    await holder.query('begin');
    await holder.query('select from api_keys where id = $1 for update', [id]);
    const begun = begin();
    await expectEventually(async () => (await gateway.sql.query(waiting)).rowCount, begun.length, 5_000);
    await holder.query('commit');
    return await Promise.all(begun);
  } finally {
    holder.release(true);
  }
}

describe('an API key', () => {
  it('is for the roles of API_KEY_ROLES, and by an admin for everybody', async () => {
    const query = 'mutation ($s: JSON!) { createApiKey(data: {name: "x", scopes: $s}) { id } }';
    expect(await codesOf(gateway, { query, variables: { s: SCOPES }, as: 'viewer' })).toEqual(['FORBIDDEN']);
    const mayHave = async (as: Role) => (await ask(gateway, '{ me { mayHaveKeys } }', { as })).me.mayHaveKeys;
    expect([await mayHave('viewer'), await mayHave('clerk')]).toEqual([false, true]);
    const { key } = await makeKey({ userId: 'usr-viewer' }, 'admin');
    expect((await useKey(key)).status).toBe(200);
  });

  it('is used from the addresses of its list alone, behind the proxy, however it is sent', async () => {
    const { id, key } = await makeKey({ allowedAddresses: ['203.0.113.0/24', '2001:db8::1'] });
    expect((await useKey(key)).status).toBe(200);
    expect((await useKey(key, { from: '2001:db8::1' })).status).toBe(200);
    const refused = await useKey(key, { from: '198.51.100.1' });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('198.51.100.1');
    expect((await useKey(key, { from: '203.0.113.7, 198.51.100.1' })).status).toBe(403);
    expect((await listed(id)).allowedAddresses).toEqual(['203.0.113.0/24', '2001:db8::1']);

    const exchange = async (from: string) =>
      await gateway.fetch('/auth', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
        body: JSON.stringify({ api_key: key }),
      });
    expect((await exchange('198.51.100.1')).status).toBe(403);
    const { access_token: token } = (await (await exchange('203.0.113.7')).json()) as Answered;
    expect((await useKey(token)).status).toBe(200);
    expect((await useKey(token, { from: '198.51.100.1' })).status).toBe(403);
  });

  it.each([
    ['preset: READ_ONLY', { collections: { '*': ['read'] }, reports: ['*'], scripts: [] }],
    ['preset: REPORTS', { collections: {}, reports: ['*'], scripts: [] }],
    [
      'preset: READ_ONLY, collections: [{collection: "*", verbs: [CREATE]}, ' +
        '{collection: "task", verbs: [DELETE]}]',
      { collections: { '*': ['read', 'create'], task: ['delete'] }, reports: ['*'], scripts: [] },
    ],
    [
      'collections: [{collection: "task", verbs: [READ]}], reports: ["day-sheet"], scripts: ["bus-late"]',
      { collections: { task: ['read'] }, reports: ['day-sheet'], scripts: ['bus-late'] },
    ],
    [
      'preset: READ_WRITE',
      { collections: { '*': ['read', 'create', 'update', 'delete'] }, reports: ['*'], scripts: [] },
    ],
  ])('is confined to what is typed of it: %s', async (access, scopes) => {
    const query = `mutation { createApiKey(data: {name: "typed", access: {${access}}}) { id key } }`;
    const { createApiKey } = await ask(gateway, query, { as: 'clerk' });
    expect((await listed(createApiKey.id)).scopes).toEqual(scopes);
    const mayRead = Object.keys(scopes.collections).length > 0;
    expect((await useKey(createApiKey.key)).status).toBe(mayRead ? 200 : 403);
  });

  it('is made by typed access or by scopes, one of them alone, and what is wrong is told', async () => {
    const codes = async (data: string) =>
      await codesOf(gateway, {
        query: `mutation { createApiKey(data: {name: "x", ${data}}) { id } }`,
        as: 'clerk',
      });
    expect(await codes('access: null')).toEqual(['INVALID_VALUE']);
    expect(await codes('access: {preset: REPORTS}, scopes: {reports: ["*"]}')).toEqual(['INVALID_VALUE']);
    expect(await codes('access: {reports: ["none"]}')).toEqual(['INVALID_VALUE']);
    expect(await codes('access: {collections: [{collection: "none", verbs: [READ]}]}')).toEqual([
      'INVALID_VALUE',
    ]);
    expect(await codes('access: {collections: [{collection: "task", verbs: []}]}')).toEqual([
      'INVALID_VALUE',
    ]);
    expect(await codes('access: {preset: EVERYTHING}')).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it('says where it was used from last', async () => {
    const { id, key } = await makeKey();
    await useKey(key, { from: '198.51.100.77' });
    await expectEventually(async () => (await listed(id)).lastUsedAddress, '198.51.100.77');
  });

  it.each([
    ['an address that is none', { allowedAddresses: ['everywhere'] }, 'INVALID_VALUE'],
    ['too many addresses', { allowedAddresses: Array(60).fill('192.0.2.1') }, 'LIMIT_EXCEEDED'],
  ])('is refused with %s', async (_, data, code) => {
    const query = 'mutation ($data: CreateApiKeyInput!) { createApiKey(data: $data) { id } }';
    const variables = { data: { name: 'x', scopes: SCOPES, ...data } };
    expect(await codesOf(gateway, { query, variables, as: 'clerk' })).toEqual([code]);
  });
});

describe('a rotation', () => {
  const ROTATE =
    'mutation ($id: ID!, $overlap: Int) { rotateApiKey(id: $id, overlapSeconds: $overlap) { id key } }';
  const rotate = (id: string, overlap: number | null, as: Role = 'clerk') =>
    send(gateway, { query: ROTATE, variables: { id, overlap }, as });

  it('makes a key like the old one, which goes on for the overlap', async () => {
    const old = await makeKey({ allowedAddresses: ['203.0.113.7'], expiresAt: '2999-01-01T00:00:00Z' });
    const fresh = (await rotate(old.id, 3600)).data.rotateApiKey;
    expect([(await useKey(old.key)).status, (await useKey(fresh.key)).status]).toEqual([200, 200]);
    expect(await listed(fresh.id)).toMatchObject({
      name: 'till',
      scopes: SCOPES,
      allowedAddresses: ['203.0.113.7'],
      expiresAt: '2999-01-01T00:00:00.000Z',
      replaces: old.id,
    });
    expect(Date.parse((await listed(old.id)).expiresAt)).toBeLessThan(Date.now() + 3_601_000);
    await gateway.sql.query(`update api_keys set expires_at = now() where id = $1`, [old.id]);
    await gateway.sql.query(
      `select pg_notify(campus_channel('campus_principals'), '{"domain": "top", "user": "usr-clerk"}')`,
    );
    await expectEventually(async () => (await useKey(old.key)).status, 401);
    expect((await useKey(fresh.key)).status).toBe(200);
  });

  it('without an overlap ends the old key at once', async () => {
    const old = await makeKey();
    const fresh = (await rotate(old.id, null)).data.rotateApiKey;
    expect([(await useKey(old.key)).status, (await useKey(fresh.key)).status]).toEqual([401, 200]);
  });

  it('is done once, of keys that go on, by who has them', async () => {
    const { id } = await makeKey();
    const codes = async (...args: Parameters<typeof rotate>) =>
      (await rotate(...args)).errors.map(({ extensions }) => extensions.code);
    expect(await codes(id, 60, 'accountant')).toEqual(['NOT_FOUND']);
    expect(await codes(id, 60, 'viewer')).toEqual(['FORBIDDEN']);
    expect(await codes(id, -1)).toEqual(['INVALID_VALUE']);
    expect(await codes(id, 2_592_001)).toEqual(['INVALID_VALUE']);
    const both = await whileLocked(id, () => [rotate(id, 60), rotate(id, 60)]);
    expect(both.map(({ errors }) => errors.length).sort()).toEqual([0, 1]);
    expect(await codes(id, 60)).toEqual(['NOT_FOUND']);
    expect(await codes('nonsense', 60)).toEqual(['NOT_FOUND']);
  });
});

describe('the usage of a key', () => {
  const USAGE =
    'query ($id: ID!, $hours: Int, $first: Int) { apiKeyUsage(id: $id, hours: $hours) { limitPerMinute ' +
    'leftThisMinute total { requests errors refused medianMs p95Ms } hours { hour requests ' +
    'errors refused p95Ms } requests(first: $first) { at requestId operation status durationMs cost } } }';
  const usage = async (id: string, as: Role = 'clerk', variables: object = {}): Promise<Answered> =>
    (await ask(gateway, USAGE, { variables: { id, ...variables }, as })).apiKeyUsage;

  it('is seen soon: requests, errors, times, and what was asked', async () => {
    const { id, key } = await makeKey();
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'the-operation' };
    await send(gateway, { query: 'query Tasks { tasks(first: 3) { nodes { id } } }', headers });
    await useKey(key, { path: '/o/recs/task/nobody?secret=x' });
    await useKey(key, { path: '/o/recs/fee_due' });
    await expectEventually(async () => (await usage(id)).total.requests, 3, 5_000);
    const { total, hours, requests, limitPerMinute, leftThisMinute } = await usage(id);
    expect(total).toMatchObject({ requests: 3, errors: 2, refused: 0 });
    expect(total.p95Ms).toBeGreaterThan(0);
    expect(total.p95Ms).toBeGreaterThanOrEqual(total.medianMs);
    expect(hours.reduce((sum: number, hour: Answered) => sum + hour.requests, 0)).toBe(3);
    expect([limitPerMinute, leftThisMinute <= 1000 && leftThisMinute > 900]).toEqual([1000, true]);
    expect(
      requests.map(({ operation, status, cost }: Answered) => ({ operation, status, costs: cost > 0 })),
    ).toEqual([
      { operation: '/o/recs/:collection', status: 403, costs: false },
      { operation: '/o/recs/:collection/:id', status: 400, costs: false },
      { operation: 'Tasks', status: 200, costs: true },
    ]);
    expect(requests[2].requestId).toBe('the-operation');
    expect(JSON.stringify(requests)).not.toContain('secret');
  });

  it('has what was refused too, by the template of its path, whatever was in the path', async () => {
    const { id, key } = await makeKey({ allowedAddresses: ['203.0.113.7'] });
    await useKey(key, { from: '198.51.100.1', path: '/o/recs/task/from-elsewhere?secret=x' });
    await useKey(key, { path: '/o/recs/fee_due/forbidden' });
    await useKey(key, { path: '/no/such/path' });
    await expectEventually(async () => (await usage(id)).total.requests, 3, 5_000);
    const { requests } = await usage(id);
    expect(requests.map(({ operation, status }: Answered) => [operation, status])).toEqual([
      ['unknown', 404],
      ['/o/recs/:collection/:id', 403],
      ['/o/recs/:collection/:id', 403],
    ]);
  });

  it('is there for its owner and admins, and for nobody else', async () => {
    const { id, key } = await makeKey();
    expect((await usage(id, 'admin')).total.requests).toBe(0);
    const codes = async (operation: object) =>
      await codesOf(gateway, { query: USAGE, variables: { id }, ...operation });
    expect(await codes({ as: 'accountant' })).toEqual(['NOT_FOUND']);
    expect(await codes({ headers: { authorization: `Bearer ${key}` } })).toEqual(['FORBIDDEN']);
    for (const hours of [0, 721, -1])
      expect(await codes({ as: 'clerk', variables: { id, hours } })).toEqual(['INVALID_VALUE']);
    for (const first of [0, 1001])
      expect(await codes({ as: 'clerk', variables: { id, first } })).toEqual(['INVALID_VALUE']);
  });

  it('keeps the last thousand requests, in as many rows', async () => {
    const { id, key } = await makeKey();
    await useKey(key);
    await expectEventually(async () => (await usage(id)).total.requests, 1);
    await gateway.sql.query(`update api_keys set request_count = 999 where id = $1`, [id]);
    await useKey(key, { path: '/o/recs/task/second' });
    await expectEventually(async () => (await usage(id)).total.requests, 2);
    await useKey(key, { path: '/o/recs/nothing' });
    await expectEventually(async () => (await usage(id)).total.requests, 3);
    const { rows } = await gateway.sql.query(
      `select place, operation from key_requests where key_id = $1 order by at`,
      [id],
    );
    expect(rows).toEqual([
      { place: 999, operation: '/o/recs/:collection/:id' },
      { place: 0, operation: '/o/recs/:collection' },
    ]);
  });
});
