/** A collection that was registered at run time is its top domain's, and as if it never was to any other. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { PASSWORD, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();

/** An admin's token of another top domain, and of a branch of the first. */
let elsewhere: string;
let branch: string;

beforeAll(async () => {
  await gateway.sql.query(`
    insert into domains (id, name, parent_id) values ('other', 'Other', null), ('north', 'North', 'top');
    with users as (
      insert into records (domain, collection, id, data)
      select domain, 'pltf_user', 'usr-' || domain,
        jsonb_build_object('user_name', domain || '-admin', 'name', domain, 'active', true,
          'roles', '["admin"]'::jsonb)
      from unnest(array['other', 'north']) domain
      returning domain, id
    )
    insert into credentials (domain_id, user_id, password_hash)
    select domain, users.id, password_hash from users, credentials where user_id = 'usr-admin';
    select pg_notify(campus_channel('campus_domains'), '')`);
  elsewhere = await signIn('other');
  branch = await signIn('north');
  await ask(
    gateway,
    'mutation { registerCollection(definition: { name: "club", title: "Club", ' +
      'fields: [{ name: "motto", type: "text" }], access: { viewer: { verbs: ["read"] } } }) { name } }',
  );
  await ask(
    gateway,
    'mutation { createRecord(collection: "club", data: { _id: "c-1", motto: "Ad astra" }) { id } }',
  );
});

async function signIn(domain: string): Promise<string> {
  let token: string | undefined;
  // The gateway hears of the domains a moment after they are there.
  await eventually(async () => {
    const login = new URLSearchParams({ user_name: `${domain}-admin`, domain, password: PASSWORD });
    const answer = await fetch(`${gateway.url}/auth?${login}`, {
      method: 'POST',
      headers: { 'x-domain': domain },
    });
    token = ((await answer.json()) as { access_token?: string }).access_token;
    return token !== undefined;
  });
  return token ?? '';
}

function at(path: string, token: string, init: RequestInit = {}): Promise<Response> {
  return gateway.fetch(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } });
}

const asOther = () => ({ authorization: `Bearer ${elsewhere}` });

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('a collection registered by a top domain', () => {
  it('is there in that domain and in its branches', async () => {
    expect((await gateway.fetch('/o/recs/club', { as: 'viewer' })).status).toBe(200);
    expect((await at('/o/club', branch, json({ _id: 'c-2', motto: 'Per aspera' }))).status).toBe(201);
    expect(await (await at('/o/recs/club', branch)).json()).toMatchObject([{ _id: 'c-2' }]);
  });

  it('is as unknown elsewhere as one that never was, by every way to it', async () => {
    for (const [path, init] of [
      ['/o/recs/club', {}],
      ['/o/recs/club/c-1', {}],
      ['/o/club', json({ motto: 'Mine' })],
      ['/o/recs/club/c-1', { ...json({ motto: 'Mine' }), method: 'PATCH' }],
      ['/o/recs/club/c-1', { method: 'DELETE' }],
    ] as const) {
      const [answer, never] = [
        await at(path, elsewhere, init),
        await at(path.replace('club', 'cluc'), elsewhere, init),
      ];
      expect([path, answer.status]).toEqual([path, 404]);
      const { detail } = (await answer.json()) as { detail: string };
      expect(detail).toBe(((await never.json()) as { detail: string }).detail.replace('cluc', 'club'));
    }
    for (const query of [
      '{ records(collection: "club") { nodes { id } } }',
      '{ clubs { nodes { id } } }',
      '{ collection(name: "club") { name } }',
      'mutation { createRecord(collection: "club", data: {}) { id } }',
      'mutation { dropCollection(name: "club") }',
      'mutation { alterCollection(definition: { name: "club", title: "Taken" }) { name } }',
    ]) {
      const { errors } = await send(gateway, { query, headers: asOther() });
      expect([query, errors[0]?.extensions.code]).toEqual([query, 'NOT_FOUND']);
    }
    const { data } = await send(gateway, { query: '{ collections { name } }', headers: asOther() });
    expect(JSON.stringify(data)).not.toContain('club');
  });

  it('has a name that is taken elsewhere, too', async () => {
    const { errors } = await send(gateway, {
      query: 'mutation { registerCollection(definition: { name: "club" }) { name } }',
      headers: asOther(),
    });
    expect(errors[0]?.extensions.code).toBe('CONFLICT');
  });

  it("is the other one's where that registers it", async () => {
    const { errors } = await send(gateway, {
      query: 'mutation { registerCollection(definition: { name: "guild" }) { name } }',
      headers: asOther(),
    });
    expect(errors).toEqual([]);
    expect((await at('/o/recs/guild', elsewhere)).status).toBe(200);
    expect((await gateway.fetch('/o/recs/guild', { as: 'admin' })).status).toBe(404);
  });

  it("that an earlier version registered is every domain's", async () => {
    await gateway.sql.query(
      `update collections set domain_id = null, version = version + 1 where name = 'guild'`,
    );
    await gateway.sql.query(`select pg_notify(campus_channel('campus_catalog'), 'guild')`);
    await eventually(async () => (await gateway.fetch('/o/recs/guild', { as: 'admin' })).status === 200);
  });
});
