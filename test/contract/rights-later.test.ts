/** Work that outlasts the check of its rights ends when its caller has lost them. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { PASSWORD, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway({ FILE_MAX_BYTES: '200000000', SCRIPT_WALL_TIME_MS: '60000' });

const RECORDS = 4_000;

/** Has the rights of a role for one test, and loses them. */
async function temporaryUser(userName: string, roles: readonly string[]) {
  const data = { _id: userName, user_name: userName, name: userName, active: true, roles };
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ('top', 'pltf_user', $1, $2)`,
    [userName, { ...data, _id: undefined }],
  );
  await gateway.sql.query(
    `insert into credentials (domain_id, user_id, password_hash)
     select domain_id, $1, password_hash from credentials where user_id = 'usr-viewer'`,
    [userName],
  );
  const login = `mutation { login(userName: "${userName}", password: "${PASSWORD}") { accessToken } }`;
  const { accessToken } = (await ask(gateway, login)).login;
  const change = (query: string) => ask(gateway, query, { variables: { id: userName } });
  return {
    headers: { authorization: `Bearer ${accessToken}` },
    deactivate: () => change('mutation ($id: ID!) { setUserActive(userId: $id, isActive: false) { id } }'),
    demote: () => change('mutation ($id: ID!) { setUserRoles(userId: $id, roles: []) { id } }'),
  };
}

/** Reads the rest of an answer. @throws if it is cut */
async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<number> {
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) length += part.value.length;
  return length;
}

describe('a caller who loses its rights', () => {
  it.each([
    ['is deactivated', 'deactivate', '/o/recs/task?format=ndjson'],
    ['loses its role', 'demote', '/o/recs/task?format=csv'],
  ] as const)('because it %s gets no more of %s, %s', async (_, loss, path) => {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'task', 'long-' || n,
         jsonb_build_object('name', md5(n::text), 'note', repeat(md5(n::text), 320))
       from generate_series(1, $1::int) as n
       on conflict do nothing`,
      [RECORDS],
    );
    const user = await temporaryUser(`${loss}-${path.slice(-4)}`, ['viewer']);
    const response = await gateway.fetch(path, { headers: user.headers });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await reader.read();
    await user[loss]();
    await expect(rest(reader)).rejects.toThrow();
  });

  it('gets no more of a file', async () => {
    const bytes = randomBytes(60_000_000);
    const kept = await gateway.fetch('/files?name=large.bin&roles=viewer', {
      ...{ method: 'POST', as: 'admin', body: bytes },
      headers: { 'content-type': 'application/octet-stream' },
    });
    const { id } = (await kept.json()) as { id: string };
    const user = await temporaryUser('reads-file', ['viewer']);
    const response = await gateway.fetch(`/files/${id}`, { headers: user.headers });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await reader.read();
    await user.demote();
    await expect(rest(reader)).rejects.toThrow();
  });

  it('keeps no file that it was sending', async () => {
    const user = await temporaryUser('sends-file', ['clerk']);
    const count = async () =>
      (await gateway.sql.query(`select count(*)::int as n from files where created_by = 'sends-file'`))
        .rows[0].n;
    async function* slowly(): AsyncGenerator<Buffer> {
      yield Buffer.from('first');
      await eventually(async () => (await count()) === 1);
      await user.deactivate();
      yield Buffer.from('last');
    }
    const sent = await fetch(`${gateway.url}/files?name=a.txt`, {
      ...{ method: 'POST', body: Readable.toWeb(Readable.from(slowly())) as ReadableStream, duplex: 'half' },
      headers: { ...user.headers, 'content-type': 'text/plain' },
    } as RequestInit);
    expect(sent.status).toBe(401);
    await expectEventually(count, 0);
  });

  it('has its script stopped at the next call, unless the script has roles of its own', async () => {
    const code = `export default async () => {
      for (let n = 0; n < 100000; n += 1) {
        if (await platform.db.getCount('fee_head', { name: 'stop' }) > 0) return 'stopped';
      }
    }`;
    const save = 'mutation ($s: SaveScriptInput!) { saveScript(script: $s) { name } }';
    await ask(gateway, save, { variables: { s: { name: 'as-caller', code, roles: ['viewer'] } } });
    const own = { name: 'as-service', code, roles: ['viewer'], serviceRoles: ['viewer'] };
    await ask(gateway, save, { variables: { s: own } });
    const user = await temporaryUser('runs-script', ['viewer']);
    const run = (name: string) =>
      send(gateway, {
        query: 'mutation ($name: ID!) { runScript(name: $name) { value error { code } } }',
        variables: { name },
        headers: user.headers,
      });
    const runs = [run('as-caller'), run('as-service')];
    await eventually(async () => {
      const { rows } = await gateway.sql.query(`select from script_runs where status = 'running'`);
      return rows.length === 2;
    });
    await user.demote();
    const asCaller = await runs[0];
    expect(asCaller?.data.runScript).toMatchObject({ error: { code: 'FORBIDDEN' } });
    await ask(gateway, 'mutation { createRecord(collection: "fee_head", data: {name: "stop"}) { id } }');
    expect((await runs[1])?.data.runScript).toEqual({ value: 'stopped', error: null });
  });
});
