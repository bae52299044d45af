/** A start that waits for its database, and is stopped meanwhile. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { DEFAULT_SETTINGS } from '../contract/gateway.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { expectEventually } from '../expect-eventually.js';
import { startCampus } from './campus.js';

jest.setTimeout(60_000);

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

/** Starts a gateway that comes to wait for this table, which it never gets, and stops it then. */
async function stopWaitingFor(table: string, settings: Readonly<Record<string, string>>) {
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
    child.kill('SIGTERM');
    await expectEventually(() => [child.exitCode, child.signalCode], [0, null]);
    return output;
  } finally {
    child.kill('SIGKILL');
    await client.query('rollback');
  }
}

describe('a start that waits for the database', () => {
  it('before it listens is stopped', async () => {
    const output = await stopWaitingFor('domains', {});
    expect(output).not.toContain('"event":"listening"');
    expect(output).toContain('stopped before it had started; nothing is left half made');
  });

  it.each(['1', '2'])('for its jobs, behind the open port, is stopped (WORKERS=%s)', async (WORKERS) => {
    const output = await stopWaitingFor('campus_jobs._private_known_crontabs', { WORKERS });
    expect(output).toContain('"event":"listening"');
    expect(output).toContain('"event":"stopped"');
    expect(output).toContain('stopped before it had started; nothing is left half made');
  });
});
