import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { JobQueue, migrateJobQueue } from '../../../src/services/jobs/job-queue.js';
import { type Database, openDatabase } from '../../../src/store/database/database.js';
import {
  type EmbeddedServer,
  startEmbeddedServer,
} from '../../../src/store/database/embedded/embedded-server.js';
import { eventually } from '../../eventually.js';
import { expectEventually } from '../../expect-eventually.js';

let directory: string;
let server: EmbeddedServer;
let database: Database;
let jobs: JobQueue;
let worker: ChildProcess | undefined;
let lines: string[];

beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'campus-jobs-'));
  await chmod(directory, 0o755);
  server = await startEmbeddedServer({ dataDirectory: directory });
  await migrateJobQueue(server.url);
  database = await openDatabase({ url: server.url, poolSize: 2, statementTimeoutMs: 5_000 });
  jobs = new JobQueue({ database });
});

afterEach(() => {
  worker?.kill('SIGKILL');
});

afterAll(async () => {
  await database.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('a database that ends while jobs are under way', () => {
  for (const [how, signal] of [
    ['killed', 'SIGKILL'],
    ['restarted by its operator', 'SIGINT'],
  ] as const) {
    it(`and is ${how} does not end the gateway, and the jobs are done afterwards`, async () => {
      const exits = await startWorker();
      await jobs.add('ends', {});
      await jobs.add('fails', {});
      await eventually(() => count('ends begun') === 1 && count('fails begun') === 1);
      process.kill(await serverProcessId(), signal);

      await eventually(() => count('ends ended') > 0 && count('fails ended') > 0, 60_000);
      await eventually(async () => {
        const counts = await jobs.counts().catch(() => undefined);
        return counts?.queued === 0 && counts.running === 0;
      }, 60_000);
      expect(await jobs.counts()).toEqual({ queued: 0, running: 0, failed: 0 });
      expect(exits).toEqual([]);
    });
  }
});

describe('a stop while the database is away', () => {
  it('ends though nobody takes the note of how a job ended', async () => {
    const exits = await startWorker();
    await jobs.add('ends', {});
    await eventually(() => count('ends begun') === 1);
    // Nobody starts it again.
    await server.stop();
    await eventually(() => count('ends ended') > 0);
    worker?.kill('SIGTERM');
    await expectEventually(() => exits, [0]);
  });
});

/** What it ended with is added to the list. */
async function startWorker(): Promise<readonly (number | string | null)[]> {
  const exits: (number | string | null)[] = [];
  lines = [];
  worker = spawn(
    process.execPath,
    ['--import', './test/typescript.mjs', 'test/services/jobs/outliving-worker.ts', server.url],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  worker.once('exit', (code, signal) => exits.push(code ?? signal));
  worker.stdout?.on('data', (bytes: Buffer) => lines.push(...bytes.toString().trim().split('\n')));
  await eventually(() => count('ready') === 1 || exits.length > 0, 30_000);
  return exits;
}

function count(line: string): number {
  return lines.filter((one) => one === line).length;
}

async function serverProcessId(): Promise<number> {
  const pidFile = path.join(directory, 'postgres', 'postmaster.pid');
  return Number((await readFile(pidFile, 'utf8')).split('\n')[0]);
}
