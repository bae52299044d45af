/** What clients of other makers send without having read the documents. */
import { describe, expect, it } from '@jest/globals';
import { itAnswers, PASSWORD, type Scenario, useGateway } from './gateway.js';
import { type Answered, ask } from './graphql.js';

const gateway = useGateway({ LOGIN_LIMIT_PER_MINUTE: '4' });

const QUERY = `user_name=clerk&password=${encodeURIComponent(PASSWORD)}`;
const LOGIN = { access_token: expect.any(String), token_type: 'Bearer' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const token = (name: string, scenario: Partial<Scenario>): Scenario => ({
  ...{ name, method: 'POST', path: '/auth', status: 200, expectBody: LOGIN },
  ...scenario,
});
const empty = (type: string): Scenario =>
  token(`an empty body of ${type}`, {
    path: `/auth?${QUERY}`,
    headers: { 'content-type': type, 'content-length': '0' },
    body: '',
  });

describe('the token call', () =>
  itAnswers(gateway, [
    empty('text/plain'),
    empty('application/octet-stream'),
    empty('multipart/form-data; boundary=x'),
    token('a body with a byte order mark, as text/json', {
      headers: { 'content-type': 'text/json; charset=utf-8' },
      body: `\ufeff{"user_name":"clerk","password":"${PASSWORD}"}`,
    }),
    token('a form of parts', {
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: ['user_name\r\n\r\nclerk', `password\r\n\r\n${PASSWORD}`]
        .map((field) => `--x\r\nContent-Disposition: form-data; name="${field.replace('\r', '"\r')}\r\n`)
        .join('')
        .concat('--x--\r\n'),
    }),
    token('a form of parts without a boundary', {
      headers: { 'content-type': 'multipart/form-data' },
      body: QUERY,
      status: 400,
      expectBody: { detail: expect.stringContaining('boundary=') },
    }),
    token('OAuth 2.0', {
      headers: { ...FORM, authorization: `Basic ${btoa('client:secret')}` },
      body: `grant_type=password&client_id=a&scope=b&${QUERY.replace('user_', 'user')}`,
    }),
    token('username without grant_type', {
      headers: FORM,
      body: QUERY.replace('user_', 'user'),
      status: 400,
      expectBody: { errors: [expect.objectContaining({ parameter: 'username' })] },
    }),
    token('text', {
      headers: { 'content-type': 'text/plain' },
      body: QUERY,
      status: 415,
      expectBody: { detail: expect.stringContaining('multipart/form-data') },
    }),
  ]));

describe('reads', () =>
  itAnswers(gateway, [
    ...['stream', 'stream=TRUE', 'stream=1', 'stream=True'].map(
      (query): Scenario => ({
        ...{ name: query, path: `/o/recs/task?limit=1&project=name, amount&sort=name, -amount&${query}` },
        ...{ as: 'clerk', status: 200 },
      }),
    ),
    {
      ...{
        name: 'blanks after commas, and True',
        path: '/o/recs/pltf_user?oquery=active=True, roles=*clerk',
      },
      ...{ as: 'admin', status: 200, expectBody: [expect.objectContaining({ user_name: 'clerk' })] },
    },
    {
      ...{ name: 'a concession by oquery', method: 'POST', as: 'accountant', status: 200 },
      ...{ path: '/o/recs/fee_concession?stream=true&oquery=name.value=nobody', expectBody: [] },
    },
    {
      ...{ name: 'a concession of nobody', method: 'POST', as: 'accountant', status: 400 },
      ...{ path: '/o/recs/fee_concession?stream=true&oquery=kind=percent' },
    },
  ]));

const hinted = (name: string, path: string, hint: string, others: Partial<Scenario> = {}): Scenario => ({
  ...{ name, path, as: 'admin', status: 404, expectBody: { detail: expect.stringContaining(hint) } },
  ...others,
});

describe('near misses', () =>
  itAnswers(gateway, [
    ...(
      [
        ['/getfeedefaultersv2?start_month=2026-04', '/getfeedefaultersv2.svc'],
        ['/getFeeDefaultersV2.SVC', '/getfeedefaultersv2.svc'],
        ['/attendancebyclassbymonth.svc/5/2026-04-01/2026-04-30', '/attendancebyclassbymonth/5/2026-04-01/'],
        ['/AUTH', '/auth'],
        ['/O/recs/task', '/o/recs/task'],
        ['/o/task/t1', '/o/recs/{collection}/{id}?'],
        ['/o/reports/fee-defaulters', '/reports/fee-defaulters?'],
        ['/graphq', '/graphql'],
        ['/openapi', '/openapi.json'],
      ] as const
    ).map(([path, known]) => hinted('a path', path, `Did you mean ${known}`)),
    hinted('a part of the name of a report', '/reports/defaulters', 'Did you mean /reports/fee-defaulters?'),
    hinted('a path of another kind', '/wp-login.php', 'There is nothing at /wp-login.php. GET /'),
    ...['=Today', '=tomorrow', '=>today', '=%23in2026-9', '=on2026-11-8', '=%23on2026-11-08'].map(
      (condition) =>
        hinted('a date word', `/o/recs/task?oquery=created_on${condition}`, '#in2026-09', { status: 400 }),
    ),
    hinted('creating where one reads', '/o/recs/task', 'POST /o/<collection>', {
      ...{ method: 'POST', body: { name: 'x' }, status: 400 },
    }),
  ]));

it('a link to the next page is a whole address', async () => {
  await ask(
    gateway,
    'mutation { a: createTask(data: {name: "a"}) { id } b: createTask(data: {name: "b"}) { id } }',
  );
  for (const path of ['/o/recs/task?limit=1', '/o/recs/pltf_user?limit=1']) {
    const { headers } = await gateway.fetch(path, { as: 'admin' });
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect([path, next.startsWith(`${gateway.url}${path.split('?')[0]}?`)]).toEqual([path, true]);
  }
});

it('If-Match is a list of tags, any of which may match', async () => {
  const { createTask } = await ask(gateway, 'mutation { createTask(data: {name: "a"}) { id } }');
  const change = async (tags: string) =>
    (
      await gateway.fetch(`/o/recs/task/${createTask.id}`, {
        ...{ method: 'PATCH', as: 'admin', body: JSON.stringify({ name: tags }) },
        headers: { 'content-type': 'application/json', 'if-match': tags },
      })
    ).status;
  expect(await change('"99", "1"')).toBe(200);
  expect(await change('"99", "1"')).toBe(412);
  expect(await change('W/"2"')).toBe(412);
  expect(await change('garbage')).toBe(400);
  expect(await change('"1" "2"')).toBe(400);
});

async function logIn(as: string, password = PASSWORD) {
  const body = JSON.stringify({ user_name: as, password });
  const headers = { 'content-type': 'application/json' };
  const answer = await gateway.fetch('/auth', { method: 'POST', headers, body });
  return { answer, ...((await answer.json()) as Answered) };
}

describe('a program that logs in for every call', () => {
  it('gets the tokens of the same minute again, until they end', async () => {
    const first = await logIn('clerk');
    for (let call = 0; call < 6; call += 1)
      expect((await logIn('clerk')).access_token).toBe(first.access_token);
    const refreshed = await gateway.fetch('/auth', {
      method: 'POST',
      headers: FORM,
      body: `refresh_token=${first.refresh_token}`,
    });
    expect(refreshed.status).toBe(200);
    const second = await logIn('clerk');
    expect(second.access_token).not.toBe(first.access_token);
    const authorization = `Bearer ${second.access_token}`;
    await gateway.fetch('/auth/logout', { method: 'POST', headers: { authorization } });
    const third = await logIn('clerk');
    expect([third.answer.status, third.access_token === second.access_token]).toEqual([200, false]);
  });

  it('is limited by its failures, with the numbers of that limit', async () => {
    for (let call = 0; call < 6; call += 1) expect((await logIn('viewer')).answer.status).toBe(200);
    const statuses: number[] = [];
    for (let call = 0; call < 12 && !statuses.includes(429); call += 1)
      statuses.push((await logIn('viewer', 'wrong')).answer.status);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(4);
    const { answer } = await logIn('viewer');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('ratelimit-limit')).not.toBe('600');
    expect(answer.headers.get('ratelimit-remaining')).toBe('0');
    expect(answer.headers.get('ratelimit-reset')).toBe(answer.headers.get('retry-after'));
  });
});

it('an API key is taken as X-API-Key, by HTTP Basic and as the secret of a client', async () => {
  const { createApiKey } = await ask(
    gateway,
    'mutation { createApiKey(data: {name: "bi", access: {preset: READ_ONLY}}) { key } }',
    { as: 'clerk' },
  );
  const { key } = createApiKey;
  const statusOf = async (headers: Record<string, string>) =>
    (await gateway.fetch('/o/recs/task?limit=1', { headers })).status;
  const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` });
  expect(await statusOf({ 'x-api-key': key })).toBe(200);
  expect(await statusOf(basic(`any:${key}`))).toBe(200);
  expect(await statusOf(basic(`${key}:`))).toBe(200);
  expect(await statusOf(basic(`clerk:${PASSWORD}`))).toBe(401);
  expect(await statusOf({ 'x-api-key': `${key}x` })).toBe(401);
  // A browser sends the Basic credential of an address for pages of others too.
  expect(await statusOf({ ...basic(`any:${key}`), 'sec-fetch-site': 'cross-site' })).toBe(401);
  const body = `grant_type=client_credentials&client_id=a&client_secret=${key}`;
  const exchanged = await gateway.fetch('/auth', { method: 'POST', headers: FORM, body });
  expect(await exchanged.json()).toMatchObject(LOGIN);
  const byHeader = { ...FORM, ...basic(`any:${key}`) };
  const asClient = { method: 'POST', headers: byHeader, body: 'grant_type=client_credentials' };
  expect(await (await gateway.fetch('/auth', asClient)).json()).toMatchObject(LOGIN);
});
