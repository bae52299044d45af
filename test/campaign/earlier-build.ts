/** An earlier version of the gateway, built from the history of the repository. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';

const run = promisify(execFile);
/** Names the commit to take instead of the one before the newest migration. */
const EARLIER_VARIABLE = 'EARLIER_VERSION';

/** The commit before the one that brought the newest migration; `undefined` in a clone without history. */
export async function findEarlierVersion(): Promise<string | undefined> {
  const asked = process.env[EARLIER_VARIABLE];
  if (asked !== undefined) return asked;
  const migrations = ['--', 'prisma/migrations/*/migration.sql'];
  return await run('git', ['log', '-1', '--diff-filter=A', '--format=%H^', ...migrations]).then(
    async ({ stdout }) => (await run('git', ['rev-parse', '--verify', stdout.trim()])).stdout.trim(),
    () => undefined,
  );
}

/** The versions of the first days ran as they were compiled. */
const BUNDLE = '[ ! -f dist/cli/bundle-program.js ] || node dist/cli/bundle-program.js';

export interface EarlierBuild {
  /** Starts its gateway; resolved when it is ready. */
  start(databaseUrl: string): Promise<EarlierGateway>;
  remove(): Promise<void>;
}

export interface EarlierGateway {
  readonly url: string;
  /** In good order, as an upgrade stops it. */
  stop(): Promise<void>;
}

/** Builds it in a temporary folder, with the packages of today's version. Takes about a minute. */
export async function buildEarlierVersion(commit: string): Promise<EarlierBuild> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-earlier-'));
  await run('bash', ['-c', 'git archive "$0" | tar --extract --directory "$1"', commit, directory]);
  const remove = () => rm(directory, { recursive: true });
  try {
    await symlink(path.resolve('node_modules'), path.join(directory, 'node_modules'));
    // Without the pages for browsers, which are bundled of packages in the folder itself alone.
    for (const command of ['npm run --silent generate', 'npx tsc -p .', BUNDLE]) {
      await run('bash', ['-c', command], { cwd: directory });
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    start: (databaseUrl) => start(directory, databaseUrl),
    remove,
  };
}

async function start(directory: string, databaseUrl: string): Promise<EarlierGateway> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child: ChildProcess = spawn(process.execPath, ['dist/main.js', 'start'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PORT: new URL(url).port,
      LOG_LEVEL: 'silent',
      CHANGE_POLL_MS: '20',
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOGIN_LIMIT_PER_MINUTE: '1000000',
    },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the earlier version ended with ${child.exitCode}`);
    return await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }, 60_000);
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
