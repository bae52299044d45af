/** Users as admins look after them, sessions, and links that set a password. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { type MailServer, startMailServer } from '../services/messaging/mail-server.js';
import { PASSWORD, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, type GraphqlAnswer, send } from './graphql.js';

const mail: MailServer = await startMailServer();
const gateway = useGateway({
  SMTP_URL: mail.url,
  MAIL_FROM: 'office@school.example',
  PUBLIC_URL: 'https://school.example/',
  LOG_LEVEL: 'info',
});
afterAll(async () => await mail.close());

const NEW_PASSWORD = 'battery staple';

const by = (token: string, query: string, variables: object = {}): Promise<GraphqlAnswer> =>
  send(gateway, { query, variables, headers: { authorization: `Bearer ${token}` } });

async function logIn(userName: string, password = PASSWORD): Promise<string> {
  const { data } = await send(gateway, {
    query: 'mutation ($u: String!, $p: String!) { login(userName: $u, password: $p) { accessToken } }',
    variables: { u: userName, p: password },
  });
  return data?.login?.accessToken;
}

async function statusOf(token: string): Promise<number> {
  return (await by(token, '{ me { id } }')).status;
}

const INVITE = 'mutation ($data: InviteUserInput!) { inviteUser(data: $data) { userId link expiresAt } }';
async function invite(data: object): Promise<Answered> {
  const user = { userName: 'x', name: 'X', roles: ['clerk'], ...data };
  return (await ask(gateway, INVITE, { variables: { data: user } })).inviteUser;
}

const tokenIn = (link: string) => link.split('#')[1] ?? '';
const USE =
  'mutation ($token: String!, $password: String!) { useAccountLink(token: $token, password: $password) }';
const use = (token: string, password = NEW_PASSWORD) =>
  send(gateway, { query: USE, variables: { token, password } });
const open = (token: string) =>
  send(gateway, {
    query: 'query ($token: String!) { accountLink(token: $token) { purpose userName name domainName } }',
    variables: { token },
  });

/** A user who has a password. */
async function addUser(userName: string, roles: readonly string[] = ['clerk']): Promise<string> {
  const { userId, link } = await invite({ userName, name: `The ${userName}`, roles });
  await use(tokenIn(link), PASSWORD);
  return userId;
}

it('openapi.json names the address of PUBLIC_URL', async () => {
  const openapi = JSON.parse(await (await gateway.fetch('/openapi.json')).text());
  expect(openapi.servers).toEqual([{ url: 'https://school.example' }]);
});

describe('what is for admins', () => {
  const DOORS: readonly [string, string][] = [
    ['accounts', '{ accounts { nodes { id } } }'],
    ['the count of accounts', '{ accounts { totalCount } }'],
    ['account', '{ account(id: "usr-clerk") { id } }'],
    ['userRights', '{ userRights(userId: "usr-clerk") { duties } }'],
    ['inviteUser', 'mutation { inviteUser(data: {userName: "y", name: "Y", roles: ["admin"]}) { link } }'],
    ['sendAccountLink', 'mutation { sendAccountLink(userId: "usr-admin") { link } }'],
    ['setUserRoles', 'mutation { setUserRoles(userId: "usr-viewer", roles: ["admin"]) { id } }'],
    ['setUserActive', 'mutation { setUserActive(userId: "usr-admin", isActive: false) { id } }'],
    ['the sessions of others', '{ sessions(userId: "usr-admin") { id } }'],
    ['ending the sessions of others', 'mutation { endSessions(userId: "usr-admin") }'],
  ];
  let key: string;
  beforeAll(async () => {
    const everything = {
      collections: { '*': ['read', 'create', 'update', 'delete'] },
      reports: ['*'],
      scripts: ['*'],
    };
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "all", scopes: $s}) { key } }',
      { variables: { s: everything } },
    );
    key = createApiKey.key;
  });

  it.each(DOORS)('is refused to everybody else: %s', async (_, query) => {
    for (const as of ['accountant', 'teacher', 'clerk', 'viewer'] as const)
      expect([as, await codesOf(gateway, { query, as })]).toEqual([as, ['FORBIDDEN']]);
    const headers = { authorization: `Bearer ${key}` };
    expect(['a key of an admin', await codesOf(gateway, { query, headers })]).toEqual([
      'a key of an admin',
      ['FORBIDDEN'],
    ]);
    expect((await send(gateway, { query })).status).toBe(401);
  });
});

describe('an invitation', () => {
  it('is a link that sets the first password, once', async () => {
    const { userId, link } = await invite({ userName: 'asha', name: 'Asha Rao', roles: ['teacher'] });
    expect(link).toMatch(/^https:\/\/school\.example\/welcome#cgl_[\w-]{43}$/);
    expect(await logIn('asha', '')).toBeUndefined();
    const token = tokenIn(link);
    expect((await open(token)).data.accountLink).toEqual({
      ...{ purpose: 'invite', userName: 'asha', name: 'Asha Rao', domainName: 'Top' },
    });
    expect((await use(token, 'short')).errors[0]?.extensions.code).toBe('INVALID_VALUE');
    expect((await use(token)).data).toEqual({ useAccountLink: true });
    expect(await statusOf(await logIn('asha', NEW_PASSWORD))).toBe(200);
    expect((await use(token, 'another one')).errors[0]?.extensions.code).toBe('NOT_FOUND');
    expect((await open(token)).errors[0]?.extensions.code).toBe('NOT_FOUND');
    const { account } = await ask(gateway, 'query ($id: ID!) { account(id: $id) { roles hasPassword } }', {
      variables: { id: userId },
    });
    expect(account).toEqual({ roles: ['teacher'], hasPassword: true });
  });

  it('goes by mail alone where there is an address', async () => {
    const { link } = await invite({ userName: 'mira', name: 'Mira', email: 'mira@school.example' });
    expect(link).toBeNull();
    await expectEventually(() => mail.taken.length, 1);
    const text = mail.taken[0]?.mail.text ?? '';
    const token = /https:\/\/school\.example\/welcome#(cgl_[\w-]{43})/.exec(text)?.[1] ?? '';
    expect(mail.taken[0]?.to).toEqual(['mira@school.example']);
    expect((await use(token)).errors).toEqual([]);
  });

  it.each([
    ['a user name that is taken', { userName: 'clerk' }, 'CONFLICT'],
    ['no user name', { userName: '' }, 'INVALID_VALUE'],
    ['an address that is none', { userName: 'q', email: 'a\nb@c.example' }, 'INVALID_VALUE'],
  ])('is refused with %s, and nobody is added', async (_, data, code) => {
    const user = { name: 'X', roles: ['clerk'], ...data };
    expect(await codesOf(gateway, { query: INVITE, variables: { data: user }, as: 'admin' })).toEqual([code]);
    const { accounts } = await ask(gateway, '{ accounts(search: "q") { totalCount } }');
    expect(accounts.totalCount).toBe(0);
  });

  it('ends when it expires, when another is made, and when the user may no longer log in', async () => {
    const { userId, link } = await invite({ userName: 'late' });
    const again = 'mutation ($id: ID!) { sendAccountLink(userId: $id) { link } }';
    const next = (await ask(gateway, again, { variables: { id: userId } })).sendAccountLink.link;
    expect((await open(tokenIn(link))).errors[0]?.extensions.code).toBe('NOT_FOUND');
    expect((await open(tokenIn(next))).data.accountLink.purpose).toBe('invite');
    const active = 'mutation ($id: ID!, $is: Boolean!) { setUserActive(userId: $id, isActive: $is) { id } }';
    await ask(gateway, active, { variables: { id: userId, is: false } });
    expect((await use(tokenIn(next))).errors[0]?.extensions.code).toBe('NOT_FOUND');
    expect(await codesOf(gateway, { query: again, variables: { id: userId }, as: 'admin' })).toEqual([
      'CONFLICT',
    ]);
    await ask(gateway, active, { variables: { id: userId, is: true } });
    await gateway.sql.query(`update account_links set expires_at = now() where user_id = $1`, [userId]);
    expect((await use(tokenIn(next))).errors[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it('keeps no link in the database, nor in the log', async () => {
    const { link } = await invite({ userName: 'secretive' });
    const { rows } = await gateway.sql.query(`select string_agg(l::text, '') as text from account_links l`);
    expect(rows[0].text).not.toContain(tokenIn(link));
    await use(tokenIn(link));
    expect(gateway.log.join('')).not.toContain('cgl_');
  });
});

describe('a reset', () => {
  it('leaves the password until its link is used, then ends every session', async () => {
    const userId = await addUser('forgetful');
    const token = await logIn('forgetful');
    const { sendAccountLink } = await ask(
      gateway,
      'mutation ($id: ID!) { sendAccountLink(userId: $id) { link } }',
      { variables: { id: userId } },
    );
    expect(await statusOf(token)).toBe(200);
    const secret = tokenIn(sendAccountLink.link);
    expect((await open(secret)).data.accountLink.purpose).toBe('reset');
    await use(secret);
    expect(await statusOf(token)).toBe(401);
    expect(await logIn('forgetful')).toBeUndefined();
    expect(await statusOf(await logIn('forgetful', NEW_PASSWORD))).toBe(200);
  });
});

describe('the names of roles', () => {
  it('are those that declarations name and those users have, for admins alone', async () => {
    const query = '{ roleNames }';
    const before = (await ask(gateway, query)).roleNames;
    expect(before).toEqual(expect.arrayContaining(['accountant', 'admin', 'teacher']));
    await ask(
      gateway,
      'mutation { setUserRoles(userId: "usr-clerk", roles: ["clerk", "librarian"]) { id } }',
    );
    expect((await ask(gateway, query)).roleNames).toEqual([...before, 'librarian'].sort());
    await ask(gateway, 'mutation { setUserRoles(userId: "usr-clerk", roles: ["clerk"]) { id } }');
    expect(await codesOf(gateway, { query, as: 'teacher' })).toEqual(['FORBIDDEN']);
  });
});

describe('accounts', () => {
  const names = (page: Answered) => page.accounts.nodes.map(({ userName }: Answered) => userName);

  it('come a page at a time, by user name', async () => {
    const query =
      'query ($after: String) { accounts(first: 4, after: $after) { nodes { userName } pageInfo ' +
      '{ hasNextPage hasPreviousPage endCursor } totalCount } }';
    const found: string[] = [];
    let after: string | null = null;
    let total: number;
    do {
      const page: Answered = await ask(gateway, query, { variables: { after } });
      expect(page.accounts.pageInfo.hasPreviousPage).toBe(after !== null);
      found.push(...names(page));
      after = page.accounts.pageInfo.hasNextPage ? page.accounts.pageInfo.endCursor : null;
      total = page.accounts.totalCount;
    } while (after !== null);
    expect(found).toEqual([...found].sort());
    expect(found).toHaveLength(total);
    expect(found).toEqual(expect.arrayContaining(['admin', 'teacher', 'viewer']));
  });

  it('are found by a part of a name, a role, and whether they may log in', async () => {
    const id = await addUser('per%cent', ['clerk', 'librarian']);
    const find = async (filter: string) =>
      names(await ask(gateway, `{ accounts(${filter}) { nodes { userName } } }`));
    expect(await find('search: "PER%C"')).toEqual(['per%cent']);
    expect(await find('search: "r_c"')).toEqual([]);
    expect(await find('role: "librarian"')).toEqual(['per%cent']);
    await ask(gateway, 'mutation ($id: ID!) { setUserActive(userId: $id, isActive: false) { id } }', {
      variables: { id },
    });
    expect(await find('isActive: false, role: "librarian"')).toEqual(['per%cent']);
    expect(await find('isActive: true, role: "librarian"')).toEqual([]);
  });
});

describe('a user made inactive', () => {
  it('gets no session back by being made active again', async () => {
    const id = await addUser('on.leave');
    const { data } = await send(gateway, {
      query: 'mutation ($u: String!, $p: String!) { login(userName: $u, password: $p) { refreshToken } }',
      variables: { u: 'on.leave', p: PASSWORD },
    });
    const token = await logIn('on.leave');
    const turn = (is: boolean) =>
      ask(
        gateway,
        'mutation ($id: ID!, $is: Boolean!) { setUserActive(userId: $id, isActive: $is) { id } }',
        {
          variables: { id, is },
        },
      );
    await turn(false);
    await turn(true);
    await expectEventually(() => statusOf(token), 401);
    const refresh = 'mutation ($t: String!) { refresh(refreshToken: $t) { accessToken } }';
    expect(await codesOf(gateway, { query: refresh, variables: { t: data?.login.refreshToken } })).toEqual([
      'UNAUTHENTICATED',
    ]);
    expect(await statusOf(await logIn('on.leave'))).toBe(200);
  });
});

describe('roles', () => {
  const set = (userId: string, roles: readonly string[]) =>
    send(gateway, {
      as: 'admin',
      query: 'mutation ($id: ID!, $roles: [String!]!) { setUserRoles(userId: $id, roles: $roles) { roles } }',
      variables: { id: userId, roles },
    });

  it('hold at once for tokens that are out', async () => {
    const id = await addUser('promoted', ['viewer']);
    const token = await logIn('promoted');
    expect((await by(token, '{ feeReceipts { nodes { id } } }')).errors).toHaveLength(1);
    expect((await set(id, ['accountant', 'accountant'])).data.setUserRoles.roles).toEqual(['accountant']);
    expect((await by(token, '{ me { roles } }')).data.me.roles).toEqual(['accountant']);
    expect((await by(token, '{ feeReceipts { nodes { id } } }')).errors).toEqual([]);
  });

  it('hold for the very next request, however soon it comes', async () => {
    const id = await addUser('back.and.forth', ['viewer']);
    const token = await logIn('back.and.forth');
    const seen: unknown[] = [];
    for (let round = 0; round < 10; round++) {
      for (const role of ['accountant', 'viewer']) {
        await set(id, [role]);
        seen.push((await by(token, '{ me { roles } }')).data.me.roles);
      }
    }
    expect(seen).toEqual(Array.from({ length: 10 }, () => [['accountant'], ['viewer']]).flat());
  });

  it('leave the school an admin', async () => {
    expect((await set('usr-admin', ['viewer'])).errors[0]?.extensions.code).toBe('CONFLICT');
    const off = 'mutation { setUserActive(userId: "usr-admin", isActive: false) { id } }';
    expect(await codesOf(gateway, { query: off, as: 'admin' })).toEqual(['CONFLICT']);
    const second = await addUser('second', ['admin']);
    expect((await set(second, ['viewer'])).errors).toEqual([]);
    expect((await ask(gateway, '{ me { roles } }')).me.roles).toEqual(['admin']);
  });

  it('are not set over those that another admin has set meanwhile', async () => {
    const id = await addUser('contested', ['viewer']);
    const set = `mutation ($id: ID!, $v: Int) {
      setUserRoles(userId: $id, roles: ["clerk"], ifVersion: $v) { version } }`;
    const read = `{ account(id: "${id}") { roles version } }`;
    const { version } = (await ask(gateway, read)).account;
    expect((await ask(gateway, set, { variables: { id, v: version } })).setUserRoles.version).toBe(
      version + 1,
    );
    const theirs = { query: set, variables: { id, v: version }, as: 'admin' } as const;
    expect(await codesOf(gateway, theirs)).toEqual(['VERSION_CONFLICT']);
    expect((await ask(gateway, read)).account).toEqual({ roles: ['clerk'], version: version + 1 });
  });

  it('leave a user active that another admin has changed meanwhile', async () => {
    const id = await addUser('contested-too', ['viewer']);
    const active = `mutation ($id: ID!, $is: Boolean!, $v: Int) {
      setUserActive(userId: $id, isActive: $is, ifVersion: $v) { isActive version } }`;
    const { version } = (await ask(gateway, `{ account(id: "${id}") { version } }`)).account;
    await set(id, ['clerk']);
    const stale = { query: active, variables: { id, is: false, v: version }, as: 'admin' } as const;
    expect(await codesOf(gateway, stale)).toEqual(['VERSION_CONFLICT']);
    const read = `{ account(id: "${id}") { isActive version } }`;
    expect((await ask(gateway, read)).account).toEqual({ isActive: true, version: version + 1 });
    const fresh = { id, is: false, v: version + 1 };
    expect((await ask(gateway, active, { variables: fresh })).setUserActive).toEqual({
      isActive: false,
      version: version + 2,
    });
  });

  it('of nobody are not found', async () => {
    expect((await set('nobody', ['clerk'])).errors[0]?.extensions.code).toBe('NOT_FOUND');
  });
});

describe('sessions', () => {
  const LIST = '{ sessions { id userId isCurrent address lastSeenAt } }';

  it('are listed for their user, and end one by one or all at once', async () => {
    await addUser('mobile');
    const [phone, office, home] = [await logIn('mobile'), await logIn('mobile'), await logIn('mobile')];
    const { sessions } = (await by(phone, LIST)).data;
    expect(sessions).toHaveLength(3);
    expect(sessions.filter(({ isCurrent }: Answered) => isCurrent)).toHaveLength(1);
    expect(sessions[0]).toMatchObject({ address: '127.0.0.1', lastSeenAt: null });
    const [current] = (await by(home, LIST)).data.sessions.filter(({ isCurrent }: Answered) => isCurrent);
    await by(phone, 'mutation ($id: ID!) { endSession(id: $id) }', { id: current.id });
    expect(await statusOf(home)).toBe(401);
    expect((await by(phone, 'mutation { endSessions }')).data).toEqual({ endSessions: 1 });
    expect([await statusOf(office), await statusOf(phone)]).toEqual([401, 200]);
    expect((await by(phone, 'mutation { endSessions(keepCurrent: false) }')).data.endSessions).toBe(1);
    expect(await statusOf(phone)).toBe(401);
  });

  it("of others are nobody's but an admin's", async () => {
    const id = await addUser('watched');
    const token = await logIn('watched');
    const { sessions } = await ask(gateway, 'query ($id: ID!) { sessions(userId: $id) { id userId } }', {
      variables: { id },
    });
    expect(sessions).toEqual([{ id: expect.any(String), userId: id }]);
    const end = { query: 'mutation ($id: ID!) { endSession(id: $id) }', variables: { id: sessions[0].id } };
    expect(await codesOf(gateway, { ...end, as: 'clerk' })).toEqual(['NOT_FOUND']);
    expect(await statusOf(token)).toBe(200);
    expect(await codesOf(gateway, { ...end, as: 'admin' })).toEqual([]);
    expect(await statusOf(token)).toBe(401);
  });
});

describe('userRights', () => {
  const FIELDS =
    '{ duties collections { name canCreate readableFields } reports { name } operations { name } }';

  it('are what the user itself is told', async () => {
    for (const role of ['accountant', 'teacher', 'clerk', 'viewer', 'admin'] as const) {
      const { userRights } = await ask(gateway, `{ userRights(userId: "usr-${role}") ${FIELDS} }`);
      expect(userRights).toEqual((await ask(gateway, `{ me ${FIELDS} }`, { as: role })).me);
    }
  });

  it('are not told of nobody', async () => {
    expect(
      await codesOf(gateway, { query: `{ userRights(userId: "nobody") ${FIELDS} }`, as: 'admin' }),
    ).toEqual(['NOT_FOUND']);
  });
});

describe('the audit trail', () => {
  const entriesOf = async (collection: string) =>
    (
      await ask(
        gateway,
        'query ($c: String) { auditTrail(collection: $c) ' +
          '{ recordId operation fromVersion toVersion principal requestOperation } }',
        { variables: { c: collection } },
      )
    ).auditTrail as readonly Answered[];
  const saidOf = async (collection: string, id: string) =>
    (await entriesOf(collection))
      .filter(({ recordId }) => recordId === id)
      .map(({ operation, principal }) => `${operation} by ${principal}`);

  it('tells who made, rotated and revoked an API key, the newest first', async () => {
    const scopes = '{collections: {}, reports: [], scripts: []}';
    const { createApiKey } = await ask(
      gateway,
      `mutation MakeKey { createApiKey(data: {name: "bell", scopes: ${scopes}}) { id } }`,
    );
    const { rotateApiKey } = await ask(
      gateway,
      'mutation ($id: ID!) { rotateApiKey(id: $id, overlapSeconds: 60) { id } }',
      { variables: { id: createApiKey.id } },
    );
    const revoke = 'mutation ($id: ID!) { revokeApiKey(id: $id) }';
    await ask(gateway, revoke, { variables: { id: rotateApiKey.id } });
    // Again is no error, and nothing was done.
    await ask(gateway, revoke, { variables: { id: rotateApiKey.id } });
    expect(await saidOf('$apiKey', createApiKey.id)).toEqual([
      'rotated by usr-admin',
      'created by usr-admin',
    ]);
    expect(await saidOf('$apiKey', rotateApiKey.id)).toEqual([
      'revoked by usr-admin',
      'created by usr-admin',
    ]);
    expect(
      (await entriesOf('$apiKey')).findLast(({ recordId }) => recordId === createApiKey.id),
    ).toMatchObject({
      fromVersion: null,
      toVersion: 0,
      requestOperation: 'MakeKey',
    });
  });

  it('tells of links and of the end of sessions, for each user once', async () => {
    await ask(gateway, 'mutation { sendAccountLink(userId: "usr-viewer") { userId } }');
    expect(await saidOf('$accountLink', 'usr-viewer')).toEqual(['created by usr-admin']);
    await logIn('viewer');
    await logIn('viewer');
    await ask(gateway, 'mutation { endSessions(userId: "usr-viewer") }');
    // Nothing is left to end.
    await ask(gateway, 'mutation { endSessions(userId: "usr-viewer") }');
    expect((await saidOf('$session', 'usr-viewer')).slice(0, 3)).toEqual([
      'revoked by usr-admin',
      'created by usr-viewer',
      'created by usr-viewer',
    ]);
  });

  it('tells of declarations, but not of what came to nothing', async () => {
    const definition = { name: 'bus', fields: [] };
    await ask(gateway, 'mutation ($d: JSON!) { registerCollection(definition: $d) { name } }', {
      variables: { d: definition },
    });
    const alter = 'mutation ($d: JSON!) { alterCollection(definition: $d) { name } }';
    await ask(gateway, alter, { variables: { d: definition } });
    await ask(gateway, alter, { variables: { d: { ...definition, title: 'Buses' } } });
    const over = 'mutation ($d: JSON!) { alterCollection(definition: $d, ifVersion: 1) { name } }';
    const stale = { query: over, variables: { d: { ...definition, title: 'Vans' } }, as: 'admin' } as const;
    expect(await codesOf(gateway, stale)).toEqual(['VERSION_CONFLICT']);
    await ask(gateway, 'mutation { dropCollection(name: "bus") }');
    expect(await saidOf('$collection', 'bus')).toEqual([
      'deleted by usr-admin',
      'updated by usr-admin',
      'created by usr-admin',
    ]);
  });
});

describe('log-ins', () => {
  const SESSIONS =
    'query ($id: ID) { auditTrail(collection: "$session", recordId: $id, first: 200) ' +
    '{ operation principal credential } }';
  const entriesOf = async (id: string): Promise<Answered[]> =>
    (await ask(gateway, SESSIONS, { variables: { id } })).auditTrail;
  const linesOf = (act: string) =>
    gateway.log
      .map((line) => JSON.parse(line))
      .filter((line) => line.event === 'account' && line.act === act);

  it('are audited and logged, good and bad, with user and address, never the password', async () => {
    const { userId } = await invite({ userName: 'seen', name: 'Seen' });
    await gateway.sql.query(
      `insert into credentials (domain_id, user_id, password_hash)
       select domain_id, $1, password_hash from credentials where user_id = 'usr-viewer'`,
      [userId],
    );
    await logIn('seen', 'a wrong secret');
    const token = await logIn('seen');
    await by(token, 'mutation { logout }');
    const entries = await entriesOf(userId);
    expect(entries.map(({ operation, principal }) => [operation, principal])).toEqual([
      ['deleted', userId],
      ['created', userId],
      ['refused', userId],
    ]);
    expect(entries.map(({ credential }) => credential.split(':')[0])).toEqual([
      'token',
      'address',
      'address',
    ]);
    expect(entries[1]?.credential).toMatch(/^address:(?:::ffff:)?127\.0\.0\.1$/);
    for (const act of ['loggedIn', 'loginFailed', 'loggedOut']) {
      const line = linesOf(act).findLast(({ userName }) => userName === 'seen');
      expect(line).toMatchObject({ domainId: 'top', address: expect.stringContaining('127.0.0.1') });
      expect(line.requestId).toMatch(/./);
    }
    expect(gateway.log.join('')).not.toMatch(/a wrong secret|correct horse/);
  });

  it('say that a refresh token came twice, which ends its session', async () => {
    const { data } = await send(gateway, {
      query: 'mutation ($p: String!) { login(userName: "viewer", password: $p) { refreshToken } }',
      variables: { p: PASSWORD },
    });
    const refresh = async () =>
      await send(gateway, {
        query: 'mutation ($t: String!) { refresh(refreshToken: $t) { accessToken } }',
        variables: { t: data?.login.refreshToken },
      });
    const first = await refresh();
    expect((await refresh()).errors).toHaveLength(1);
    expect(await statusOf(first.data?.refresh.accessToken)).toBe(401);
    expect(linesOf('tokenReused').at(-1)).toMatchObject({
      domainId: 'top',
      address: expect.stringContaining('127.0.0.1'),
      msg: expect.stringContaining('used twice'),
    });
    expect((await entriesOf('usr-viewer'))[0]).toMatchObject({ operation: 'deleted' });
  });

  it('with an unknown name do not repeat the name, in which people type passwords', async () => {
    await logIn('my own password');
    expect((await entriesOf(''))[0]).toMatchObject({ operation: 'refused' });
    expect(linesOf('loginFailed').at(-1)).not.toHaveProperty('userName');
    expect(gateway.log.join('')).not.toContain('my own password');
  });

  it('that fail in a flood do not fill the audit trail', async () => {
    for (let turn = 0; turn < 7; turn += 1)
      await Promise.all(Array.from({ length: 10 }, () => logIn('teacher', 'wrong')));
    const refused = (await entriesOf('usr-teacher')).filter(({ operation }) => operation === 'refused');
    expect(refused.length).toBeGreaterThanOrEqual(60);
    expect(refused.length).toBeLessThan(70);
    expect(linesOf('loginFailed').filter(({ userName }) => userName === 'teacher')).toHaveLength(70);
  });
});

describe('the owner of an account', () => {
  it('is mailed when password, key or email address change', async () => {
    const address = 'owner@school.example';
    const { userId } = await invite({ userName: 'owner', name: 'Owner', email: address });
    await expectEventually(() => mail.taken.filter(({ to }) => to.includes(address)).length, 1);
    const texts = () =>
      mail.taken.filter(({ to }) => to.includes(address)).map(({ mail: { text } }) => text?.split('\n\n')[1]);
    const [invitation] = mail.taken.filter(({ to }) => to.includes(address));
    const [, link = ''] = /#(\S+)/.exec(invitation?.mail.text ?? '') ?? [];
    await ask(gateway, 'mutation ($t: String!) { useAccountLink(token: $t, password: "correct horse") }', {
      variables: { t: link },
    });
    await expectEventually(() => texts().at(-1), 'The password of your account was changed.');
    const token = await logIn('owner');
    const change = 'mutation { changePassword(oldPassword: "correct horse", newPassword: "battery staple") }';
    await by(token, change);
    await expectEventually(() => texts().length, 3);
    const makeKey =
      'mutation ($u: ID!) ' +
      '{ createApiKey(data: {name: "k", userId: $u, access: {preset: READ_ONLY}}) { id } }';
    await ask(gateway, makeKey, { variables: { u: userId } });
    await expectEventually(() => texts().at(-1), 'An API key that acts for your account was created.');
    await ask(
      gateway,
      'mutation ($u: ID!) { ' +
        'updateRecord(collection: "pltf_user", id: $u, data: {phone: "+919800000001"}) { id } }',
      {
        variables: { u: userId },
      },
    );
    const setEmail =
      'mutation ($u: ID!) ' +
      '{ updateRecord(collection: "pltf_user", id: $u, data: {email: "thief@x.example"}) { id } }';
    await ask(gateway, setEmail, { variables: { u: userId } });
    await expectEventually(
      () => texts().at(-1),
      'The email address of your account was changed; it was this one before.',
    );
    expect(texts()).toHaveLength(5);
    const passwords =
      'query ($id: ID) ' +
      '{ auditTrail(collection: "$password", recordId: $id) { operation principal credential } }';
    const { auditTrail } = await ask(gateway, passwords, { variables: { id: userId } });
    expect(auditTrail.map((one: Answered) => [one.principal, one.credential.split(':')[0]])).toEqual([
      [userId, 'token'],
      [userId, 'system'],
    ]);
  });
});
