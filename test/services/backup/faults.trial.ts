import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Bucket } from '../../../src/services/files/blob-store.js';
import { S3Blobs } from '../../../src/services/files/s3-blobs.js';
import {
  applyMigrations,
  applyNamedMigrations,
  listKnownMigrations,
} from '../../../src/store/database/migrations.js';
import { campus, startCampus, startShell } from '../../cli/campus.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { expectEventually } from '../../expect-eventually.js';
import { findSchemaDrift } from '../../store/database/schema-drift.js';
import { startS3Server } from '../files/s3-server.js';
import { backUpTo, restoreFrom, useEmptyDatabases, useFolder, verify } from './backups.js';

const RECORDS = 120_000;

const test = useTestDatabase();
const databases = useEmptyDatabases();
const folder = useFolder();

beforeAll(async () => {
  await test.database.pool.query(`
    insert into domains (id, name) values ('school', 'School');
    insert into records (domain, collection, id, data)
      select 'school', 'note', n::text, jsonb_build_object('text', md5(n::text) || md5((-n)::text))
      from generate_series(1, ${RECORDS}) n`);
});

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function namesLike(file: string): Promise<readonly string[]> {
  const names = await readdir(path.dirname(file));
  return names.filter((name) => name.startsWith(path.basename(file)));
}

async function countRecords(url: string): Promise<number> {
  const [row] = await query<{ count: number }>(url, 'select count(*)::int as count from records');
  return row?.count ?? -1;
}

describe('a backup', () => {
  it('is of one moment, whatever is written meanwhile', async () => {
    const { url } = await databases.create();
    await query(
      url,
      `insert into domains (id, name) values ('school', 'School');
       insert into records (domain, collection, id, data)
         select 'school', kind, n::text, '{"n": 1000}'
         from unnest(array['debit', 'credit']) kind, generate_series(1, 2000) n`,
    );
    const stopping = new AbortController();
    const writing = (async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (let n = 0; !stopping.signal.aborted; n++) {
        // What one has less, the other has more; and both sides grow by one record.
        await client.query(`
          begin;
          update records
            set data = jsonb_set(data, '{n}', ((data->>'n')::int - 1)::text::jsonb), version = version + 1
            where domain = 'school' and collection = 'debit' and id = '${1 + (n % 2000)}';
          update records
            set data = jsonb_set(data, '{n}', ((data->>'n')::int + 1)::text::jsonb), version = version + 1
            where domain = 'school' and collection = 'credit' and id = '${1 + (n % 2000)}';
          insert into records (domain, collection, id, data)
            values ('school', 'debit', 'new-${n}', '{"n": 0}'), ('school', 'credit', 'new-${n}', '{"n": 0}');
          commit`);
      }
      await client.end();
    })();
    const file = folder.file('busy.campus');
    await eventually(async () => (await countRecords(url)) > 4_100);
    await backUpTo(file, { url });
    stopping.abort();
    await writing;
    const { url: copy } = await databases.create();
    await restoreFrom(file, { url: copy });
    const [sums] = await query<{ sum: number; debits: number; credits: number }>(
      copy,
      `select sum((data->>'n')::int)::int as sum,
         count(*) filter (where collection = 'debit')::int as debits,
         count(*) filter (where collection = 'credit')::int as credits
       from records`,
    );
    expect(sums?.sum).toBe(4_000_000);
    expect(sums?.debits).toBe(sums?.credits);
    expect(sums?.debits).toBeGreaterThan(2_000);
  });

  it('may be read by its owner alone, and overwrites nothing', async () => {
    const file = folder.file('own.campus');
    await backUpTo(file, { url: test.url });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file);
    await expect(backUpTo(file, { url: test.url })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('has no file under its name when it was killed', async () => {
    const file = folder.file('killed.campus');
    const child = startCampus(['backup', file], { DATABASE_URL: test.url });
    await eventually(async () => (await namesLike(file)).length > 0 || child.exitCode !== null);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    const names = await namesLike(file);
    // Quicker than the kill, it is there as a whole.
    if (names.includes('killed.campus')) await verify(file);
    else expect(names).toEqual([expect.stringMatching(/^killed\.campus\..+-\d+\.partial$/)]);
    if (names.includes('killed.campus')) return;
    // The next one removes what the killed one has left.
    await backUpTo(file, { url: test.url });
    expect(await namesLike(file)).toEqual(['killed.campus']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing when it is stopped by %s', async (signal, exitCode) => {
    const file = folder.file(`stopped-${signal}.campus`);
    const child = startCampus(['backup', file], { DATABASE_URL: test.url });
    await eventually(async () => (await namesLike(file)).length > 0 || child.exitCode !== null);
    child.kill(signal);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code === 0) await verify(file);
    else expect({ code, names: await namesLike(file) }).toEqual({ code: exitCode, names: [] });
  });

  it('leaves nothing where there is no room for it', async () => {
    const file = folder.file('full.campus');
    const child = startShell(`ulimit -f 64; exec "$0" "$1" backup ${file}`, { DATABASE_URL: test.url });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect({ code, names: await namesLike(file) }).toEqual({ code: 1, names: [] });
  });

  it('leaves nothing when the database goes away', async () => {
    const file = folder.file('lost.campus');
    let isCut = false;
    const cut = async () => {
      isCut = true;
      await query(
        test.url,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'campus backup'`,
      );
    };
    const onProgress = () => {
      if (!isCut) void cut();
    };
    const making = backUpTo(file, { url: test.url, readers: 1, onProgress });
    await expect(making).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await namesLike(file)).toEqual([]);
  });

  it('takes along the files of a bucket, to a bucket or into the database', async () => {
    const s3 = await startS3Server();
    const bucket = await S3Blobs.open({ url: s3.url, region: 'x', accessKeyId: 'k', secretAccessKey: 's' });
    try {
      const id = '00000000-0000-4000-8000-000000000001';
      const content = Buffer.alloc(700_000, 'campus ');
      const { url } = await databases.create();
      await query(
        url,
        `insert into domains (id, name) values ('school', 'School');
         insert into files (id, domain, name, content_type, state, storage, size, created_by)
           values ('${id}', 'school', 'a', 'text/plain', 'ready', 's3', ${content.length}, 'usr')`,
      );
      s3.objects.set(id, content);
      const file = folder.file('bucket.campus');
      await expect(backUpTo(file, { url })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await backUpTo(file, { url, bucket });
      s3.objects.clear();

      const { url: kept } = await databases.create();
      await restoreFrom(file, { url: kept, bucket });
      expect(s3.objects.get(id)?.equals(content)).toBe(true);

      const { url: moved } = await databases.create();
      await restoreFrom(file, { url: moved });
      const [row] = await query<{ storage: string; bytes: Buffer }>(
        moved,
        `select storage, (select string_agg(bytes, '' order by position) from file_chunks) as bytes
         from files`,
      );
      expect(row?.storage).toBe('database');
      expect(row?.bytes.equals(content)).toBe(true);
    } finally {
      await bucket.close();
      await s3.close();
    }
  });
});

describe('a file of a bucket that is removed while the backup is made', () => {
  it('is not in it', async () => {
    const s3 = await startS3Server();
    const bucket = await S3Blobs.open({ url: s3.url, region: 'x', accessKeyId: 'k', secretAccessKey: 's' });
    try {
      const id = '00000000-0000-4000-8000-000000000001';
      const { url } = await databases.create();
      await query(
        url,
        `insert into domains (id, name) values ('school', 'School');
         insert into files (id, domain, name, content_type, state, storage, size, created_by)
           values ('${id}', 'school', 'a', 'text/plain', 'ready', 's3', 3, 'usr')`,
      );
      const removing: typeof bucket.read = (...asked) =>
        Readable.from(
          (async function* () {
            await query(url, 'delete from files');
            yield* bucket.read(...asked);
          })(),
        );
      const file = folder.file('removed.campus');
      await backUpTo(file, { url, bucket: { ...bucketOf(bucket), read: removing } });
      const { url: copy } = await databases.create();
      await restoreFrom(file, { url: copy, bucket });
      expect(await query(copy, 'select id from files')).toEqual([]);
      // One that is still wanted is missed.
      await query(
        url,
        `insert into files (id, domain, name, content_type, state, storage, size, created_by)
        values ('${id}', 'school', 'a', 'text/plain', 'ready', 's3', 3, 'usr')`,
      );
      await expect(backUpTo(folder.file('missed.campus'), { url, bucket })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
    } finally {
      await bucket.close();
      await s3.close();
    }
  });
});

function bucketOf(bucket: S3Blobs): Bucket {
  return {
    kind: bucket.kind,
    write: (...asked) => bucket.write(...asked),
    read: (...asked) => bucket.read(...asked),
    delete: (key) => bucket.delete(key),
    endWrites: (prefix) => bucket.endWrites(prefix),
    close: () => bucket.close(),
  };
}

describe('a restore', () => {
  const file = () => folder.file('whole.campus');

  beforeAll(async () => {
    await backUpTo(file(), { url: test.url });
  });

  it('that is killed leaves the database as it was, and is run again', async () => {
    const { url } = await databases.create();
    const child = startCampus(['restore', file()], { DATABASE_URL: url });
    const copying = `select pid from pg_stat_activity
      where datname = current_database() and application_name = 'campus restore' and query ilike 'copy%'`;
    await eventually(async () => (await query(url, copying)).length > 0 || child.exitCode !== null);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    await expectEventually(async () => (await query(url, copying)).length, 0);
    const left = await countRecords(url);
    expect([0, RECORDS]).toContain(left);
    if (left > 0) return;
    const { code, output } = await campus(['restore', file(), '--json'], {
      environment: { DATABASE_URL: url },
    });
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ rows: expect.any(Number), migration: expect.any(String) });
    expect(await countRecords(url)).toBe(RECORDS);
  });

  it.each([
    ['SIGKILL', null, /^$/],
    ['SIGINT', 130, /stopped by SIGINT; all rows are there; run it again, or start the gateway, to finish/],
    ['SIGTERM', 143, /stopped by SIGTERM; all rows are there; run it again/],
  ] as const)(
    'that meets %s after its commit is continued by the same command',
    async (signal, code, said) => {
      const { url } = await databases.create();
      const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
      // The statistics take minutes.
      await query(url, `alter database ${name} set vacuum_cost_delay = '20ms'`);
      await query(url, `alter database ${name} set vacuum_cost_limit = 1`);
      const child = startCampus(['restore', file()], { DATABASE_URL: url });
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errors += text;
      });
      const closed = new Promise((resolve) => child.once('close', resolve));
      await eventually(async () => errors.includes('collecting statistics'), 60_000);
      child.kill(signal);
      expect(await closed).toBe(code);
      expect(errors.split('collecting statistics\n')[1]).toMatch(said);
      const analyzing = `select 1 from pg_stat_activity
        where datname = current_database() and query = 'analyze'`;
      await expectEventually(async () => (await query(url, analyzing)).length, 0);
      await query(url, `alter database ${name} reset all`);
      const again = await campus(['restore', file()], { environment: { DATABASE_URL: url } });
      expect(again).toMatchObject({
        code: 0,
        errors: expect.stringContaining('all rows are there; continuing a restore that was interrupted'),
      });
      expect(await countRecords(url)).toBe(RECORDS);
      expect(await query(url, `select 1 from settings where name = 'unfinishedRestore'`)).toEqual([]);
    },
  );

  it('gathers statistics for longer than a statement of the gateway may take', async () => {
    const { url } = await databases.create();
    const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
    // The thousands of pages of the notes take more than the five seconds.
    await query(url, `alter database ${name} set vacuum_cost_delay = '2ms'`);
    await query(url, `alter database ${name} set vacuum_cost_limit = 1`);
    const environment = { DATABASE_URL: url, STATEMENT_TIMEOUT_MS: '5000' };
    const { code, errors } = await campus(['restore', file(), '--json'], { environment });
    expect({ code, errors }).toEqual({ code: 0, errors: expect.not.stringContaining('timeout') });
    expect(await query(url, `select 1 from pg_stats where tablename like 'records%' limit 1`)).toHaveLength(
      1,
    );
  });

  it('that is stopped leaves the database as it was', async () => {
    const { url } = await databases.create();
    const stopping = new AbortController();
    const reason = new Error('stopped');
    const onProgress = () => stopping.abort(reason);
    await expect(restoreFrom(file(), { url, signal: stopping.signal, onProgress })).rejects.toBe(reason);
    expect(await countRecords(url)).toBe(0);
  });

  it('is refused where there is something already, and changes nothing', async () => {
    const { url } = await databases.create();
    await query(url, `insert into domains (id, name) values ('other', 'Other')`);
    await expect(restoreFrom(file(), { url })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('not empty'),
    });
    expect(await query(url, 'select id from domains')).toEqual([{ id: 'other' }]);
  });

  it('is refused in a database of somebody else', async () => {
    const { url } = await databases.create();
    await query(url, 'drop schema public cascade; create schema public; create table theirs (id int)');
    await expect(restoreFrom(file(), { url })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await query(url, `select to_regclass('theirs')::text as name`)).toEqual([{ name: 'theirs' }]);
  });

  it('is refused while a gateway works on the database', async () => {
    const { url } = await databases.create();
    const gateway = new pg.Client({ connectionString: url, application_name: 'campus-gateway' });
    await gateway.connect();
    await expect(restoreFrom(file(), { url })).rejects.toMatchObject({ code: 'CONFLICT' });
    await gateway.end();
  });

  it('is only tried where that is asked for', async () => {
    const { url } = await databases.create();
    await restoreFrom(file(), { url, mode: 'try' });
    expect(await countRecords(url)).toBe(0);
  });

  it('is refused by an older version than the one that made the backup', async () => {
    const { url } = await databases.create();
    await query(
      url,
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at)
       values ('x', 'x', '9999_of_the_future', now())`,
    );
    const newer = folder.file('newer.campus');
    await backUpTo(newer, { url });
    const { url: target } = await databases.create();
    await expect(restoreFrom(newer, { url: target })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('9999_of_the_future'),
    });
  });

  it.each([7, 12])('brings a backup of %i migrations to the tables of this version', async (count) => {
    const names = (await listKnownMigrations()).slice(0, count);
    const { url: old } = await databases.create();
    const client = new pg.Client({ connectionString: old });
    await client.connect();
    await client.query('drop schema public cascade; create schema public; begin');
    await applyNamedMigrations(client, names);
    await client.query(`insert into domains (id, name) values ('school', 'School');
      insert into records (domain, collection, id, data) values ('school', 'note', '1', '{"n": 1.50}');
      insert into audit_entries
        (domain, collection, record_id, operation, to_version, principal, credential, request_id)
        values ('school', 'note', '1', 'created', 1, 'user:1', 'token:1', 'r');
      commit`);
    await client.end();
    const older = folder.file(`older-${count}.campus`);
    const manifest = await backUpTo(older, { url: old });
    expect(manifest.migrations).toEqual(names);

    const { url } = await databases.create();
    await restoreFrom(older, { url });
    await applyMigrations({ url });
    expect(await findSchemaDrift({ url })).toBeUndefined();
    expect(await query(url, 'select data::text from records')).toEqual([{ data: '{"n": 1.50}' }]);
    const [next] = await query<{ id: string }>(
      url,
      `insert into audit_entries
        (domain, collection, record_id, operation, to_version, principal, credential, request_id)
       values ('school', 'note', '1', 'updated', 2, 'user:1', 'token:1', 'r') returning id`,
    );
    expect(next?.id).toBe('2');
  });
});
