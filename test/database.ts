/** A real PostgreSQL for tests: every test file gets a migrated, empty database of its own. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type pg from 'pg';
import { type Database, openDatabase } from '../src/store/database/database.js';
import { copyDatabase, dropDatabase, onCoordinator } from './spread-databases.js';
import { TEMPLATE_URL_VARIABLE } from './test-server.js';

/** Databases are made one after the other by the server: many test files at once wait for each other. */
const HOOK_TIMEOUT_MS = 60_000;

/** How changes are told in the databases of all tests, but of those that say otherwise. */
const CHANGES = process.env.TEST_CHANGES === 'outbox' ? 'outbox' : 'trail';

export interface TestDatabaseOptions {
  readonly changes?: 'trail' | 'outbox';
}

export interface TestDatabase {
  /** For whoever opens the database itself: a whole gateway, a second pool, a bare client. */
  readonly url: string;
  /** Ends the database, and whatever is still connected to it. @throws when something still was */
  drop(): Promise<void>;
}

/**
 * An open database for the tests of this file: made before the first, dropped after the last. A file that
 * leaves a connection open fails.
 *
 *   const test = useTestDatabase();
 *   it('…', async () => { await test.database.query(…) });
 */
export function useTestDatabase(options: TestDatabaseOptions = {}): {
  readonly database: Database;
  readonly url: string;
} {
  let opened: { database: Database; testDatabase: TestDatabase } | undefined;
  const get = () => {
    if (!opened)
      throw new Error('The test database exists only while tests run: use it inside it() or beforeAll()');
    return opened;
  };
  beforeAll(async () => {
    const testDatabase = await createTestDatabase(options);
    opened = {
      database: await openDatabase({ url: testDatabase.url, poolSize: 5, statementTimeoutMs: 20_000 }),
      testDatabase,
    };
  }, HOOK_TIMEOUT_MS);
  afterAll(async () => {
    if (!opened) return;
    await opened.database.close();
    await opened.testDatabase.drop();
  }, HOOK_TIMEOUT_MS);
  return {
    get database() {
      return get().database;
    },
    get url() {
      return get().testDatabase.url;
    },
  };
}

/**
 * A migrated, empty database, for a test that starts the whole gateway on it, or needs two. The caller drops
 * it.
 */
export async function createTestDatabase({
  changes = CHANGES,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const template = findTemplateUrl();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await copyDatabase(template.pathname.slice(1), name);
  if (changes === 'outbox') await tellByOutbox(name);
  const url = new URL(template);
  url.pathname = name;
  return {
    url: url.href,
    drop: async () => {
      const leftOpen = await onCoordinator((client) => findLeftOpen(client, name));
      await dropDatabase(name);
      if (leftOpen.length > 0) {
        throw new Error(`The test left connections open: ${leftOpen.join('; ')}`);
      }
    },
  };
}

/** Changes are told there as on a database that is spread over several servers. */
async function tellByOutbox(name: string): Promise<void> {
  await onCoordinator((client) => client.query(`alter database ${name} set campus.changes = 'outbox'`));
}

/** Postgres takes a moment to see that a client has gone: asked again before it counts. */
async function findLeftOpen(client: pg.Client, name: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await client.query<{ description: string }>(
      `select application_name || ' (' || coalesce(state, '?') || '): ' || left(query, 200) as description
         from pg_stat_activity where datname = $1 and backend_type = 'client backend'
          and application_name not like 'citus\\_%'`,
      [name],
    );
    if (rows.length === 0 || attempt === 20) return rows.map((row) => row.description);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function findTemplateUrl(): URL {
  const url = process.env[TEMPLATE_URL_VARIABLE];
  if (!url)
    throw new Error('There is no test server: run the tests by npm test, whose global setup starts it');
  return new URL(url);
}
