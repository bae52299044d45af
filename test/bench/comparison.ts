/**
 * `npm run bench`: the workloads, each asked of every server in turn, round by round, so that whatever else
 * the machine does falls on all of them. Figures are medians of the rounds; ratios are taken within a round.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { readAnswer, timeAnswer } from './load/answer.js';
import { putLoad, writeRequests } from './load/load.js';
import {
  forgetHighestMemory,
  highestMemory,
  parentOf,
  processorMs,
  residentMemory,
} from './process-usage.js';
import { countCreated, FIRST_CREATED_DAY, prepareSchool, removeCreated } from './school.js';
import type { MarkedAttendance } from './school-records.js';
import { startBare } from './targets/bare.js';
import { startGateway } from './targets/gateway.js';
import { naive } from './targets/naive.js';
import { startPeer } from './targets/peer.js';
import { postgraphile } from './targets/postgraphile.js';
import type { Target, TargetOptions } from './targets/target.js';
import { type LoadWorkload, listWorkloads, type SingleWorkload, type Workload } from './workloads.js';

export interface ComparisonOptions {
  readonly databaseUrl: string;
  readonly directory: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Processes of the gateway. */
  readonly workers: number;
  /** Workloads by name; empty: all. */
  readonly only: readonly string[];
  /** Servers by name. */
  readonly targets: readonly string[];
  readonly attendance: MarkedAttendance;
  /** API keys of the gateway, used in turn. */
  readonly credentials: number;
}

/** One server's figures of one round. */
export interface Measured {
  /** Requests a second; of a single answer, its records a second. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the server for a request. */
  readonly serverMs: number;
  /** Processor time of all of PostgreSQL for a request. */
  readonly databaseMs: number;
  /** The most memory of the server, all its processes together, in bytes. */
  readonly memory: number;
  /** By how much that is more than before. */
  readonly growth: number;
  readonly firstByteMs?: number;
}

export interface WorkloadResult {
  readonly workload: Workload;
  /** Rounds by the name of the server; a server without such an answer has none. */
  readonly rounds: ReadonlyMap<string, readonly Measured[]>;
}

const POOL_SIZE = 16;
const PEERS = [postgraphile, naive];

export const TARGET_NAMES = ['bare', 'rest', 'graphql', ...PEERS.map(({ name }) => name)];
/** A process compiles what it runs often, and does so for longer than a quick round takes. */
const WARM_UP_SECONDS = 4;

export async function compare(options: ComparisonOptions): Promise<readonly WorkloadResult[]> {
  const { databaseUrl, directory, workers } = options;
  const unknown = options.targets.filter((name) => !TARGET_NAMES.includes(name));
  if (unknown.length > 0)
    throw new Error(`--targets ${unknown.join(', ')}: there are ${TARGET_NAMES.join(', ')}`);
  await mkdir(directory, { recursive: true });
  const keys = await prepareSchool(databaseUrl, options.attendance, options.credentials);
  await removeCreated(databaseUrl);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const targets: Target[] = [];
  try {
    const postmaster = await postmasterOf(database);
    const names = await namesOfStudents(database);
    await startTargets(targets, options.targets, {
      databaseUrl,
      keys,
      directory,
      poolSize: POOL_SIZE,
      workers,
    });
    const workloads = listWorkloads(options.attendance, names).filter(
      ({ name }) => options.only.length === 0 || options.only.includes(name),
    );
    const results: WorkloadResult[] = [];
    for (const workload of workloads) {
      process.stderr.write(`bench: ${workload.name} ${workload.title}\n`);
      results.push(await runWorkload({ workload, targets, postmaster, options }));
    }
    return results;
  } finally {
    await Promise.all(targets.map((target) => target.stop()));
    await database.end();
  }
}

async function startTargets(
  started: Target[],
  names: readonly string[],
  options: TargetOptions,
): Promise<void> {
  if (names.includes('bare')) started.push(await startBare(options));
  if (names.includes('rest') || names.includes('graphql')) {
    const both = await startGateway(options);
    // Whichever is not asked for shares the process that is stopped by the other.
    started.push(...both.filter(({ name }) => names.includes(name)));
  }
  for (const peer of PEERS) if (names.includes(peer.name)) started.push(await startPeer(peer, options));
}

interface Run {
  readonly workload: Workload;
  readonly targets: readonly Target[];
  readonly postmaster: number;
  readonly options: ComparisonOptions;
}

async function runWorkload(run: Run): Promise<WorkloadResult> {
  const { workload, targets, options } = run;
  const able = targets.filter(({ dialect }) => sampleOf(workload, dialect) !== undefined);
  await checkAnswers(run, able);
  const rounds = new Map<string, Measured[]>(able.map(({ name }) => [name, []]));
  // The first round is for what is compiled and filled at its first use.
  for (let round = 0; round <= options.rounds; round++) {
    for (const target of able) {
      const measured =
        workload.kind === 'load'
          ? await measureLoad(run, workload, {
              target,
              seconds: round === 0 ? WARM_UP_SECONDS : options.seconds,
            })
          : await measureSingle(run, workload, target);
      if (round > 0) rounds.get(target.name)?.push(measured);
      if (workload.creates) await removeCreated(options.databaseUrl);
    }
  }
  return { workload, rounds };
}

function sampleOf(workload: Workload, dialect: Target['dialect']) {
  return workload.kind === 'load' ? workload.sample(dialect) : workload.request(dialect, 0);
}

/** Every server is asked the same once, and what it says is compared: a fast wrong answer is no answer. */
async function checkAnswers({ workload, options }: Run, targets: readonly Target[]): Promise<void> {
  let expected: ReadonlySet<string> | undefined;
  for (const target of targets) {
    const sample = sampleOf(workload, target.dialect);
    if (sample === undefined) continue;
    const found = workload.contentOf(await readAnswer(target.url, sample));
    expected ??= found;
    const missing = [...expected].filter((part) => !found.has(part));
    if (missing.length > 0)
      throw new Error(
        `${workload.name}: the answer of ${target.name} lacks ${missing.slice(0, 5).join(', ')}`,
      );
    if (!workload.creates) continue;
    const created = await countCreated(options.databaseUrl);
    const wanted = workload.kind === 'single' ? workload.records : 1;
    if (created !== wanted)
      throw new Error(`${workload.name}: ${target.name} created ${created}, not ${wanted}`);
    await removeCreated(options.databaseUrl);
  }
}

async function measureLoad(
  run: Run,
  workload: LoadWorkload,
  { target, seconds }: { readonly target: Target; readonly seconds: number },
): Promise<Measured> {
  const file = path.join(run.options.directory, `${workload.name}-${target.name}.requests`);
  await writeRequests(file, workload.requests(target.dialect), new URL(target.url).host);
  const { result, ...used } = await whileUsed(run, target, () =>
    putLoad({
      url: target.url,
      requests: file,
      connections: run.options.connections,
      seconds,
      marks: workload.creates ? FIRST_CREATED_DAY : undefined,
    }),
  );
  if (workload.creates) {
    const created = await countCreated(run.options.databaseUrl);
    // Those on their way when the time was over are answered to nobody.
    if (created < result.requests)
      throw new Error(`${target.name} answered ${result.requests} creates and has ${created} records`);
  }
  return {
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    serverMs: used.serverMs / result.requests,
    databaseMs: used.databaseMs / result.requests,
    memory: used.memory,
    growth: used.growth,
  };
}

async function measureSingle(run: Run, workload: SingleWorkload, target: Target): Promise<Measured> {
  const request = workload.request(target.dialect, 0);
  if (request === undefined) throw new Error(`${target.name} cannot be asked for ${workload.name}`);
  const { result, ...used } = await whileUsed(run, target, () => timeAnswer(target.url, request));
  return {
    perSecond: workload.records / (result.totalMs / 1000),
    p50Ms: result.totalMs,
    p99Ms: result.totalMs,
    firstByteMs: result.firstByteMs,
    ...used,
  };
}

/** What the server and PostgreSQL use while `work` goes on. */
async function whileUsed<T>({ postmaster }: Run, { pid }: Target, work: () => Promise<T>) {
  await forgetHighestMemory(pid);
  const before = await residentMemory(pid);
  const [serverBefore, databaseBefore] = [await processorMs(pid), await processorMs(postmaster)];
  const result = await work();
  const [serverAfter, databaseAfter] = [await processorMs(pid), await processorMs(postmaster)];
  const memory = await highestMemory(pid);
  return {
    result,
    serverMs: serverAfter - serverBefore,
    databaseMs: databaseAfter - databaseBefore,
    memory,
    growth: memory - before,
  };
}

async function postmasterOf(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
  return await parentOf(rows[0]?.pid ?? 0);
}

async function namesOfStudents(database: pg.Client): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>(
    'select distinct name from plain.registration order by name',
  );
  return rows.map(({ name }) => name);
}
