/** Two processes on one port, as `WORKERS=2` starts them: towards callers they are one gateway. */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCampus } from '../cli/campus.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { freePort } from '../free-port.js';
import { activityView } from '../spread-databases.js';
import { DEFAULT_SETTINGS, type Gateway, type StartedGateway, startGateway } from './gateway.js';
import { connect, metric } from './live.js';

const run = promisify(execFile);

/** What is being done, on Citus on all servers. */
const ACTIVITY = activityView();

let database: TestDatabase;
/** It made the users, and has their tokens; it serves nobody. */
let other: StartedGateway;
let first: ChildProcess;
let gateway: Pick<Gateway, 'url' | 'tokenOf'>;
let output = '';

beforeAll(async () => {
  database = await createTestDatabase();
  other = await startGateway(database.url, { JOB_CONCURRENCY: '0' });
  const child = startWorkers({ LOG_LEVEL: 'info' });
  first = child;
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    output += String(chunk);
  });
  await eventually(() => /Portal +http/.test(output), 40_000);
  const [, url = ''] = /Portal +(http:\S+?)\/ /.exec(output) ?? [];
  gateway = { url: url.replace('localhost', '127.0.0.1'), tokenOf: (role) => other.tokenOf(role) };
});

afterAll(async () => {
  if (first.exitCode === null) {
    first.kill('SIGTERM');
    await once(first, 'exit');
  }
  await other.close();
  await database.drop();
});

function startWorkers(settings: Readonly<Record<string, string>>) {
  return startCampus(['start'], {
    ...DEFAULT_SETTINGS,
    WORKERS: '2',
    DATABASE_URL: database.url,
    ...settings,
  });
}

/** The ids of the processes that serve. */
async function workers(group: ChildProcess = first): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/ +/).map(Number))
    .flatMap(([pid, parent]) => (pid !== undefined && parent === group.pid ? [pid] : []));
}

/** The status of an answer on a connection of its own, so that any of the workers may give it. */
async function ask(
  path: string,
  sent: { readonly method?: string; readonly body?: unknown } = {},
): Promise<number> {
  const call = request(gateway.url + path, {
    method: sent.method ?? 'GET',
    agent: false,
    headers: {
      authorization: `Bearer ${gateway.tokenOf('admin')}`,
      'content-type': 'application/json',
    },
  });
  call.end(sent.body === undefined ? undefined : JSON.stringify(sent.body));
  const [response] = await once(call, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

/** The lines of the log of this event. */
function linesOf(event: string): readonly unknown[] {
  const lines = output.split('\n').filter((line) => line.includes(`"event":"${event}"`));
  return lines.map((line) => JSON.parse(line));
}

async function isWaitedFor(): Promise<boolean> {
  const { rowCount } = await other.sql.query(
    `select from ${ACTIVITY} where wait_event_type = 'Lock' and datname = current_database()`,
  );
  return rowCount === 1;
}

function listed(): Promise<number> {
  return metric(
    gateway,
    'campus_http_request_duration_seconds_count{method="GET",route="/o/recs/:collection",status="200"}',
  );
}

describe('two workers', () => {
  it('share the port, and add up what each has answered', async () => {
    expect(await workers()).toHaveLength(2);
    const before = await listed();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/o/recs/task?limit=1')));
    expect(new Set(answers)).toEqual(new Set([200]));
    await expectEventually(listed, before + 20);
    expect(await metric(gateway, 'campus_workers')).toBe(2);
  });

  it('tell the state of what they share once, not twice', async () => {
    expect(await metric(gateway, 'campus_database_reachable')).toBe(1);
  });

  it('tell the subscribers of either of a change that one of them made', async () => {
    const subscribers = Array.from({ length: 4 }, () => connect(gateway));
    const subscriptions = [];
    for (const subscriber of subscribers)
      subscriptions.push(await subscriber.subscribe('subscription { taskChanged { operation } }'));
    expect(await ask('/o/task', { method: 'POST', body: { name: 'Told to all' } })).toBe(201);
    for (const { events } of subscriptions) await eventually(() => events.length === 1);
    for (const subscriber of subscribers) subscriber.dispose();
  });

  it('forget a user who is switched off, whichever of them is asked', async () => {
    const token = other.tokenOf('clerk');
    const asked = async () => {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () =>
          fetch(`${gateway.url}/o/recs/task?limit=1`, {
            headers: { authorization: `Bearer ${token}`, connection: 'close' },
          }).then(({ status }) => status),
        ),
      );
      return [...new Set(answers)];
    };
    expect(await asked()).toEqual([200]);
    await ask('/o/recs/pltf_user/usr-clerk', { method: 'PATCH', body: { active: false } });
    await expectEventually(asked, [401]);
  });

  it('leave the jobs of all to one', async () => {
    // Whoever does jobs says by a lock that it lives.
    const { rows } = await other.sql.query(
      `select count(*)::int as count from pg_locks
       where locktype = 'advisory' and classid = $1
         and database = (select oid from pg_database where datname = current_database())`,
      [0x6a6f6266],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('go on when one dies, which is replaced; no figure falls', async () => {
    await Promise.all(Array.from({ length: 10 }, () => ask('/o/recs/task?limit=1')));
    const before = await listed();
    const [victim = 0, survivor] = await workers();
    process.kill(victim, 'SIGKILL');
    await eventually(
      async () => (await workers()).length === 2 && !(await workers()).includes(victim),
      30_000,
    );
    expect(await workers()).toContain(survivor);
    expect(await listed()).toBeGreaterThanOrEqual(before);
    await eventually(async () => (await metric(gateway, 'campus_worker_restarts_total')) === 1);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('/o/recs/task?limit=1')));
    expect(new Set(answers)).toEqual(new Set([200]));
    await expectEventually(() => linesOf('workerEnded').length, 1);
    expect(linesOf('workerEnded')).toMatchObject([{ level: 'error', signal: 'SIGKILL' }]);
  });

  it('go on when one hangs, which is ended and replaced', async () => {
    const [victim = 0, survivor] = await workers();
    process.kill(victim, 'SIGSTOP');
    await eventually(async () => {
      const all = await workers();
      return all.length === 2 && !all.includes(victim);
    }, 50_000);
    expect(await workers()).toContain(survivor);
    expect(linesOf('workerHung')).toMatchObject([{ level: 'error' }]);
    await expectEventually(() => metric(gateway, 'campus_workers'), 2);
  });

  it('write one log, line by line', () => {
    const lines = output.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines.slice(0, -1)) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('are refused a port that is taken, in one line', async () => {
    const { port } = new URL(gateway.url);
    const child = startWorkers({ PORT: port });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    child.stdout.resume();
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(errors.trim().split('\n')).toEqual([expect.stringContaining(`Port ${port}`)]);
  });

  it('say which signal ended one that had not served yet, and end', async () => {
    const child = startWorkers({ PORT: String(await freePort()) });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    child.stdout.resume();
    const ended = once(child, 'close');
    let starting: readonly number[] = [];
    await eventually(async () => {
      starting = await workers(child);
      return starting.length > 0;
    }, 40_000);
    process.kill(starting[0] ?? 0, 'SIGKILL');
    expect(await ended).toEqual([1, null]);
    expect(errors).toBe('campus: worker 1 was ended by SIGKILL before it served\n');
  });

  it('are replaced, too, where a signal ends one beside another that serves already', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const child = startWorkers({ PORT: new URL(url).port, LOG_LEVEL: 'info' });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
    let [serving] = await workers(child);
    let starting: number | undefined;
    // The second is started once the first serves.
    await eventually(async () => {
      const all = await workers(child);
      serving ??= all[0];
      starting = all.find((pid) => pid !== serving);
      return starting !== undefined;
    }, 40_000);
    process.kill(starting ?? 0, 'SIGKILL');
    await expectEventually(() => metric({ url }, 'campus_workers'), 1);
    await eventually(() => /Portal +http/.test(log), 40_000);
    await expectEventually(async () => (await fetch(`${url}/readyz`)).status, 200);
    await eventually(async () => (await workers(child)).length === 2, 40_000);
    expect(await workers(child)).toContain(serving);
    await expectEventually(() => metric({ url }, 'campus_workers'), 2);
    expect(log).toContain('"event":"workerEnded","worker":2,"code":null,"signal":"SIGKILL"');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('finish what is under way when all are interrupted at once, and leave nobody behind', async () => {
    await ask('/o/task', { method: 'POST', body: { _id: 'held', name: 'Held' } });
    const holder = await other.sql.connect();
    await holder.query('begin');
    await holder.query(
      `select from records where domain = 'top' and collection = 'task' and id = 'held' for update`,
    );
    const changing = ask('/o/recs/task/held', { method: 'PATCH', body: { name: 'Let go' } });
    const all = await workers();
    const ended = once(first, 'exit');
    try {
      await eventually(isWaitedFor);
      // Ctrl-C in a terminal reaches every process.
      for (const pid of [first.pid ?? 0, ...all]) process.kill(pid, 'SIGINT');
      await eventually(() => linesOf('stopping').length === 2);
    } finally {
      await holder.query('commit');
      holder.release();
    }
    expect(await changing).toBe(200);
    expect(await ended).toEqual([0, null]);
    for (const pid of all) expect(() => process.kill(pid, 0)).toThrow();
  });
});
