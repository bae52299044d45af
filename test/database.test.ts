import { expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from './database.js';

it('fails a test that leaves a connection open', async () => {
  const testDatabase = await createTestDatabase();
  const client = new pg.Client({ connectionString: testDatabase.url, application_name: 'forgotten' });
  client.on('error', () => {});
  await client.connect();
  await client.query('select 1 as left_open');
  await expect(testDatabase.drop()).rejects.toThrow(
    'The test left connections open: forgotten (idle): select 1 as left_open',
  );
});

it('gives each its own database', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  expect(first.url).not.toBe(second.url);
  await Promise.all([first.drop(), second.drop()]);
});
