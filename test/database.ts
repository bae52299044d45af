/** A real PostgreSQL for tests: every test file gets a migrated, empty database of its own. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type pg from 'pg';
import { type Database, openDatabase } from '../src/store/database/database.js';
import {
  copyDatabase,
  dropDatabase,
  listDatabases,
  onCoordinator,
  renameDatabase,
  sealTemplate,
} from './spread-databases.js';
import { TEMPLATE_URL_VARIABLE } from './test-server.js';

/** How changes are told in the databases of all tests, but of those that say otherwise. */
const CHANGES = process.env.TEST_CHANGES === 'outbox' ? 'outbox' : 'trail';

export interface TestDatabaseOptions {
  readonly changes?: 'trail' | 'outbox';
  /** What it is a copy of, or what makes that. Default: the database that is migrated and empty. */
  readonly template?: string | (() => Promise<string>);
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
  });
  afterAll(async () => {
    if (!opened) return;
    await opened.database.close();
    await opened.testDatabase.drop();
  });
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
 * A migrated database, empty but for what its template has, for a test that starts the whole gateway on it,
 * or needs two. The caller drops it.
 */
export async function createTestDatabase({
  changes = CHANGES,
  template = emptyTemplate(),
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await copyDatabase(typeof template === 'string' ? template : await template(), name);
  if (changes === 'outbox') await tellByOutbox(name);
  return {
    url: urlOf(name),
    drop: async () => {
      const leftOpen = await onCoordinator((client) => findLeftOpen(client, name));
      await dropDatabase(name);
      if (leftOpen.length > 0) {
        throw new Error(`The test left connections open: ${leftOpen.join('; ')}`);
      }
    },
  };
}

/**
 * The name of a database for copies of it. The first test file of a run that asks for it fills it; the others
 * wait for that. It goes with the empty template, whose name it begins with.
 */
export async function createTemplate(
  name: string,
  fill: (databaseUrl: string) => Promise<void>,
): Promise<string> {
  const template = `${emptyTemplate()}_${name}`;
  await onCoordinator(async (client) => {
    // The connection ends with the work, and the lock with it.
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [template]);
    if ((await listDatabases(template)).includes(template)) return;
    const unfinished = await createTestDatabase();
    try {
      await fill(unfinished.url);
      const filled = new URL(unfinished.url).pathname.slice(1);
      await sealTemplate(filled);
      await renameDatabase(filled, template);
    } catch (error) {
      await unfinished.drop();
      throw error;
    }
  });
  return template;
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

function emptyTemplate(): string {
  return findTemplateUrl().pathname.slice(1);
}

function urlOf(database: string): string {
  return Object.assign(findTemplateUrl(), { pathname: database }).href;
}

function findTemplateUrl(): URL {
  const url = process.env[TEMPLATE_URL_VARIABLE];
  if (!url)
    throw new Error('There is no test server: run the tests by npm test, whose global setup starts it');
  return new URL(url);
}
