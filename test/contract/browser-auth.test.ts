/** Log-in for pages of this host: the refresh token in a cookie, the access token in the answer. */
import { describe, expect, it } from '@jest/globals';
import { expectProblem, PASSWORD, useGateway } from './gateway.js';
import { ask, codesOf } from './graphql.js';

const gateway = useGateway({ LOGIN_LOCKOUT_FAILURES: '2' });

const LOGIN = { user_name: 'teacher', password: PASSWORD };

interface Sent {
  readonly body?: unknown;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a page of the gateway itself; null: no page. */
  readonly origin?: string | null;
}

async function post(path: string, { body, cookie, headers, origin = gateway.url }: Sent = {}) {
  return await fetch(`${gateway.url}/auth/browser/${path}`, {
    method: 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie }),
      ...(origin !== null && { origin }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** What a browser would send back of the answer's cookie. */
function cookieOf(response: Response): string {
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function logIn(): Promise<{ readonly cookie: string; readonly token: string }> {
  const response = await post('login', { body: LOGIN });
  expect(response.status).toBe(200);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { cookie: cookieOf(response), token };
}

async function statusWith(token: string): Promise<number> {
  const response = await fetch(`${gateway.url}/o/recs/task`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return response.status;
}

/** As if the refresh token had been used so long ago. */
async function ageUsedTokens(): Promise<void> {
  await gateway.sql.query(`update refresh_tokens set used_at = used_at - interval '1 minute'`);
}

describe('a login from a page', () => {
  it('answers an access token and puts the refresh token in a cookie that scripts cannot read', async () => {
    const response = await post('login', { body: LOGIN });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('set-cookie')).toMatch(
      /^campus_refresh=cgr_[\w-]{43}; Path=\/auth\/browser; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    const text = await response.text();
    expect(text).not.toContain('cgr_');
    const answer = JSON.parse(text);
    expect(answer).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      user: {
        _id: 'usr-teacher',
        user_name: 'teacher',
        name: 'The teacher',
        roles: ['teacher'],
        domain: 'top',
      },
    });
    expect(await statusWith(answer.access_token)).toBe(200);
  });

  it('gives a page over TLS a cookie that nobody without TLS can set', async () => {
    const origin = gateway.url.replace('http:', 'https:');
    const response = await post('login', { body: LOGIN, origin });
    expect(response.headers.get('set-cookie')).toMatch(/^__Secure-campus_refresh=cgr_.*; Secure$/);
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    const bare = cookie.replace('__Secure-', '');
    expect((await post('refresh', { cookie: bare, origin })).status).toBe(204);
    expect((await post('refresh', { cookie: `${bare}; ${cookie}`, origin })).status).toBe(200);
  });

  it('believes Sec-Fetch-Site over Host, which a proxy may have changed', async () => {
    const origin = 'https://school.example';
    const headers = { 'sec-fetch-site': 'same-origin' };
    expect((await post('login', { body: LOGIN, origin, headers })).status).toBe(200);
  });

  it('ends the session the browser had before, and never goes on with its token', async () => {
    const before = await logIn();
    const response = await post('login', { body: LOGIN, cookie: before.cookie });
    expect(response.status).toBe(200);
    expect(cookieOf(response)).not.toBe(before.cookie);
    expect(await statusWith(before.token)).toBe(401);
  });

  it('notes where and by what the session was opened', async () => {
    await post('login', { body: LOGIN, headers: { 'user-agent': 'Firefox on the office computer' } });
    const { rows } = await gateway.sql.query(
      `select address, user_agent from sessions order by created_at desc limit 1`,
    );
    expect(rows).toEqual([{ address: '127.0.0.1', user_agent: 'Firefox on the office computer' }]);
  });

  const refusals: readonly (Sent & { readonly why: string; readonly status: number })[] = [
    { why: 'no page has sent it', origin: null, status: 403 },
    { why: 'the page is of another host', origin: 'https://evil.example', status: 403 },
    { why: 'the page is of another port', origin: 'http://127.0.0.1:1', status: 403 },
    { why: 'the page is of no origin', origin: 'null', status: 403 },
    { why: 'the page is a file', origin: 'file://', status: 403 },
    { why: 'the browser says another site', headers: { 'sec-fetch-site': 'cross-site' }, status: 403 },
    { why: 'the browser says the same site alone', headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
    {
      why: 'it is a form',
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      status: 415,
    },
    { why: 'it is plain text', body: '{}', headers: { 'content-type': 'text/plain' }, status: 415 },
    { why: 'it is no object', body: [], status: 400 },
    { why: 'the password is missing', body: { user_name: 'teacher' }, status: 400 },
    { why: 'the name is a number', body: { user_name: 1, password: PASSWORD }, status: 400 },
    { why: 'it has a member more', body: { ...LOGIN, grant_type: 'password' }, status: 400 },
  ];

  it.each(refusals)('is refused where $why: $status', async ({ why: _, status, body = LOGIN, ...sent }) => {
    const response = await post('login', { body, ...sent });
    expect(response.status).toBe(status);
    expect(response.headers.get('set-cookie')).toBeNull();
    const text = await response.text();
    expectProblem(response, text);
    expect(text).not.toContain(PASSWORD);
  });

  it('is refused with a wrong password, for longer after each, and in the same words for nobody', async () => {
    const attempt = async (user_name: string) => {
      const response = await post('login', { body: { user_name, password: 'wrong horse' } });
      const { detail } = (await response.json()) as { detail: string };
      return { status: response.status, detail, retryAfter: response.headers.get('retry-after') };
    };
    const known = [];
    const unknown = [];
    for (let tried = 0; tried < 4; tried += 1) {
      known.push(await attempt('clerk'));
      unknown.push(await attempt('nobody'));
    }
    expect(known.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(known[3]?.detail).toMatch(/^Too many logins failed/);
    expect(unknown.map(({ status }) => status)).toEqual([401, 401, 401, 429]);
    expect(unknown[0]?.detail).toBe(known[0]?.detail);
    const right = await post('login', { body: { user_name: 'clerk', password: PASSWORD } });
    expect(right.status).toBe(429);

    // An admin sees it, and ends it. Nobody else does either.
    const user = '{ account(id: "usr-clerk") { lockedUntil } }';
    const { account } = await ask(gateway, user);
    expect(Date.parse(account.lockedUntil)).toBeGreaterThan(Date.now());
    const unlock = 'mutation { unlockUser(userId: "usr-clerk") { lockedUntil } }';
    expect(await codesOf(gateway, { query: unlock, as: 'teacher' })).toEqual(['FORBIDDEN']);
    const missing = 'mutation { unlockUser(userId: "nobody") { id } }';
    expect(await codesOf(gateway, { query: missing, as: 'admin' })).toEqual(['NOT_FOUND']);
    expect((await ask(gateway, unlock)).unlockUser).toEqual({ lockedUntil: null });
    const again = await post('login', { body: { user_name: 'clerk', password: PASSWORD } });
    expect(again.status).toBe(200);
    const trail = '{ auditTrail(collection: "$session", recordId: "usr-clerk") { operation principal } }';
    const { auditTrail } = await ask(gateway, trail);
    expect(auditTrail).toContainEqual({ operation: 'unlocked', principal: 'usr-admin' });
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a refresh from a page', () => {
  it('gives the next access token and the next cookie', async () => {
    const { cookie } = await logIn();
    const response = await post('refresh', { cookie });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).not.toContain('cgr_');
    expect(await statusWith(JSON.parse(text).access_token)).toBe(200);
    expect(cookieOf(response)).toMatch(/^campus_refresh=cgr_/);
    expect(cookieOf(response)).not.toBe(cookie);
    expect((await post('refresh', { cookie: cookieOf(response) })).status).toBe(200);
  });

  it('answers all tabs that ask at the same time', async () => {
    const { cookie } = await logIn();
    const responses = await Promise.all([1, 2, 3].map(() => post('refresh', { cookie })));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const response of responses)
      expect((await post('refresh', { cookie: cookieOf(response) })).status).toBe(200);
  });

  it('ends the session where a cookie comes back later', async () => {
    const { cookie } = await logIn();
    const next = await post('refresh', { cookie });
    const { access_token: token } = (await next.json()) as { access_token: string };
    await ageUsedTokens();
    expect((await post('refresh', { cookie })).status).toBe(401);
    expect(await statusWith(token)).toBe(401);
    expect((await post('refresh', { cookie: cookieOf(next) })).status).toBe(401);
  });

  it.each([undefined, 'theme=dark; lang=hi'])(
    'says 204 where the browser has no cookie of it: %s',
    async (cookie) => {
      const response = await post('refresh', { cookie });
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(response.headers.get('set-cookie')).toBeNull();
    },
  );

  const token = `cgr_${'A'.repeat(43)}`;
  it.each<[string, Sent, number]>([
    ['an unknown token', { cookie: `campus_refresh=${token}` }, 401],
    ['an API key in the cookie', { cookie: `campus_refresh=cg_${'A'.repeat(43)}` }, 401],
    ['two cookies of the name', { cookie: `campus_refresh=${token}; campus_refresh=${token}` }, 401],
    ['a NUL', { cookie: 'campus_refresh=%00' }, 401],
    ['no page', { origin: null, cookie: `campus_refresh=${token}` }, 403],
    ['a page of another host', { origin: 'https://evil.example', cookie: `campus_refresh=${token}` }, 403],
  ])('is refused with %s', async (_, sent, status) => {
    const response = await post('refresh', sent);
    expect(response.status).toBe(status);
    expectProblem(response, await response.text());
  });

  it('does not take the cookie of a page elsewhere, and keeps the session', async () => {
    const { cookie } = await logIn();
    expect((await post('refresh', { cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('logout', { cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('refresh', { cookie })).status).toBe(200);
  });
});

describe('a logout from a page', () => {
  it('ends the session, removes the cookie, and needs no access token', async () => {
    const { cookie, token } = await logIn();
    const response = await post('logout', { cookie });
    expect(response.status).toBe(204);
    expect(response.headers.get('set-cookie')).toBe(
      'campus_refresh=; Path=/auth/browser; Max-Age=0; HttpOnly; SameSite=Strict',
    );
    expect(await statusWith(token)).toBe(401);
    expect((await post('refresh', { cookie })).status).toBe(401);
  });

  it('is no error without a session', async () => {
    expect((await post('logout')).status).toBe(204);
  });
});
