import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../database.js';
import { backUpTo, restoreFrom, useEmptyDatabases, useFolder, verify } from './backups.js';

const test = useTestDatabase();
const databases = useEmptyDatabases();
const folder = useFolder();

beforeAll(async () => {
  await test.database.pool.query(`
    insert into domains (id, name, parent_id)
      values ('school', 'School', null), ('north', 'North', 'school'), ('south', 'South', 'school');
    insert into properties (domain_id, name, value, updated_at)
      values ('school', 'timezone', '"Asia/Dubai"', now()), ('school', 'currency', '"AED"', now()),
        ('north', 'currency', '"INR"', now());
    insert into collections (name, definition, domain_id, updated_at)
      values ('club', '{"name": "club"}', 'school', now());
    insert into settings (name, value, updated_at) values ('tokenSecret', '"secret"', now());
    insert into records (domain, collection, id, data)
      select domain, 'note', n::text, jsonb_build_object('text', E'a\\tb\\\\c\\nd é 😀 north', 'n', n)
      from unnest(array['school', 'north', 'south']) domain, generate_series(1, 50) n;
    insert into audit_entries
        (domain, collection, record_id, operation, to_version, principal, credential, request_id)
      select domain, 'note', '1', 'created', 1, 'user:1', 'token:1', domain
      from unnest(array['school', 'north', 'south']) domain;
    insert into files (id, domain, name, content_type, state, storage, size, created_by)
      values (gen_random_uuid(), 'north', 'a', 'text/plain', 'ready', 'database', 3, 'usr'),
        (gen_random_uuid(), 'south', 'b', 'text/plain', 'ready', 'database', 3, 'usr'),
        (gen_random_uuid(), 'north', 'half', 'text/plain', 'uploading', 'database', 3, 'usr');
    insert into file_chunks (file_id, domain, position, bytes) select id, domain, 0, 'abc' from files;`);
});

async function restored(domain: string, into?: string): Promise<pg.Client> {
  const file = folder.file(`${domain}-${into}.campus`);
  await backUpTo(file, { url: test.url, domain });
  const { url } = await databases.create();
  await restoreFrom(file, { url, into });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function rowsOf(client: pg.Client, statement: string): Promise<unknown[]> {
  return (await client.query({ text: statement, rowMode: 'array' })).rows;
}

describe('the backup of a domain', () => {
  it('holds a branch alone, with what it has from its parent and nothing of others', async () => {
    const client = await restored('north');
    try {
      expect(await rowsOf(client, 'select id, name, parent_id from domains')).toEqual([
        ['north', 'North', null],
      ]);
      expect(await rowsOf(client, 'select domain_id, name, value from properties order by name')).toEqual([
        ['north', 'currency', 'INR'],
        ['north', 'timezone', 'Asia/Dubai'],
      ]);
      expect(await rowsOf(client, 'select domain, count(*)::int from records group by 1')).toEqual([
        ['north', 50],
      ]);
      expect(await rowsOf(client, 'select domain, name from files')).toEqual([['north', 'a']]);
      expect(await rowsOf(client, 'select name, domain_id from collections')).toEqual([['club', 'north']]);
      expect(await rowsOf(client, 'select bytes::text from file_chunks')).toEqual([['\\x616263']]);
      expect(await rowsOf(client, 'select domain from audit_entries')).toEqual([['north']]);
      expect(
        await rowsOf(client, `select name from settings where name not in ('unfinishedRestore', 'channels')`),
      ).toEqual([]);
    } finally {
      await client.end();
    }
  });

  it('holds the branches of the top domain', async () => {
    const client = await restored('school');
    try {
      expect(await rowsOf(client, 'select id, parent_id from domains order by id')).toEqual([
        ['north', 'school'],
        ['school', null],
        ['south', 'school'],
      ]);
    } finally {
      await client.end();
    }
  });

  it('may get another name, and its records stay as they were to the byte', async () => {
    const client = await restored('school', 'academy');
    try {
      expect(await rowsOf(client, 'select id, parent_id from domains order by id')).toEqual([
        ['academy', null],
        ['north', 'academy'],
        ['south', 'academy'],
      ]);
      const print = (domain: string) =>
        `select md5(string_agg(id || data || version || created_at, '' order by id)) from records
         where domain = '${domain}'`;
      const { rows } = await test.database.pool.query({ text: print('school'), rowMode: 'array' });
      expect(await rowsOf(client, print('academy'))).toEqual(rows);
      expect(await rowsOf(client, `select count(*)::int from records where domain = 'school'`)).toEqual([
        [0],
      ]);
    } finally {
      await client.end();
    }
  });

  it('is refused for a domain that is not there', async () => {
    const file = folder.file('none.campus');
    await expect(backUpTo(file, { url: test.url, domain: 'nowhere' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(verify(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is not restored under a name that is none, or that a branch of it has', async () => {
    const file = folder.file('refused.campus');
    await backUpTo(file, { url: test.url, domain: 'school' });
    const { url } = await databases.create();
    await expect(restoreFrom(file, { url, into: 'a b' })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(restoreFrom(file, { url, into: 'north' })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
