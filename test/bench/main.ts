/**
 * `npm run bench`: the gateway, services that might be picked in its place, and a bare server that answers
 * the same questions by hand-written statements, on a database of its own. `-- reports` measures the reports
 * instead, `-- scripts` scripts, `-- imports` imports, `-- tracing` traces, `-- replicas` replicas,
 * `-- flood` what one school notices of another, `-- lighthouse` pages of the portal. docs/develop.md tells
 * the options.
 */
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../src/store/database/embedded-server.js';
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
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
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

async function main(): Promise<void> {
  const directory = options.keep
    ? path.resolve(KEPT_DIRECTORY)
    : await mkdtemp(path.join(tmpdir(), 'campus-bench-'));
  try {
    if (positionals[0] === 'reports') {
      const { benchReports } = await import('./reports.js');
      await withServer(path.join(directory, 'reports'), benchReports);
    } else if (positionals[0] === 'imports') {
      const { benchImports } = await import('./imports.js');
      const asked = { rows: Number(options.rows), only: options.only };
      await withServer(path.join(directory, 'imports'), (url) => benchImports(url, asked));
    } else if (positionals[0] === 'flood') {
      const { benchFlood } = await import('./flood.js');
      await withServer(path.join(directory, 'flood'), (url) =>
        benchFlood(url, {
          workers: Number(options.workers),
          only: names(options.only),
          seconds: options.seconds === undefined ? undefined : Number(options.seconds),
        }),
      );
    } else if (positionals[0] === 'tracing') {
      const { benchTracing } = await import('./tracing.js');
      const only = names(options.only);
      await withServer(path.join(directory, 'tracing'), (url) => benchTracing(url, only));
    } else if (positionals[0] === 'replicas') {
      const { benchReplicas } = await import('./replicas.js');
      await benchReplicas();
    } else if (positionals[0] === 'lighthouse') {
      const { benchLighthouse } = await import('./lighthouse.js');
      const only = names(options.only);
      await withServer(path.join(directory, 'lighthouse'), (url) => benchLighthouse(url, only));
    } else if (positionals[0] === 'scripts') {
      const { benchScripts } = await import('./scripts.js');
      await withServer(path.join(directory, 'scripts'), benchScripts);
    } else {
      const parts = names(options.part ?? (options.quick ? 'table' : [...PARTS.keys()].join(',')));
      for (const part of parts) {
        const run = PARTS.get(part);
        if (run === undefined) throw new Error(`--part ${part}: there are ${[...PARTS.keys()].join(', ')}`);
        await run(directory);
      }
    }
  } finally {
    if (!options.keep) await rm(directory, { recursive: true, force: true });
  }
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
