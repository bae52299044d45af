import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordVerb, Scope } from '../../../src/base/model/scope.js';
import type { ApiKeyRequest } from '../../../src/services/auth/api-keys.js';
import { accessOf } from '../../../src/store/access/access.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import {
  changeUser,
  codeOf,
  expectSoon,
  FROM,
  type Gateway,
  insertDomains,
  insertUser,
  openGateway,
  PASSWORD,
} from './gateway.js';

const READ_TASKS = { collections: { task: ['read'] } };
const EVERYTHING = { collections: { '*': ['*'] }, reports: ['*'], scripts: ['*'] };

let database: Database;
let one: Gateway;
let two: Gateway;
let clerk: Scope;
let teacher: Scope;
let admin: Scope;
let northAdmin: Scope;

// Before the database, whose own hook closes it: hooks run in the order they are defined.
afterAll(async () => {
  await one?.close();
  await two?.close();
});

const testDatabase = useTestDatabase();

beforeAll(async () => {
  database = testDatabase.database;
  await insertDomains(database);
  await insertUser(database, { userName: 'clerk', roles: ['clerk'] });
  await insertUser(database, { userName: 'teacher', roles: ['teacher'] });
  await insertUser(database, { userName: 'admin', roles: ['admin'] });
  await insertUser(database, { userName: 'gone', active: false });
  await insertUser(database, { userName: 'clerk', domain: 'north', roles: ['clerk'] });
  await insertUser(database, { userName: 'north', domain: 'north', roles: ['admin'] });
  one = await openGateway(database);
  two = await openGateway(database);
});

beforeEach(async () => {
  await database.query(sql`delete from api_keys`);
  clerk = await signIn('clerk');
  teacher = await signIn('teacher');
  admin = await signIn('admin');
  northAdmin = await signIn('north', 'north');
});

describe('an API key cannot', () => {
  it('do what its scopes leave out, whatever its user may', async () => {
    const scope = await scopeOfKey(admin, { name: 'k', scopes: READ_TASKS });
    expect(allowedVerbs(scope, 'task')).toEqual(['read']);
    expect(allowedVerbs(scope, 'fee_receipt')).toEqual([]);
  });

  it('do what its user may not, whatever its scopes say', async () => {
    const scope = await scopeOfKey(clerk, { name: 'k', scopes: EVERYTHING });
    expect(allowedVerbs(scope, 'task')).toEqual(['read', 'create']);
    expect(allowedVerbs(scope, 'fee_receipt')).toEqual([]);
  });

  it('make, list or revoke API keys, nor change a password, nor log out', async () => {
    const { id, key } = await one.apiKeys.create(admin, { name: 'k', scopes: EVERYTHING });
    const exchanged = await one.authenticator.exchangeKey(key);
    for (const bearer of [key, exchanged.accessToken]) {
      const principal = await one.authenticator.authenticate(bearer);
      const scope = one.scopeOf(principal);
      expect(await codeOf(one.apiKeys.create(scope, { name: 'wider', scopes: EVERYTHING }))).toBe(
        'FORBIDDEN',
      );
      expect(await codeOf(one.apiKeys.list(scope))).toBe('FORBIDDEN');
      expect(await codeOf(one.apiKeys.revoke(scope, id))).toBe('FORBIDDEN');
      expect(await codeOf(one.authenticator.changePassword(principal, PASSWORD, 'a better horse'))).toBe(
        'FORBIDDEN',
      );
      expect(await codeOf(one.authenticator.logout(principal, FROM))).toBe('FORBIDDEN');
    }
  });

  it('act in another domain than an admin of the top domain could', async () => {
    const { key } = await one.apiKeys.create(clerk, { name: 'k', scopes: EVERYTHING });
    const principal = await one.authenticator.authenticate(key);
    expect(() => one.scopeOf(principal, 'north')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });

  it('be made for another user, unless by an admin of the domain', async () => {
    const forTeacher: ApiKeyRequest = { name: 'k', scopes: READ_TASKS, userId: 'usr-teacher' };
    expect(await codeOf(one.apiKeys.create(clerk, forTeacher))).toBe('FORBIDDEN');
    expect(await codeOf(one.apiKeys.create(northAdmin, forTeacher))).toBe('NOT_FOUND');
    const { key } = await one.apiKeys.create(admin, forTeacher);
    const principal = await one.authenticator.authenticate(key);
    expect([principal.id, [...principal.roles]]).toEqual(['usr-teacher', ['teacher']]);
  });

  it.each(['usr-gone', 'usr-nobody', '', "' or true --"])(
    'be made for %j, who is no active user',
    async (userId) => {
      expect(await codeOf(one.apiKeys.create(admin, { name: 'k', scopes: READ_TASKS, userId }))).toBe(
        'NOT_FOUND',
      );
    },
  );

  it.each<[string, Partial<ApiKeyRequest>]>([
    ['no name', { name: '  ' }],
    ['a long name', { name: 'x'.repeat(101) }],
    ['a NUL in its name', { name: 'a\0b' }],
    ['scopes that are none', { scopes: '*' }],
    ['an unknown collection', { scopes: { collections: { nothing: ['read'] } } }],
    ['an end in the past', { expiresAt: new Date(Date.now() - 1000) }],
    ['an end that is no instant', { expiresAt: new Date(Number.NaN) }],
    ['an end out of reach', { expiresAt: new Date(8.64e15) }],
  ])('be made with %s', async (_, change) => {
    expect(await codeOf(one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS, ...change }))).toBe(
      'INVALID_VALUE',
    );
    expect(await one.apiKeys.list(clerk)).toEqual([]);
  });

  it('be seen or revoked by another user', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    for (const stranger of [teacher, northAdmin, await signIn('clerk', 'north')]) {
      expect(await one.apiKeys.list(stranger)).toEqual([]);
      expect(await codeOf(one.apiKeys.revoke(stranger, id))).toBe('NOT_FOUND');
    }
    expect(await codeOf(one.apiKeys.revoke(clerk, 'no-id'))).toBe('NOT_FOUND');
    expect(await codeOf(one.authenticator.authenticate(key))).toBeUndefined();
  });

  it('be read from the database', async () => {
    const { key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    const [row] = await database.query<{ text: string }>(sql`
      select k::text || encode(k.key_hash, 'escape') || encode(k.key_hash, 'base64') as text from api_keys k`);
    expect(row?.text).not.toContain(key.slice(10));
  });
});

describe('an API key', () => {
  it('is shown once, and recognized by how it begins', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: ' Nightly export ', scopes: READ_TASKS });
    expect(key).toMatch(/^cg_[\w-]{43}$/);
    expect(await one.apiKeys.list(clerk)).toEqual([
      {
        id,
        name: 'Nightly export',
        prefix: key.slice(0, 10),
        userId: 'usr-clerk',
        scopes: { collections: { task: ['read'] }, reports: [], scripts: [] },
        createdBy: 'usr-clerk',
        createdAt: expect.any(Date),
        expiresAt: undefined,
        lastUsedAt: undefined,
        lastUsedAddress: undefined,
        allowedAddresses: [],
        replaces: undefined,
        revokedAt: undefined,
      },
    ]);
  });

  it('stands for its user, within its scopes', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    expect(await two.authenticator.authenticate(key)).toEqual({
      kind: 'user',
      id: 'usr-clerk',
      userName: 'clerk',
      domainId: 'top',
      roles: new Set(['clerk']),
      credential: { kind: 'key', id },
      scopes: { collections: { task: ['read'] }, reports: [], scripts: [] },
      attributes: {},
    });
  });

  it('is for an admin to see and revoke, in a sub-domain too', async () => {
    const northClerk = await signIn('clerk', 'north');
    const { id, key } = await one.apiKeys.create(northClerk, { name: 'k', scopes: READ_TASKS });
    const adminInNorth = one.scopeOf(admin.principal, 'north');
    expect((await one.apiKeys.list(adminInNorth)).map((row) => row.id)).toEqual([id]);
    expect(await one.apiKeys.list(admin)).toEqual([]);
    await one.apiKeys.revoke(adminInNorth, id);
    expect(await codeOf(one.authenticator.authenticate(key))).toBe('UNAUTHENTICATED');
  });

  it('ends on every gateway by being revoked, with the tokens exchanged for it', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    const { accessToken } = await two.authenticator.exchangeKey(key);
    for (const gateway of [one, two])
      for (const bearer of [key, accessToken]) await gateway.authenticator.authenticate(bearer);
    await one.apiKeys.revoke(clerk, id);
    for (const bearer of [key, accessToken]) {
      expect(await codeOf(one.authenticator.authenticate(bearer))).toBe('UNAUTHENTICATED');
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(bearer));
    }
    expect(await codeOf(two.authenticator.exchangeKey(key))).toBe('UNAUTHENTICATED');
    // Once more is no error, and the list keeps it.
    await one.apiKeys.revoke(clerk, id);
    expect((await one.apiKeys.list(clerk))[0]?.revokedAt).toBeInstanceOf(Date);
  });

  it('ends when its user is deactivated, on every gateway', async () => {
    await insertUser(database, { userName: 'leaver', password: null });
    const { key } = await one.apiKeys.create(admin, { name: 'k', scopes: READ_TASKS, userId: 'usr-leaver' });
    const { accessToken } = await one.authenticator.exchangeKey(key);
    for (const bearer of [key, accessToken]) await two.authenticator.authenticate(bearer);
    await changeUser(database, 'leaver', { active: false });
    for (const bearer of [key, accessToken])
      await expectSoon('UNAUTHENTICATED', () => two.authenticator.authenticate(bearer));
  });

  it('has the roles its user has now', async () => {
    await insertUser(database, { userName: 'demoted', roles: ['admin'] });
    const { key } = await one.apiKeys.create(admin, { name: 'k', scopes: EVERYTHING, userId: 'usr-demoted' });
    await two.authenticator.authenticate(key);
    await changeUser(database, 'demoted', { roles: ['viewer'] });
    await expectSoon('viewer', async () => {
      const { roles } = await two.authenticator.authenticate(key);
      throw Object.assign(new Error(), { code: [...roles].join() });
    });
  });

  it('is one of at most 50 valid ones of a user, made at the same moment or by a rotation', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 60 }, () => one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS })),
    );
    const keys = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(keys).toHaveLength(50);
    const [first, second] = keys;
    const limit = { code: 'LIMIT_EXCEEDED' };
    await expect(two.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS })).rejects.toMatchObject(limit);
    await expect(one.apiKeys.rotate(clerk, first?.id ?? '', 60)).rejects.toMatchObject(limit);
    expect(await codeOf(one.authenticator.authenticate(first?.key ?? ''))).toBeUndefined();
    await one.apiKeys.rotate(clerk, first?.id ?? '', 0);
    await one.apiKeys.revoke(clerk, second?.id ?? '');
    await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
  });

  it("outlives a change of its user's password", async () => {
    const { key } = await one.apiKeys.create(teacher, { name: 'k', scopes: READ_TASKS });
    const { accessToken } = await one.authenticator.exchangeKey(key);
    await one.authenticator.changePassword(teacher.principal, PASSWORD, `another ${PASSWORD}`);
    await one.authenticator.changePassword(teacher.principal, `another ${PASSWORD}`, PASSWORD);
    expect(await codeOf(one.authenticator.authenticate(key))).toBeUndefined();
    expect(await codeOf(one.authenticator.authenticate(accessToken))).toBeUndefined();
  });

  it('expires, and so do the tokens exchanged for it', async () => {
    const expiresAt = new Date(Date.now() + 1500);
    const { key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS, expiresAt });
    const { accessToken, expiresInSeconds } = await one.authenticator.exchangeKey(key);
    expect(expiresInSeconds).toBeLessThanOrEqual(2);
    expect(await codeOf(one.authenticator.authenticate(key))).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 1600));
    for (const bearer of [key, accessToken])
      expect(await codeOf(one.authenticator.authenticate(bearer))).toBe('UNAUTHENTICATED');
    expect(await codeOf(one.authenticator.exchangeKey(key))).toBe('UNAUTHENTICATED');
  });

  it('is exchanged for an access token with the same rights and no refresh token', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    const login = await one.authenticator.exchangeKey(key);
    expect(login).toEqual({
      accessToken: expect.any(String),
      expiresInSeconds: 3600,
      refreshToken: undefined,
      user: { id: 'usr-clerk', userName: 'clerk', name: 'The clerk', roles: ['clerk'], domain: 'top' },
    });
    const principal = await one.authenticator.authenticate(login.accessToken);
    expect(principal).toEqual(await one.authenticator.authenticate(key));
    expect(principal.credential).toEqual({ kind: 'key', id });
    expect(await codeOf(one.authenticator.exchangeKey(login.accessToken))).toBe('UNAUTHENTICATED');
  });

  it('notes when it was last used, at most once a minute', async () => {
    const { id, key } = await one.apiKeys.create(clerk, { name: 'k', scopes: READ_TASKS });
    const lastUsedAt = async () => (await one.apiKeys.list(clerk)).find((row) => row.id === id)?.lastUsedAt;
    await one.authenticator.authenticate(key);
    await one.keyMeter.close();
    const noted = await lastUsedAt();
    expect(noted?.getTime()).toBeGreaterThan(Date.now() - 10_000);
    for (const gateway of [one, two]) {
      await gateway.authenticator.authenticate(key);
      await gateway.keyMeter.close();
    }
    expect(await lastUsedAt()).toEqual(noted);
  });
});

async function signIn(userName: string, domainId: string = 'top'): Promise<Scope> {
  const attempt = { userName, domainId, password: PASSWORD, address: '192.0.2.1' };
  const { accessToken } = await one.authenticator.login(attempt);
  return one.scopeOf(await one.authenticator.authenticate(accessToken));
}

async function scopeOfKey(owner: Scope, request: ApiKeyRequest): Promise<Scope> {
  const { key } = await one.apiKeys.create(owner, request);
  return one.scopeOf(await one.authenticator.authenticate(key));
}

/** What the store would let the caller do; a clerk may read and create tasks. */
function allowedVerbs(scope: Scope, name: string): readonly RecordVerb[] {
  const access = name === 'task' ? { clerk: { verbs: ['read', 'create'] } } : {};
  const collection = parseCollection({ name, access }, { source: 'test', isDeclared: false, version: 1 });
  return (['read', 'create', 'update', 'delete'] as const).filter((verb) => {
    try {
      accessOf(scope, collection, verb);
      return true;
    } catch {
      return false;
    }
  });
}
