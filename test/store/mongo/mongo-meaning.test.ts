/** What Postgres finds by Mongo queries, held against mingo and `satisfiesQuery` on generated documents. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Query } from 'mingo';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { Collection } from '../../../src/base/model/collection.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { parseMongoQuery } from '../../../src/store/mongo/mongo-query.js';
import { satisfiesQuery } from '../../../src/store/mongo/mongo-update.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { contextOf, store } from '../sql/find.js';
import { DECLARED, LOOSE } from './collections.js';
import { document, query } from './documents.js';

const test = useTestDatabase();
const PATIENCE_MS = 60_000;
const QUERIES_A_RUN = 40;

beforeAll(async () => {
  await ensurePartition(test.database, LOOSE);
  await ensurePartition(test.database, DECLARED);
});

describe('a Mongo query', () => {
  for (const [name, collection, isByteOrdered, runs] of [
    ['where nothing is declared', LOOSE, true, 20],
    ['of declared fields', DECLARED, true, 20],
    ['of declared fields, without trusting the order of text', DECLARED, false, 10],
  ] as const) {
    it(
      `finds what mingo finds, ${name}`,
      () => expectSameAnswers(collection, isByteOrdered, runs),
      PATIENCE_MS,
    );
  }
});

async function expectSameAnswers(
  collection: Collection,
  isByteOrdered: boolean,
  runs: number,
): Promise<void> {
  const check = fc.asyncProperty(
    fc.array(document, { minLength: 5, maxLength: 15 }),
    fc.array(query, { minLength: QUERIES_A_RUN, maxLength: QUERIES_A_RUN }),
    async (documents, queries) => {
      const found = await answersOf(collection, { documents, queries, isByteOrdered });
      queries.forEach((asked, index) => {
        // In plain objects of this realm, of which mingo takes none for equal to another's.
        const mingo = new Query(JSON.parse(JSON.stringify(asked)));
        if (!/"\$(?:regex|expr)"/.test(JSON.stringify(asked))) {
          const filter = parseMongoQuery(asked);
          const inMemory = documents.flatMap((one, id) => (satisfiesQuery(one, filter) ? [id] : []));
          expect({ asked, found: found[index] }).toEqual({ asked, found: inMemory });
        }
        // mingo takes the remainder of null and texts as JavaScript does.
        if (JSON.stringify(asked).includes('"$mod"')) return;
        const expected = documents.flatMap((one, id) =>
          mingo.test(JSON.parse(JSON.stringify(one))) ? [id] : [],
        );
        expect({ asked, found: found[index] }).toEqual({ asked, found: expected });
      });
    },
  );
  await fc.assert(check, runsOf(runs));
}

async function answersOf(
  collection: Collection,
  question: { documents: readonly JsonObject[]; queries: readonly JsonObject[]; isByteOrdered: boolean },
): Promise<readonly (readonly number[])[]> {
  const { database } = test;
  await database.query(sql`delete from records`);
  const byId = Object.fromEntries(question.documents.map((one, index) => [String(index), one]));
  await store(database, collection, byId);
  const context = { ...contextOf(collection), isByteOrdered: question.isByteOrdered };
  const asked = question.queries.map(
    (one, index) => sql`
      select ${index}::int as query, array_agg(r.id::int order by r.id::int) as ids
      from records r
      where r.collection = ${collection.name} and ${compileFilter(parseMongoQuery(one), context)}`,
  );
  const rows = await database.query<{ query: number; ids: number[] | null }>(sql.join(asked, ' union all '));
  const answers = new Map(rows.map(({ query: index, ids }) => [index, ids ?? []]));
  return question.queries.map((_one, index) => answers.get(index) ?? []);
}
