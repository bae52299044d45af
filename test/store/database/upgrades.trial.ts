/** Databases of earlier versions are brought to what a new one is, to the last function. */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';
import { applyMigrations, listMigrations } from '../../../src/store/database/migrations.js';
import { createTestDatabase } from '../../database.js';
import { createShardedDatabase, dropDatabase, isTestedOnCitus } from '../../spread-databases.js';
import { TEMPLATE_URL_VARIABLE } from '../../test-server.js';
import { describeSchema } from './describe-schema.js';

const PRISMA = path.join(findPackageDirectory(), 'prisma');
const EARLIER_TEXTS = path.join(findPackageDirectory(), 'test/fixtures/earlier-migrations');

/** The migrations in the order in which versions brought them; `0005*`: as an earlier text. */
const VERSIONS: readonly (readonly string[])[] = [
  ['0001'],
  ['0001', '0002', '0003', '0004'],
  ['0001', '0002', '0003', '0004', '0006', '0009', '0010*'],
  ['0001', '0002', '0003', '0004', '0006', '0007', '0008', '0009', '0010*', '0011'],
  ['0001', '0002', '0003', '0004', '0006', '0007', '0008', '0009', '0010', '0011'],
  ['0001', '0002', '0003', '0004', '0005*', '0006', '0007', '0008', '0009', '0010*', '0011', '0012'],
  ['0001', '0002', '0003', '0004', '0005*', '0006', '0007', '0008', '0009', '0010', '0011', '0012'],
  ['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009', '0010', '0011', '0012'],
  ['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009', '0010', '0011', '0012', '0013'],
];
/** Its text of that time is for PostgreSQL 16 and later. */
const WITH_EARLIER_0013 = [
  ...[
    '0001',
    '0002',
    '0003',
    '0004',
    '0005*',
    '0006',
    '0007',
    '0008',
    '0009',
    '0010*',
    '0011',
    '0012',
    '0013*',
  ],
];

async function migrationNames(): Promise<string[]> {
  const entries = await readdir(path.join(PRISMA, 'migrations'), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return await work(client).finally(() => client.end());
}

async function withEmptyDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const testDatabase = await createTestDatabase();
  try {
    await withClient(testDatabase.url, (client) =>
      client.query('drop schema public cascade; create schema public'),
    );
    return await work(testDatabase.url);
  } finally {
    await testDatabase.drop();
  }
}

/** A prisma/ as an earlier version had it. */
async function withEarlierVersion<T>(
  version: readonly string[],
  work: (prismaDirectory: string) => Promise<T>,
): Promise<T> {
  const prismaDirectory = await mkdtemp(path.join(os.tmpdir(), 'campus-prisma-'));
  try {
    const names = await migrationNames();
    for (const entry of version) {
      const number = entry.slice(0, 4);
      const name = names.find((found) => found.startsWith(number)) ?? '';
      const target = path.join(prismaDirectory, 'migrations', name);
      await mkdir(target, { recursive: true });
      const source = entry.endsWith('*')
        ? path.join(EARLIER_TEXTS, `${name}.sql`)
        : path.join(PRISMA, 'migrations', name, 'migration.sql');
      await cp(source, path.join(target, 'migration.sql'));
    }
    return await work(prismaDirectory);
  } finally {
    await rm(prismaDirectory, { recursive: true });
  }
}

/** What a database of a version comes to when this version starts on it, and what is said of it. */
async function upgrade(version: readonly string[]) {
  return await withEmptyDatabase(async (url) => {
    await withEarlierVersion(version, (prismaDirectory) => applyMigrations({ url, prismaDirectory }));
    const notices: string[] = [];
    await applyMigrations({ url, onNotice: (line) => notices.push(line) });
    const again = await applyMigrations({ url, onNotice: (line) => notices.push(`again: ${line}`) });
    expect(again).toEqual([]);
    expect(await listMigrations({ url })).toMatchObject({ pending: [], failed: [], edited: [], unknown: [] });
    return { schema: await describeSchema(url), notices };
  });
}

const makeAnew = () =>
  withEmptyDatabase(async (url) => {
    await applyMigrations({ url });
    return await describeSchema(url);
  });

async function serverVersion(): Promise<number> {
  return await withEmptyDatabase((url) =>
    withClient(url, async (client) => {
      const { rows } = await client.query(`select current_setting('server_version_num')::int as number`);
      return rows[0].number;
    }),
  );
}

describe('a database of an earlier version', () => {
  it('comes to the same tables, indexes, triggers and functions as a new one', async () => {
    const anew = await makeAnew();
    expect(anew.length).toBeGreaterThan(100);
    const versions = (await serverVersion()) < 160_000 ? VERSIONS : [...VERSIONS, WITH_EARLIER_0013];
    for (const version of versions) {
      const { schema } = await upgrade(version);
      expect({ version, schema }).toEqual({ version, schema: anew });
    }
  });

  it('that an earlier text had made is told of once', async () => {
    const { notices } = await upgrade(
      VERSIONS.find((version) => version.includes('0005*') && version.includes('0010*')) ?? [],
    );
    expect(notices).toEqual([
      '0014_renew_functions renewed the functions that earlier texts of 0005_fee_months and ' +
        '0010_document_functions had made',
    ]);
  });

  it("that today's texts made is not told of", async () => {
    expect((await upgrade(VERSIONS.at(-1) ?? [])).notices).toEqual([]);
  });
});

describe('what the version before writes without its domain', () => {
  it('is given the domain of the file or import it is a part of', async () => {
    await withEmptyDatabase(async (url) => {
      await applyMigrations({ url });
      await withClient(url, async (client) => {
        const { rows } = await client.query(`
          with file as (
            insert into files (id, domain, name, content_type, state, storage, created_by)
            values (gen_random_uuid(), 'north', 'a', 'text/plain', 'ready', 'database', 'u') returning id
          )
          insert into imports (id, domain, collection, state, name, file_id, owns_file, source, principal,
            created_by)
          select gen_random_uuid(), 'south', 'pupils', 'running', 'a', id, false, '{}', '{}', 'u' from file
          returning id as import, file_id as file`);
        const { import: importId, file } = rows[0];
        await client.query(`insert into file_chunks (file_id, position, bytes) values ($1, 0, 'a')`, [file]);
        await client.query(`insert into import_seen (import_id, record_id) values ($1, 'r')`, [importId]);
        expect((await client.query('select domain from file_chunks')).rows).toEqual([{ domain: 'north' }]);
        expect((await client.query('select domain from import_seen')).rows).toEqual([{ domain: 'south' }]);
        await client.query('delete from files');
        expect((await client.query('select 1 from file_chunks')).rows).toEqual([]);
      });
    });
  });
});

describe('a database that was made by a text nobody knows', () => {
  it('is told of at every start', async () => {
    await withEmptyDatabase(async (url) => {
      await applyMigrations({ url });
      await withClient(url, (client) =>
        client.query(
          `update _prisma_migrations set checksum = 'another' where migration_name = '0003_receipt_series'`,
        ),
      );
      for (const _ of ['first', 'second']) {
        const notices: string[] = [];
        await applyMigrations({ url, onNotice: (line) => notices.push(line) });
        expect(notices).toEqual([
          expect.stringMatching(/^the migration 0003_receipt_series was applied with another text/),
        ]);
      }
      expect(await listMigrations({ url })).toMatchObject({ edited: ['0003_receipt_series'] });
    });
  });
});

describe('a migration that an earlier version left unfinished', () => {
  const begin = (url: string, fault: string | null) =>
    withClient(url, (client) =>
      client.query(
        `update _prisma_migrations set finished_at = null, applied_steps_count = 0, logs = $1
          where migration_name = '0013_attendance_months'`,
        [fault],
      ),
    );

  it('because PostgreSQL refused it is tried again', async () => {
    const all = VERSIONS.at(-1) ?? [];
    await withEmptyDatabase(async (url) => {
      await withEarlierVersion(all.slice(0, -1), (prismaDirectory) =>
        applyMigrations({ url, prismaDirectory }),
      );
      await withClient(url, (client) =>
        client.query(
          `insert into _prisma_migrations (id, checksum, migration_name, logs)
           values ('an attempt', '4a69459d', '0013_attendance_months', 'syntax error at or near "json"')`,
        ),
      );
      expect(await listMigrations({ url })).toMatchObject({ failed: ['0013_attendance_months'] });
      const fromThere = (await migrationNames()).filter((name) => name >= '0013_attendance_months');
      expect(await applyMigrations({ url })).toEqual(fromThere);
      expect(await describeSchema(url)).toEqual(await makeAnew());
      expect(await listMigrations({ url })).toMatchObject({ failed: [], pending: [], edited: [] });
    });
  });

  it('because it was killed after the script is taken for applied', async () => {
    await withEmptyDatabase(async (url) => {
      await applyMigrations({ url });
      await begin(url, null);
      expect(await applyMigrations({ url })).toEqual(['0013_attendance_months']);
      expect(await listMigrations({ url })).toMatchObject({ failed: [], pending: [] });
      expect(await describeSchema(url)).toEqual(await makeAnew());
    });
  });

  it('and whose tables somebody else has made is refused', async () => {
    await withEmptyDatabase(async (url) => {
      await applyMigrations({ url });
      await begin(url, 'out of memory');
      await expect(applyMigrations({ url })).rejects.toThrow(
        'The migration 0013_attendance_months failed: relation "attendance_months" already exists',
      );
    });
  });
});

const onCitus = isTestedOnCitus() ? describe : describe.skip;

onCitus('a spread database (skipped where TEST_DATABASE_URL names no coordinator of Citus)', () => {
  it('of the version before comes up with what is in it', async () => {
    const names = await migrationNames();
    const earlier = names.slice(0, -1).map((name) => name.slice(0, 4));
    const name = `test_upgrade_${process.pid}`;
    await createShardedDatabase(name);
    try {
      const url = Object.assign(new URL(process.env[TEMPLATE_URL_VARIABLE] ?? ''), { pathname: name }).href;
      await withEarlierVersion(earlier, (prismaDirectory) => applyMigrations({ url, prismaDirectory }));
      await withClient(url, async (client) => {
        const isSharded = `select logicalrelid::text as name from pg_dist_partition order by 1`;
        const { rows: spread } = await client.query(isSharded);
        expect(spread.length).toBeGreaterThan(0);
        const domains = Array.from({ length: 8 }, (_, index) => `domain-${index}`);
        await client.query(
          `insert into records (domain, collection, id, data)
           select d, 'bus', 'b', '{"is": "here"}' from unnest($1::text[]) d`,
          [domains],
        );
        expect(await applyMigrations({ url })).toEqual(names.slice(-1));
        expect(await applyMigrations({ url })).toEqual([]);
        expect((await client.query(isSharded)).rows).toEqual(expect.arrayContaining(spread));
        const { rows } = await client.query('select domain, data from records order by domain');
        expect(rows).toEqual(domains.map((domain) => ({ domain, data: { is: 'here' } })));
      });
    } finally {
      await dropDatabase(name);
    }
  });
});
