import { type ChildProcess, spawn } from 'node:child_process';
import { getMaxListeners } from 'node:events';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type JobContext, JobQueue, migrateJobQueue } from '../../../src/services/jobs/job-queue.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { expectEventually } from '../../expect-eventually.js';
import { useWorkers } from './use-workers.js';

const test = useTestDatabase();
const workers = useWorkers(test);
let jobs: JobQueue;
let calls: unknown[];
const note = { name: 'note', run: async (payload: unknown) => void calls.push(payload) };

const query = async (text: string) => (await test.database.pool.query(text)).rows;

beforeAll(() => {
  jobs = new JobQueue({ database: test.database });
});

beforeEach(async () => {
  calls = [];
  await test.database.pool.query('delete from campus_jobs._private_jobs');
});

describe('a job', () => {
  it('is done once, by one of the gateways, with what it was given', async () => {
    await workers.start({ tasks: [note] });
    await workers.start({ tasks: [note] });
    for (let n = 0; n < 20; n++) await jobs.add('note', { n, name: 'आशा' });
    await eventually(() => calls.length >= 20);
    expect(calls).toHaveLength(20);
    expect(calls).toContainEqual({ n: 19, name: 'आशा' });
    await eventually(() => workers.observed.length === 20);
    expect(workers.observed[0]).toMatchObject({
      kind: 'jobEnded',
      task: 'note',
      outcome: 'done',
      attempt: 1,
    });
  });

  it('is done at once, whatever others announce on the channels of the library', async () => {
    const exitCode = process.exitCode;
    await workers.start({ tasks: [note], pollMs: 600_000 });
    await test.database.pool.query(`
      select pg_notify('worker:migrate', '{"breaking":true}'), pg_notify('jobs:insert', '{"count":9e9'),
        pg_notify('jobs:insert', n::text) from generate_series(1, 1000) as n`);
    for (let n = 0; n < 3; n++) await jobs.add('note', { n });
    await eventually(() => calls.length >= 3);
    expect(process.exitCode).toBe(exitCode);
  });

  it('has a signal that the statements of all jobs at work may listen to', async () => {
    const task = {
      name: 'listen',
      run: async (_: unknown, { signal }: JobContext) => void calls.push(getMaxListeners(signal)),
    };
    await workers.start({ tasks: [task] });
    await jobs.add('listen', {});
    await expectEventually(() => calls, [Number.POSITIVE_INFINITY]);
  });

  it('is not there when the transaction it was added in is rolled back', async () => {
    await workers.start({ tasks: [note] });
    const work = test.database.transaction(async (tx) => {
      await jobs.add('note', { n: 1 }, {}, tx);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    await test.database.transaction((tx) => jobs.add('note', { n: 2 }, {}, tx));
    await eventually(() => calls.length > 0);
    expect(calls).toEqual([{ n: 2 }]);
  });

  it('replaces the one that waits under the same key', async () => {
    await jobs.add('note', { n: 1 }, { key: 'only' });
    await jobs.add('note', { n: 2 }, { key: 'only' });
    await workers.start({ tasks: [note] });
    await eventually(() => calls.length > 0);
    expect(calls).toEqual([{ n: 2 }]);
  });

  it('is added for an id that has none alive, in order, up to a number of its task', async () => {
    const fail = { name: 'fail', run: () => Promise.reject(new Error('no')) };
    await workers.start({ tasks: [fail] });
    const options = { keyPrefix: 'id ', most: 2, maxAttempts: 1 };
    const add = (...ids: readonly string[]) =>
      jobs.addMissing('fail', sql`select * from unnest(${ids}::text[])`, options);
    expect(await add('a')).toBe(1);
    await eventually(() => workers.observed.some(({ kind }) => kind === 'jobEnded'));
    await expectEventually(async () => (await jobs.counts()).failed, 1);
    const later = { key: 'id b', delayMs: 3_600_000 };
    await jobs.add('fail', { id: 'b' }, later);
    // One waits, so of the others only the first has room; that which has failed is alive no more.
    expect(await add('b', 'a', 'c')).toBe(1);
    await expectEventually(
      () => query(`select key from campus_jobs.jobs where key is not null order by key`),
      [{ key: 'id a' }, { key: 'id b' }],
    );
  });

  it('waits for its time', async () => {
    await workers.start({ tasks: [note] });
    const start = Date.now();
    await jobs.add('note', { n: 1 }, { delayMs: 600 });
    await eventually(() => calls.length > 0);
    expect(Date.now()).toBeGreaterThanOrEqual(start + 595);
  });

  it('waits for a gateway that knows its task', async () => {
    await workers.start({ tasks: [note] });
    await jobs.add('newer', { n: 1 });
    await jobs.add('note', { n: 2 });
    await eventually(() => calls.length > 0);
    // A job counts as running until its end is written.
    await expectEventually(() => jobs.counts(), { queued: 1, running: 0, failed: 0 });
    expect(calls).toEqual([{ n: 2 }]);
  });

  it('says how long it has waited, once it is due', async () => {
    expect(await jobs.longestWaitSeconds()).toBe(0);
    await jobs.add('newer', { n: 1 }, { delayMs: 3_600_000 });
    expect(await jobs.longestWaitSeconds()).toBe(0);
    await jobs.add('newer', { n: 2 }, { delayMs: -3_600_000 });
    expect(await jobs.longestWaitSeconds()).toBeGreaterThanOrEqual(3_599);
  });

  it('that throws is tried again', async () => {
    let attempts = 0;
    const run = async () => {
      if (++attempts === 1) throw new Error('not yet');
    };
    await workers.start({ tasks: [{ name: 'stubborn', run }] });
    await jobs.add('stubborn', {});
    await eventually(() => attempts === 2);
    await eventually(() => workers.observed.length === 2);
    expect(workers.observed).toMatchObject([
      { outcome: 'retried', attempt: 1, error: { message: 'not yet' } },
      { outcome: 'done', attempt: 2 },
    ]);
  });

  it('that used up its attempts is kept as failed, until it is purged', async () => {
    const run = () => Promise.reject(new Error('never'));
    await workers.start({ tasks: [{ name: 'hopeless', run }] });
    await jobs.add('hopeless', {}, { maxAttempts: 1 });
    await eventually(async () => (await jobs.counts()).failed === 1);
    expect(workers.observed).toMatchObject([{ outcome: 'failed', error: { message: 'never' } }]);
    expect(await jobs.purge(new Date(Date.now() - 60_000))).toBe(0);
    expect(await jobs.purge(new Date(Date.now() + 60_000))).toBe(1);
    expect(await jobs.counts()).toEqual({ queued: 0, running: 0, failed: 0 });
  });
});

describe('a gateway that ends', () => {
  let doomed: ChildProcess | undefined;
  afterEach(() => {
    doomed?.kill('SIGKILL');
  });

  it('lets its jobs finish', async () => {
    const run = async () => {
      calls.push('begun');
      await new Promise((resolve) => setTimeout(resolve, 300));
      calls.push('ended');
    };
    const gateway = await workers.start({ tasks: [{ name: 'slow', run }] });
    await jobs.add('slow', {});
    await eventually(() => calls.length === 1);
    await gateway.stop();
    expect(calls).toEqual(['begun', 'ended']);
    expect(await jobs.counts()).toEqual({ queued: 0, running: 0, failed: 0 });
  });

  it('gives up on a job that takes longer than the grace, and leaves it to others', async () => {
    let signal: AbortSignal | undefined;
    const run = (_payload: unknown, context: { signal: AbortSignal }) => {
      signal = context.signal;
      return new Promise<void>(() => {});
    };
    const gateway = await workers.start({ tasks: [{ name: 'stuck', run }], shutdownGraceMs: 300 });
    await jobs.add('stuck', {});
    await eventually(() => signal !== undefined);
    const begun = Date.now();
    await gateway.stop();
    expect(Date.now() - begun).toBeLessThan(2500);
    expect(signal?.aborted).toBe(true);
    expect(await jobs.counts()).toEqual({ queued: 1, running: 0, failed: 0 });
  });

  it('without a word loses its jobs to the others', async () => {
    await jobs.add('endless', { n: 1 });
    doomed = spawn(
      process.execPath,
      ['--import', './test/typescript.mjs', 'test/services/jobs/doomed-worker.ts', test.url],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await new Promise((resolve) => doomed?.stdout?.once('data', resolve));
    await workers.start({ tasks: [{ ...note, name: 'endless' }] });
    // It lives: nobody takes its job.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(calls).toEqual([]);
    doomed.kill('SIGKILL');
    await eventually(() => calls.length > 0);
    expect(calls).toEqual([{ n: 1 }]);
    // It is told of when the jobs are free, and by then one may be done already.
    await eventually(() => workers.observed.some(({ kind }) => kind === 'jobsRecovered'));
    expect(workers.observed).toContainEqual({ kind: 'jobsRecovered', workers: 1 });
  });

  it('survives the loss of every connection', async () => {
    await workers.start({ tasks: [note] });
    await test.database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'campus-gateway jobs'`,
    );
    await jobs.add('note', { n: 1 });
    await eventually(() => calls.length > 0, 20_000);
    expect(calls).toEqual([{ n: 1 }]);
  });
});

describe('a gateway', () => {
  it('holds at most four connections for its jobs', async () => {
    await workers.start({ tasks: [note], concurrency: 20 });
    for (let n = 0; n < 50; n++) await jobs.add('note', { n });
    // On a busy machine the quick sweeps of these tests may free a job that is taken: it is done again.
    await eventually(() => new Set(calls.map((call) => JSON.stringify(call))).size === 50);
    const { rows } = await test.database.pool.query(
      `select count(*)::int as count from pg_stat_activity
        where application_name = 'campus-gateway jobs' and datname = current_database()`,
    );
    expect(rows[0].count).toBeLessThanOrEqual(4);
  });

  it('told to do no jobs opens none', async () => {
    await workers.start({ tasks: [note], concurrency: 0 });
    await jobs.add('note', {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await jobs.counts()).toMatchObject({ queued: 1 });
  });
});

describe('cron', () => {
  const item = { task: 'note' } as const;

  it('makes up for all runs that were missed by one, on one of the gateways', async () => {
    await test.database.pool.query(
      `insert into campus_jobs._private_known_crontabs (identifier, known_since, last_execution)
       values ('hourly', now() - interval '9 days', now() - interval '5 hours')`,
    );
    // Not due while the test runs: half an hour from now.
    const minute = new Date(Date.now() + 30 * 60_000).getUTCMinutes();
    const cronItems = [{ ...item, name: 'hourly', schedule: `${minute} * * * *` }];
    await Promise.all([
      workers.start({ tasks: [note], cronItems }),
      workers.start({ tasks: [note], cronItems }),
    ]);
    await eventually(() => calls.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(calls).toEqual([{ _cron: { ts: expect.any(String) } }]);
    await workers.start({ tasks: [note], cronItems });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(calls).toHaveLength(1);
  });

  it('has nothing to make up for of an item that is new', async () => {
    const cronItems = [{ ...item, name: 'newcomer', schedule: '*/2 * * * *' }];
    const minute = new Date().getUTCMinutes();
    await workers.start({ tasks: [note], cronItems });
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Unless its first tick came just now.
    if (new Date().getUTCMinutes() === minute) expect(calls).toEqual([]);
  });

  it('runs once a tick, however many gateways there are', async () => {
    const cronItems = [{ ...item, name: 'every minute', schedule: '* * * * *' }];
    await workers.start({ tasks: [note], cronItems });
    await workers.start({ tasks: [note], cronItems });
    await eventually(() => calls.length > 0, 62_000);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(calls).toHaveLength(1);
  });
});

describe('a clock that was ahead', () => {
  // A year, and what a hardware clock in Indian time is ahead.
  it.each(['400 days', '5 hours 30 minutes'])('by %s stops neither schedules nor jobs', async (ahead) => {
    await query(
      `insert into campus_jobs._private_known_crontabs (identifier, known_since, last_execution)
       values ('by the minute', now() - interval '9 days', now() + interval '${ahead}')
       on conflict (identifier) do update set last_execution = excluded.last_execution`,
    );
    // One that was added by that clock, one of a scheduler that went by it, and one that waits as it should.
    await jobs.add('note', { n: 1 });
    await query(
      `update campus_jobs._private_jobs
       set run_at = run_at + interval '${ahead}', updated_at = updated_at + interval '${ahead}'`,
    );
    await jobs.add('note', { n: 2 }, { key: 'cron of earlier' });
    await query(
      `update campus_jobs._private_jobs set run_at = now() + interval '${ahead}' where key is not null`,
    );
    await jobs.add('note', { n: 3 }, { delayMs: 3_600_000 });
    const cronItems = [{ task: 'note', name: 'by the minute', schedule: '* * * * *' }];
    await workers.start({ tasks: [note], cronItems });
    await eventually(() => calls.length >= 2);
    expect(calls).toEqual(expect.arrayContaining([{ n: 1 }, { n: 2 }]));
    expect(calls).not.toContainEqual({ n: 3 });
    const putBack = () => workers.observed.find(({ kind }) => kind === 'instantsPutBack');
    await eventually(() => putBack() !== undefined);
    expect(putBack()).toMatchObject({ schedules: 1, jobs: 2 });
    expect(
      await query(`select 1 from campus_jobs._private_known_crontabs where last_execution > now()`),
    ).toEqual([]);
  });

  it('holds up neither scripts, webhooks, messages nor logins', async () => {
    const [webhook] = await query(
      `with domain as (insert into domains (id, name) values ('ahead', 'Ahead') returning id)
       insert into webhooks (id, domain_id, user_id, url, events, secret, name, created_by)
       select gen_random_uuid(), id, 'usr', 'https://a.example', '[]', 's', 'n', 'usr'
       from domain returning id`,
    );
    await query(
      `insert into webhook_deliveries (webhook_id, event, created_at, next_attempt_at)
       values ('${webhook.id}', '{}', now() + interval '6 hours', now() + interval '6 hours');
       insert into login_failures (key, failures, last_at, locked_until)
       values ('k', 9, now() + interval '6 hours', now() + interval '6 hours 1 minute');
       insert into settings (name, value, updated_at)
       values ('scriptScheduleLookedAt', to_jsonb((now() + interval '6 hours')::text), now())`,
    );
    await workers.start({ tasks: [note] });
    await eventually(() => workers.observed.some(({ kind }) => kind === 'instantsPutBack'));
    const late = () =>
      query(
        `select 'delivery' as what from webhook_deliveries where next_attempt_at > now()
         union all select 'login' from login_failures where locked_until > now() + interval '1 minute'
         union all select 'script' from settings
           where name = 'scriptScheduleLookedAt' and (value #>> '{}')::timestamptz > now()`,
      );
    await expectEventually(late, []);
  });
});

describe('the schema of the jobs', () => {
  it('may be made by any number of gateways at once', async () => {
    await test.database.pool.query('drop schema campus_jobs cascade');
    await Promise.all([migrateJobQueue(test.url), migrateJobQueue(test.url), migrateJobQueue(test.url)]);
    await jobs.add('note', {});
    expect(await jobs.counts()).toMatchObject({ queued: 1 });
  });

  it('needs a user that may make it, and says so in one line', async () => {
    await test.database.pool.query('drop schema campus_jobs cascade');
    await test.database.pool.query(`create role jobs_guest login password 'guest'`);
    try {
      const url = new URL(test.url);
      url.username = 'jobs_guest';
      url.password = 'guest';
      await expect(migrateJobQueue(url.href)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(
          /^The user in DATABASE_URL may not make the schema campus_jobs .+ owner of the database\.$/,
        ),
      });
    } finally {
      const client = new pg.Client({ connectionString: test.url });
      await client.connect();
      await client.query('drop role jobs_guest');
      await client.end();
      await migrateJobQueue(test.url);
    }
  });
});
