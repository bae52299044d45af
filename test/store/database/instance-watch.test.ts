/** What a running gateway notices of its database: another clock, a newer version, other tables. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Database, openDatabase } from '../../../src/store/database/database.js';
import { type InstanceNews, InstanceWatch } from '../../../src/store/database/instance-watch.js';
import { listKnownMigrations } from '../../../src/store/database/migrations.js';
import { createTestDatabase, type TestDatabase } from '../../database.js';
import { expectEventually } from '../../expect-eventually.js';
import { dropDatabase } from '../../spread-databases.js';

let testDatabase: TestDatabase;
let database: Database;
let news: InstanceNews[] = [];
const observe = (one: InstanceNews) => void news.push(one);

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, poolSize: 3, statementTimeoutMs: 20_000 });
});
beforeEach(() => {
  news = [];
});
afterAll(async () => {
  await database.close();
  await dropDatabase(new URL(testDatabase.url).pathname.slice(1));
});

async function watch(now?: () => number): Promise<InstanceWatch> {
  return new InstanceWatch({
    ...{ database, observe, ...(now && { now }) },
    knownMigrations: await listKnownMigrations(),
  });
}

async function run(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

describe('the clock of a gateway', () => {
  it('is compared with that of the database, and reported once while they differ', async () => {
    let aheadMs = 5.5 * 3_600_000;
    const clock = await watch(() => Date.now() + aheadMs);
    expect(clock.clockOffsetSeconds).toBeUndefined();
    await clock.look();
    await clock.look();
    expect(clock.clockOffsetSeconds).toBeGreaterThan(19_790);
    expect(clock.clockOffsetSeconds).toBeLessThan(19_810);
    aheadMs = 0;
    await clock.look();
    expect(news).toEqual([
      { kind: 'clockDiffers', offsetSeconds: expect.any(Number) },
      { kind: 'clockAgrees', offsetSeconds: expect.any(Number) },
    ]);
    aheadMs = -60_000;
    await clock.look();
    expect(clock.clockOffsetSeconds).toBeLessThan(-50);
  });
});

describe('a newer version', () => {
  it('that migrates the database is reported once, with whether this one works beside it', async () => {
    const instance = await watch();
    await run(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values ('n', '', '9999_new', now())`,
    );
    await instance.look();
    await instance.look();
    expect(news).toEqual([{ kind: 'databaseUpgraded', migrations: ['9999_new'], isCompatible: false }]);
    await run(`delete from _prisma_migrations where id = 'n'`);
  });
});

describe('a database that is made anew', () => {
  it('under a running gateway is noticed by each new connection and by the next look', async () => {
    await database.pinInstance();
    const faults: string[] = [];
    database.instance.onReplaced(({ message }) => faults.push(message));
    const pool = database.openPool({
      size: 2,
      applicationName: 'campus-gateway jobs',
      statementTimeoutMs: 5_000,
    });
    try {
      await pool.query('select 1');
      await (await watch()).look();
      expect(faults).toEqual([]);
      // Jobs refer to tasks by numbers, which the new tables give to others.
      await run('drop schema campus_jobs cascade; drop table records cascade');
      await expect((await watch()).look()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await run(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      const message =
        /^The database was dropped and made anew while the gateway ran\. Start the gateway again/;
      await expectEventually(
        async () =>
          await pool.query('select 1').then(
            () => 'served',
            (error: Error) => (message.test(error.message) ? 'refused' : 'lost'),
          ),
        'refused',
      );
      expect(faults).toEqual([expect.stringMatching(message)]);
    } finally {
      await pool.end();
    }
  });
});
