/** Postgres' answer to a compiled filter against the plain evaluator, on generated records and filters. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServiceError } from '../../../src/base/errors.js';
import type { Filter } from '../../../src/base/model/filter.js';
import { ensurePartition } from '../../../src/store/database/partitions.js';
import { compileFilter } from '../../../src/store/sql/compile-filter.js';
import { useTestDatabase } from '../../database.js';
import { runsOf } from '../../full-length.js';
import { anyFilter, fittingFilter, looseFilter } from './arbitraries.js';
import { contextOf } from './find.js';
import { answersOf, expectSameMeaning, records } from './same-meaning.js';
import { SAMPLE, UNDECLARED } from './sample-collection.js';

const test = useTestDatabase();
const PATIENCE_MS = 60_000;

beforeAll(async () => {
  await ensurePartition(test.database, SAMPLE);
});

describe('a compiled filter', () => {
  it(
    'finds what the evaluator finds, in a declared collection: 2,000 filters at least',
    async () => {
      const comparison = { collection: SAMPLE, filters: fittingFilter, isByteOrdered: true, runs: 200 };
      expect(await expectSameMeaning(test.database, comparison)).toBeGreaterThanOrEqual(2_000);
    },
    PATIENCE_MS,
  );

  it(
    'finds the same without trusting the order of text',
    async () => {
      const comparison = { collection: SAMPLE, filters: fittingFilter, isByteOrdered: false, runs: 60 };
      await expectSameMeaning(test.database, comparison);
    },
    PATIENCE_MS,
  );

  it(
    'finds what the evaluator finds where nothing is declared',
    async () => {
      const comparison = { collection: UNDECLARED, filters: looseFilter, isByteOrdered: true, runs: 80 };
      await expectSameMeaning(test.database, comparison);
    },
    PATIENCE_MS,
  );

  it('compiles, or is refused as the mistake it is', () => {
    const check = fc.property(anyFilter, (filter) => {
      try {
        compileFilter(filter, contextOf(SAMPLE));
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        expect(['MALFORMED_FILTER', 'INVALID_VALUE']).toContain(error instanceof ServiceError && error.code);
      }
    });
    fc.assert(check, runsOf(1_000));
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

async function expectEqualAnswers(variantsOf: (filter: Filter) => readonly Filter[]): Promise<void> {
  const filters = fc.array(fittingFilter, { minLength: 1, maxLength: 8 });
  const check = fc.asyncProperty(records, filters, async (stored, asked) => {
    const variants = asked.map(variantsOf);
    const question = { filters: variants.flat(), stored, context: contextOf(SAMPLE) };
    const answers = await answersOf(test.database, question);
    for (const { length } of variants) {
      const [first, ...rest] = answers.splice(0, length);
      for (const answer of rest) expect(answer).toEqual(first);
    }
  });
  await fc.assert(check, runsOf(30));
}
