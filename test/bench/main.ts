/**
 * `npm run bench`: the gateway beside a bare `node:http` + `pg` server that runs the same SQL and passes the
 * bytes through, on a database of its own with 300,000 records. The two take turns, round by round; figures
 * are medians, and the ratio is what counts, for machines are noisy.
 *
 * `npm run bench -- reports` measures the reports instead, `-- scripts` scripts. `--only <text>` takes the
 * workloads with that in their name; `--directory <path>` keeps the database there, so that the next run need
 * not seed.
 */
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { startEmbeddedServer } from '../../src/store/database/embedded-server.js';
import { type Measured, measure, measureStream, startTarget, stopTarget, type Target } from './load.js';
import { recordOperations } from './operation-statements.js';
import { prepareSchool } from './school.js';
import { type Bench, listBenches } from './workloads.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string', default: '' },
    directory: { type: 'string', default: '' },
  },
});

const POOL_SIZE = 16;
const PLAIN = { head: [], border: [], compact: true };

async function main(): Promise<void> {
  const directory = options.directory || (await mkdtemp(path.join(tmpdir(), 'campus-bench-')));
  const server = await startEmbeddedServer({ dataDirectory: directory });
  try {
    if (positionals[0] === 'reports') {
      const { benchReports } = await import('./reports.js');
      await benchReports(server.url);
      return;
    }
    if (positionals[0] === 'scripts') {
      const { benchScripts } = await import('./scripts.js');
      await benchScripts(server.url);
      return;
    }
    await compare(server.url);
  } finally {
    await server.stop();
    if (options.directory === '') await rm(directory, { recursive: true, force: true });
  }
}

async function compare(url: string): Promise<void> {
  progress('seeding');
  const school = await prepareSchool(url);
  const operations = await recordOperations(url, school.key);
  const benches = (await listBenches(school, operations)).filter(({ name }) => name.includes(options.only));
  await operations.close();
  const bare = await startTarget(new URL('./bare-server.ts', import.meta.url), {
    BARE_SERVER: JSON.stringify({
      databaseUrl: url,
      poolSize: POOL_SIZE,
      statements: Object.fromEntries(benches.map((bench) => [bench.name, bench.statement])),
    }),
  });
  const gateway = await startTarget(new URL('./gateway.ts', import.meta.url), {
    DATABASE_URL: url,
    PORT: '0',
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '1000000000',
    LOG_LEVEL: 'warn',
  });
  try {
    const loads = new Table({
      style: PLAIN,
      head: ['workload', 'bare req/s', 'gateway req/s', 'ratio', 'p50 ms', 'p99 ms', 'bare µs', 'gateway µs'],
    });
    const streams = new Table({
      style: PLAIN,
      head: ['stream', 'bare s', 'gateway s', 'ratio', 'MB', 'first byte ms', 'growth MiB'],
    });
    for (const bench of benches) {
      progress(bench.name);
      if (bench.statement.kind === 'stream' && bench.isWhole)
        streams.push(await compareStream(bench, { bare, gateway }));
      else loads.push(await compareLoad(bench, { bare, gateway }));
    }
    process.stdout.write(
      `${school.recordCount.toLocaleString('en')} records, ${options.connections} connections, median of ${options.rounds} rounds of ${options.seconds} s\n`,
    );
    if (loads.length > 0) process.stdout.write(`${loads.toString()}\n`);
    if (streams.length > 0) process.stdout.write(`${streams.toString()}\n`);
  } finally {
    await stopTarget(gateway);
    await stopTarget(bare);
    await school.close();
  }
}

interface Pair {
  readonly bare: Target;
  readonly gateway: Target;
}

async function compareLoad(bench: Bench, { bare, gateway }: Pair): Promise<string[]> {
  const connections = bench.isAlone ? 1 : Number(options.connections);
  const seconds = Number(options.seconds);
  const rounds: { bare: Measured; gateway: Measured }[] = [];
  await measure(bare, { path: `/${bench.name}` }, { connections, seconds: 1 });
  await measure(gateway, bench.request, { connections, seconds: 2 });
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.push({
      bare: await measure(bare, { path: `/${bench.name}` }, { connections, seconds }),
      gateway: await measure(gateway, bench.request, { connections, seconds }),
    });
  }
  return [
    bench.name,
    median(rounds.map((round) => round.bare.requestsPerSecond)).toFixed(0),
    median(rounds.map((round) => round.gateway.requestsPerSecond)).toFixed(0),
    median(rounds.map((round) => round.gateway.requestsPerSecond / round.bare.requestsPerSecond)).toFixed(2),
    median(rounds.map((round) => round.gateway.p50Ms)).toFixed(0),
    median(rounds.map((round) => round.gateway.p99Ms)).toFixed(0),
    median(rounds.map((round) => round.bare.cpuMicrosecondsPerRequest)).toFixed(0),
    median(rounds.map((round) => round.gateway.cpuMicrosecondsPerRequest)).toFixed(0),
  ];
}

async function compareStream(bench: Bench, { bare, gateway }: Pair): Promise<string[]> {
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.push({
      bare: await measureStream(bare, { path: `/${bench.name}` }),
      gateway: await measureStream(gateway, bench.request),
    });
  }
  return [
    bench.name,
    (median(rounds.map((round) => round.bare.totalMs)) / 1000).toFixed(2),
    (median(rounds.map((round) => round.gateway.totalMs)) / 1000).toFixed(2),
    median(rounds.map((round) => round.bare.totalMs / round.gateway.totalMs)).toFixed(2),
    (median(rounds.map((round) => round.gateway.bytes)) / 1e6).toFixed(0),
    median(rounds.map((round) => round.gateway.firstByteMs)).toFixed(1),
    (Math.max(...rounds.map((round) => round.gateway.growthBytes)) / 2 ** 20).toFixed(0),
  ];
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function progress(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

await main();
