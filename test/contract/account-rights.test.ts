/**
 * Fields that are rights, at every door of records: what a caller may not do by the account mutations it
 * does not do by records, and no door leaves a school without an admin.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { foldedKey } from '../../src/base/model/keys-of.js';
import type { Voice } from '../campaign/rights/doors.js';
import { importDocument } from '../campaign/rights/import-doors.js';
import { voiceOf } from '../campaign/rights/matrix.js';
import { RIGHT_DOORS, type RightsOfUser } from '../campaign/rights/right-doors.js';
import { IS_FULL_LENGTH } from '../full-length.js';
import { ROLES, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway({ IMPORT_ROLES: ROLES.join() });

/** What changes who may log in, as whom, and with which rights. */
const CHANGES: readonly Readonly<Record<string, unknown>>[] = [
  { roles: ['admin'] },
  { active: false },
  { email: 'admin@school.example' },
  { user_name: 'somebody-else' },
];
const ALL_VERBS = ['read', 'create', 'update', 'delete'];
const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';
/** Runs what it is asked to on `platform.db`. */
const DB_CALL = `export default async ({ call, args }) => {
  try {
    return { answer: await platform.db[call](...args) };
  } catch (error) {
    return { failed: error.status ?? 500, message: String(error.message) };
  }
};`;

const bearers = new Map<string, string>();

function voice(caller: string): Voice {
  const headers = { authorization: `Bearer ${bearers.get(caller) ?? ''}` };
  const asCaller = { name: caller, headers, roles: [], userId: '', domain: 'top' as const, attributes: {} };
  return voiceOf({ gateway, records: { top: new Map(), branch: new Map() }, callers: [] }, asCaller);
}

async function makeKey(scopes: object): Promise<string> {
  const { createApiKey } = await ask(
    gateway,
    'mutation ($s: JSON!) { createApiKey(data: {name: "rights", scopes: $s}) { key } }',
    { variables: { s: scopes } },
  );
  return createApiKey.key;
}

let count = 0;
async function addUser(roles: readonly string[] = ['viewer']): Promise<RightsOfUser> {
  count += 1;
  const user = { id: `victim-${count}`, userName: `victim.${count}` };
  const data = { user_name: user.userName, name: 'Asha', active: true, roles };
  await gateway.sql.query(
    `insert into records (domain, collection, id, data, keys)
      values ('top', 'pltf_user', $1, $2::jsonb, $3::jsonb)`,
    [user.id, JSON.stringify(data), JSON.stringify({ user_name: foldedKey(user.userName) })],
  );
  return user;
}

async function stateOf({ id }: RightsOfUser): Promise<unknown> {
  const { rows } = await gateway.sql.query(
    `select data, deleted_at is null as is_there from records
     where domain = 'top' and collection = 'pltf_user' and id = $1`,
    [id],
  );
  return rows[0];
}

beforeAll(async () => {
  const everything = { collections: { '*': ALL_VERBS }, reports: ['*'], scripts: ['*'] };
  const named = { collections: { pltf_user: ALL_VERBS }, scripts: ['*'] };
  for (const script of [
    { name: 'matrix', code: DB_CALL, roles: [...ROLES] },
    { name: 'service', code: DB_CALL, roles: [...ROLES], serviceRoles: ['admin'] },
    { name: 'sign', code: 'export default (wish) => platform.signToken(wish).token' },
  ])
    await ask(gateway, SAVE, { variables: { script } });
  const sign = 'mutation { runScript(name: "sign", arguments: {}) { value } }';
  bearers.set('a key for everything', await makeKey(everything));
  bearers.set('a key for the collection', await makeKey(named));
  bearers.set('a signed token', (await ask(gateway, sign)).runScript.value);
  bearers.set('a clerk', gateway.tokenOf('clerk'));
  bearers.set('an admin', gateway.tokenOf('admin'));
  bearers.set('a key for accounts', await makeKey({ ...everything, accounts: true }));
});

/** `npm test` sends one of these callers to each door; the campaign `generative` sends all. */
const WITHOUT_RIGHTS = ['a key for everything', 'a key for the collection', 'a signed token', 'a clerk'];
const WITH_RIGHTS = ['an admin', 'a key for accounts'];

describe.each(RIGHT_DOORS.map((door, index) => [door.name, door, index] as const))(
  'by %s',
  (name, door, index) => {
    const chosen = (callers: readonly string[]) =>
      IS_FULL_LENGTH ? callers : [callers[index % callers.length] ?? ''];

    it.each(chosen(WITHOUT_RIGHTS))('%s changes no rights', async (caller) => {
      const user = await addUser();
      const before = await stateOf(user);
      const others = CHANGES.filter((change) => !(name.endsWith('by user_name') && 'user_name' in change));
      const change = others[index % others.length] ?? {};
      for (const sent of door.removes ? [{}] : [{ roles: ['admin'] }, change]) {
        const { status, text } = await door.open(voice(caller), user, sent);
        expect([status, text.slice(0, 1000)]).toEqual([403, expect.anything()]);
        expect(await stateOf(user)).toEqual(before);
      }
    });

    it.each(chosen(WITH_RIGHTS))('%s changes rights', async (caller) => {
      const user = await addUser();
      const before = await stateOf(user);
      const { status, text } = await door.open(voice(caller), user, { roles: ['clerk'] });
      if (!name.startsWith('platform.')) {
        expect([[200, 204].includes(status), text]).toEqual([true, expect.anything()]);
        expect(await stateOf(user)).not.toEqual(before);
        return;
      }
      expect([status, text]).toEqual([403, expect.stringContaining('no script')]);
      expect(await stateOf(user)).toEqual(before);
    });
  },
);

describe('a key for everything', () => {
  const key = () => voice('a key for everything');

  it('makes users without rights', async () => {
    const made = await key().rest('POST', '/o/pltf_user', { user_name: 'new.user', name: 'New' });
    expect(made.status).toBe(201);
    expect(JSON.parse(made.text).roles).toBeUndefined();
    for (const [field, value] of [
      ['roles', ['admin']],
      ['email', 'admin@school.example'],
    ]) {
      const data = { user_name: 'other.user', name: 'Other', [String(field)]: value };
      for (const answer of [
        await key().rest('POST', '/o/pltf_user', data),
        await key().graphql(
          'mutation($d: JSON!) { createRecord(collection: "pltf_user", data: $d) { id } }',
          { d: data },
        ),
        await importDocument(key(), 'pltf_user', data, 'run?mode=rows&by=user_name'),
      ])
        expect(answer).toEqual({
          status: 403,
          text: expect.stringContaining(`you may not set ${field}`),
        });
    }
    const lines = { user_name: 'imported.user', name: 'Imported' };
    const imported = await importDocument(key(), 'pltf_user', lines, 'run?mode=rows&by=user_name');
    expect(imported.status).toBe(200);
  });

  it('takes no change of rights back, neither by undoing nor by an earlier version', async () => {
    const user = await addUser(['admin']);
    const changed = await voice('an admin').rest(
      'PATCH',
      `/o/recs/pltf_user/${user.id}`,
      { roles: ['viewer'] },
      { 'x-request-id': 'taken-right' },
    );
    expect(changed.status).toBe(200);
    const before = await stateOf(user);
    const undo = 'mutation { undoChange(requestId: "taken-right") { changed } }';
    const restore = ['POST', `/o/recs/pltf_user/${user.id}/restore`, { version: 1 }] as const;
    expect((await key().graphql(undo)).status).toBe(403);
    expect((await key().rest(...restore)).status).toBe(403);
    expect(await stateOf(user)).toEqual(before);
    expect((await voice('a key for accounts').graphql(undo)).status).toBe(200);
    expect((await voice('an admin').rest(...restore)).status).toBe(200);
  });

  it('brings no removed user back', async () => {
    const user = await addUser(['admin']);
    const removed = await voice('an admin').rest('DELETE', `/o/recs/pltf_user/${user.id}`, undefined, {
      'x-request-id': 'removed-user',
    });
    expect(removed.status).toBe(204);
    const before = await stateOf(user);
    const line = { _id: user.id, user_name: user.userName, name: 'Asha' };
    expect((await importDocument(key(), 'pltf_user', line, 'run?mode=rows&by=user_name')).status).toBe(400);
    const undo = 'mutation { undoChange(requestId: "removed-user") { broughtBack } }';
    expect((await key().graphql(undo)).status).toBe(403);
    expect(await stateOf(user)).toEqual(before);
  });
});

describe('a script', () => {
  it('with service roles gives no rights', async () => {
    const user = await addUser();
    const before = await stateOf(user);
    const change = { call: 'update', args: ['pltf_user', { _id: user.id }, { $set: { roles: ['admin'] } }] };
    const { text } = await voice('a clerk').graphql(
      'mutation($a: JSON) { runScript(name: "service", arguments: $a) { value } }',
      { a: change },
    );
    expect(text).toContain('"failed":403');
    expect(await stateOf(user)).toEqual(before);
  });

  it('before a write gives no rights to what others write', async () => {
    const user = await addUser();
    const before = await stateOf(user);
    const script = {
      name: 'give',
      code: 'export default ({ record }) => ({ ...record, roles: ["admin"] })',
      before: [{ collection: 'pltf_user', operations: ['CREATE', 'UPDATE'] }],
    };
    await ask(gateway, SAVE, { variables: { script } });
    try {
      const phone = { phone: '+911234567890' };
      const patched = await voice('an admin').rest('PATCH', `/o/recs/pltf_user/${user.id}`, phone);
      expect(patched.status).toBe(403);
      expect(await stateOf(user)).toEqual(before);
      const { errors } = await send(gateway, {
        query: 'mutation { setLanguage(language: "hi") }',
        as: 'viewer',
      });
      expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
    } finally {
      await ask(gateway, 'mutation { removeScript(name: "give") }');
    }
  });
});

describe('the account mutations', () => {
  it('are for a key whose scopes say so', async () => {
    const user = await addUser();
    const change = `mutation { setUserRoles(userId: "${user.id}", roles: ["clerk"]) { roles } }`;
    expect((await voice('a key for everything').graphql(change)).status).toBe(403);
    expect((await voice('a key for accounts').graphql(change)).text).toContain('"roles":["clerk"]');
  });

  it('are for no token that a script signs', async () => {
    const sign =
      'mutation { runScript(name: "sign", arguments: {scopes: {accounts: true}}) { error { message } } }';
    expect((await voice('an admin').graphql(sign)).text).toContain('A signed token never changes accounts');
  });
});

/** A script changes no rights at all, and the fault of an import is one of its rows. */
function refusalBy(door: string): number {
  if (door.startsWith('platform.')) return 403;
  return door.startsWith('an import') ? 400 : 409;
}

describe('the last admin', () => {
  // The admin of the tests is the only one that is left.
  const last = { id: 'usr-admin', userName: 'admin' };
  beforeEach(async () => {
    await gateway.sql.query(
      `update records set data = data || '{"roles": ["viewer"]}'
       where collection = 'pltf_user' and data->'roles' ? 'admin' and id <> 'usr-admin'`,
    );
    await gateway.sql.query(
      `update records set keys = $1 where collection = 'pltf_user' and id = 'usr-admin'`,
      [{ user_name: foldedKey(last.userName) }],
    );
  });

  it.each(RIGHT_DOORS.map((door) => [door.name, door] as const))('stays, by %s', async (name, door) => {
    const before = await stateOf(last);
    const changes = door.removes || name.includes('push') ? [{}] : [{ roles: ['viewer'] }, { active: false }];
    for (const change of name.includes('push') ? [{ active: false }] : changes) {
      const { status, text } = await door.open(voice('an admin'), last, change);
      expect([status, text]).toEqual([refusalBy(name), expect.anything()]);
      expect(await stateOf(last)).toEqual(before);
    }
  });

  it('stays when two admins take the right from each other at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const other = await addUser(['admin']);
      const answers = await Promise.all(
        [other, last].map(async ({ id }) =>
          voice('an admin').rest('PATCH', `/o/recs/pltf_user/${id}`, { roles: ['viewer'] }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).not.toEqual([200, 200]);
      const { rows } = await gateway.sql.query(
        `select id from records where domain = 'top' and collection = 'pltf_user'
         and data->'roles' ? 'admin' and data->'active' = 'true' and deleted_at is null`,
      );
      expect(rows).toHaveLength(1);
      await gateway.sql.query(
        `update records set data = data || jsonb_build_object('roles',
           case when id = 'usr-admin' then '["admin"]'::jsonb else '["viewer"]' end)
         where collection = 'pltf_user' and id = any($1)`,
        [[other.id, last.id]],
      );
      await gateway.sql.query(`select pg_notify(campus_channel('campus_principals'), '{"domain": "top"}')`);
    }
  });

  it('stays when all users are deactivated at once', async () => {
    const { errors } = await send(gateway, {
      query: 'mutation { updatePltfUsers(allowAll: true, set: {active: false}) { matched } }',
      as: 'admin',
    });
    expect(errors[0]?.extensions.code).toBe('CONFLICT');
  });

  it('is not erased as a person', async () => {
    const { errors } = await send(gateway, {
      query: 'mutation { erasePerson(collection: "pltf_user", id: "usr-admin") { pseudonym } }',
      as: 'admin',
    });
    expect(errors[0]?.extensions.code).toBe('CONFLICT');
  });
});
