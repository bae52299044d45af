import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { findPackageDirectory } from '../../../src/base/process/package-directory.js';
import { openServices } from '../../../src/gateway/compose/services.js';
import { parseConfig } from '../../../src/gateway/config/config.js';
import {
  applyMigrations,
  listKnownMigrations,
  listMigrations,
  readCompatibleFrom,
} from '../../../src/store/database/migrations.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { createTestDatabase, useTestDatabase } from '../../database.js';
import { createShardedDatabase, dropDatabase, isTestedOnCitus } from '../../spread-databases.js';
import { findSchemaDrift } from './schema-drift.js';

const test = useTestDatabase();
/** Keys and sequences are others on Citus than schema.prisma says: the domain must be in each key. */
const onOneServer = isTestedOnCitus() ? it.skip : it;

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** An empty database: the migrations have not been applied to it. */
async function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await createShardedDatabase(name);
  try {
    await work(Object.assign(new URL(test.url), { pathname: name }).href);
  } finally {
    await dropDatabase(name);
  }
}

/** A copy of prisma/ with one more migration. */
async function withMigration(
  sql: string,
  work: (prismaDirectory: string) => Promise<void>,
  compatibleFrom?: string,
): Promise<void> {
  const prismaDirectory = await mkdtemp(path.join(os.tmpdir(), 'campus-prisma-'));
  try {
    await cp(path.join(findPackageDirectory(), 'prisma'), prismaDirectory, { recursive: true });
    await mkdir(path.join(prismaDirectory, 'migrations', '9999_test'));
    await writeFile(path.join(prismaDirectory, 'migrations', '9999_test', 'migration.sql'), sql);
    if (compatibleFrom !== undefined)
      await writeFile(path.join(prismaDirectory, 'compatible-from.txt'), compatibleFrom);
    await work(prismaDirectory);
  } finally {
    await rm(prismaDirectory, { recursive: true });
  }
}

describe('migrations', () => {
  it('are applied once when several gateways start at once', async () => {
    await withEmptyDatabase(async (url) => {
      const { pending } = await listMigrations({ url });
      expect(pending[0]).toBe('0001_initial');
      const applied = await Promise.all([
        applyMigrations({ url }),
        applyMigrations({ url }),
        applyMigrations({ url }),
      ]);
      expect(applied.map((names) => names.length).sort()).toEqual([0, 0, pending.length]);
      await expect(listMigrations({ url })).resolves.toEqual({
        applied: pending,
        pending: [],
        failed: [],
        edited: [],
        unknown: [],
      });
    });
  });

  onOneServer('agree with schema.prisma, partitions at run time or not', async () => {
    await expect(findSchemaDrift({ url: test.url })).resolves.toBeUndefined();
    await ensurePartition(test.database, { name: 'task', fields: [], indexes: [], uniqueTogether: [] });
    await expect(findSchemaDrift({ url: test.url })).resolves.toBeUndefined();
  });

  it('are found to differ from schema.prisma when they do', async () => {
    const testDatabase = await createTestDatabase();
    await run(
      testDatabase.url,
      'alter table sessions drop column revoked_at; create table stray (id int primary key)',
    );
    const drift = await findSchemaDrift({ url: testDatabase.url });
    await testDatabase.drop();
    expect(drift).toContain('ADD COLUMN     "revoked_at"');
    expect(drift).toContain('DROP TABLE "stray"');
  });

  it('may hold functions whose bodies hold semicolons', async () => {
    const sql = `create function three() returns int language plpgsql as $$ begin perform 1; return 3; end; $$;`;
    await withMigration(sql, async (prismaDirectory) => {
      await withEmptyDatabase(async (url) => {
        await expect(applyMigrations({ url, prismaDirectory })).resolves.toContain('9999_test');
        await run(url, 'select three()');
        await expect(listMigrations({ url })).resolves.toMatchObject({ unknown: ['9999_test'] });
      });
    });
  });

  it('of the next version let this one start, which says so', async () => {
    await withMigration('select 1;', async (prismaDirectory) => {
      await withEmptyDatabase(async (url) => {
        await applyMigrations({ url, prismaDirectory });
        const lines: string[] = [];
        await expect(applyMigrations({ url, onNotice: (line) => lines.push(line) })).resolves.toEqual([]);
        expect(lines).toContainEqual(
          expect.stringMatching(/^a newer version .* \(9999_test\); this one works on it$/),
        );
        // The note of the newer version stays.
        await applyMigrations({ url });
      });
    });
  });

  const refusal = {
    code: 'CONFLICT',
    message: expect.stringMatching(
      /^A newer version .* migrated the database \(9999_test\), and version \S+ does not work on it\./,
    ),
  };

  it('of a version that this one does not work beside keep it from starting', async () => {
    const work = async (prismaDirectory: string) => {
      await withEmptyDatabase(async (url) => {
        await applyMigrations({ url });
        await applyMigrations({ url, prismaDirectory });
        await expect(applyMigrations({ url })).rejects.toMatchObject(refusal);
      });
    };
    await withMigration('select 1;', work, '9999_test');
  });

  it('that nothing says to be compatible keep this version from starting', async () => {
    await withEmptyDatabase(async (url) => {
      await applyMigrations({ url });
      await run(
        url,
        `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
         values ('n', '', '9999_test', now())`,
      );
      await expect(applyMigrations({ url })).rejects.toMatchObject(refusal);
    });
  });

  it('name one that versions must know to work beside this one', async () => {
    const oldest = await readCompatibleFrom(path.join(findPackageDirectory(), 'prisma'));
    expect(await listKnownMigrations()).toContain(oldest);
  });

  it('that fail say why, leave nothing behind and are tried again', async () => {
    await withEmptyDatabase(async (url) => {
      await withMigration('create table half (id int); select nonsense;', async (prismaDirectory) => {
        for (const _ of ['first', 'second']) {
          await expect(applyMigrations({ url, prismaDirectory })).rejects.toThrow(
            /^The migration 9999_test failed: column "nonsense" does not exist$/,
          );
        }
        await expect(listMigrations({ url, prismaDirectory })).resolves.toMatchObject({
          failed: [],
          pending: ['9999_test'],
        });
      });
      await withMigration('create table half (id int);', async (prismaDirectory) => {
        await expect(applyMigrations({ url, prismaDirectory })).resolves.toEqual(['9999_test']);
      });
    });
  });

  it('that fail for want of room are no fault of ours', async () => {
    const full = `do $$ begin raise 'No space left' using errcode = 'disk_full'; end $$;`;
    await withEmptyDatabase(async (url) => {
      await withMigration(full, async (prismaDirectory) => {
        await expect(applyMigrations({ url, prismaDirectory })).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: 'The migration 9999_test failed: No space left; the next start tries it again',
        });
      });
    });
  });

  it('are one transaction with their note: a note that cannot be written leaves no table', async () => {
    await withMigration('create table half (id int);', async (prismaDirectory) => {
      await withEmptyDatabase(async (url) => {
        await applyMigrations({ url });
        await run(url, 'alter table _prisma_migrations add check (migration_name < $$9999$$)');
        await expect(applyMigrations({ url, prismaDirectory })).rejects.toThrow(/violates check constraint/);
        await run(url, 'create table half (id int)');
      });
    });
  });

  it('are not applied to a database that holds the tables of another program', async () => {
    await withEmptyDatabase(async (url) => {
      await run(url, 'create table invoices (id int)');
      await expect(applyMigrations({ url })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/holds tables that are not the gateway's \(invoices\)/),
      });
    });
  });

  it('are not begun on a PostgreSQL that is too old, which is said in one line', async () => {
    await withEmptyDatabase(async (url) => {
      const name = pg.escapeIdentifier(path.basename(new URL(url).pathname));
      // A server that says it is PostgreSQL 14: what is asked of it is answered by a function of ours.
      await run(
        url,
        `create schema older;
         create function older.current_setting(name text) returns text language sql
         as $$ select case name when 'server_version_num' then '140012'
           when 'server_version' then '14.12' end $$;
         alter database ${name} set search_path = older, pg_catalog, public`,
      );
      const config = parseConfig({ DATABASE_URL: url });
      await expect(openServices({ config, onFault: () => undefined })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/^The database at .* is PostgreSQL 14\.12; 15 or newer is needed\.$/),
      });
      const { pending } = await listMigrations({ url });
      expect(pending[0]).toBe('0001_initial');
    });
  });

  it('say in one line that the user of the database may make no tables', async () => {
    await withEmptyDatabase(async (url) => {
      const user = `nobody_${path.basename(new URL(url).pathname)}`;
      await run(
        url,
        `create role "${user}" login password 'secret'; grant usage on schema public to "${user}"`,
      );
      try {
        const asNobody = Object.assign(new URL(url), { username: user, password: 'secret' }).href;
        await expect(applyMigrations({ url: asNobody })).rejects.toMatchObject({
          code: 'UNAVAILABLE',
          message: expect.stringMatching(/^.*permission denied for schema public.*owner.*$/),
        });
      } finally {
        await run(url, `drop owned by "${user}"; drop role "${user}"`);
      }
    });
  });

  it('make to_number exact, and null of what is none', async () => {
    const { sql } = await import('../../../src/store/sql.js');
    await expect(
      test.database.query(sql`
        select to_number('0.10000000000000000001') as exact, to_number('"N/A"') as text,
          to_number(null) as missing`),
    ).resolves.toEqual([{ exact: '0.10000000000000000001', text: null, missing: null }]);
  });
});
