/** A database whose sessions begin with other settings than those the driver reads: nothing is different. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { type StartedGateway, startGateway } from './gateway.js';
import { ask } from './graphql.js';
import { importSteps } from './import-steps.js';

const DEFAULTS = {
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Asia/Kolkata',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
};
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let database: TestDatabase;
let gateway: StartedGateway;

beforeAll(async () => {
  database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const name = pg.escapeIdentifier(new URL(database.url).pathname.slice(1));
  for (const [setting, value] of Object.entries(DEFAULTS))
    await client.query(`alter database ${name} set ${setting} to '${value}'`);
  await client.end();
  gateway = await startGateway(database.url);
});

afterAll(async () => {
  await gateway?.close();
  await database?.drop();
});

it('begins its sessions with those settings', async () => {
  const { rows } = await gateway.sql.query(`select now()::text as now, '\\'\\'' as quoted`);
  expect(rows[0]).toEqual({ now: expect.stringMatching(/^\d\d\/\d\d\/\d{4} .* IST$/), quoted: "''" });
});

it('writes records, and reads their history and their state at an instant', async () => {
  const words = "a\\b 'c'";
  await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ _id: 't-1', name: words }),
  });
  expect(await (await gateway.fetch('/o/recs/task/t-1', { as: 'admin' })).json()).toMatchObject({
    name: words,
    created_on: expect.stringMatching(ISO),
  });
  const history = await gateway.fetch('/o/recs/task/t-1/history', { as: 'admin' });
  expect([history.status, await history.json()]).toEqual([
    200,
    [expect.objectContaining({ at: expect.stringMatching(ISO) })],
  ]);
});

it('keeps the bytes of files', async () => {
  const bytes = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
  const sent = await gateway.fetch('/files?name=a.bin', { method: 'POST', as: 'clerk', body: bytes });
  const file = (await sent.json()) as { url: string; createdAt: string };
  expect([sent.status, file.createdAt]).toEqual([201, expect.stringMatching(ISO)]);
  const read = await gateway.fetch(file.url, { as: 'clerk' });
  expect(Buffer.from(await read.arrayBuffer())).toEqual(bytes);
});

it('lists sessions, keys and messages with their instants', async () => {
  const { createApiKey } = await ask(
    gateway,
    'mutation { createApiKey(data: { name: "k", scopes: { collections: { task: ["read"] } } }) { key } }',
  );
  expect(createApiKey.key).toEqual(expect.any(String));
  const { apiKeys, sessions, messages } = await ask(
    gateway,
    '{ apiKeys { createdAt } sessions { createdAt } messages(first: 5) { nodes { createdAt } } }',
  );
  expect(messages.nodes).toEqual([]);
  for (const { createdAt } of [...apiKeys, ...sessions]) expect(createdAt).toMatch(ISO);
  expect(apiKeys).toHaveLength(1);
});

it('imports a file, by a job of the queue', async () => {
  const { take, ask: call, rested, run } = importSteps(gateway);
  const { id } = await take('task', 'name\nChalk\nDuster\n');
  await call('POST', `/imports/${id}/dry-run`);
  await rested(id);
  expect(await run(id)).toMatchObject({ state: 'done', counts: { created: 2 } });
});
