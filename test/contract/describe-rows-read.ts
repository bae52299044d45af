/** The tests of the rows that writes read. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTemplate, createTestDatabase, type TestDatabase } from '../database.js';
import { fillSchool, type Knowledge, learn, listWrites } from './every-write.js';
import { startGateway } from './gateway.js';
import { explainAll, statementsOf } from './rows-read.js';

/** What PostgreSQL knows of the tables, and the plans that it makes by it. */
export type PlanningCase = readonly [knowledge: Knowledge, plans: readonly ('custom' | 'generic')[]];

/**
 * Does every kind of write on a school of so many attendance records and many others, and compares the rows
 * that each statement reads with the records that the write is about.
 */
export function describeRowsRead(records: number, cases: readonly PlanningCase[]): void {
  describe.each(cases)('with statistics of %s', (knowledge, plans) => {
    let database: TestDatabase;
    beforeAll(async () => {
      const template = await createTemplate(`rows_read_${records}`, (url) => fillSchool(url, records));
      database = await createTestDatabase({ template });
      await withClient(database.url, (sql) => learn(sql, knowledge));
    }, 1_800_000);
    afterAll(async () => {
      await database.drop();
    });

    it.each(plans)(
      'every write reads what it is about, by %s plans',
      async (kind) => {
        await withClient(database.url, (sql) => explainAll(sql, { plan_cache_mode: `force_${kind}_plan` }));
        const gateway = await startGateway(database.url);
        try {
          const tooMany: string[] = [];
          for (const write of listWrites(gateway, { records, mark: kind })) {
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
