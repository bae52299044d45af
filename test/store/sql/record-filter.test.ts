/** Conditions on the records that references point to, against the plain evaluator, and the plan that serves them. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Prisma } from '../../../src/generated/prisma/client.js';
import { parseCollection } from '../../../src/store/collection-definition.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { useTestDatabase } from '../../database.js';
import { people, recordFilter } from './arbitraries.js';
import { contextOf } from './find.js';
import { expectSameMeaning } from './same-meaning.js';
import { SAMPLE } from './sample-collection.js';

const PERSON = parseCollection(
  {
    name: 'pltf_user',
    fields: [
      { name: 'name', type: 'text' },
      { name: 'age', type: 'number' },
      { name: 'active', type: 'boolean' },
      { name: 'chief', type: 'reference', target: 'pltf_user' },
    ],
  },
  { source: 'test', isDeclared: false, version: 1 },
);

const test = useTestDatabase();

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
  await ensurePartition(test.database, PERSON);
});

describe('a condition on what a reference points to', () => {
  it('finds what the evaluator finds, in references, lists of them and elements with them: 2,000 filters at least', async () => {
    const targets = people.map((records) => ({ collection: PERSON, records }));
    const comparison = { collection: SAMPLE, filters: recordFilter, isByteOrdered: true, runs: 150, targets };
    expect(await expectSameMeaning(test.database, comparison)).toBeGreaterThanOrEqual(2_000);
  }, 90_000);

  it('is served by the primary key of what is pointed to', async () => {
    await test.database.query(Prisma.sql`
      insert into records (domain, collection, id, data)
      select 'big', 'pltf_user', 'p-' || n, jsonb_build_object('name', 'N' || n, 'active', n % 2 = 0)
      from generate_series(1, 20000) n`);
    await test.database.query(Prisma.sql`
      insert into records (domain, collection, id, data)
      select 'big', 'sample', 's-' || n, jsonb_build_object('person', jsonb_build_object('value', 'p-' || n))
      from generate_series(1, 20) n`);
    await test.database.query(Prisma.sql`analyze records`);
    const none = new Set<string>();
    const context = {
      ...contextOf(SAMPLE),
      findTarget: () => ({
        collection: PERSON,
        access: { rows: undefined, rowFields: none, hiddenFields: none, readOnlyFields: none },
        condition: Prisma.sql`r.domain = 'big' and r.collection = 'pltf_user' and r.deleted_at is null`,
      }),
    };
    const condition = compileFilter(
      {
        kind: 'record',
        path: ['person'],
        collection: 'pltf_user',
        filter: { kind: 'equals', path: ['active'], value: true },
      },
      context,
    );
    const rows = await test.database.query<{ 'QUERY PLAN': string }>(Prisma.sql`
      explain select r.id from records r where r.domain = 'big' and r.collection = 'sample' and ${condition}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index.* Scan using \S*pltf_user\S*pkey/);
    expect(plan).not.toMatch(/Seq Scan on \S*pltf_user/);
  });
});
