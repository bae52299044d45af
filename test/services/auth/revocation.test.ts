import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { replacePassword } from '../../../src/services/auth/sessions.js';
import { Users } from '../../../src/services/auth/users.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { isTestedOnCitus } from '../../spread-databases.js';
import {
  changeUser,
  codeOf,
  countStatements,
  expectSoon,
  FROM,
  type Gateway,
  holdAnswers,
  insertDomains,
  insertUser,
  openGateway,
  PASSWORD,
} from './gateway.js';

/** Users are changed past the gateway here: a trigger ends their sessions, which Citus does not have. */
const byTrigger = isTestedOnCitus() ? it.skip : it;

let database: Database;
/** Two gateways of one instance: what happens on the first must be known to the second. */
let one: Gateway;
let two: Gateway;
let userName: string;
let users = 0;

// Before the database, whose own hook closes it: hooks run in the order they are defined.
afterAll(async () => {
  await one?.close();
  await two?.close();
});

const testDatabase = useTestDatabase();

beforeAll(async () => {
  database = testDatabase.database;
  await insertDomains(database);
  one = await openGateway(database);
  two = await openGateway(database);
});

beforeEach(async () => {
  users += 1;
  userName = `user${users}`;
  await insertUser(database, { userName, roles: ['teacher'] });
});

describe('a token both gateways know', () => {
  it('ends everywhere by logging out', async () => {
    const { token, other } = await knownTokens();
    await one.authenticator.logout(await one.authenticator.authenticate(token), FROM);
    expect(await codeOf(one.authenticator.authenticate(token))).toBe('UNAUTHENTICATED');
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
    // The other session goes on.
    expect(await codeOf(two.authenticator.authenticate(other))).toBeUndefined();
  });

  it('ends everywhere by a change of password, its refresh token and every other session too', async () => {
    const { token, other, refreshToken } = await knownTokens();
    const principal = await one.authenticator.authenticate(token);
    await one.authenticator.changePassword(principal, PASSWORD, 'a better horse');
    for (const ended of [token, other]) {
      expect(await codeOf(one.authenticator.authenticate(ended))).toBe('UNAUTHENTICATED');
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(ended));
    }
    expect(await codeOf(two.authenticator.refresh(refreshToken, FROM))).toBe('UNAUTHENTICATED');
    expect(await codeOf(two.login(userName))).toBe('WRONG_LOGIN');
    expect(await codeOf(two.login(userName, 'a better horse'))).toBeUndefined();
  });

  it('ends everywhere by a new password from an admin', async () => {
    const { token } = await knownTokens();
    await insertUser(database, { userName: `admin-of-${userName}`, roles: ['admin'] });
    const admin = await one.authenticator.authenticate((await one.login(`admin-of-${userName}`)).accessToken);
    const { domains, passwords, principals } = one;
    const notUsed = () => Promise.reject(new Error('not used'));
    const records = { create: notUsed, update: notUsed, atomically: notUsed };
    await new Users({
      database,
      domains,
      collections: one.catalog,
      records,
      passwords,
      principals,
    }).setPassword(one.scopeOf(admin), {
      userName,
      password: 'a better horse',
    });
    expect(await codeOf(one.authenticator.authenticate(token))).toBe('UNAUTHENTICATED');
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
    expect(await codeOf(two.login(userName, 'a better horse'))).toBeUndefined();
  });

  it('ends everywhere when the epoch of its user goes up', async () => {
    const { token, other } = await knownTokens();
    await database.query(sql`
      with raised as (
        update credentials set token_epoch = token_epoch + 1
        where domain_id = 'top' and user_id = ${`usr-${userName}`}
        returning domain_id, user_id
      )
      select pg_notify(campus_channel('campus_principals'),
        json_build_object('domain', domain_id, 'user', user_id)::text)
        from raised`);
    await expectSoon('UNAUTHENTICATED', () => one.authenticator.authenticate(token));
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(other));
  });

  byTrigger('ends everywhere when the user is deactivated, and for good', async () => {
    const { token, refreshToken } = await knownTokens();
    await changeUser(database, userName, { active: false });
    await expectSoon('UNAUTHENTICATED', () => one.authenticator.authenticate(token));
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
    await changeUser(database, userName, { active: true });
    expect(await codeOf(one.authenticator.authenticate(token))).toBe('UNAUTHENTICATED');
    expect(await codeOf(two.authenticator.refresh(refreshToken, FROM))).toBe('UNAUTHENTICATED');
    expect(await codeOf(two.login(userName))).toBeUndefined();
    expect(await codeOf(two.authenticator.authenticate(token))).toBe('UNAUTHENTICATED');
  });

  it('ends everywhere when the user is deleted', async () => {
    const { token, refreshToken } = await knownTokens();
    await database.query(sql`
      with deleted as (
        update records set deleted_at = now()
        where domain = 'top' and collection = 'pltf_user' and id = ${`usr-${userName}`}
        returning domain, id
      )
      select pg_notify(campus_channel('campus_principals'),
        json_build_object('domain', domain, 'user', id)::text)
        from deleted`);
    await expectSoon('UNAUTHENTICATED', () => one.authenticator.authenticate(token));
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
    expect(await codeOf(two.authenticator.refresh(refreshToken, FROM))).toBe('UNAUTHENTICATED');
    expect(await codeOf(two.login(userName))).toBe('WRONG_LOGIN');
  });

  it('has the roles the user has now', async () => {
    const { token } = await knownTokens();
    await changeUser(database, userName, { roles: ['clerk', 7, null] });
    for (const gateway of [one, two])
      await expectSoon('clerk', async () => {
        const { roles } = await gateway.authenticator.authenticate(token);
        throw Object.assign(new Error(), { code: [...roles].join() });
      });
  });

  it.each([null, 'admin', {}, [['admin']], 1])('has no role when `roles` is %j', async (roles) => {
    const { token } = await knownTokens();
    await changeUser(database, userName, { roles });
    await expectSoon('none', async () => {
      const principal = await two.authenticator.authenticate(token);
      throw Object.assign(new Error(), { code: principal.roles.size === 0 ? 'none' : 'some' });
    });
  });

  it('ends when an old refresh token is used on another gateway', async () => {
    const { token, refreshToken } = await knownTokens();
    await one.authenticator.refresh(refreshToken, FROM);
    expect(await codeOf(two.authenticator.refresh(refreshToken, FROM))).toBe('UNAUTHENTICATED');
    await expectSoon('UNAUTHENTICATED', () => one.authenticator.authenticate(token));
  });

  it('ends although the announcement was lost with the connection that listens', async () => {
    const { token } = await knownTokens();
    // Every listener is cut off in the statement that ends the session without announcing it.
    await database.query(sql`
      with ended as (
        update sessions set revoked_at = now() where user_id = ${`usr-${userName}`} returning 1
      )
      select pg_terminate_backend(pid)
      from pg_stat_activity, (select count(*) from ended) as e
      where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`);
    await expectSoon('UNAUTHENTICATED', () => one.authenticator.authenticate(token));
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
  });
});

describe('a change of password', () => {
  it('needs the old one', async () => {
    const principal = await one.authenticator.authenticate((await one.login(userName)).accessToken);
    await expect(
      one.authenticator.changePassword(principal, 'wrong horse', 'a better horse'),
    ).rejects.toMatchObject({
      code: 'WRONG_LOGIN',
      message: 'The old password is wrong.',
    });
    expect(await codeOf(one.authenticator.changePassword(principal, PASSWORD, 'short'))).toBe(
      'INVALID_VALUE',
    );
    expect(await codeOf(one.login(userName))).toBeUndefined();
  });

  it('is no place to guess the old one at', async () => {
    const strict = await openGateway(database, { loginLimitPerMinute: 3 });
    try {
      const principal = await one.authenticator.authenticate((await one.login(userName)).accessToken);
      const guess = () =>
        codeOf(strict.authenticator.changePassword(principal, 'wrong horse', 'a better horse'));
      const codes = [await guess(), await guess(), await guess(), await guess()];
      expect(codes).toEqual(['WRONG_LOGIN', 'WRONG_LOGIN', 'WRONG_LOGIN', 'TOO_MANY_REQUESTS']);
    } finally {
      await strict.close();
    }
  });

  it('lets no login in that checked the old one just before', async () => {
    const user = { domainId: 'top', userId: `usr-${userName}` };
    const passwordHash = await one.passwords.hash('a better horse');
    let login: Promise<unknown> = Promise.resolve();
    await database.transaction(async (transaction) => {
      await replacePassword(transaction, user, passwordHash);
      // Nothing of the change can be seen yet: the login finds the old password right, and waits at the lock.
      login = codeOf(two.login(userName));
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    expect(await login).toBe('WRONG_LOGIN');
    const sessions = await database.prisma.session.findMany({ where: { ...user, revokedAt: null } });
    expect(sessions).toEqual([]);
  });

  it('leaves no session of the old one, whatever logins race with it', async () => {
    const principal = await one.authenticator.authenticate((await one.login(userName)).accessToken);
    const racing = Array.from({ length: 20 }, () => two.login(userName).catch(() => undefined));
    await one.authenticator.changePassword(principal, PASSWORD, 'a better horse');
    for (const login of await Promise.all(racing)) {
      if (!login) continue;
      expect(await codeOf(one.authenticator.refresh(login.refreshToken ?? '', FROM))).toBe('UNAUTHENTICATED');
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(login.accessToken));
    }
  });
});

describe('what a gateway remembers', () => {
  it('saves every round trip for a token it has seen', async () => {
    const counted = countStatements(database);
    const gateway = await openGateway(counted.database);
    try {
      const { accessToken } = await gateway.login(userName);
      await gateway.authenticator.authenticate(accessToken);
      counted.count = 0;
      for (let request = 0; request < 1000; request += 1)
        await gateway.authenticator.authenticate(accessToken);
      expect(counted.count).toBe(0);
    } finally {
      await gateway.close();
    }
  });

  it('is loaded once for requests that come together', async () => {
    const counted = countStatements(database);
    const gateway = await openGateway(counted.database);
    try {
      const { accessToken } = await one.login(userName);
      counted.count = 0;
      await Promise.all(Array.from({ length: 100 }, () => gateway.authenticator.authenticate(accessToken)));
      expect(counted.count).toBe(1);
    } finally {
      await gateway.close();
    }
  });

  it('is not what was read before it changed and came after', async () => {
    const { accessToken } = await one.login(userName);
    const held = holdAnswers(database, 'auth-session');
    const gateway = await openGateway(held.database);
    try {
      const authenticating = codeOf(gateway.authenticator.authenticate(accessToken));
      await held.isReached;
      await one.authenticator.logout(await one.authenticator.authenticate(accessToken), FROM);
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(accessToken));
      await new Promise((resolve) => setTimeout(resolve, 50));
      held.release();
      expect(await authenticating).toBe('UNAUTHENTICATED');
      expect(await codeOf(gateway.authenticator.authenticate(accessToken))).toBe('UNAUTHENTICATED');
    } finally {
      await gateway.close();
    }
  });

  it('is not what was loaded while it changed', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { accessToken } = await one.login(userName);
      // The load of the second gateway and the revocation run at the same time, in any order.
      const loading = two.authenticator.authenticate(accessToken).catch(() => undefined);
      const ending = one.authenticator
        .authenticate(accessToken)
        .then((principal) => one.authenticator.logout(principal, FROM));
      await Promise.all([loading, ending]);
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(accessToken));
    }
  });

  it('is all dropped by an announcement it cannot read', async () => {
    const { token } = await knownTokens();
    await database.query(sql`update sessions set revoked_at = now() where user_id = ${`usr-${userName}`}`);
    expect(await codeOf(two.authenticator.authenticate(token))).toBeUndefined();
    await database.query(sql`select pg_notify(campus_channel('campus_principals'), 'what?')`);
    await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(token));
  });
});

/** Tokens of two sessions of the user, seen by both gateways. */
async function knownTokens(): Promise<{ token: string; other: string; refreshToken: string }> {
  const [first, second] = [await one.login(userName), await two.login(userName)];
  for (const gateway of [one, two])
    for (const { accessToken } of [first, second]) await gateway.authenticator.authenticate(accessToken);
  return {
    token: first.accessToken,
    other: second.accessToken,
    refreshToken: first.refreshToken ?? '',
  };
}
