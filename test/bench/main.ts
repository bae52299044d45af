/**
 * `npm run bench`: the gateway beside a bare server that answers the same questions by hand-written statements, on
 * a database of its own. `-- reports` measures the reports instead, `-- scripts` scripts. docs/develop.md tells
 * the options.
 */
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../src/store/database/embedded-server.js';
import { compare } from './comparison.js';
import { printFigures, printRatios } from './figures.js';
import { hasWrk } from './load/load.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    targets: { type: 'string', default: 'bare,rest,graphql' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});

const KEPT_DIRECTORY = 'node_modules/.cache/bench';
const ATTENDANCE = { students: 1500, days: 200 };

async function main(): Promise<void> {
  const directory = options.keep
    ? path.resolve(KEPT_DIRECTORY)
    : await mkdtemp(path.join(tmpdir(), 'campus-bench-'));
  // The records of the reports are others, so theirs is a database of its own.
  const [subject = 'workloads'] = positionals;
  const server = await startEmbeddedServer({ dataDirectory: path.join(directory, subject) });
  try {
    if (subject === 'reports') {
      const { benchReports } = await import('./reports.js');
      await benchReports(server.url);
    } else if (subject === 'scripts') {
      const { benchScripts } = await import('./scripts.js');
      await benchScripts(server.url);
    } else {
      await compareWorkloads(server.url, path.join(directory, 'run'));
    }
  } finally {
    await server.stop();
    if (!options.keep) await rm(directory, { recursive: true, force: true });
  }
}

async function compareWorkloads(databaseUrl: string, directory: string): Promise<void> {
  const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
  const seconds = Number(options.seconds ?? (options.quick ? 2 : 5));
  const connections = Number(options.connections);
  const results = await compare({
    databaseUrl,
    directory,
    rounds,
    seconds,
    connections,
    only: names(options.only),
    targets: names(options.targets),
    attendance: ATTENDANCE,
  });
  const generator = (await hasWrk()) ? 'wrk' : 'own-load.ts';
  process.stdout.write(
    `${connections} connections, medians of ${rounds} rounds of ${seconds} s, load by ${generator}\n\n`,
  );
  process.stdout.write(`${printFigures(results)}\n\n${printRatios(results)}\n`);
}

function names(list: string): readonly string[] {
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().toLowerCase()]));
}

await main();
