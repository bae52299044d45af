/**
 * `npm run bench -- branches --databases <url>,<url>`: how many requests of fifty branches a second are
 * answered with each of several databases, e.g. one PostgreSQL and Citus on the same cores. The databases are
 * empty, or of an earlier run, and the user may read `pg_dist_node` where there is Citus. A gateway for each
 * is asked by turns; in each round they are told against the first.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Table from 'cli-table3';
import pg from 'pg';
import { operatorScope } from '../../src/cli/command-line.js';
import { findPostmaster } from './find-postmaster.js';
import type { HttpRequest } from './load/http-request.js';
import { putLoad, writeRequests } from './load/load.js';
import { median, medianInterval } from './median.js';
import { processorMs } from './process-usage.js';
import { ADMIN, addAdmin } from './school.js';
import { startGateway } from './targets/gateway.js';
import type { Target } from './targets/target.js';
import { withBenchServices } from './with-bench-services.js';

const BRANCHES = 50;
const STUDENTS = 1_000;
const LISTED = 20;
const CONNECTIONS = 16;
const ROUNDS = 6;
/** How long each mix is asked for before it counts: each connection prepares statements for each shard. */
const WARM_SECONDS = 15;
const REQUESTS = 5_000;

export interface BranchesOptions {
  readonly databases: readonly string[];
  /** Names of mixes; all, if none is named. */
  readonly only: readonly string[];
  /** Of each load. Default 3. */
  readonly seconds?: number | undefined;
}

interface Mix {
  readonly name: string;
  readonly title: string;
  request(number: number): HttpRequest;
}

const branchOf = (number: number) => `branch-${number % BRANCHES}`;
// Neither is a multiple of the other, so every branch is asked for every student in time.
const studentOf = (number: number) => (number * 7) % STUDENTS;

const one = (number: number): HttpRequest => ({
  path: `/o/recs/registration/stu-${studentOf(number)}`,
  headers: { 'X-Domain': branchOf(number) },
});
const list = (number: number): HttpRequest => ({
  path: `/o/recs/registration?stream=true&oquery=class=${number % 12}&limit=${LISTED}`,
  headers: { 'X-Domain': branchOf(number) },
});
const create = (number: number): HttpRequest => ({
  method: 'POST',
  path: '/o/task',
  headers: { 'X-Domain': branchOf(number), 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: `Task ${number}`, description: 'Made while requests are counted' }),
});

const MIXES: readonly Mix[] = [
  { name: 'one', title: 'a record by its id', request: one },
  { name: 'list', title: `${LISTED} records of a class`, request: list },
  { name: 'create', title: 'create', request: create },
  {
    name: 'mix',
    title: 'nine reads to a create',
    request: (number) => {
      if (number % 10 === 0) return create(number);
      return number % 3 === 0 ? list(number) : one(number);
    },
  },
];

/** Prints the table. */
export async function benchBranches({ databases, only, seconds = 3 }: BranchesOptions): Promise<void> {
  const mixes = MIXES.filter(({ name }) => only.length === 0 || only.includes(name));
  if (databases.length < 2) throw new Error('--databases: two addresses or more, separated by commas');
  const directory = await mkdtemp(path.join(tmpdir(), 'campus-branches-'));
  const measured: Measured[] = [];
  try {
    for (const [index, databaseUrl] of databases.entries()) {
      process.stderr.write(`bench: branches in database ${index + 1}\n`);
      const key = await prepareBranches(databaseUrl);
      const postmasters = await findPostmasters(databaseUrl);
      const name = `gateway-${index}`;
      const [gateway] = await startGateway({
        databaseUrl,
        keys: [key],
        directory,
        poolSize: 16,
        workers: 1,
        name,
      });
      if (gateway !== undefined) measured.push({ gateway, key, postmasters });
    }
    const table = new Table({
      style: { head: [], border: [], compact: true },
      head: ['', ...databases.map((_, index) => `database ${index + 1}`)],
    });
    for (const mix of mixes) table.push([mix.title, ...(await measure(mix))]);
    process.stdout.write(`requests a second; milliseconds of gateway + PostgreSQL\n${table.toString()}\n`);
  } finally {
    for (const { gateway } of measured) await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }

  async function measure(mix: Mix): Promise<readonly string[]> {
    process.stderr.write(`bench: ${mix.title}\n`);
    const rounds: (readonly Figures[])[] = [];
    for (const one of measured) await figuresOf(mix, one, WARM_SECONDS);
    for (let round = 0; round < ROUNDS; round++) {
      const figures: Figures[] = [];
      const order = round % 2 === 0 ? [...measured.keys()] : [...measured.keys()].reverse();
      for (const index of order) {
        const one = measured[index];
        if (one !== undefined) figures[index] = await figuresOf(mix, one, seconds);
      }
      rounds.push(figures);
    }
    return databases.map((_, index) => tell(rounds, index));
  }

  async function figuresOf(
    mix: Mix,
    { gateway, key, postmasters }: Measured,
    forSeconds: number,
  ): Promise<Figures> {
    const file = path.join(directory, 'requests');
    const requests = Array.from({ length: REQUESTS }, (_, number) => withKey(mix.request(number), key));
    await writeRequests(file, requests, new URL(gateway.url).host);
    const used = async () =>
      [await processorMs(gateway.pid), sum(await Promise.all(postmasters.map(processorMs)))] as const;
    const before = await used();
    const load = { url: gateway.url, requests: file, connections: CONNECTIONS, seconds: forSeconds };
    const result = await putLoad(load);
    const after = await used();
    return {
      aSecond: result.requests / result.seconds,
      gatewayMs: (after[0] - before[0]) / result.requests,
      databaseMs: (after[1] - before[1]) / result.requests,
    };
  }
}

interface Measured {
  readonly gateway: Target;
  readonly key: string;
  readonly postmasters: readonly number[];
}

interface Figures {
  readonly aSecond: number;
  readonly gatewayMs: number;
  readonly databaseMs: number;
}

/** Medians of the rounds; beside the first, the ratio of requests a second within a round. */
function tell(rounds: readonly (readonly Figures[])[], index: number): string {
  const of = (part: (figures: Figures) => number) =>
    rounds.map((figures) => (figures[index] ? part(figures[index]) : Number.NaN));
  const [aSecond, gatewayMs, databaseMs] = [
    median(of((figures) => figures.aSecond)).toFixed(0),
    median(of((figures) => figures.gatewayMs)).toFixed(3),
    median(of((figures) => figures.databaseMs)).toFixed(3),
  ];
  const figures = `${aSecond}/s; ${gatewayMs} + ${databaseMs}`;
  if (index === 0) return figures;
  const ratios = (part: (figures: Figures) => number) =>
    rounds.map((round) => (round[index] && round[0] ? part(round[index]) / part(round[0]) : Number.NaN));
  const throughput = ratios(({ aSecond }) => aSecond);
  const work = ratios(({ gatewayMs, databaseMs }) => 1 / (gatewayMs + databaseMs));
  const [least, most] = medianInterval(throughput);
  const range = `${least.toFixed(2)} to ${most.toFixed(2)}`;
  const ofFirst = `${median(throughput).toFixed(2)} (${range}) of the first`;
  return `${figures}; ${ofFirst}, ${median(work).toFixed(2)} by processor time`;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function withKey(request: HttpRequest, key: string): HttpRequest {
  return { ...request, headers: { ...request.headers, Authorization: `Bearer ${key}` } };
}

/** Fills the database once, and gives a new key. */
async function prepareBranches(url: string): Promise<string> {
  return await withBenchServices(url, async (services) => {
    if (services.domains.top() === undefined) {
      await services.domains.createTop({ id: 'bench', name: 'Bench' });
      await addAdmin(services);
      const scope = operatorScope(services, undefined);
      for (let number = 0; number < BRANCHES; number++)
        await services.domains.create(scope, { id: branchOf(number), name: `Branch ${number}` });
      await seedStudents(url);
    }
    const { key } = await services.apiKeys.create(operatorScope(services, undefined), {
      name: 'bench',
      userId: ADMIN,
      scopes: { collections: { '*': ['read', 'create'] }, reports: [], scripts: [] },
    });
    return key;
  });
}

async function seedStudents(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let number = 0; number < BRANCHES; number++) {
      await client.query(
        `insert into records (domain, collection, id, data)
         select $1, 'registration', 'stu-' || n, jsonb_build_object(
           'sequence', 'A-' || n, 'name', 'Student ' || n, 'class', (n % 12)::text, 'section', 'A',
           'session', '2026-27', 'admitted_on', '2026-04-01', 'status', 'active', 'roll_no', n,
           'father_name', 'Father of ' || n, 'address', n || ' Lake Road'
         )
         from generate_series(0, $2::int - 1) as n`,
        [branchOf(number), STUDENTS],
      );
    }
    await client.query('vacuum analyze records');
  } finally {
    await client.end();
  }
}

/** Of all servers of the database, which are on this machine. */
async function findPostmasters(url: string): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: citus } = await client.query(`select from pg_extension where extname = 'citus'`);
    if (citus.length === 0) return [await findPostmaster(url)];
    const { rows } = await client.query<{ hostname: string; port: number }>(
      'select nodename as hostname, nodeport as port from pg_dist_node',
    );
    return await Promise.all(
      rows.map(({ hostname, port }) =>
        findPostmaster(Object.assign(new URL(url), { hostname, port: String(port) }).href),
      ),
    );
  } finally {
    await client.end();
  }
}
