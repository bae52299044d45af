import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Scope, systemPrincipal } from '../../../src/base/model/scope.js';
import { Users } from '../../../src/services/auth/users.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import type { Database } from '../../../src/store/database/database.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { declaredTemplate } from '../../declared-template.js';
import { codeOf, expectSoon, type Gateway, insertDomains, openGateway, PASSWORD } from './gateway.js';

const DECLARATIONS = path.join(import.meta.dirname, '../../../schema/collections');

let database: Database;
let gateway: Gateway;
let catalog: Catalog;
let store: RecordStore;
let users: Users;
let admin: Scope;

// Before the database, whose own hook closes it: hooks run in the order they are defined.
afterAll(async () => {
  await catalog?.close();
  await gateway?.close();
});

const testDatabase = useTestDatabase({ template: declaredTemplate });

beforeAll(async () => {
  database = testDatabase.database;
  await insertDomains(database);
  gateway = await openGateway(database);
  const { domains, passwords, principals } = gateway;
  catalog = await Catalog.load({ database, directory: DECLARATIONS, domains: () => domains.list() });
  store = new RecordStore({ database, catalog, topDomain: () => domains.top() });
  users = new Users({ database, domains, collections: catalog, records: store, passwords, principals });
  admin = gateway.scopeOf(systemPrincipal('test', ['admin'], 'top'));
  await users.add(admin, { userName: 'asha', name: 'Asha Rao', roles: ['clerk'], password: PASSWORD });
});

describe('users', () => {
  it.each([
    ['a clerk', systemPrincipal('test', ['clerk'], 'top')],
    ['a caller without roles', systemPrincipal('test', [], 'top')],
    [
      'an API key of an admin',
      {
        ...systemPrincipal('test', ['admin'], 'top'),
        scopes: { collections: { '*': ['create' as const] }, reports: ['*'], scripts: ['*'] },
      },
    ],
  ])('are not managed by %s', async (_, principal) => {
    const scope = gateway.scopeOf(principal);
    const user = { userName: 'x', name: 'X', roles: ['admin'], password: PASSWORD };
    expect(await codeOf(users.add(scope, user))).toBe('FORBIDDEN');
    expect(await codeOf(users.setPassword(scope, { userName: 'asha', password: PASSWORD }))).toBe(
      'FORBIDDEN',
    );
    expect(await codeOf(users.list(scope))).toBe('FORBIDDEN');
  });

  it('are added with record and password, and log in', async () => {
    const { user } = await gateway.login('asha');
    expect(user).toMatchObject({ userName: 'asha', name: 'Asha Rao', roles: ['clerk'], domain: 'top' });
    const { json } = await store.get(admin, 'pltf_user', user.id);
    expect(json).not.toContain('$argon2id$');
  });

  it('are acted for by the operator, with their roles and no more', async () => {
    const principal = await users.principalOf(admin, { userName: 'asha' });
    const { user } = await gateway.login('asha');
    expect(principal).toMatchObject({ kind: 'user', id: user.id, userName: 'asha', domainId: 'top' });
    expect([...principal.roles]).toEqual(['clerk']);
    expect(await codeOf(users.principalOf(admin, { userName: 'nobody' }))).toBe('NOT_FOUND');
    expect(await codeOf(users.principalOf(gateway.scopeOf(principal), { userName: 'asha' }))).toBe(
      'FORBIDDEN',
    );
  });

  it('are added as a whole or not at all', async () => {
    const asha = { userName: 'asha', name: 'Another Asha', roles: ['clerk'], password: PASSWORD };
    expect(await codeOf(users.add(admin, asha))).toBe('CONFLICT');
    expect(await codeOf(users.add(admin, { ...asha, userName: 'new', password: 'short' }))).toBe(
      'INVALID_VALUE',
    );
    const counts = await database.query(sql`
      select
        (select count(*) from records where collection = 'pltf_user') as records,
        (select count(*) from credentials) as credentials`);
    expect(counts).toEqual([{ records: 1, credentials: 1 }]);
  });

  it('of the same name in two domains are two', async () => {
    const north = gateway.scopeOf(systemPrincipal('test', ['admin'], 'top'), 'north');
    const { id } = await users.add(north, {
      userName: 'asha',
      name: 'Asha N',
      roles: [],
      password: 'north horse',
    });
    expect(await codeOf(gateway.login('asha', 'north horse'))).toBe('WRONG_LOGIN');
    expect(await users.list(north)).toEqual([
      {
        id,
        userName: 'asha',
        name: 'Asha N',
        roles: [],
        isActive: true,
        hasPassword: true,
        hasSecondFactor: false,
        lastLoginAt: undefined,
        version: 1,
      },
    ]);
  });

  it('are listed with what an admin wants to know, and no secret', async () => {
    await gateway.login('asha');
    const [asha, ...others] = await users.list(admin);
    expect(others).toEqual([]);
    expect(asha).toEqual({
      id: expect.any(String),
      userName: 'asha',
      name: 'Asha Rao',
      roles: ['clerk'],
      isActive: true,
      hasPassword: true,
      hasSecondFactor: false,
      lastLoginAt: expect.any(Date),
      version: 1,
    });
  });

  it('unknown get no password', async () => {
    const change = { userName: 'nobody', password: PASSWORD };
    expect(await codeOf(users.setPassword(admin, change))).toBe('NOT_FOUND');
  });

  it('changed through the store are affected at once', async () => {
    const { accessToken, user } = await gateway.login('asha');
    await gateway.authenticator.authenticate(accessToken);
    await store.update(admin, 'pltf_user', user.id, { data: { roles: ['viewer'] }, mode: 'merge' });
    await expectSoon('viewer', async () => {
      const { roles } = await gateway.authenticator.authenticate(accessToken);
      throw Object.assign(new Error(), { code: [...roles].join() });
    });
    await store.update(admin, 'pltf_user', user.id, { data: { active: false }, mode: 'merge' });
    await expectSoon('UNAUTHENTICATED', () => gateway.authenticator.authenticate(accessToken));
    await store.update(admin, 'pltf_user', user.id, { data: { active: true }, mode: 'merge' });
    await store.delete(admin, 'pltf_user', user.id);
    expect(await codeOf(gateway.login('asha'))).toBe('WRONG_LOGIN');
    await expectSoon('UNAUTHENTICATED', () => gateway.authenticator.authenticate(accessToken));
  });
});
