import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Passwords } from '../../../src/services/auth/passwords.js';
import { purgeAccounts } from '../../../src/services/auth/sessions.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { isTestedOnCitus } from '../../spread-databases.js';
import {
  changeUser,
  codeOf,
  countStatements,
  FROM,
  type Gateway,
  insertDomains,
  insertUser,
  openGateway,
  PASSWORD,
} from './gateway.js';

/** Users are changed past the gateway here: a trigger ends their sessions, which Citus does not have. */
const byTrigger = isTestedOnCitus() ? it.skip : it;

let database: Database;
let gateway: Gateway;

// Before the database, whose own hook closes it: hooks run in the order they are defined.
afterAll(async () => {
  await gateway?.close();
});

const testDatabase = useTestDatabase();

beforeAll(async () => {
  database = testDatabase.database;
  await insertDomains(database);
  await insertUser(database, { userName: 'meena', roles: ['accountant', 'teacher'] });
  await insertUser(database, { userName: 'meena', domain: 'north', password: 'another horse' });
  await insertUser(database, { userName: 'gone', active: false });
  await insertUser(database, { userName: 'text', active: 'true' });
  await insertUser(database, { userName: 'nopass', password: null });
  await insertUser(database, { userName: 'deleted' });
  await database.query(sql`
    update records set deleted_at = now() where collection = 'pltf_user' and id = 'usr-deleted'`);
  gateway = await openGateway(database);
});

describe('a login', () => {
  const refusals = [
    { why: 'a wrong password', userName: 'meena', password: 'wrong horse' },
    { why: 'an empty password', userName: 'meena', password: '' },
    { why: 'a password with white space around', userName: 'meena', password: ` ${PASSWORD} ` },
    { why: 'a NUL character in the password', userName: 'meena', password: `${PASSWORD}\0` },
    { why: 'a very long password', userName: 'meena', password: 'x'.repeat(100_000) },
    { why: 'an unknown user', userName: 'nobody', password: PASSWORD },
    { why: 'an empty user name', userName: '', password: PASSWORD },
    { why: 'a NUL character in the user name', userName: 'meena\0', password: PASSWORD },
    { why: 'a very long user name', userName: 'm'.repeat(100_000), password: PASSWORD },
    { why: 'SQL in the user name', userName: "meena' or '1'='1", password: PASSWORD },
    { why: 'another case of the user name', userName: 'Meena', password: PASSWORD },
    { why: 'the id in place of the user name', userName: 'usr-meena', password: PASSWORD },
    { why: 'a user who may no longer log in', userName: 'gone', password: PASSWORD },
    { why: 'a user whose `active` is not true but a text', userName: 'text', password: PASSWORD },
    { why: 'a deleted user', userName: 'deleted', password: PASSWORD },
    { why: 'a user without a password', userName: 'nopass', password: '' },
    { why: 'an unknown domain', userName: 'meena', password: PASSWORD, domainId: 'nowhere' },
    { why: "another domain's password", userName: 'meena', password: PASSWORD, domainId: 'north' },
  ];

  it.each(refusals)('with $why is refused in the words of all refusals', async ({ why: _, ...attempt }) => {
    const login = gateway.authenticator.login({ ...attempt, address: '192.0.2.1' });
    await expect(login).rejects.toMatchObject({
      code: 'WRONG_LOGIN',
      status: 401,
      message: 'The user name or the password is wrong.',
      errors: undefined,
    });
  });

  it('costs the same work for an unknown user, or one who may not log in, as for a wrong password', async () => {
    const counted = countStatements(database);
    const other = await openGateway(counted.database);
    const check = jest.spyOn(Passwords.prototype, 'check');
    try {
      const workOf = async (userName: string, password: string) => {
        counted.count = 0;
        check.mockClear();
        expect(await codeOf(other.login(userName, password))).toBe('WRONG_LOGIN');
        return { statements: counted.count, checks: check.mock.calls.length };
      };
      for (const userName of ['meena', 'nobody', 'gone', 'nopass', 'deleted', 'meena\0', ''])
        expect([userName, await workOf(userName, 'wrong horse')]).toEqual([
          userName,
          { statements: 4, checks: 1 },
        ]);
      counted.count = 0;
      const elsewhere = { domainId: 'nowhere', userName: 'meena', password: PASSWORD, address: '192.0.2.1' };
      expect(await codeOf(other.authenticator.login(elsewhere))).toBe('WRONG_LOGIN');
      expect(counted.count).toBe(2);
    } finally {
      check.mockRestore();
      await other.close();
    }
  });

  it('answers tokens and whom they stand for', async () => {
    const login = await gateway.login('meena');
    expect(login).toEqual({
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expiresInSeconds: 3600,
      refreshToken: expect.stringMatching(/^cgr_[\w-]{43}$/),
      refreshTokenTtlSeconds: 2_592_000,
      user: {
        id: 'usr-meena',
        userName: 'meena',
        name: 'The meena',
        roles: ['accountant', 'teacher'],
        domain: 'top',
      },
    });
    const principal = await gateway.authenticator.authenticate(login.accessToken);
    expect(principal).toEqual({
      kind: 'user',
      id: 'usr-meena',
      userName: 'meena',
      domainId: 'top',
      roles: new Set(['accountant', 'teacher']),
      credential: { kind: 'token', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      scopes: undefined,
      attributes: {},
    });
  });

  it('picks the domain it names, and the top domain without one', async () => {
    const login = await gateway.authenticator.login({
      domainId: 'north',
      userName: 'meena',
      password: 'another horse',
      address: '192.0.2.1',
    });
    expect(login.user.domain).toBe('north');
    expect((await gateway.authenticator.authenticate(login.accessToken)).domainId).toBe('north');
    expect((await gateway.login('meena')).user.domain).toBe('top');
  });

  it('finds a domain that another gateway has made, and has not told of yet', async () => {
    await database.query(sql`insert into domains (id, name, parent_id) values ('untold', 'U', 'top')`);
    await insertUser(database, { userName: 'meena', domain: 'untold' });
    const login = await gateway.authenticator.login({
      domainId: 'untold',
      userName: 'meena',
      password: PASSWORD,
      address: '192.0.2.1',
    });
    expect(login.user.domain).toBe('untold');
  });

  it('hashes the password again when the cost has changed, and no session ends by it', async () => {
    const stored = () =>
      database.prisma.credential.findUniqueOrThrow({
        where: { domainId_userId: { domainId: 'top', userId: 'usr-meena' } },
      });
    const dearer = await openGateway(database, { cost: { memoryCost: 128, timeCost: 1, parallelism: 1 } });
    try {
      const { accessToken } = await dearer.login('meena');
      expect((await stored()).passwordHash).toContain('$m=128,t=1,p=1$');
      await expect(dearer.authenticator.authenticate(accessToken)).resolves.toMatchObject({
        id: 'usr-meena',
      });
      await expect(dearer.login('meena')).resolves.toMatchObject({ user: { id: 'usr-meena' } });
    } finally {
      await dearer.close();
    }
  });

  it('is locked out for longer after each failure, only here, and is reset by a success', async () => {
    const strict = await openGateway(database, { lockoutFailures: 3 });
    const attempt = (userName: string, password: string, address = '198.51.100.7') =>
      codeOf(strict.authenticator.login({ userName, password, address }));
    const lockedSeconds = async () => {
      const [row] = await database.query<{ seconds: number | null }>(sql`
        select extract(epoch from locked_until - last_at)::float8 as seconds from login_failures`);
      return row?.seconds;
    };
    const unlock = () => database.query(sql`update login_failures set locked_until = null`);
    try {
      for (let tried = 0; tried < 3; tried += 1) expect(await attempt('meena', 'wrong')).toBe('WRONG_LOGIN');
      const waits: unknown[] = [];
      for (let tried = 0; tried < 9; tried += 1) {
        expect(await attempt('meena', 'wrong')).toBe('WRONG_LOGIN');
        expect(await attempt('meena', PASSWORD)).toBe('TOO_MANY_REQUESTS');
        waits.push(await lockedSeconds());
        await unlock();
      }
      expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 960, 960]);
      expect(await attempt('meena', 'wrong')).toBe('WRONG_LOGIN');
      expect(await attempt('meena', PASSWORD, '198.51.100.8')).toBeUndefined();
      expect(await attempt('nopass', PASSWORD)).toBe('WRONG_LOGIN');
      await unlock();
      expect(await attempt('meena', PASSWORD)).toBeUndefined();
      expect(await attempt('meena', 'wrong')).toBe('WRONG_LOGIN');
      expect(await attempt('meena', PASSWORD)).toBeUndefined();
    } finally {
      await strict.close();
    }
  });

  it('stores neither password nor tokens', async () => {
    const { accessToken, refreshToken } = await gateway.login('meena');
    const [dump] = await database.query<{ text: string }>(sql`
      select
        (select string_agg(c::text, '') from credentials c)
        || (select string_agg(s::text, '') from sessions s)
        || (select string_agg(t::text, '') || string_agg(encode(t.token_hash, 'escape'), '')
          from refresh_tokens t)
        || coalesce((select string_agg(r::text, '') from rate_counters r), '') as text`);
    for (const secret of [PASSWORD, accessToken, refreshToken ?? '-', (refreshToken ?? '-').slice(4)])
      expect(dump?.text.includes(secret)).toBe(false);
  });
});

describe('throttled logins', () => {
  it('are refused from the eleventh of a user from an address, the right password too', async () => {
    const strict = await openGateway(database, { loginLimitPerMinute: 10 });
    try {
      const from = (address: string, userName = 'meena', password = 'wrong horse') =>
        codeOf(strict.authenticator.login({ userName, password, address }));
      await awayFromTheEndOfAMinute();
      for (let attempt = 0; attempt < 10; attempt += 1) expect(await from('192.0.2.7')).toBe('WRONG_LOGIN');
      expect(await from('192.0.2.7')).toBe('TOO_MANY_REQUESTS');
      const refused = strict.authenticator.login({
        userName: 'meena',
        password: PASSWORD,
        address: '192.0.2.7',
      });
      await expect(refused).rejects.toMatchObject({ status: 429, retryAfterSeconds: expect.any(Number) });
      // Unknown users are counted alike, so the throttle tells nothing either.
      for (let attempt = 0; attempt < 10; attempt += 1)
        expect(await from('192.0.2.7', 'nobody')).toBe('WRONG_LOGIN');
      expect(await from('192.0.2.7', 'nobody')).toBe('TOO_MANY_REQUESTS');
      // The user is not locked out elsewhere.
      expect(await from('192.0.2.8', 'meena', PASSWORD)).toBeUndefined();
    } finally {
      await strict.close();
    }
  });

  it('are counted by the address of a provider too, and before an unknown domain is looked up', async () => {
    const strict = await openGateway(database, { loginLimitPerMinute: 2 });
    try {
      await awayFromTheEndOfAMinute();
      const address = '192.0.2.17';
      const byProvider = () =>
        codeOf(
          strict.authenticator.loginByIdentity({
            ...{ domainId: 'unseen', email: 'nobody@school.example', hasSecondFactor: true, address },
          }),
        );
      const byPassword = () =>
        codeOf(
          strict.authenticator.login({
            ...{ domainId: 'unseen', userName: 'nobody', password: 'wrong horse', address },
          }),
        );
      for (const logIn of [byProvider, byPassword]) {
        expect([await logIn(), await logIn()]).toEqual(['WRONG_LOGIN', 'WRONG_LOGIN']);
        expect(await logIn()).toBe('TOO_MANY_REQUESTS');
      }
      await database.query(sql`
        insert into domains (id, name, parent_id)
        select 'unseen', 'Unseen', id from domains where parent_id is null limit 1`);
      for (const logIn of [byProvider, byPassword]) expect(await logIn()).toBe('TOO_MANY_REQUESTS');
      expect(strict.domains.find('unseen')).toBeUndefined();
    } finally {
      await database.query(sql`delete from domains where id = 'unseen'`);
      await strict.close();
    }
  });

  it('are counted over all gateways at once', async () => {
    const [one, two] = [
      await openGateway(database, { loginLimitPerMinute: 10 }),
      await openGateway(database, { loginLimitPerMinute: 10 }),
    ];
    try {
      await awayFromTheEndOfAMinute();
      const attempts = Array.from({ length: 30 }, (_, index) =>
        codeOf(
          (index % 2 === 0 ? one : two).authenticator.login({
            userName: 'meena',
            password: 'wrong horse',
            address: '192.0.2.9',
          }),
        ),
      );
      const codes = await Promise.all(attempts);
      expect(codes.filter((code) => code === 'WRONG_LOGIN')).toHaveLength(10);
      expect(codes.filter((code) => code === 'TOO_MANY_REQUESTS')).toHaveLength(20);
    } finally {
      await one.close();
      await two.close();
    }
  });
});

describe('a refresh token', () => {
  it('is good once, for new tokens', async () => {
    const first = await gateway.login('meena');
    const second = await gateway.authenticator.refresh(first.refreshToken ?? '', FROM);
    expect(second.user).toEqual(first.user);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    const third = await gateway.authenticator.refresh(second.refreshToken ?? '', FROM);
    await expect(gateway.authenticator.authenticate(third.accessToken)).resolves.toMatchObject({
      id: 'usr-meena',
    });
  });

  it('used again ends the session: nobody knows which of the two was the thief', async () => {
    const first = await gateway.login('meena');
    const other = await gateway.login('meena');
    const second = await gateway.authenticator.refresh(first.refreshToken ?? '', FROM);
    await gateway.authenticator.authenticate(second.accessToken);
    expect(await codeOf(gateway.authenticator.refresh(first.refreshToken ?? '', FROM))).toBe(
      'UNAUTHENTICATED',
    );
    expect(await codeOf(gateway.authenticator.refresh(second.refreshToken ?? '', FROM))).toBe(
      'UNAUTHENTICATED',
    );
    expect(await codeOf(gateway.authenticator.authenticate(second.accessToken))).toBe('UNAUTHENTICATED');
    expect(await codeOf(gateway.authenticator.authenticate(first.accessToken))).toBe('UNAUTHENTICATED');
    // The user's other sessions go on.
    expect(await codeOf(gateway.authenticator.authenticate(other.accessToken))).toBeUndefined();
  });

  it('used twice at the same moment gives tokens once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { refreshToken } = await gateway.login('meena');
      const codes = await Promise.all(
        Array.from({ length: 6 }, () => codeOf(gateway.authenticator.refresh(refreshToken ?? '', FROM))),
      );
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(5);
    }
  });

  it.each([
    ['an unknown one', `cgr_${'A'.repeat(43)}`],
    ['an empty one', ''],
    ['one with a NUL', 'cgr_\0'],
  ])('is refused: %s', async (_, token) => {
    expect(await codeOf(gateway.authenticator.refresh(token, FROM))).toBe('UNAUTHENTICATED');
  });

  it('is no access token, and an access token is none', async () => {
    const { accessToken, refreshToken } = await gateway.login('meena');
    expect(await codeOf(gateway.authenticator.authenticate(refreshToken ?? ''))).toBe('UNAUTHENTICATED');
    expect(await codeOf(gateway.authenticator.refresh(accessToken, FROM))).toBe('UNAUTHENTICATED');
  });

  it('does not keep a session longer than SESSION_MAX_DAYS after its log-in', async () => {
    const { refreshToken = '' } = await gateway.login('meena');
    const newest = sql`
      where id = (select session_id from refresh_tokens order by created_at desc limit 1)`;
    const openedDaysAgo = (days: number) =>
      database.query(sql`update sessions set created_at = now() - ${days}::int * interval '1 day' ${newest}`);
    await openedDaysAgo(89);
    const renewed = await gateway.authenticator.refresh(refreshToken, FROM);
    const bounds = sql`
      select expires_at = created_at + interval '90 days' as "isBounded" from sessions ${newest}`;
    expect(await database.query(bounds)).toEqual([{ isBounded: true }]);
    await openedDaysAgo(91);
    expect(await codeOf(gateway.authenticator.refresh(renewed.refreshToken ?? '', FROM))).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('expires', async () => {
    const brief = await openGateway(database, { refreshTokenTtlSeconds: 1 });
    try {
      const { refreshToken } = await brief.login('meena');
      await new Promise((resolve) => setTimeout(resolve, 1100));
      expect(await codeOf(brief.authenticator.refresh(refreshToken ?? '', FROM))).toBe('UNAUTHENTICATED');
    } finally {
      await brief.close();
    }
  });

  it('is removed with its session some time after that', async () => {
    const { refreshToken } = await gateway.login('meena');
    await database.query(sql`update sessions set expires_at = now() - interval '1 second'`);
    await gateway.login('meena');
    await purgeAccounts(database);
    const counts = await database.query(sql`
      select (select count(*) from sessions) as sessions, (select count(*) from refresh_tokens) as tokens`);
    expect(counts).toEqual([{ sessions: 1, tokens: 1 }]);
    expect(await codeOf(gateway.authenticator.refresh(refreshToken ?? '', FROM))).toBe('UNAUTHENTICATED');
  });

  byTrigger('is refused once its user was not active, also when that is over', async () => {
    await insertUser(database, { userName: 'onleave' });
    const { refreshToken } = await gateway.login('onleave');
    await changeUser(database, 'onleave', { active: false });
    expect(await codeOf(gateway.authenticator.refresh(refreshToken ?? '', FROM))).toBe('UNAUTHENTICATED');
    await changeUser(database, 'onleave', { active: true });
    expect(await codeOf(gateway.authenticator.refresh(refreshToken ?? '', FROM))).toBe('UNAUTHENTICATED');
    expect(await codeOf(gateway.login('onleave'))).toBeUndefined();
  });
});

describe('a bearer credential', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' '],
    ['a prefix alone', 'cg_'],
    ['another prefix alone', 'cgr_'],
    ['an unknown key', `cg_${'A'.repeat(43)}`],
    ['a key with a NUL', 'cg_\0'],
    ['a very long token', 'x'.repeat(100_000)],
    ['a very long key', `cg_${'x'.repeat(100_000)}`],
  ])('is refused in the words of all refusals: %s', async (_, bearer) => {
    await expect(gateway.authenticator.authenticate(bearer)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      status: 401,
      message: 'The access token or API key is wrong, expired or revoked.',
    });
  });
});

/** The counts are by the minute of the clock: a test of them must not cross it. */
async function awayFromTheEndOfAMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 5000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100));
}
