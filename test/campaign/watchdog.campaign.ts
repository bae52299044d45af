/**
 * Sixteen at once of everything that holds a connection, and of kinds mixed at random, and floods of one
 * caller, beside another caller who reads a little.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import pg from 'pg';
import type { Random } from '../../src/school/demo/random.js';
import { DEFAULT_SETTINGS, type Role, startGateway } from '../contract/gateway.js';
import { type Door, HARD_REQUESTS, type HardRequest, heldIn, prepare } from '../contract/hard-requests.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { campaign } from './campaign.js';
import { FLOOD_KINDS, type Flood } from './flood.js';

const AT_ONCE = 16;
/** What a short read may take while others are served, and how long it may take more. */
const TIMES_QUIET = 10;
const LONGEST_DELAY_MS = 1000;
const READ = '/o/recs/holiday?limit=1';
/** How long a flood lasts, and how much larger than before the gateway may be after it. */
const FLOOD_MS = 6_000;
const TIMES_IDLE_MEMORY = 2;
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PURGE'] as const;
const PATHS = [
  ...['/metrics', '/healthz', '/readyz', '/openapi.json', '/.graphqlrc', '/', '/docs', '/graphql', '/none'],
  ...['/o/recs/task', '/o/recs/task/none', '/?report=strength', '/auth', '/files', '/x/none', '/mcp'],
] as const;
const SOCKETS = [1, 8, 64] as const;
const CALLERS = [undefined, undefined, 'admin', 'accountant', 'teacher', 'clerk'] as const;

let database: TestDatabase;
let sql: pg.Pool;
let child: ChildProcess;
let door: Door;
let quietMs: number;
let idleBytes: number;
let held: Awaited<ReturnType<typeof heldIn>>;

/** A gateway in a process of its own, with the users and the records of the trials. */
beforeAll(async () => {
  database = await createTestDatabase();
  const first = await startGateway(database.url);
  await prepare(first, first.sql);
  const tokens = new Map<Role, string>(
    (['admin', 'accountant', 'teacher', 'clerk', 'viewer'] as const).map((role) => [
      role,
      first.tokenOf(role),
    ]),
  );
  await first.close();
  sql = new pg.Pool({ connectionString: database.url, max: 2, application_name: 'campaign' });
  child = fork('test/campaign/watched-gateway.ts', {
    execArgv: ['--import', './test/typescript.mjs'],
    env: {
      ...process.env,
      ...DEFAULT_SETTINGS,
      DATABASE_URL: database.url,
      SCRIPT_CPU_TIME_MS: '2000',
      SCRIPT_WARM_THREADS: '2',
    },
  });
  const [{ url }] = (await once(child, 'message')) as [{ readonly url: string }];
  const tokenOf = (role: Role) => tokens.get(role) ?? '';
  door = {
    url,
    tokenOf,
    fetch(path, { as, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as) headers.set('authorization', `Bearer ${tokenOf(as)}`);
      return fetch(url + path, { ...init, headers });
    },
  };
  // What is compiled at its first use, and the threads of scripts, are there when it is measured.
  for (const request of HARD_REQUESTS) {
    await request.send(door, { n: 0, signal: AbortSignal.timeout(30_000) }).catch(() => undefined);
  }
  const quiet: number[] = [];
  for (let n = 0; n < 60; n++) quiet.push(await read());
  quietMs = quiet.slice(20).toSorted((one, other) => one - other)[20] ?? 0;
  held = await heldIn(sql);
  idleBytes = await residentBytes();
}, 120_000);

afterAll(async () => {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  await sql.end();
  await database.drop();
}, 60_000);

/** How long the short read of somebody who has nothing to do with all this takes. */
async function read(): Promise<number> {
  const startedAt = performance.now();
  const response = await door.fetch(READ, { as: 'viewer' });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  return performance.now() - startedAt;
}

async function residentBytes(): Promise<number> {
  const figures = await (await door.fetch('/metrics')).text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(figures)?.[1]);
}

/** Reads until the work is done; gives the longest time in which every read was delayed. */
async function longestDelay(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const ending = work.finally(() => {
    isDone = true;
  });
  let longest = 0;
  let delayed = 0;
  while (!isDone) {
    const took = await read();
    delayed = took > quietMs * TIMES_QUIET ? delayed + took : 0;
    longest = Math.max(longest, delayed);
    await sleep(20);
  }
  await ending;
  return longest;
}

async function sendAtOnce(requests: readonly HardRequest[], random: Random): Promise<readonly number[]> {
  const sent = requests.map(async (request, n) => {
    const caller = new AbortController();
    // Half of the callers go in the middle.
    const cut = n % 2 === 1 ? setTimeout(() => caller.abort(), random.integer(0, 400)) : undefined;
    try {
      return await request.send(door, { n, signal: caller.signal });
    } finally {
      clearTimeout(cut);
    }
  });
  const results = await Promise.allSettled(sent);
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

campaign(
  'ends no process, delays no short read and leaves nothing behind, sixteen at once',
  async (round) => {
    // By the seed: the kinds one after the other, then as many mixtures of them.
    const kind = HARD_REQUESTS[round.seed % (2 * HARD_REQUESTS.length)];
    const requests = Array.from({ length: AT_ONCE }, () => kind ?? round.random.pick(HARD_REQUESTS));
    const name = kind?.name ?? 'a mixture';
    const sending = sendAtOnce(requests, round.random);
    const delayMs = await longestDelay(sending);
    const statuses = await sending;
    round.count('requests', AT_ONCE);
    round.count('refused with 503', statuses.filter((status) => status === 503).length);
    expect({ name, exitCode: child.exitCode, faults: statuses.filter((status) => status === 500) }).toEqual({
      ...{ name, exitCode: null, faults: [] },
    });
    if (delayMs > LONGEST_DELAY_MS) {
      throw new Error(
        `${name}: a short read was delayed beyond ${Math.round(quietMs * TIMES_QUIET)} ms for ` +
          `${Math.round(delayMs)} ms`,
      );
    }
    for (let look = 0; look < 200; look++) {
      const now = await heldIn(sql);
      if (now.busy <= held.busy && now.locks <= held.locks) return;
      await sleep(50);
    }
    throw new Error(
      `${name}: left behind ${JSON.stringify(await heldIn(sql))}, before ${JSON.stringify(held)}`,
    );
  },
);

/** One kind of flood, by the seed; the rest is random. */
function floodOf({ seed, random }: { readonly seed: number; readonly random: Random }): Flood {
  const kind = FLOOD_KINDS[seed % FLOOD_KINDS.length] ?? FLOOD_KINDS[0];
  const as = random.pick(CALLERS);
  return {
    ...{ url: door.url, kind, sockets: random.pick(SOCKETS) },
    ...{ method: random.pick(METHODS), path: random.pick(PATHS) },
    ...(as && { authorization: `Bearer ${door.tokenOf(as)}` }),
  };
}

campaign(
  'keeps short reads short, itself ready and its memory as it is, whatever one caller floods it with',
  async (round) => {
    const flood = floodOf(round);
    const source = fork('test/campaign/flood.ts', [JSON.stringify(flood)], {
      execArgv: ['--import', './test/typescript.mjs'],
    });
    const times: number[] = [];
    let largest = 0;
    try {
      const end = Date.now() + FLOOD_MS;
      while (Date.now() < end) {
        times.push(await read());
        const ready = await door.fetch('/readyz');
        await ready.arrayBuffer();
        expect({ flood, ready: ready.status }).toEqual({ flood, ready: 200 });
        await sleep(20);
      }
      largest = await residentBytes();
    } finally {
      const exited = once(source, 'exit');
      source.kill('SIGKILL');
      await exited;
    }
    const { authorization, url: _url, ...kind } = flood;
    const name = JSON.stringify({ ...kind, isKnown: authorization !== undefined });
    const medianMs = times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0;
    round.count('floods');
    expect({ name, exitCode: child.exitCode }).toEqual({ name, exitCode: null });
    if (medianMs > quietMs * TIMES_QUIET)
      throw new Error(
        `${name}: a short read took ${medianMs.toFixed(1)} ms, ${quietMs.toFixed(1)} ms before`,
      );
    if (largest > idleBytes * TIMES_IDLE_MEMORY)
      throw new Error(`${name}: the gateway has ${largest >> 20} MiB, ${idleBytes >> 20} MiB when idle`);
  },
);
