/**
 * Conditions on the records that references point to, against the plain evaluator, and the plan that serves
 * them.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Filter } from '../../../src/base/model/filter.js';
import { FULL_ACCESS } from '../../../src/store/access/access.js';
import { parseCollection } from '../../../src/store/catalog/parse-collection.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { sql } from '../../../src/store/sql.js';
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
  it(
    'finds what the evaluator finds, in references, lists of them and elements with them: 2,000 ' +
      'filters at least',
    async () => {
      const targets = people.map((records) => ({ collection: PERSON, records }));
      const comparison = {
        collection: SAMPLE,
        filters: recordFilter,
        isByteOrdered: true,
        runs: 150,
        targets,
      };
      expect(await expectSameMeaning(test.database, comparison)).toBeGreaterThanOrEqual(2_000);
    },
  );

  describe('begins where there is less to look at', () => {
    beforeAll(async () => {
      await test.database.query(sql`
        insert into records (domain, collection, id, data)
        select 'big', 'pltf_user', 'p-' || n, jsonb_build_object('name', 'N' || n, 'active', n % 2 = 0)
        from generate_series(1, 5000) n`);
      await test.database.query(sql`
        insert into records (domain, collection, id, data)
        select 'big', 'sample', 's-' || n,
          jsonb_build_object('code', 'c' || n % 1000, 'person', jsonb_build_object('value', 'p-' || n % 5000))
        from generate_series(1, 20000) n`);
      await test.database.query(
        sql`create index by_person on records_sample (domain, (data->'person'->'value'))`,
      );
      await test.database.query(sql`create index by_code on records_sample (domain, (data->'code'))`);
      await test.database.query(sql`create index by_name on records_pltf_user (domain, (data->'name'))`);
      await test.database.query(sql`analyze records`);
    });

    async function planOf(filter: Filter): Promise<string> {
      const condition = compileFilter(filter, {
        ...contextOf(SAMPLE),
        findTarget: () => ({
          collection: PERSON,
          access: FULL_ACCESS,
          condition: sql`r.domain = 'big' and r.collection = 'pltf_user' and r.deleted_at is null`,
        }),
      });
      const rows = await test.database.query<{ 'QUERY PLAN': string }>(sql`
        explain select r.id from records r where r.domain = 'big' and r.collection = 'sample'
          and ${condition}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    }

    const personWhere = (filter: Filter): Filter => ({
      kind: 'record',
      path: ['person'],
      collection: 'pltf_user',
      filter,
    });

    it('at the reference: then by the primary key of what is pointed to', async () => {
      const plan = await planOf({
        kind: 'all',
        filters: [
          { kind: 'equals', path: ['code'], value: 'c7' },
          personWhere({ kind: 'equals', path: ['active'], value: true }),
        ],
      });
      expect(plan).toMatch(/Index.* Scan.* by_code/);
      expect(plan).toMatch(/Index.* Scan using records_pltf_user_pkey/);
    });

    it('at what is pointed to: then by the index of the reference', async () => {
      const plan = await planOf(personWhere({ kind: 'equals', path: ['name'], value: 'N7' }));
      expect(plan).toMatch(/Index.* Scan.* by_name/);
      expect(plan).toMatch(/Index.* Scan.* by_person/);
      expect(plan).not.toMatch(/Seq Scan/);
    });
  });
});
