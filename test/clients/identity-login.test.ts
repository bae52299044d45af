/** Log-in at a provider of identities: a real one, which says of everybody what the test has told it. */
import { hash, randomBytes } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { type Gateway, useGateway } from '../contract/gateway.js';
import { ask } from '../contract/graphql.js';
import { startIdentityProvider, type Told } from './start-identity-provider.js';

/** Where browsers reach the gateway, by its setting: no server is there. */
const PUBLIC = 'http://school.example';
const CALLBACK = `${PUBLIC}/auth/browser/oidc/callback`;

type Claims = NonNullable<Told['claims']>;

const CLIENT_SECRET = 'a secret of the client, long enough';
const provider = await startIdentityProvider(CALLBACK, CLIENT_SECRET);
const { issuer } = provider;

async function tell(claims: Claims, amr: readonly string[] = ['pwd']): Promise<void> {
  await provider.tell({ claims, amr });
}

const SETTINGS = {
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: 'campus',
  OIDC_CLIENT_SECRET: CLIENT_SECRET,
  OIDC_NAME: 'School ID',
  PUBLIC_URL: PUBLIC,
  SECOND_FACTOR_ROLES: 'accountant',
};
const gateway = useGateway(SETTINGS);
afterAll(() => provider.stop());

beforeEach(async () => {
  await tell({ email: 'clerk@school.example', email_verified: true });
  await giveEmails(gateway);
  await gateway.sql.query('delete from second_factors; delete from login_failures');
});

async function giveEmails({ sql }: Gateway): Promise<void> {
  await sql.query(`
    update records set data = data || ('{"email":"' || (data ->> 'user_name') || '@school.example"}')::jsonb
    where collection = 'pltf_user'`);
}

/** A browser, as far as cookies and redirects go: what each host has set, for whatever path. */
class Browser {
  readonly gateway: Pick<Gateway, 'url'>;
  readonly #cookies = new Map<string, Map<string, string>>();

  constructor(at: Pick<Gateway, 'url'> = gateway) {
    this.gateway = at;
  }

  async get(address: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await this.send(address, { headers });
  }

  async send(address: string, init: RequestInit): Promise<Response> {
    // What is sent to the public address comes to the gateway.
    const url = address.replace(PUBLIC, this.gateway.url);
    const { host } = new URL(url);
    const kept = this.#cookies.get(host) ?? new Map<string, string>();
    const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      kept.set(name, value);
    }
    this.#cookies.set(host, kept);
    return response;
  }

  /** Follows redirects until one leads to a page of the portal, and says to which. */
  async logIn(start = `${PUBLIC}/auth/browser/oidc/start`): Promise<string> {
    let address = start;
    for (let step = 0; step < 10; step += 1) {
      const response = await this.get(address);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${address}: ${response.status} ${await response.text()}`);
      if (location.startsWith('/') && address.startsWith(PUBLIC)) return location;
      address = new URL(location, address).href;
    }
    throw new Error('it goes round and round');
  }

  async whoAmI(): Promise<{ readonly user?: string; readonly token?: string }> {
    const response = await this.send(`${this.gateway.url}/auth/browser/refresh`, {
      method: 'POST',
      headers: { origin: this.gateway.url },
    });
    if (response.status !== 200) return {};
    const { user, access_token: token } = (await response.json()) as {
      user: { user_name: string };
      access_token: string;
    };
    return { user: user.user_name, token };
  }

  cookiesOfGateway(): ReadonlyMap<string, string> {
    return this.#cookies.get(new URL(this.gateway.url).host) ?? new Map();
  }

  async sendCode(code: string): Promise<number> {
    const response = await this.send(`${this.gateway.url}/auth/browser/oidc/code`, {
      method: 'POST',
      headers: { origin: this.gateway.url, 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    return response.status;
  }
}

describe('a log-in at a provider of identities', () => {
  it('is not begun while the provider is away, and is once it is back', async () => {
    await provider.tell({ isAway: true });
    expect(await new Browser().logIn()).toBe('/?login=unreachable');
    await tell({ email: 'clerk@school.example', email_verified: true });
    expect(await new Browser().logIn()).toBe('/');
  });

  it('opens a session of the user with the verified email address, in whatever case', async () => {
    await tell({ email: 'CLERK@School.example', email_verified: true });
    const browser = new Browser();
    expect(await browser.logIn()).toBe('/');
    expect(await browser.whoAmI()).toMatchObject({ user: 'clerk' });
    expect(browser.cookiesOfGateway().get('campus_login')).toBe('');
  });

  it('sends state, nonce and PKCE, and keeps what belongs to them from scripts and readers', async () => {
    const response = await new Browser().get(`${PUBLIC}/auth/browser/oidc/start`);
    const sent = new URL(response.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(sent)).toMatchObject({
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: CALLBACK,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^campus_login=cge1\.[\w.-]+; Path=\/auth\/browser\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(cookie).not.toContain(sent.get('state'));
  });

  it('lets a user in who never set a password, and the password stays unknown', async () => {
    await ask(
      gateway,
      'mutation { inviteUser(data: {userName: "farida", name: "Farida", email: "f@school.example", ' +
        'roles: ["clerk"]}) { userId } }',
    );
    await tell({ email: 'f@school.example', email_verified: true });
    const browser = new Browser();
    expect(await browser.logIn()).toBe('/');
    expect(await browser.whoAmI()).toMatchObject({ user: 'farida' });
    expect(await new Browser().logIn()).toBe('/');
  });

  it('is refused for a branch that is not there', async () => {
    const start = `${PUBLIC}/auth/browser/oidc/start?domain=nowhere`;
    expect(await new Browser().logIn(start)).toBe('/?login=unknown');
  });

  it.each<[string, Claims, string]>([
    ['nobody has', { email: 'stranger@school.example', email_verified: true }, '/?login=unknown'],
    ['looks like another', { email: 'cler\u212a@school.example', email_verified: true }, '/?login=unknown'],
    ['folds to another', { email: 'ｃlerk@school.example', email_verified: true }, '/?login=unknown'],
    ['is not verified', { email: 'clerk@school.example', email_verified: false }, '/?login=unverified'],
    ['is not said to be verified', { email: 'clerk@school.example' }, '/?login=unverified'],
    ['is missing', {}, '/?login=unverified'],
  ])('is refused for an email address that %s', async (_what, claims, page) => {
    await tell(claims);
    const browser = new Browser();
    expect(await browser.logIn()).toBe(page);
    expect(await browser.whoAmI()).toEqual({});
  });

  it('is refused for an address that two users have, and for one who may not log in', async () => {
    await gateway.sql.query(`
      update records set data = data || '{"email": "clerk@school.example"}' where id = 'usr-viewer'`);
    expect(await new Browser().logIn()).toBe('/?login=unknown');
    await tell({ email: 'teacher@school.example', email_verified: true });
    await gateway.sql.query(`update records set data = data || '{"active": false}' where id = 'usr-teacher'`);
    expect(await new Browser().logIn()).toBe('/?login=unknown');
    await gateway.sql.query(`update records set data = data || '{"active": true}' where id = 'usr-teacher'`);
  });

  it('is refused without the cookie of its beginning, with another state, or when stopped', async () => {
    expect(await new Browser().logIn(`${CALLBACK}?code=x&state=y`)).toBe('/?login=stale');
    const browser = new Browser();
    await browser.get(`${PUBLIC}/auth/browser/oidc/start`);
    expect(await browser.logIn(`${CALLBACK}?code=x&state=y`)).toBe('/?login=refused');
    // The cookie is gone with that: no second guess.
    expect(await browser.logIn(`${CALLBACK}?code=x&state=y`)).toBe('/?login=stale');
    const stopped = new Browser();
    const begun = await stopped.get(`${PUBLIC}/auth/browser/oidc/start`);
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    expect(await stopped.logIn(`${CALLBACK}?error=access_denied&state=${state}`)).toBe('/?login=refused');
  });

  it('is refused with an ID token that somebody else has signed', async () => {
    await provider.tell({ isForged: true, claims: { email: 'clerk@school.example', email_verified: true } });
    const browser = new Browser();
    expect(await browser.logIn()).toBe('/?login=refused');
    expect(await browser.whoAmI()).toEqual({});
    expect(await browser.logIn()).toBe('/');
  });

  async function goToCallback(browser: Browser): Promise<string> {
    let address = `${PUBLIC}/auth/browser/oidc/start`;
    while (!address.startsWith(CALLBACK)) {
      const response = await browser.get(address);
      address = new URL(response.headers.get('location') ?? '', address).href;
    }
    return address;
  }

  it('is not refused but told so where the provider goes away in the middle', async () => {
    const browser = new Browser();
    const address = await goToCallback(browser);
    await provider.tell({ isAway: true });
    expect(await browser.logIn(address)).toBe('/?login=unreachable');
  });

  it('takes no code twice, nor one of another browser', async () => {
    const browser = new Browser();
    const address = await goToCallback(browser);
    const other = new Browser();
    await other.get(`${PUBLIC}/auth/browser/oidc/start`);
    expect(await other.logIn(address)).toBe('/?login=refused');
    expect(await browser.logIn(address)).toBe('/');
    expect(await browser.logIn(address)).toBe('/?login=stale');
  });
});

describe('the page that was asked for before the log-in', () => {
  const startFor = (page: string) => `${PUBLIC}/auth/browser/oidc/start?to=${encodeURIComponent(page)}`;

  it('is where the login ends, and where the log-in page says what it came to', async () => {
    expect(await new Browser().logIn(startFor('/portal/records/task?find=a%26b'))).toBe(
      '/portal/records/task?find=a%26b',
    );
    await tell({ email: 'stranger@school.example', email_verified: true });
    expect(await new Browser().logIn(startFor('/portal/records?find=fee'))).toBe(
      '/portal/records?find=fee&login=unknown',
    );
  });

  it.each([
    'https://elsewhere.example/',
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    '/\t/elsewhere.example/',
    '/.//elsewhere.example/',
    'portal/records',
    `/${'a'.repeat(1000)}`,
  ])('is the first page instead of %j', async (page) => {
    expect(await new Browser().logIn(startFor(page))).toBe('/');
  });
});

interface LoggedOut {
  readonly status: number;
  readonly end: URL | undefined;
}

async function logOut(browser: Browser): Promise<LoggedOut> {
  const response = await browser.send(`${browser.gateway.url}/auth/browser/logout`, {
    method: 'POST',
    headers: { origin: browser.gateway.url },
  });
  const text = await response.text();
  return {
    status: response.status,
    end: text === '' ? undefined : new URL((JSON.parse(text) as { end_session: string }).end_session),
  };
}

describe('a logout', () => {
  it('tells who logged in at the provider where that session is ended, once', async () => {
    const browser = new Browser();
    await browser.logIn();
    const { status, end } = await logOut(browser);
    expect([status, end?.origin, end?.searchParams.get('client_id')]).toEqual([200, issuer, 'campus']);
    expect(end?.searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC}/`);
    const [, claims = ''] = end?.searchParams.get('id_token_hint')?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ aud: 'campus' });
    expect(await browser.whoAmI()).toEqual({});
    expect(await logOut(browser)).toEqual({ status: 204, end: undefined });
  });

  it('keeps what belongs to it where no script and no other page reads it', async () => {
    const browser = new Browser();
    let address = `${PUBLIC}/auth/browser/oidc/start`;
    let cookies: string[] = [];
    while (!cookies.some((one) => one.startsWith('campus_provider='))) {
      const response = await browser.get(address);
      cookies = response.headers.getSetCookie();
      address = new URL(response.headers.get('location') ?? '', address).href;
    }
    const [text, ...attributes] =
      cookies.find((one) => one.startsWith('campus_provider='))?.split('; ') ?? [];
    expect(text).toMatch(/^campus_provider=cge1\.[\w.-]+$/);
    expect(attributes).toEqual([
      'Path=/auth/browser/logout',
      'Max-Age=34560000',
      'HttpOnly',
      'SameSite=Strict',
    ]);
  });

  it('ends here alone for who logged in by a password, and for a cookie that is none of ours', async () => {
    const browser = new Browser();
    const headers = { origin: gateway.url, 'content-type': 'application/json' };
    const body = JSON.stringify({ user_name: 'clerk', password: 'clerk-password' });
    await browser.send(`${gateway.url}/auth/browser/login`, { method: 'POST', headers, body });
    expect(await logOut(browser)).toEqual({ status: 204, end: undefined });
    const response = await fetch(`${gateway.url}/auth/browser/logout`, {
      method: 'POST',
      headers: { origin: gateway.url, cookie: 'campus_provider=cge1.made.up' },
    });
    expect(response.status).toBe(204);
  });
});

describe.each([
  ['is not wanted', { OIDC_LOGOUT: 'false' }, {}],
  ['the provider has no page for', {}, { hasNoEnd: true }],
])('a logout at the provider that %s', (_which, settings, told) => {
  const other = useGateway({ ...SETTINGS, ...settings });

  it('is one here alone', async () => {
    await provider.tell({ claims: { email: 'clerk@school.example', email_verified: true }, ...told });
    await giveEmails(other);
    const browser = new Browser(other);
    expect(await browser.logIn()).toBe('/');
    expect((await browser.whoAmI()).user).toBe('clerk');
    expect(await logOut(browser)).toEqual({ status: 204, end: undefined });
    expect(await browser.whoAmI()).toEqual({});
  });
});

describe('the second factor of a user who comes from a provider', () => {
  async function switchOn(): Promise<TOTP> {
    const { beginSecondFactor } = await ask(gateway, 'mutation { beginSecondFactor { secret } }', {
      as: 'clerk',
    });
    const totp = new TOTP({ secret: Secret.fromBase32(beginSecondFactor.secret), period: 30 });
    await ask(gateway, 'mutation ($c: String!) { confirmSecondFactor(code: $c) }', {
      variables: { c: totp.generate() },
      as: 'clerk',
    });
    // The code of this half minute is used up by that.
    await gateway.sql.query('update second_factors set last_step = null');
    return totp;
  }

  it('is asked for, and without its code nobody is in', async () => {
    const totp = await switchOn();
    const browser = new Browser();
    expect(await browser.logIn()).toBe('/?login=code');
    expect(await browser.whoAmI()).toEqual({});
    expect(await browser.sendCode('000000')).toBe(401);
    expect(await new Browser().sendCode(totp.generate())).toBe(401);
    expect(await browser.sendCode(totp.generate())).toBe(204);
    expect(await browser.whoAmI()).toMatchObject({ user: 'clerk' });
  });

  it('is not asked for again where the provider has asked for one', async () => {
    await switchOn();
    await tell({ email: 'clerk@school.example', email_verified: true }, ['pwd', 'mfa']);
    const browser = new Browser();
    expect(await browser.logIn()).toBe('/');
    expect(await browser.whoAmI()).toMatchObject({ user: 'clerk' });
  });

  it.each([
    [['pwd'], true],
    [['pwd', 'mfa'], false],
  ])(
    'of a role that needs one is to be switched on, unless the provider asks: %j',
    async (methods, isMissing) => {
      await tell({ email: 'accountant@school.example', email_verified: true }, methods);
      const browser = new Browser();
      expect(await browser.logIn()).toBe('/');
      const { token } = await browser.whoAmI();
      const { secondFactor } = await ask(gateway, '{ secondFactor { isMissing } }', {
        as: undefined,
        headers: { authorization: `Bearer ${token}` },
      });
      expect(secondFactor).toEqual({ isMissing });
    },
  );

  it('is sent by pages of this host alone', async () => {
    const response = await gateway.fetch('/auth/browser/oidc/code', {
      method: 'POST',
      headers: { origin: 'https://elsewhere.example', 'content-type': 'application/json' },
      body: '{"code": "123456"}',
    });
    expect(response.status).toBe(403);
  });
});

describe('an agent that its user has connected by the log-in at the provider', () => {
  const RESOURCE = `${PUBLIC}/mcp`;
  const METADATA = '/.well-known/oauth-protected-resource/mcp';
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  interface Tokens {
    readonly access_token: string;
    readonly id_token: string;
  }

  /** As a client of the provider gets them (RFC 6749, 4.1; RFC 7636; RFC 8707). */
  async function tokensFor(resource: string): Promise<Tokens> {
    const verifier = randomBytes(32).toString('base64url');
    const own = { client_id: 'campus', redirect_uri: CALLBACK, resource };
    const authorize = new URLSearchParams({
      ...{ ...own, response_type: 'code', scope: 'openid email', code_challenge_method: 'S256' },
      code_challenge: hash('sha256', verifier, 'base64url'),
    });
    const browser = new Browser();
    let address = `${issuer}/auth?${authorize}`;
    while (!address.startsWith(CALLBACK)) {
      const { headers } = await browser.get(address);
      address = new URL(headers.get('location') ?? '', address).href;
    }
    const code = new URL(address).searchParams.get('code') ?? '';
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const body = new URLSearchParams({ ...own, ...grant, client_secret: CLIENT_SECRET });
    const response = await fetch(`${issuer}/token`, { method: 'POST', body });
    return (await response.json()) as Tokens;
  }

  async function send(token?: string, path = '/mcp', body: object = LIST): Promise<Response> {
    return await gateway.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  }

  async function sessionsOf(userId: string): Promise<number> {
    const { rows } = await gateway.sql.query('select 1 from sessions where user_id = $1', [userId]);
    return rows.length;
  }

  it('is told where to get a token', async () => {
    const refused = await send();
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${PUBLIC}${METADATA}"`);
    const metadata = { resource: RESOURCE, authorization_servers: [issuer] };
    expect(await (await gateway.fetch(METADATA)).json()).toMatchObject(metadata);
  });

  it('asks as the user of the token, in one session, while the user is active', async () => {
    const before = await sessionsOf('usr-clerk');
    const { access_token: token } = await tokensFor(RESOURCE);
    const [first, second] = await Promise.all([send(token), send(token)]);
    expect([first.status, second.status]).toEqual([200, 200]);
    const { result } = (await first.json()) as { result: { tools: { name: string }[] } };
    expect(result.tools.map(({ name }) => name)).toContain('search-records');
    expect((await send(token)).status).toBe(200);
    expect(await sessionsOf('usr-clerk')).toBe(before + 1);
    expect((await send(token, '/graphql', { query: '{ me { userName } }' })).status).toBe(401);
    const setActive =
      'mutation ($is: Boolean!) { setUserActive(userId: "usr-clerk", isActive: $is) { userName } }';
    await ask(gateway, setActive, { variables: { is: false } });
    expect((await send(token)).status).toBe(401);
    await ask(gateway, setActive, { variables: { is: true } });
  });

  async function tokenFor(claims: Claims): Promise<string> {
    await tell(claims);
    return (await tokensFor(RESOURCE)).access_token;
  }

  it.each<[string, () => Promise<string>, RegExp]>([
    [
      'of another resource',
      async () => (await tokensFor('https://a.example/')).access_token,
      /something else/,
    ],
    ['that tells who its user is', async () => (await tokensFor(RESOURCE)).id_token, /something else/],
    [
      'that somebody else has signed',
      async () => {
        const [head, claims] = (await tokensFor(RESOURCE)).access_token.split('.');
        return `${head}.${claims}.${randomBytes(256).toString('base64url')}`;
      },
      /something else/,
    ],
    ['of an unverified address', () => tokenFor({ email: 'clerk@school.example' }), /has verified/],
    [
      'of nobody here',
      () => tokenFor({ email: 'stranger@school.example', email_verified: true }),
      /No active user/,
    ],
  ])('is refused with a token %s', async (_which, find, detail) => {
    const refused = await send(await find());
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringMatching(detail)]);
  });
});

it('the log-in page is told what the provider is called', async () => {
  expect(await (await gateway.fetch('/explore/school.json')).json()).toMatchObject({
    identityProvider: 'School ID',
  });
});
