/** A start that waits for its database, and is stopped meanwhile, or loses it. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DEFAULT_SETTINGS } from '../contract/gateway.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { startCampus } from './campus.js';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into domains (id, name) values ('top', 'Top')`);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Starts a gateway that comes to wait for this table, which it never gets; gives how it ended after that. */
async function startWaitingFor(
  table: string,
  settings: Readonly<Record<string, string>>,
  act: (gateway: ChildProcess) => Promise<unknown> | unknown,
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  await client.query('begin');
  await client.query(`lock table ${table} in access exclusive mode`);
  const child = startCampus(['start'], {
    ...DEFAULT_SETTINGS,
    ...{ DATABASE_URL: database.url, LOG_LEVEL: 'info', SHUTDOWN_GRACE_MS: '500', ...settings },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  try {
    await eventually(async () => {
      const { rowCount } = await client.query(
        `select from pg_locks where not granted and relation = to_regclass($1)`,
        [table],
      );
      return rowCount !== 0;
    });
    await act(child);
    await eventually(() => child.exitCode !== null || child.signalCode !== null);
    return { output, exitCode: child.exitCode };
  } finally {
    child.kill('SIGKILL');
    await client.query('rollback');
  }
}

const stop = (gateway: ChildProcess) => gateway.kill('SIGTERM');

describe('a start that waits for the database', () => {
  it('before it listens is stopped', async () => {
    const { output, exitCode } = await startWaitingFor('domains', {}, stop);
    expect(exitCode).toBe(0);
    expect(output).not.toContain('"event":"listening"');
    expect(output).toContain('stopped before it had started; nothing is left half made');
  });

  it.each(['1', '2'])('for its jobs, behind the open port, is stopped (WORKERS=%s)', async (WORKERS) => {
    const jobs = 'campus_jobs._private_known_crontabs';
    const { output, exitCode } = await startWaitingFor(jobs, { WORKERS }, stop);
    expect(exitCode).toBe(0);
    expect(output).toContain('"event":"listening"');
    expect(output).toContain('"event":"stopped"');
    expect(output).toContain('stopped before it had started; nothing is left half made');
  });

  it('and loses it says so in one line', async () => {
    const { output, exitCode } = await startWaitingFor('campus_jobs.migrations', {}, () =>
      client.query(
        `select pg_terminate_backend(pid)
         from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      ),
    );
    expect({ output, exitCode }).toEqual({
      output:
        'campus: The database is out of reach; try again later. ' +
        '(terminating connection due to administrator command)\n',
      exitCode: 1,
    });
  });
});
