/**
 * Expressions that would double with every level stay as long as they are written, for us and for the planner
 * of Postgres.
 */
import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../src/base/json/json.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { read, useDb } from '../../services/scripting/db/db.js';
import { ADMIN } from '../people.js';

const test = useDb();

function nested(levels: number, wrap: (inner: JsonValue) => JsonValue, inner: JsonValue): JsonValue {
  return levels === 0 ? inner : wrap(nested(levels - 1, wrap, inner));
}

async function expectSmall(stages: readonly JsonValue[]): Promise<JsonValue[]> {
  const started = Date.now();
  const run = { collection: 'note', stages: parseMongoPipeline([...stages]) };
  expect(test.pipelines.compile(ADMIN, run).sql.length).toBeLessThan(200_000);
  const documents = await read(test.pipelines.run(ADMIN, run));
  expect(Date.now() - started).toBeLessThan(5_000);
  return documents;
}

describe('a pipeline', () => {
  it.each<readonly [string, (inner: JsonValue) => JsonValue, JsonValue]>([
    ['$slice', (inner) => ({ $slice: [inner, 2] }), '$list'],
    ['$toDate', (inner) => ({ $toDate: inner }), '$at'],
    ['$concatArrays', (inner) => ({ $concatArrays: [inner] }), '$list'],
    ['$toString', (inner) => ({ $toString: inner }), '$n'],
    ['$toInt', (inner) => ({ $toInt: inner }), '$n'],
    ['$sum', (inner) => ({ $sum: inner }), '$list'],
    ['$gt', (inner) => ({ $gt: [inner, 1] }), '$n'],
    ['$mergeObjects', (inner) => ({ $mergeObjects: [inner] }), '$o'],
    ['$round', (inner) => ({ $round: [inner, 1] }), '$n'],
    ['$arrayElemAt', (inner) => ({ $arrayElemAt: [inner, 0] }), '$list'],
    ['$toUpper', (inner) => ({ $toUpper: inner }), '$text'],
    ['$substrCP', (inner) => ({ $substrCP: [inner, 0, 5] }), '$text'],
    ['$setUnion', (inner) => ({ $setUnion: [inner, ['a']] }), '$list'],
    ['$reduce', (inner) => ({ $reduce: { input: inner, initialValue: [], in: '$$value' } }), '$list'],
    ['$dateAdd', (inner) => ({ $dateAdd: { startDate: inner, unit: 'month', amount: 1 } }), '$at'],
    ['$pow', (inner) => ({ $pow: [inner, 1] }), '$n'],
  ])('does not grow by operators in operators: %s', async (_name, wrap, inner) => {
    await expectSmall([{ $addFields: { x: nested(12, wrap, inner) } }]);
  });

  it('does not grow by variables that are named often', async () => {
    const twice = (inner: JsonValue): JsonValue => ({
      $let: { vars: { v: inner }, in: { $add: ['$$v', '$$v', '$$v', '$$v', '$$v', '$$v', '$$v', '$$v'] } },
    });
    await test.store.create(ADMIN, 'note', [{ _id: 'one', n: 1 }]);
    const [made] = await expectSmall([
      { $match: { _id: 'one' } },
      { $project: { x: nested(7, twice, '$n') } },
    ]);
    expect(made).toEqual({ _id: 'one', x: 8 ** 7 });
  });

  it('does not grow by fields that are computed of fields', async () => {
    const doubled = Array.from({ length: 45 }, () => ({ $addFields: { n: { $add: ['$n', '$n'] } } }));
    const [made] = await expectSmall([{ $match: { _id: 'one' } }, ...doubled]);
    expect(made).toMatchObject({ n: 2 ** 45 });
    const projected = Array.from({ length: 45 }, () => ({
      $project: { n: { $concat: ['', { $toString: '$n' }] } },
    }));
    expect(await expectSmall([{ $match: { _id: 'one' } }, ...projected])).toEqual([{ _id: 'one', n: '1' }]);
  });
});
