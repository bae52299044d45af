/**
 * `npm run bench`: the gateway, services that might be picked in its place, and a bare server that answers
 * the same questions by hand-written statements, on a database of its own. `-- reports` measures the reports
 * instead, `-- scripts` scripts, `-- imports` imports, `-- tracing` traces, `-- replicas` replicas,
 * `-- branches` databases of several servers, `-- flood` what one school notices of another,
 * `-- lighthouse` pages of the portal. docs/develop.md tells the options.
 */
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../src/store/database/embedded/embedded-server.js';
import { type ComparisonOptions, compare, TARGET_NAMES, type WorkloadResult } from './comparison.js';
import { printFigures, printRatios } from './figures.js';
import { hasWrk } from './load/load.js';
import type { MarkedAttendance } from './school-records.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string' },
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '200000' },
    targets: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    workers: { type: 'string', default: '1' },
    credentials: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    databases: { type: 'string', default: '' },
  },
});

const KEPT_DIRECTORY = 'node_modules/.cache/bench';
const CONNECTIONS = 16;
/** 300,000 marks, and ten times as many. */
const SCHOOL_YEAR: MarkedAttendance = { students: 1500, days: 200 };
const TEN_YEARS: MarkedAttendance = { students: 1500, days: 2000 };
const OTHER_CONNECTIONS = [1, 64, 256];
/** Those in which many connections change something: a short read, a list, a write. */
const OF_CONNECTIONS = ['w1', 'w2', 'w5'];

const PARTS: ReadonlyMap<string, (directory: string) => Promise<void>> = new Map([
  ['table', compareWorkloads],
  ['growth', compareGrowth],
  ['connections', compareConnections],
]);

/** What is measured when its name is the first argument, with a server of its own unless it starts one. */
const BENCHES: ReadonlyMap<string, (directory: string) => Promise<void>> = new Map([
  ['reports', ofServer(async (url) => (await import('./reports.js')).benchReports(url))],
  ['scripts', ofServer(async (url) => (await import('./scripts.js')).benchScripts(url))],
  [
    'imports',
    ofServer(async (url) =>
      (await import('./imports.js')).benchImports(url, {
        rows: Number(options.rows),
        only: options.only,
      }),
    ),
  ],
  [
    'flood',
    ofServer(async (url) =>
      (await import('./flood.js')).benchFlood(url, {
        workers: Number(options.workers),
        only: names(options.only),
        seconds: options.seconds === undefined ? undefined : Number(options.seconds),
      }),
    ),
  ],
  ['tracing', ofServer(async (url) => (await import('./tracing.js')).benchTracing(url, names(options.only)))],
  [
    'lighthouse',
    ofServer(async (url) =>
      (await import('./lighthouse.js')).benchLighthouse(url, {
        only: names(options.only),
        rounds: Number(options.rounds ?? 3),
      }),
    ),
  ],
  [
    'branches',
    async () =>
      (await import('./branches.js')).benchBranches({
        databases: names(options.databases),
        only: names(options.only),
        seconds: options.seconds === undefined ? undefined : Number(options.seconds),
      }),
  ],
  ['replicas', async () => (await import('./replicas.js')).benchReplicas()],
]);

async function main(): Promise<void> {
  const [name] = positionals;
  const bench = name === undefined ? benchParts : BENCHES.get(name);
  if (bench === undefined) {
    throw new Error(`${name}: there is no such benchmark, but ${[...BENCHES.keys()].join(', ')}`);
  }
  const directory = options.keep
    ? path.resolve(KEPT_DIRECTORY)
    : await mkdtemp(path.join(tmpdir(), 'campus-bench-'));
  try {
    await bench(path.join(directory, name ?? ''));
  } finally {
    if (!options.keep) await rm(directory, { recursive: true, force: true });
  }
}

async function benchParts(directory: string): Promise<void> {
  const parts = names(options.part ?? (options.quick ? 'table' : [...PARTS.keys()].join(',')));
  for (const part of parts) {
    const run = PARTS.get(part);
    if (run === undefined) throw new Error(`--part ${part}: there are ${[...PARTS.keys()].join(', ')}`);
    await run(directory);
  }
}

function ofServer(bench: (databaseUrl: string) => Promise<void>): (directory: string) => Promise<void> {
  return (directory) => withServer(directory, bench);
}

async function compareWorkloads(directory: string): Promise<void> {
  const results = await compareAt(directory, { attendance: SCHOOL_YEAR });
  print(`${printFigures(results)}\n\n${printRatios(results)}`);
}

async function compareGrowth(directory: string): Promise<void> {
  const results = await compareAt(directory, { attendance: TEN_YEARS });
  print(`With ten times the attendance:\n\n${printFigures(results)}\n\n${printRatios(results)}`);
}

async function compareConnections(directory: string): Promise<void> {
  const asked = names(options.only);
  const only = OF_CONNECTIONS.filter((name) => asked.length === 0 || asked.includes(name));
  for (const connections of OTHER_CONNECTIONS) {
    const results = await compareAt(directory, { attendance: SCHOOL_YEAR, connections, only });
    print(`With ${connections} connections:\n\n${printFigures(results)}\n\n${printRatios(results)}`);
  }
}

async function compareAt(
  directory: string,
  varied: Pick<ComparisonOptions, 'attendance'> & Partial<Pick<ComparisonOptions, 'connections' | 'only'>>,
): Promise<readonly WorkloadResult[]> {
  const { students, days } = varied.attendance;
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
  const seconds = Number(options.seconds ?? (options.quick ? 2 : 5));
  const targets = options.targets ?? (options.quick ? 'bare,rest,graphql' : TARGET_NAMES.join(','));
  const connections = varied.connections ?? CONNECTIONS;
  const generator = (await hasWrk()) ? 'wrk' : 'own-load.ts';
  print(
    `${(students * days).toLocaleString('en')} marks, ${connections} connections, ` +
      `medians of ${rounds} rounds of ${seconds} s, load by ${generator}`,
  );
  return await withServer(path.join(directory, `workloads-${students * days}`), (databaseUrl) =>
    compare({
      databaseUrl,
      directory: path.join(directory, 'run'),
      rounds,
      seconds,
      connections,
      workers: Number(options.workers),
      credentials: Number(options.credentials),
      only: names(options.only),
      targets: names(targets),
      ...varied,
    }),
  );
}

async function withServer<T>(directory: string, work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const server = await startEmbeddedServer({
    dataDirectory: directory,
    settings: { max_connections: '400' },
  });
  // It is a process of its own and would outlive a bench that is stopped by a signal.
  const stop = () => void server.stop().finally(() => process.exit(130));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(server.url);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await server.stop();
  }
}

function names(list: string): readonly string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().toLowerCase()]));
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}

await main();
