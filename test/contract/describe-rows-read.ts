/** The tests of the rows that writes read. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTemplate, createTestDatabase, type TestDatabase } from '../database.js';
import { fillSchool, KNOWLEDGE, learn, listWrites } from './every-write.js';
import { startGateway } from './gateway.js';
import { explainAll, statementsOf } from './rows-read.js';

const PLANS = ['custom', 'generic'] as const;

/**
 * Does every kind of write on a school of so many attendance records and many others, and compares the rows
 * that each statement reads with the records that the write is about.
 */
export function describeRowsRead(records: number): void {
  describe.each(KNOWLEDGE)('with statistics of %s', (knowledge) => {
    let database: TestDatabase;
    beforeAll(async () => {
      const template = await createTemplate(`rows_read_${records}`, (url) => fillSchool(url, records));
      database = await createTestDatabase({ template });
      await withClient(database.url, (sql) => learn(sql, knowledge));
    }, 1_800_000);
    afterAll(async () => {
      await database.drop();
    });

    it.each(PLANS)(
      'every write reads what it is about, by %s plans',
      async (plans) => {
        await withClient(database.url, (sql) => explainAll(sql, { plan_cache_mode: `force_${plans}_plan` }));
        const gateway = await startGateway(database.url);
        try {
          const tooMany: string[] = [];
          for (const write of listWrites(gateway, { records, mark: plans })) {
            const most = write.searchesAll ? 8 * records : 60 * write.records + 600;
            for (const { text, rows, plan } of await statementsOf(gateway, write.run)) {
              if (rows > most) tooMany.push(`${write.name}: ${rows} rows\n${text.slice(0, 1500)}\n${plan}`);
            }
          }
          expect(tooMany).toEqual([]);
        } finally {
          await gateway.close();
        }
      },
      600_000,
    );
  });
}

async function withClient(url: string, work: (sql: pg.Client) => Promise<void>): Promise<void> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
