/** Postgres' answer to a compiled filter against the plain evaluator, on generated records and filters. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/errors.js';
import type { Filter } from '../../../src/filter/filter.js';
import { Prisma } from '../../../src/generated/prisma/client.js';
import { printExactJson } from '../../../src/json.js';
import type { Collection } from '../../../src/store/collection.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { type CompileContext, compileFilter } from '../../../src/store/sql/compile-filter.js';
import { useTestDatabase } from '../../database.js';
import { anyFilter, data, fittingFilter, looseFilter, NOW } from './arbitraries.js';
import { holds, type TestRecord } from './evaluator.js';
import { SAMPLE, UNDECLARED } from './sample-collection.js';

const test = useTestDatabase();

/** At most, of one statement. */
const FILTERS = 25;
const RECORDS = 24;
const records = fc
  .array(fc.tuple(fc.constantFrom('', 'a', 'A', 'a%b', '5', 'हिन्दी'), data), {
    minLength: 1,
    maxLength: RECORDS,
  })
  .map((list) =>
    list.map(([prefix, fields], index): TestRecord => ({ id: `${prefix}${index}`, data: fields })),
  );
const zone = fc.constantFrom('Asia/Kolkata', 'America/New_York', 'UTC');

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
});

describe('a compiled filter', () => {
  it('finds what the evaluator finds, in a declared collection', async () => {
    await expectSameMeaning({ collection: SAMPLE, filters: fittingFilter, isByteOrdered: true, runs: 200 });
  }, 60_000);

  it('finds the same without trusting the order of text', async () => {
    await expectSameMeaning({ collection: SAMPLE, filters: fittingFilter, isByteOrdered: false, runs: 80 });
  }, 60_000);

  it('finds what the evaluator finds where nothing is declared', async () => {
    await expectSameMeaning({ collection: UNDECLARED, filters: looseFilter, isByteOrdered: true, runs: 80 });
  }, 60_000);

  it('has been compared on 2,000 filters at least', () => {
    expect(comparedFilters).toBeGreaterThanOrEqual(2_000);
  });

  it('compiles, or is refused as the mistake it is', () => {
    const check = fc.property(anyFilter, (filter) => {
      try {
        compileFilter(filter, contextOf(SAMPLE));
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        expect(['MALFORMED_FILTER', 'INVALID_VALUE']).toContain(error instanceof ServiceError && error.code);
      }
    });
    fc.assert(check, { numRuns: 1000 });
  });
});

describe('the laws of filters', () => {
  it('takes a double negation for none', async () => {
    await expectEqualAnswers((filter) => [filter, { kind: 'not', filter: { kind: 'not', filter } }]);
  });

  it('does not mind the order of conditions', async () => {
    const other: Filter = { kind: 'looseEquals', path: ['name'], text: 'a' };
    await expectEqualAnswers((filter) => [
      { kind: 'all', filters: [filter, other] },
      { kind: 'all', filters: [other, filter] },
    ]);
  });

  it('finds each record by a filter or by its negation, never by both or none', async () => {
    await expectEqualAnswers((filter) => [
      { kind: 'any', filters: [filter, { kind: 'not', filter }] },
      { kind: 'not', filter: { kind: 'all', filters: [filter, { kind: 'not', filter }] } },
      { kind: 'all', filters: [] },
    ]);
  });
});

interface Comparison {
  readonly collection: Collection;
  readonly filters: fc.Arbitrary<Filter>;
  readonly isByteOrdered: boolean;
  readonly runs: number;
}

let comparedFilters = 0;

async function expectSameMeaning({ collection, filters, isByteOrdered, runs }: Comparison): Promise<void> {
  const batch = fc.array(filters, { minLength: 10, maxLength: FILTERS, size: 'max' });
  const check = fc.asyncProperty(records, batch, zone, async (stored, asked, timeZone) => {
    const context = { ...contextOf(collection), timeZone, isByteOrdered };
    comparedFilters += asked.length;
    const answers = await answersOf(asked, stored, context);
    const expected = asked.map((filter) =>
      stored
        .filter((record) => holds(filter, record, { collection, timeZone, now: NOW }))
        .map(({ id }) => id),
    );
    asked.forEach((filter, index) => {
      expect({ filter, ids: answers[index] }).toEqual({ filter, ids: expected[index]?.sort() });
    });
  });
  await fc.assert(check, { numRuns: runs });
}

async function expectEqualAnswers(variantsOf: (filter: Filter) => readonly Filter[]): Promise<void> {
  const check = fc.asyncProperty(
    records,
    fc.array(fittingFilter, { minLength: 1, maxLength: 8 }),
    async (stored, asked) => {
      for (const variants of asked.map(variantsOf)) {
        const [first, ...rest] = await answersOf(variants, stored, contextOf(SAMPLE));
        for (const answer of rest) expect(answer).toEqual(first);
      }
    },
  );
  await fc.assert(check, { numRuns: 15 });
}

function contextOf(collection: Collection): CompileContext {
  return { collection, timeZone: 'Asia/Kolkata', now: NOW, isByteOrdered: true };
}

let domains = 0;

/** The ids each filter finds, sorted; the records live in a domain of their own and all filters go in one statement. */
async function answersOf(
  filters: readonly Filter[],
  stored: readonly TestRecord[],
  context: CompileContext,
): Promise<string[][]> {
  const domain = `d${++domains}`;
  const collection = context.collection.name;
  await test.database.query(Prisma.sql`
    insert into records (domain, collection, id, data)
    select ${domain}, ${collection}, e.id, e.data::jsonb
    from unnest(${stored.map(({ id }) => id)}::text[], ${stored.map((one) => printExactJson(one.data))}::text[]) as e(id, data)`);
  const answers = filters.map(
    (filter) => Prisma.sql`
      array(
        select r.id from records r
        where r.domain = ${domain} and r.collection = ${collection} and r.deleted_at is null
          and ${compileFilter(filter, context)}
        order by r.id collate "C"
      )`,
  );
  const rows = await test.database.query<{ ids: string[] }>(
    Prisma.join(
      answers.map((answer) => Prisma.sql`select ${answer} as ids`),
      ' union all ',
    ),
  );
  return rows.map(({ ids }) => [...ids].sort());
}
