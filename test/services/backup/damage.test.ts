import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { useTestDatabase } from '../../database.js';
import { backUpTo, restoreFrom, useEmptyDatabases, useFolder, verify } from './backups.js';

const test = useTestDatabase();
const databases = useEmptyDatabases();
const folder = useFolder();
let whole: Buffer;

beforeAll(async () => {
  await test.database.pool.query(`insert into domains (id, name) values ('school', 'School')`);
  await test.database.pool.query(
    `insert into records (domain, collection, id, data)
     select 'school', 'note', n::text, jsonb_build_object('text', md5(n::text))
     from generate_series(1, 200) n`,
  );
  const file = folder.file('whole.campus');
  await backUpTo(file, { url: test.url });
  whole = await readFile(file);
});

async function expectDamaged(bytes: Buffer): Promise<void> {
  const file = folder.file('damaged.campus');
  await writeFile(file, bytes);
  await expect(verify(file)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
}

describe('a backup', () => {
  it('is whole as it was written', async () => {
    const manifest = await verify(folder.file('whole.campus'));
    const records = manifest.tables.filter(({ name }) => name === 'records');
    expect(records.map(({ rows }) => rows)).toEqual([200]);
  });

  it('is refused with any byte changed', async () => {
    const changed = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(changed, async ([at, bits]) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ bits;
        await expectDamaged(bytes);
      }),
      { numRuns: 300 },
    );
  });

  it('is refused when it ends early, or goes on', async () => {
    const length = fc.nat({ max: whole.length + 2_000 }).filter((one) => one !== whole.length);
    await fc.assert(
      fc.asyncProperty(length, async (bytes) => {
        await expectDamaged(Buffer.concat([whole, Buffer.alloc(2_000)]).subarray(0, bytes));
      }),
      { numRuns: 100 },
    );
  });

  it('is refused with a stretch of it in another place', async () => {
    const places = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: whole.length - 1 }));
    await fc.assert(
      fc.asyncProperty(places, async ([from, to]) => {
        const bytes = Buffer.from(whole);
        whole.copy(bytes, to, from, from + 512);
        if (!bytes.equals(whole)) await expectDamaged(bytes);
      }),
      { numRuns: 100 },
    );
  });

  it('writes nothing when it is damaged', async () => {
    const { url } = await databases.create();
    const file = folder.file('damaged.campus');
    await writeFile(file, whole.subarray(0, -1));
    await expect(restoreFrom(file, { url })).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    expect((await client.query('select from domains')).rowCount).toBe(0);
    await client.end();
  });
});
