/** What updates make of generated documents, held against mingo. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { update as mingoUpdate } from 'mingo';
import { ServiceError } from '../../../src/base/errors.js';
import type { JsonObject, JsonValue } from '../../../src/base/json/json.js';
import { printExactJson } from '../../../src/base/json/json.js';
import { applyUpdate } from '../../../src/base/model/update-operation.js';
import { parseMongoUpdate } from '../../../src/store/mongo/mongo-update.js';
import { runsOf } from '../../full-length.js';
import { document, operand, scalar } from './documents.js';

const MOMENT = { now: new Date('2026-04-01T00:00:00.000Z'), timeZone: 'Asia/Kolkata' };
const RUNS = runsOf(700);

const one = (
  name: string,
  path: fc.Arbitrary<string>,
  value: fc.Arbitrary<JsonValue>,
): fc.Arbitrary<JsonObject> => fc.tuple(path, value).map(([at, what]) => ({ [name]: { [at]: what } }));

const list = fc.constantFrom('tags', 'scores', 'fresh');
const number = fc.constantFrom<JsonValue>(1, -2, 0.5, 100);
const each = fc.record(
  {
    $each: fc.array(operand, { maxLength: 3 }),
    $position: fc.constantFrom(0, 1, 5),
    $slice: fc.constantFrom(0, 1, 2, -2),
    $sort: fc.constantFrom(1, -1),
  },
  { requiredKeys: ['$each'] },
) as fc.Arbitrary<JsonValue>;
const sameKind = fc.constantFrom<JsonValue>(
  { $each: [3, 1], $sort: -1 },
  { $each: [2], $sort: 1, $slice: -3 },
);

const update: fc.Arbitrary<JsonObject> = fc.oneof(
  one(
    '$set',
    fc.constantFrom('name', 'fresh', 'address.city', 'new.deep.er', 'lines.0.head', 'scores.1'),
    scalar,
  ),
  one('$unset', fc.constantFrom('name', 'address.city', 'missing', 'new.deep'), fc.constant('')),
  one('$inc', fc.constantFrom('amount', 'count', 'fresh', 'new.n', 'lines.0.amount'), number),
  one('$mul', fc.constantFrom('amount', 'count', 'fresh'), number),
  one('$min', fc.constantFrom('amount', 'count', 'fresh'), number),
  one('$max', fc.constantFrom('amount', 'count', 'fresh'), number),
  one('$push', list, operand),
  one(
    '$push',
    fc.constantFrom('fresh', 'tags'),
    each.map((value) => withoutSort(value)),
  ),
  one('$push', fc.constantFrom('scores', 'fresh'), sameKind),
  one('$addToSet', list, operand),
  one(
    '$addToSet',
    list,
    fc.array(operand, { maxLength: 3 }).map((values) => ({ $each: values })),
  ),
  one('$pull', fc.constantFrom('tags', 'scores'), operand),
  one('$pull', fc.constant('scores'), fc.constantFrom<JsonValue>({ $gte: 2 }, { $in: [1, 100] }, { $lt: 0 })),
  one(
    '$pull',
    fc.constant('lines'),
    fc.constantFrom<JsonValue>({ head: 'Bus' }, { amount: { $gt: 1 } }, { head: 'a', amount: 2 }),
  ),
  one('$pullAll', fc.constantFrom('tags', 'scores'), fc.array(operand, { maxLength: 2 })),
  one('$pop', fc.constantFrom('tags', 'scores', 'lines'), fc.constantFrom<JsonValue>(1, -1)),
  one('$rename', fc.constantFrom('name', 'missing'), fc.constantFrom<JsonValue>('title')),
  fc.constant<JsonObject>({ $set: { name: 'x' }, $inc: { amount: 1 }, $push: { tags: 'new' } }),
);

/** Sorting texts among numbers is another test's. */
function withoutSort(value: JsonValue): JsonValue {
  const { $sort: _sort, ...rest } = value as JsonObject;
  return rest;
}

describe('an update', () => {
  it(`makes of a record what mingo makes of it`, () => {
    let refused = 0;
    const check = fc.property(document, update, (before, change) => {
      if (isNamedDifference(before, change)) return;
      const expected = JSON.parse(JSON.stringify(before));
      let isRefusedThere = false;
      try {
        mingoUpdate(expected, JSON.parse(JSON.stringify(change)));
      } catch {
        isRefusedThere = true;
      }
      let made: JsonValue;
      try {
        made = applyUpdate(before, parseMongoUpdate(change), MOMENT);
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        refused += 1;
        return;
      }
      if (isRefusedThere) return;
      const after = JSON.parse(printExactJson(made));
      expect({ change, after: sorted(after) }).toEqual({
        change,
        after: sorted(JSON.parse(JSON.stringify(expected))),
      });
    });
    fc.assert(check, RUNS);
    expect(refused).toBeLessThan(RUNS.numRuns / 10);
  });
});

/**
 * MongoDB slices and sorts a list that `$push` makes, and leaves a list that holds a value twice to itself.
 * mingo does neither.
 */
function isNamedDifference(before: JsonObject, change: JsonObject): boolean {
  const [[operator, operands] = ['', {}]] = Object.entries(change);
  const [[path, operand] = ['', null]] = Object.entries(operands as JsonObject);
  if (operator === '$push') return before[path] === undefined && JSON.stringify(operand).includes('"$slice"');
  if (operator !== '$addToSet') return false;
  const added = typeof operand === 'object' && operand !== null && '$each' in operand ? operand.$each : [];
  return [before[path], added].some(
    (values) => Array.isArray(values) && new Set(values).size < values.length,
  );
}

function sorted(value: JsonValue): JsonValue {
  if (typeof value === 'number') return Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
