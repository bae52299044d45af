import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Domain, type Scope, systemPrincipal } from '../../../../src/base/model/scope.js';
import { JobQueue } from '../../../../src/services/jobs/job-queue.js';
import { ScriptRuns } from '../../../../src/services/scripting/library/script-runs.js';
import {
  createScriptTasks,
  startDueScripts,
} from '../../../../src/services/scripting/library/script-tasks.js';
import { Scripts } from '../../../../src/services/scripting/library/scripts.js';
import type { RunRequest, RunResult } from '../../../../src/services/scripting/run-request.js';
import { ScriptLog } from '../../../../src/services/scripting/script-log.js';
import { sql } from '../../../../src/store/sql.js';
import { useTestDatabase } from '../../../database.js';

const test = useTestDatabase();
const SCHOOL: Domain = { id: 'school', name: 'School', parentId: undefined, timeZone: 'Asia/Kolkata' };
const SCOPE: Scope = {
  domain: SCHOOL,
  principal: systemPrincipal('test', ['admin'], 'school'),
  call: { requestId: 'r' },
};
let scripts: Scripts;
let runs: ScriptRuns;
let scriptLog: ScriptLog;
let requests: RunRequest[];
let failWith: string | undefined;

/** Stands for the sandbox, which has tests of its own: says what it was asked to run. */
async function run(request: RunRequest): Promise<RunResult> {
  requests.push(request);
  const figures = { id: 'r', output: [], durationMs: 1, cpuMs: 1, memoryBytes: 1, hostCalls: 0 };
  if (failWith === undefined) return { ...figures, status: 'succeeded' };
  const error = { name: 'Error', message: failWith, script: request.source.name, stack: '' };
  return { ...figures, status: 'failed', error };
}

function services() {
  return {
    database: test.database,
    domains: { find: (id: string) => (id === 'school' ? SCHOOL : undefined) },
    store: { get: () => Promise.reject(new Error('not asked')) },
    jobs: new JobQueue({ database: test.database }),
    scripts,
    runs,
    scriptLog,
    maxDepth: 4,
  };
}

const waiting = async () =>
  await test.database.query<{ payload: unknown }>(
    sql`select payload from campus_jobs._private_jobs order by id`,
  );

const look = (now: string) => startDueScripts(services(), new Date(now));

beforeAll(async () => {
  scripts = await Scripts.load({
    database: test.database,
    maxCodeBytes: 1000,
    checkCode: async () => {},
    schemaNames: async () => new Set<string>(),
  });
  scriptLog = new ScriptLog(test.database);
  const unused = () => Promise.reject(new Error('not asked'));
  runs = new ScriptRuns({
    database: test.database,
    scripts,
    store: { transaction: unused },
    runner: { run },
  });
});

afterAll(() => scripts.close());

beforeEach(async () => {
  requests = [];
  failWith = undefined;
  await test.database.query(sql`delete from campus_jobs._private_jobs`);
  await test.database.query(sql`delete from settings where name = 'scriptScheduleLookedAt'`);
  await scripts.save(SCOPE, {
    name: 'evening',
    code: 'export default 1',
    schedule: '30 20 * * *',
    serviceRoles: ['clerk'],
  });
});

describe('a schedule', () => {
  it('starts its script at its time, by the clock of the school', async () => {
    await look('2026-11-20T14:59:00.000Z');
    expect(await waiting()).toEqual([]);
    await look('2026-11-20T15:00:20.000Z');
    expect(await waiting()).toEqual([
      {
        payload: {
          domain: 'school',
          script: 'evening',
          cause: 'schedule',
          arguments: { scheduledFor: '2026-11-20T15:00:00.000Z' },
        },
      },
    ]);
  });

  it('starts it in the first minute of a database that nobody has looked at yet', async () => {
    await look('2026-11-20T15:00:00.040Z');
    expect(await waiting()).toHaveLength(1);
  });

  it('starts it once, on whichever gateway looks first', async () => {
    await look('2026-11-20T14:59:00.000Z');
    await Promise.all(Array.from({ length: 6 }, () => look('2026-11-20T15:00:20.000Z')));
    await look('2026-11-20T15:01:20.000Z');
    expect(await waiting()).toHaveLength(1);
  });

  it('makes up for an outage by one run, of the last time that was due', async () => {
    await scripts.save(SCOPE, {
      name: 'evening',
      code: 'export default 1',
      schedule: '*/10 * * * *',
      serviceRoles: ['clerk'],
    });
    await look('2026-11-20T10:01:00.000Z');
    await look('2026-11-20T13:05:00.000Z');
    expect(await waiting()).toEqual([
      { payload: expect.objectContaining({ arguments: { scheduledFor: '2026-11-20T13:00:00.000Z' } }) },
    ]);
  });

  it('starts nothing that is not enabled', async () => {
    await scripts.save(SCOPE, {
      name: 'evening',
      code: 'export default 1',
      schedule: '30 20 * * *',
      serviceRoles: ['clerk'],
      isEnabled: false,
    });
    await look('2026-11-20T14:59:00.000Z');
    await look('2026-11-20T15:00:20.000Z');
    expect(await waiting()).toEqual([]);
  });

  it('loses no time when the job could not be added', async () => {
    await look('2026-11-20T14:59:00.000Z');
    const broken = {
      ...services(),
      jobs: {
        add: async () => {
          throw new Error('no queue');
        },
      },
    };
    await expect(startDueScripts(broken, new Date('2026-11-20T15:00:20.000Z'))).rejects.toThrow('no queue');
    await look('2026-11-20T15:01:20.000Z');
    expect(await waiting()).toHaveLength(1);
  });
});

describe('a job', () => {
  const job = (payload: unknown) => {
    const [task] = createScriptTasks(services());
    if (task === undefined) throw new Error('there is a task');
    return task.run(payload, {
      jobId: '1',
      attempt: 1,
      maxAttempts: 4,
      signal: new AbortController().signal,
    });
  };
  const payload = { domain: 'school', script: 'evening', cause: 'schedule', arguments: { a: 1 } };

  it('runs the script with its own roles and keeps the run', async () => {
    await job(payload);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ arguments: { a: 1 }, source: { name: 'evening' } });
    expect(requests[0]?.scope.principal).toMatchObject({ id: 'script:evening', kind: 'system' });
    expect([...(requests[0]?.scope.principal.roles ?? [])]).toEqual(['clerk']);
    const [kept] = await runs.list(SCOPE, { script: 'evening', limit: 1 });
    expect(kept).toMatchObject({ status: 'succeeded', cause: 'schedule', principal: 'script:evening' });
  });

  it('fails with its script, so that it is tried again', async () => {
    failWith = 'the bank is down';
    await expect(job(payload)).rejects.toThrow('the bank is down');
  });

  it('goes one deeper than the scripts that led to it', async () => {
    await job(payload);
    await job({ ...payload, depth: 2 });
    expect(requests.map(({ depth }) => depth)).toEqual([1, 3]);
  });

  it('is not tried again where too many scripts led to it, and says so in the log of the script', async () => {
    failWith = 'nested too deeply';
    await job({ ...payload, cause: 'topic', depth: 4 });
    const [line] = await scriptLog.list(SCOPE, { script: 'evening', limit: 1 });
    expect(line).toMatchObject({ level: 'error', principal: 'script:evening' });
    expect(line?.message).toMatch(/^not started by this message: 4 scripts, .* \(SCRIPT_DEPTH\)/);
    const [run] = await runs.list(SCOPE, { script: 'evening', limit: 1 });
    expect(line?.runId).toBe(run?.id);
  });

  it('is done with where script or domain are gone', async () => {
    await job({ ...payload, script: 'gone' });
    await job({ ...payload, domain: 'gone' });
    expect(requests).toEqual([]);
  });

  it('is refused when it is none of ours', async () => {
    await expect(job({ domain: 'school' })).rejects.toThrow();
  });
});

describe('the runs', () => {
  it('are purged, and those lost with their gateway are marked', async () => {
    await test.database.query(sql`delete from script_runs`);
    const insert = (id: string, status: string, age: string) =>
      test.database.query(sql`
        insert into script_runs (id, domain_id, script, cause, principal, status, started_at, request_id)
        values (${id}::uuid, 'school', 'evening', 'call', 'u', ${status}, now() - ${age}::interval, 'r')`);
    await insert('00000000-0000-4000-8000-000000000001', 'running', '7 hours');
    await insert('00000000-0000-4000-8000-000000000002', 'running', '1 minute');
    await insert('00000000-0000-4000-8000-000000000003', 'succeeded', '40 days');
    expect(await runs.purge(new Date(Date.now() - 30 * 86_400_000))).toBe(1);
    const left = await runs.list(SCOPE, { limit: 10 });
    expect(left.map(({ status, error }) => [status, error?.message])).toEqual([
      ['running', undefined],
      ['failed', 'the gateway that ran it ended'],
    ]);
  });

  it('are paged from the newest to the oldest', async () => {
    const all = await runs.list(SCOPE, { limit: 10 });
    const after = await runs.list(SCOPE, { limit: 10, before: all[0]?.id });
    expect(after.map(({ id }) => id)).toEqual(all.slice(1).map(({ id }) => id));
    await expect(runs.list(SCOPE, { limit: 10, before: 'x' })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
    });
  });
});
