/**
 * `npm run bench -- flood`: what one school notices while another one floods the gateway that they share. The
 * quiet school asks a few times a second, as people do; the other one asks on 2,000 connections as fast as it
 * is answered. Where there are four cores, the gateway and PostgreSQL have two of them, and the two schools
 * one each, so that what the quiet one waits for is the gateway's doing.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import { operatorScope } from '../../src/cli/command-line.js';
import { seedSchool } from '../../src/cli/seed-command.js';
import { DEMO_DEFAULTS, DEMO_DOMAIN } from '../../src/school/demo/demo-options.js';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';
import { findCores, keepOnCores, keepThreadsOnCores } from './cores.js';
import { findPostmaster } from './find-postmaster.js';
import type { HttpRequest } from './load/http-request.js';
import { floodWith, writeRequests } from './load/load.js';
import { processorMs, residentMemory } from './process-usage.js';
import { startGateway } from './targets/gateway.js';
import { withBenchServices } from './with-bench-services.js';

const CONNECTIONS = 2000;
const SECONDS = 8;
/** Before each flood they are alone, for a machine is not as busy at one time as at another. */
const QUIET_SECONDS = 5;
const QUIET_BRANCH = 'demo-north';
/** People of the quiet school, and how long each of them looks at an answer. */
const PEOPLE = 8;
const LOOK_MS = 40;
const PATHS = ['/o/recs/class?stream=true&limit=20', '/o/recs/registration?stream=true&limit=20'] as const;

interface Keys {
  readonly loud: string;
  readonly quiet: string;
}

/** A flood that reaches the gateway not at all: what a machine this busy does to everybody. */
const ELSEWHERE = 'another server';

const FLOODS = new Map<string, (keys: Keys) => readonly HttpRequest[]>([
  ['nothing', () => []],
  [ELSEWHERE, () => [read('/', 'nobody')]],
  ['one record', ({ loud }) => [read('/o/recs/pltf_user/usr-admin', loud)]],
  ['lists of 100', ({ loud }) => [read('/o/recs/attendance?stream=true&limit=100', loud)]],
  ['reports', ({ loud }) => [read('/?report=teachers', loud)]],
  ['writes', ({ loud }) => [create(loud)]],
  ['wrong credentials', () => [read('/o/recs/pltf_user/usr-admin', 'nobody')]],
]);

export interface FloodOptions {
  /** Processes of the gateway. */
  readonly workers: number;
  /** The floods to try, by the beginning of their names; empty: all. */
  readonly only: readonly string[];
  /** How long each flood goes on while people ask; the default where it is left out. */
  readonly seconds?: number | undefined;
}

export async function benchFlood(
  databaseUrl: string,
  { workers, only, seconds = SECONDS }: FloodOptions,
): Promise<void> {
  const keys = await prepareTwoSchools(databaseUrl);
  const directory = await mkdtemp(path.join(tmpdir(), 'campus-flood-'));
  const [gateway] = await startGateway({ databaseUrl, keys: [keys.loud], directory, poolSize: 16, workers });
  if (gateway === undefined) throw new Error('no gateway was started');
  const elsewhere = await startElsewhere(directory, workers);
  const cores = await findCores();
  if (cores) {
    await keepOnCores(cores.measured, gateway.pid, elsewhere.pid, await findPostmaster(databaseUrl));
    await keepThreadsOnCores(cores.measuring, process.pid);
  }
  try {
    const table = new Table({
      style: { head: [], border: [], compact: true },
      head: [
        'one school floods with',
        'req/s',
        'refused',
        'another one before: p50, p99 ms',
        'beside it: p50 ms',
        'p99 ms',
        'most ms',
        'failed',
        'gateway: processor µs a request',
        'MiB before',
        'from 2 s on, by turns',
      ],
    });
    for (const [name, requestsOf] of FLOODS) {
      if (only.length > 0 && !only.some((asked) => name.startsWith(asked))) continue;
      process.stderr.write(`bench: ${name}\n`);
      const requests = path.join(directory, 'requests');
      const asked = requestsOf(keys);
      await writeRequests(requests, asked, new URL(gateway.url).host);
      const people = {
        url: gateway.url,
        key: keys.quiet,
        agent: new Agent({ keepAlive: true, maxSockets: PEOPLE }),
      };
      const before = await askAsPeople(people, QUIET_SECONDS);
      const memoryBefore = await residentMiB(gateway.pid);
      const usedBefore = await processorMs(gateway.pid);
      const url = name === ELSEWHERE ? elsewhere.url : gateway.url;
      const flooding =
        asked.length === 0
          ? undefined
          : floodWith({
              ...{ url, requests, connections: CONNECTIONS, seconds: seconds + 3 },
              cores: cores?.load,
            });
      await sleep(2000);
      const memory = sampleMemory(gateway.pid, seconds);
      const { milliseconds, failed } = await askAsPeople(people, seconds);
      const flood = await flooding;
      const usedMs = (await processorMs(gateway.pid)) - usedBefore;
      people.agent.destroy();
      table.push([
        name,
        flood ? Math.round(flood.requests / flood.seconds) : '',
        flood ? flood.failed : '',
        `${quantile(before.milliseconds, 0.5).toFixed(1)}, ${quantile(before.milliseconds, 0.99).toFixed(1)}`,
        quantile(milliseconds, 0.5).toFixed(1),
        quantile(milliseconds, 0.99).toFixed(1),
        Math.max(...milliseconds).toFixed(1),
        failed,
        flood ? Math.round((usedMs * 1000) / (flood.requests + milliseconds.length)) : '',
        memoryBefore,
        (await memory).join(', '),
      ]);
    }
    process.stdout.write(`${table.toString()}\n`);
  } finally {
    await gateway.stop();
    elsewhere.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Within the time that people ask: three times, and of a long time every five seconds. */
async function sampleMemory(pid: number, seconds: number): Promise<readonly number[]> {
  const everyMs = Math.min(5000, (seconds * 1000) / 2 - 100);
  const samples = [await residentMiB(pid)];
  for (let atMs = everyMs; atMs < seconds * 1000; atMs += everyMs) {
    await sleep(everyMs);
    samples.push(await residentMiB(pid));
  }
  return samples;
}

async function residentMiB(pid: number): Promise<number> {
  return Math.round((await residentMemory(pid)) / 2 ** 20);
}

/** As many processes as the gateway has, which answer at once. A cluster starts its processes from a file. */
async function startElsewhere(directory: string, workers: number) {
  const port = await freePort();
  const script = path.join(directory, 'elsewhere.cjs');
  await writeFile(
    script,
    `const cluster = require('node:cluster');
    if (cluster.isPrimary) for (let n = 0; n < ${workers}; n++) cluster.fork();
    else require('node:http').createServer((_, answer) => answer.end('{}')).listen(${port}, '127.0.0.1');
    process.once('SIGTERM', () => process.exit());`,
  );
  const child = spawn(process.execPath, [script], { stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return { url, pid: child.pid ?? 0, stop: () => child.kill('SIGTERM') };
}

function read(address: string, key: string): HttpRequest {
  return { path: address, headers: { Authorization: `Bearer ${key}` } };
}

function create(key: string): HttpRequest {
  return {
    method: 'POST',
    path: '/o/task',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'One of many' }),
  };
}

/** What each of their requests took within the time, and how many of them failed. */
async function askAsPeople(
  { url, key, agent }: { readonly url: string; readonly key: string; readonly agent: Agent },
  seconds: number,
) {
  const milliseconds: number[] = [];
  let failed = 0;
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: PEOPLE }, async (_, person) => {
      await sleep((LOOK_MS * person) / PEOPLE);
      for (let turn = 0; performance.now() < end; turn++) {
        const startedAt = performance.now();
        const status = await statusOf(url + PATHS[turn % PATHS.length], key, agent);
        milliseconds.push(performance.now() - startedAt);
        if (status !== 200) failed += 1;
        await sleep(LOOK_MS);
      }
    }),
  );
  return { milliseconds, failed };
}

function statusOf(url: string, key: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, headers: { Authorization: `Bearer ${key}` } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    call.once('error', reject);
    call.end();
  });
}

async function prepareTwoSchools(databaseUrl: string): Promise<Keys> {
  return await withBenchServices(databaseUrl, async (services) => {
    if (services.domains.top() === undefined) await seedSchool(services, { ...DEMO_DEFAULTS, students: 200 });
    const scopes = {
      collections: { '*': ['read' as const, 'create' as const] },
      reports: ['*'],
      scripts: [],
    };
    const keyOf = async (domainId: string) =>
      (
        await services.apiKeys.create(operatorScope(services, domainId), {
          name: 'bench',
          userId: 'usr-admin',
          scopes,
        })
      ).key;
    return { loud: await keyOf(DEMO_DOMAIN), quiet: await keyOf(QUIET_BRANCH) };
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
