/** How the service is, for admins of the top domain. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { openArchive } from '../../src/services/backup/open-archive.js';
import { expectEventually } from '../expect-eventually.js';
import { useGateway } from './gateway.js';
import { type Answered, ask, codesOf } from './graphql.js';

const backups = await mkdtemp(path.join(tmpdir(), 'campus-backups-'));
afterAll(() => rm(backups, { recursive: true, force: true }));
const gateway = useGateway({ SLOW_STATEMENT_MS: '1', BACKUP_DIRECTORY: backups });

const QUERY =
  '{ health { version databaseVersion isReadOnly migrations backupAgeSeconds clockOffsetSeconds ' +
  'queues { name waiting failed } slowStatements { at operation collections durationMs statement ' +
  'suggestions } } }';

it('is told to admins of the top domain alone', async () => {
  for (const as of ['accountant', 'teacher', 'clerk', 'viewer'] as const)
    expect(await codesOf(gateway, { query: QUERY, as })).toEqual(['FORBIDDEN']);
  expect(await codesOf(gateway, { query: QUERY })).toEqual(['UNAUTHENTICATED']);
  const { createApiKey } = await ask(
    gateway,
    'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }',
    { variables: { s: { collections: {}, reports: ['*'], scripts: ['*'] } } },
  );
  const headers = { authorization: `Bearer ${createApiKey.key}` };
  expect(await codesOf(gateway, { query: QUERY, headers })).toEqual(['FORBIDDEN']);
});

it('is versions, migrations, what waits and the last backup', async () => {
  const { health } = await ask(gateway, QUERY);
  expect(health).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+/),
    databaseVersion: expect.stringMatching(/^1[5-9]/),
    isReadOnly: false,
    backupAgeSeconds: null,
    clockOffsetSeconds: expect.any(Number),
    queues: [
      { name: 'jobs', failed: 0 },
      { name: 'messages', waiting: 0, failed: 0 },
      { name: 'webhooks', waiting: 0, failed: 0 },
    ],
  });
  expect(health.migrations[0]).toBe('0001_initial');
  expect(health.migrations).toContain('0029_webhooks');
});

it('is the backups, which an admin makes, verifies and downloads', async () => {
  const { health } = await ask(gateway, '{ health { databaseBytes diskFreeBytes backups { name } } }');
  expect(health).toEqual({ databaseBytes: expect.any(Number), diskFreeBytes: null, backups: [] });
  await ask(gateway, 'mutation { makeBackup }');
  const read = async () => {
    const query = '{ health { isBackingUp backups { name bytes verifiedAt fault } } }';
    return (await ask(gateway, query)).health;
  };
  const isDone = async () => {
    const { isBackingUp, backups: kept } = await read();
    return !isBackingUp && kept.length === 1;
  };
  await expectEventually(isDone, true);
  const [made] = (await read()).backups;
  expect(made).toMatchObject({ bytes: expect.any(Number), verifiedAt: null, fault: null });

  const answer = await gateway.fetch(`/backups/${made.name}`, { as: 'admin' });
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${made.name}"`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.length).toBe(made.bytes);
  const source = {
    size: bytes.length,
    read: async (start: number, end: number) => bytes.subarray(start, end),
    [Symbol.asyncDispose]: async () => {},
  };
  expect((await openArchive(source)).manifest.domains.map(({ id }) => id)).toContain('top');

  await ask(gateway, 'mutation ($name: String!) { verifyBackup(name: $name) }', { variables: made });
  const verified = async () => (await read()).backups[0].verifiedAt !== null;
  await expectEventually(verified, true);
  expect((await read()).backups[0].fault).toBeNull();

  for (const name of ['campus-2020-01-01T00-00-00Z.campus', '..%2Fetc%2Fpasswd'])
    expect((await gateway.fetch(`/backups/${name}`, { as: 'admin' })).status).toBe(404);
  expect((await gateway.fetch(`/backups/${made.name}`, { as: 'accountant' })).status).toBe(403);
  expect((await gateway.fetch(`/backups/${made.name}`)).status).toBe(401);
  expect(await codesOf(gateway, { query: 'mutation { makeBackup }', as: 'teacher' })).toEqual(['FORBIDDEN']);
});

it('counts what waits and what was given up, and tells of the latest backup', async () => {
  await gateway.sql.query(`
    insert into settings (name, updated_at, value)
    values ('backups', now(), jsonb_build_array(
      jsonb_build_object('name', 'one', 'at', '2020-01-01T00:00:00Z', 'bytes', 1)))
    on conflict (name) do update set value = excluded.value`);
  await ask(gateway, 'mutation { sendEmail(data: {to: "a@example.org", subject: "s", text: "t"}) { id } }');
  const figures = async () =>
    (await ask(gateway, '{ health { backupAgeSeconds queues { name waiting failed } } }')).health;
  for (const [state, waiting, failed] of [
    ['queued', 1, 0],
    ['failed', 0, 1],
  ] as const) {
    await gateway.sql.query('update messages set state = $1', [state]);
    const { queues, backupAgeSeconds } = await figures();
    expect(queues).toContainEqual({ name: 'messages', waiting, failed });
    expect(backupAgeSeconds).toBeGreaterThan(5 * 365 * 86_400);
  }
  const failure = async () => (await ask(gateway, '{ health { backupFailedAt backupFault } }')).health;
  expect(await failure()).toEqual({ backupFailedAt: null, backupFault: null });
  await gateway.sql.query(`select campus_jobs.add_job('backups.make', run_at => now() + interval '1 hour')`);
  await gateway.sql.query(
    `update campus_jobs._private_jobs set attempts = max_attempts, last_error = 'No space is left.'`,
  );
  expect(await failure()).toEqual({ backupFailedAt: expect.any(String), backupFault: 'No space is left.' });
});

it('is the slow statements too, without their values', async () => {
  await gateway.sql.query(`insert into records (domain, collection, id, data)
    select 'top', 'task', 'slow-' || n, jsonb_build_object('name', repeat('x', 200) || n)
    from generate_series(1, 20000) as n`);
  await ask(gateway, 'query SlowOne { tasks(where: {name: {contains: "secretive"}}) { totalCount } }');
  const seen = async () => {
    const { slowStatements } = (await ask(gateway, QUERY)).health;
    return slowStatements.some((one: Answered) => one.operation === 'SlowOne');
  };
  await expectEventually(seen, true);
  expect(JSON.stringify((await ask(gateway, QUERY)).health.slowStatements)).not.toContain('secretive');
});
