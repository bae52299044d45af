/** The values of changes go in time; that they were made stays. */
import { beforeEach, expect, it } from '@jest/globals';
import { sql } from '../../../src/store/sql.js';
import { ADMIN } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();
const LONG_AGO = new Date(0);

beforeEach(async () => {
  await test.database.pool.query('delete from records; delete from audit_entries; delete from properties');
  await test.database.pool.query(
    `insert into domains (id, name, parent_id) values ('school', 'S', null), ('branch', 'B', 'school')
     on conflict (id) do nothing`,
  );
  await test.store.create(ADMIN, 'note', [{ _id: 'n-1', text: 'one' }]);
  for (const text of ['two', 'three']) {
    await test.store.update(ADMIN, 'note', 'n-1', { data: { text }, mode: 'merge' });
  }
  await test.database.query(
    sql`update audit_entries set at = now() - interval '40 days' where to_version = 2`,
  );
});

async function keep(domain: string, days: string): Promise<void> {
  await test.database.query(sql`
    insert into properties (domain_id, name, value, is_secret, updated_at)
    values (${domain}, 'KEEP_HISTORY_DAYS', ${days}::jsonb, false, now())`);
}

async function texts(): Promise<unknown[]> {
  const { rows: versions } = await test.store.history(ADMIN, 'note', { id: 'n-1', limit: 9 });
  return versions.map(({ changes }) => changes?.find(({ path }) => path === 'text')?.after);
}

it('keeps everything where nothing is said', async () => {
  expect(await test.store.purge(ADMIN, { removedBefore: LONG_AGO })).toMatchObject({ historyValues: 0 });
  expect(await texts()).toEqual(['three', 'two', 'one']);
});

it('takes the values that are older than the domain keeps them, and not the fact', async () => {
  await keep('school', '30');
  expect(await test.store.purge(ADMIN, { removedBefore: LONG_AGO })).toMatchObject({ historyValues: 1 });
  expect(await texts()).toEqual(['three', undefined, undefined]);
  await expect(test.store.getPast(ADMIN, 'note', 'n-1', { version: 1 })).rejects.toMatchObject({
    code: 'GONE',
  });
});

it.each([
  ['that it keeps long enough', 'school', '50'],
  ['of another domain than says so', 'branch', '30'],
  ['where what is said is no number', 'school', '"30"'],
])('leaves values %s', async (_what, domain, days) => {
  await keep(domain, days);
  await test.store.purge(ADMIN, { removedBefore: LONG_AGO });
  expect(await texts()).toEqual(['three', 'two', 'one']);
});

it('takes the values of a removed record with it', async () => {
  await test.store.delete(ADMIN, 'note', 'n-1');
  await test.store.purge(ADMIN, { removedBefore: new Date(Date.now() + 1000) });
  const entries = await test.database.query<{ before: unknown }>(
    sql`select before from audit_entries where record_id = 'n-1'`,
  );
  expect(entries.map(({ before }) => before)).toEqual([null, null, null, null]);
});
