/** `me`: what a caller may do, as the server says it, so that no page has a list of its own. */
import { describe, expect, it } from '@jest/globals';
import { reports } from '../../src/school/reports/registry.js';
import { ROLES, type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway();

const RIGHTS =
  '{ me { id userName name roles language credential domain { id } branches { id } duties ' +
  'collections { name canRead canCreate canUpdate canRemove isLimitedToRows readableFields creatableFields ' +
  'updatableFields } reports { name field } operations { name kind } } }';

async function me(as: Role): Promise<Answered> {
  return (await ask(gateway, RIGHTS, { as })).me;
}

describe('me', () => {
  it('says who asks, and in which domain', async () => {
    expect(await me('clerk')).toMatchObject({
      id: 'usr-clerk',
      userName: 'clerk',
      name: 'The clerk',
      roles: ['clerk'],
      language: null,
      credential: 'token',
      domain: { id: 'top' },
      branches: [{ id: 'top' }],
    });
  });

  it('needs a credential', async () => {
    expect((await send(gateway, { query: RIGHTS })).status).toBe(401);
  });

  it('tells how many records one request may write', async () => {
    const { data } = await send(gateway, { query: '{ me { maxRecordsPerWrite } }', as: 'viewer' });
    expect(data).toEqual({ me: { maxRecordsPerWrite: 10_000 } });
  });

  it('names the duties of an admin, and of nobody else', async () => {
    expect((await me('admin')).duties).toEqual([
      ...['users', 'keys', 'scripts', 'messages', 'files', 'settings', 'audit'],
      ...['collections', 'branches', 'backups', 'health'],
    ]);
    for (const role of ROLES.filter((one) => one !== 'admin')) expect((await me(role)).duties).toEqual([]);
  });

  it.each(ROLES)('tells the %s what then is let do and refused', async (role) => {
    const { collections } = await me(role);
    const all = (await ask(gateway, '{ collections { name } }', { as: 'admin' })).collections;
    for (const { name } of all) {
      const rights = collections.find((one: Answered) => one.name === name);
      const read = await gateway.fetch(`/o/recs/${name}`, { as: role });
      expect([name, read.status === 200]).toEqual([name, rights?.canRead === true]);
      const removed = await gateway.fetch(`/o/recs/${name}/nobody`, { method: 'DELETE', as: role });
      expect([name, removed.status === 404]).toEqual([name, rights?.canRemove === true]);
    }
  });

  it.each(ROLES)('lists the reports that the %s may run', async (role) => {
    const named = (await me(role)).reports.map(({ name }: Answered) => name);
    for (const { name, routes, roles, teachers } of reports) {
      const mayRun = role === 'admin' || roles.includes(role) || (role === 'teacher' && teachers !== 'none');
      expect([name, named.includes(name)]).toEqual([name, mayRun]);
      const [route] = routes;
      if (route === undefined) continue;
      const path = `${route.path.replaceAll(/:\w+/g, '1')}?nonsense=1`;
      const { status } = await gateway.fetch(path, { method: route.method, as: role });
      expect([name, status === 403]).toEqual([name, !mayRun]);
    }
  });

  it('leaves out the fields that a role does not see, and those it may not set', async () => {
    const { collections } = await me('viewer');
    const staff = collections.find(({ name }: Answered) => name === 'pltf_user');
    expect(staff.readableFields).toContain('name');
    expect(staff.readableFields).not.toContain('phone');
    expect(staff).toMatchObject({
      canRead: true,
      canUpdate: false,
      creatableFields: [],
      updatableFields: [],
    });
  });

  it('offers the operations of the library that are for a role', async () => {
    const named = async (role: Role) => (await me(role)).operations.map(({ name }: Answered) => name);
    expect(await named('teacher')).toContain('day-sheet');
    expect(await named('accountant')).not.toContain('day-sheet');
    expect((await named('admin')).length).toBeGreaterThan((await named('viewer')).length);
  });

  it('tells an API key of an admin what the key may do, not what the admin may', async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation { createApiKey(data: {name: "one", scopes: {collections: {task: ["read"]}, reports: ' +
        '["day-sheet"], scripts: []}}) { key } }',
    );
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    const { data } = await send(gateway, { query: RIGHTS, headers });
    expect(data.me).toMatchObject({
      credential: 'key',
      duties: [],
      collections: [{ name: 'task', canRead: true, canCreate: false, canUpdate: false, canRemove: false }],
      reports: [{ name: 'day-sheet', field: 'daySheet' }],
      operations: [{ name: 'day-sheet' }],
    });
    const choose = 'mutation { setLanguage(language: "hi") }';
    expect(await codesOf(gateway, { query: choose, headers })).toEqual(['FORBIDDEN']);
  });
});

describe('setLanguage', () => {
  const choose = async (language: string | null) =>
    await send(gateway, {
      as: 'viewer',
      query: 'mutation ($language: String) { setLanguage(language: $language) }',
      variables: { language },
    });

  it("sets the caller's own, whatever else its role may change of its record, and is audited", async () => {
    expect((await choose('hi')).errors).toEqual([]);
    expect((await me('viewer')).language).toBe('hi');
    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "pltf_user", recordId: "usr-viewer", first: 1) { principal operation } }',
    );
    expect(auditTrail).toEqual([{ principal: 'usr-viewer', operation: 'updated' }]);
    await choose(null);
    expect((await me('viewer')).language).toBeNull();
  });

  it('refuses what is no language of the pages', async () => {
    const { errors } = await choose('tlh');
    expect(errors[0]?.extensions.code).toBe('INVALID_VALUE');
  });
});
