/** What Postgres finds by compiled filters, held against the plain evaluator. */
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { printExactJson } from '../../../src/base/json/json.js';
import type { Collection } from '../../../src/base/model/collection.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { FULL_ACCESS, type Readable } from '../../../src/store/access/access.js';
import type { Database } from '../../../src/store/database/database.js';
import { type CompileContext, compileFilter } from '../../../src/store/sql/compile-filter.js';
import { sql } from '../../../src/store/sql.js';
import { data, NOW } from './arbitraries.js';
import { holds, type Target, type TestRecord } from './evaluator.js';
import { contextOf } from './find.js';

/** Of one statement. */
const FILTERS = { minLength: 10, maxLength: 25, size: 'max' } as const;

/** Records to ask, with ids that are as hard to compare as the rest. */
export const records: fc.Arbitrary<TestRecord[]> = fc
  .array(fc.tuple(fc.constantFrom('', 'a', 'A', 'a%b', '5', 'हिन्दी'), data), { minLength: 1, maxLength: 24 })
  .map((list) => list.map(([prefix, fields], index) => ({ id: `${prefix}${index}`, data: fields })));

const zone = fc.constantFrom('Asia/Kolkata', 'America/New_York', 'UTC');

export interface Comparison {
  readonly collection: Collection;
  readonly filters: fc.Arbitrary<Filter>;
  readonly isByteOrdered: boolean;
  readonly runs: number;
  /** What references point to: its collection, and any records of it. */
  readonly targets?: fc.Arbitrary<Target | undefined>;
}

/**
 * Fails with the least filter and records on which the two differ. Answers how many filters were compared.
 */
export async function expectSameMeaning(
  database: Database,
  { collection, filters, isByteOrdered, runs, targets = fc.constant(undefined) }: Comparison,
): Promise<number> {
  let compared = 0;
  const check = fc.asyncProperty(
    records,
    fc.array(filters, FILTERS),
    zone,
    targets,
    async (stored, asked, timeZone, target) => {
      compared += asked.length;
      const context = { ...contextOf(collection), timeZone, isByteOrdered };
      const answers = await answersOf(database, { filters: asked, stored, context, target });
      asked.forEach((filter, index) => {
        const ids = stored
          .filter((record) => holds(filter, record, { collection, timeZone, now: NOW, target }))
          .map(({ id }) => id);
        expect({ filter, ids: answers[index] }).toEqual({ filter, ids: ids.sort() });
      });
    },
  );
  await fc.assert(check, { numRuns: runs });
  return compared;
}

export interface Question {
  readonly filters: readonly Filter[];
  readonly stored: readonly TestRecord[];
  readonly context: CompileContext;
  readonly target?: Target | undefined;
}

let domains = 0;

/**
 * The ids each filter finds, sorted; the records live in a domain of their own and all filters go in one
 * statement.
 */
export async function answersOf(
  database: Database,
  { filters, stored, context: given, target }: Question,
): Promise<string[][]> {
  const domain = `d${++domains}`;
  const collection = given.collection.name;
  await insert(database, { domain, collection, stored });
  if (target !== undefined) {
    await insert(database, { domain, collection: target.collection.name, stored: target.records });
  }
  const context =
    target === undefined ? given : { ...given, findTarget: () => toFilterTarget(target, domain) };
  const answers = filters.map(
    (filter) => sql`
      select array(
        select r.id from records r
        where r.domain = ${domain} and r.collection = ${collection} and r.deleted_at is null
          and ${compileFilter(filter, context)}
      ) as ids`,
  );
  const rows = await database.query<{ ids: string[] }>(sql.join(answers, ' union all '));
  return rows.map(({ ids }) => [...ids].sort());
}

async function insert(
  database: Database,
  rows: { readonly domain: string; readonly collection: string; readonly stored: readonly TestRecord[] },
): Promise<void> {
  const { domain, collection, stored } = rows;
  await database.query(sql`
    insert into records (domain, collection, id, data)
    select ${domain}, ${collection}, e.id, e.data::jsonb
    from unnest(${stored.map(({ id }) => id)}::text[],
      ${stored.map((one) => printExactJson(one.data))}::text[]) as e(id, data)`);
}

function toFilterTarget({ collection }: Target, domain: string): Readable {
  return {
    collection,
    access: FULL_ACCESS,
    condition: sql`r.domain = ${domain} and r.collection = ${collection.name} and r.deleted_at is null`,
  };
}
