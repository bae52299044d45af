import { beforeAll, describe, expect, it } from '@jest/globals';
import { readPlan } from '../../../src/store/database/statement-plan.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { type HeldReference, selectDead } from '../../../src/store/writing/references.js';
import { ADMIN } from '../people.js';
import { useTestStore } from '../store.js';

const test = useTestStore();

beforeAll(async () => {
  await test.database.query(sql`
    insert into records (domain, collection, id, data)
    select ${ADMIN.domain.id}, collection, 'r-' || i, '{}'
    from generate_series(1, 400) i, unnest(${['student', 'note']}::text[]) as collection`);
  await test.database.query(sql`vacuum analyze records`);
});

function referenceTo(value: string, ...targets: string[]): HeldReference {
  return { pointer: '/of', field: 'of', targets, value, holds: true };
}

function questionFor(...references: HeldReference[]): Sql {
  const findCollection = (name: string) => test.catalog.find(name);
  const question = selectDead(references, { scope: ADMIN, findCollection, rowsOf: () => undefined });
  if (question === undefined) throw new Error('these references are to be looked for');
  return question;
}

describe('the question for what a new record points at', () => {
  it('names what is in none of the targets', async () => {
    const question = questionFor(
      referenceTo('r-1', 'student'),
      referenceTo('gone', 'student'),
      referenceTo('r-2', 'note', 'student'),
      referenceTo('nowhere', 'note', 'student'),
    );
    const rows = await test.database.query<{ id: string }>(question);
    expect(rows.map(({ id }) => id).sort()).toEqual(['gone', 'nowhere']);
  });

  it('takes each by its key, however many others there are, also by a generic plan', async () => {
    const question = questionFor(referenceTo('r-1', 'student'), referenceTo('r-2', 'note', 'student'));
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const plan = await test.database.transaction(async (transaction) => {
        await transaction.query(sql`select set_config('plan_cache_mode', ${mode}, true)`);
        return await readPlan({ transaction: (work) => work(transaction) }, question, 'guess');
      });
      expect(plan.lines.filter((line) => /Join|Seq Scan/.test(line))).toEqual([]);
      expect(plan.scans.map(({ condition }) => condition)).toEqual(
        expect.arrayContaining([expect.stringMatching(/id = sought(_1)?\.id/)]),
      );
    }
  });
});
