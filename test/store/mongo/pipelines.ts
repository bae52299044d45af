/** Pipelines to try on the documents of documents.ts. */
// biome-ignore-all lint/suspicious/noThenProperty: Mongo's operators have such operands
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/base/json/json.js';
import { query } from './documents.js';

const numberExpression: fc.Arbitrary<JsonValue> = fc.letrec<{ number: JsonValue }>((tie) => ({
  number: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom<JsonValue>('$amount', '$count', 1, 2.5, 10) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('$add', '$multiply', '$subtract'), tie('number'), tie('number'))
        .map(([op, a, b]) => ({ [op]: [a, b] })),
    },
    { weight: 1, arbitrary: tie('number').map((a) => ({ $divide: [a, 4] })) },
    { weight: 1, arbitrary: tie('number').map((a) => ({ $abs: a })) },
    { weight: 1, arbitrary: tie('number').map((a) => ({ $ifNull: [a, 0] })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<JsonValue>(
        { $sum: '$scores' },
        { $sum: '$lines.amount' },
        { $max: '$scores' },
        { $min: '$lines.amount' },
        { $size: { $ifNull: ['$tags', []] } },
        { $strLenCP: '$name' },
      ),
    },
  ),
})).number;

const textExpression: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  '$name',
  { $concat: ['$name', '-', '$address.city'] },
  { $toUpper: { $cond: [{ $eq: ['$name', 'a'] }, 'a', 'b'] } },
  { $substrCP: ['$name', 0, 1] },
  { $substrCP: ['$at', 0, 7] },
  { $ifNull: ['$address.city', 'none'] },
  { $toString: '$count' },
);

const condition: fc.Arbitrary<JsonValue> = fc.oneof(
  fc
    .tuple(fc.constantFrom('$gt', '$lte'), fc.constantFrom(0, 2))
    .map(([op, n]) => ({ [op]: [{ $ifNull: ['$amount', 0] }, n] })),
  fc.constantFrom<JsonValue>(
    { $eq: ['$name', 'a'] },
    { $in: ['$name', ['a', 'B']] },
    { $not: ['$active'] },
    { $and: ['$active', { $isArray: '$tags' }] },
  ),
);

const anyExpression: fc.Arbitrary<JsonValue> = fc.oneof(
  numberExpression,
  textExpression,
  fc
    .tuple(condition, numberExpression, numberExpression)
    .map(([c, a, b]) => ({ $cond: { if: c, then: a, else: b } })),
  fc.tuple(condition, textExpression).map(([c, a]) => ({ $cond: [c, a, null] })),
  fc.constantFrom<JsonValue>(
    '$tags',
    '$lines.head',
    '$address.pin',
    { a: '$name', b: '$count' },
    ['$name', '$amount'],
    { $concatArrays: [{ $ifNull: ['$tags', []] }, ['z']] },
    { $arrayElemAt: [{ $ifNull: ['$scores', []] }, 0] },
    { $slice: [{ $ifNull: ['$scores', []] }, 2] },
    { $filter: { input: { $ifNull: ['$lines', []] }, as: 'l', cond: { $gt: ['$$l.amount', 1] } } },
    { $map: { input: { $ifNull: ['$lines', []] }, as: 'l', in: '$$l.head' } },
    { $mergeObjects: [{ x: 1 }, { y: '$name' }] },
    { $switch: { branches: [{ case: { $eq: ['$count', 1] }, then: 'one' }], default: 'other' } },
    { $let: { vars: { n: { $ifNull: ['$count', 0] } }, in: { $add: ['$$n', 1] } } },
    { $round: [{ $ifNull: ['$amount', 0] }, 0] },
  ),
);

const match = query.map((filter) => ({ $match: filter }) as JsonObject);
// mingo compares the elements of a list, too: `name` is compared, so it does not become a list.
const set = fc
  .tuple(fc.constantFrom('x', 'y', 'other.z'), anyExpression)
  .map(([name, value]) => ({ $addFields: { [name]: value } }) as JsonObject);
const project = fc.oneof(
  fc
    .tuple(
      fc.subarray(['name', 'amount', 'tags', 'lines.head', 'address.city', 'count'], { minLength: 1 }),
      fc.boolean(),
    )
    .map(([names, id]) => ({
      $project: { ...Object.fromEntries(names.map((name) => [name, 1])), ...(id ? {} : { _id: 1 }) },
    })),
  fc
    .tuple(anyExpression, fc.constantFrom('amount', 'count'))
    .map(([value, name]) => ({ $project: { [name]: 1, made: value } })),
  fc
    .subarray(['name', 'amount', 'tags', 'lines.head', 'address.city', 'any'], { minLength: 1 })
    .map((names) => ({
      $project: Object.fromEntries(names.map((name) => [name, 0])),
    })),
  fc.subarray(['name', 'tags', 'address.city'], { minLength: 1 }).map((names) => ({ $unset: names })),
) as fc.Arbitrary<JsonObject>;
const sort = fc
  .tuple(fc.constantFrom('name', 'amount', 'count', 'at', 'active'), fc.constantFrom(1, -1))
  .map(([name, way]) => ({ $sort: { [name]: way, _id: 1 } }) as JsonObject);
const part = fc.oneof(
  fc.integer({ min: 1, max: 8 }).map((n) => ({ $limit: n })),
  fc.integer({ min: 0, max: 4 }).map((n) => ({ $skip: n })),
);
const unwind = fc
  .oneof(
    fc.constantFrom<JsonValue>(
      '$tags',
      '$scores',
      '$lines',
      { path: '$lines', preserveNullAndEmptyArrays: true },
      { path: '$tags', includeArrayIndex: 'index' },
      { path: '$count' },
    ),
  )
  .map((operand) => ({ $unwind: operand }) as JsonObject);

const key = fc.constantFrom<JsonValue>(
  null,
  '$name',
  '$count',
  '$active',
  { n: '$name', c: '$count' },
  { $substrCP: ['$at', 0, 7] },
  '$lines.head',
  '$tags',
);
const accumulation = fc.constantFrom<readonly [string, JsonValue]>(
  ['total', { $sum: '$amount' }],
  ['n', { $sum: 1 }],
  ['count', { $count: {} }],
  ['mean', { $avg: '$amount' }],
  ['least', { $min: '$count' }],
  ['most', { $max: '$amount' }],
  ['first', { $first: '$name' }],
  ['last', { $last: '$count' }],
  ['names', { $push: { $ifNull: ['$name', null] } }],
  ['set', { $addToSet: { $ifNull: ['$name', null] } }],
  ['weighted', { $sum: { $multiply: ['$amount', 2] } }],
  ['some', { $sum: { $cond: [{ $eq: ['$active', true] }, 1, 0] } }],
);
const group = fc
  .tuple(key, fc.uniqueArray(accumulation, { selector: ([name]) => name, maxLength: 4 }))
  .map(([id, members]) => ({ $group: { _id: id, ...Object.fromEntries(members) } }) as JsonObject);
const last = fc.oneof(
  group,
  group,
  fc.constant<JsonObject>({ $count: 'n' }),
  fc.constantFrom<JsonValue>('$name', '$count').map((by) => ({ $sortByCount: by }) as JsonObject),
  fc.constant<JsonObject>({
    $bucket: {
      groupBy: { $ifNull: ['$amount', 0] },
      boundaries: [-10, 1.5, 4],
      default: 'other',
      output: { n: { $sum: 1 }, names: { $push: { $ifNull: ['$name', null] } } },
    },
  }),
  fc.constant<JsonObject>({
    $facet: {
      all: [{ $count: 'n' }],
      names: [{ $group: { _id: '$name', n: { $sum: 1 } } }, { $sort: { _id: 1 } }],
    },
  }),
  fc.constant<JsonObject>({ $replaceRoot: { newRoot: { id: '$_id', a: '$amount' } } }),
  fc.constant<JsonObject>({
    $lookup: { from: 'other', localField: 'count', foreignField: 'number', as: 'found' },
  }),
  fc.constant<JsonObject>({
    $lookup: {
      from: 'other',
      let: { n: '$count' },
      pipeline: [{ $match: { $expr: { $eq: ['$number', '$$n'] } } }, { $project: { _id: 0, label: 1 } }],
      as: 'found',
    },
  }),
);

/** What a stage does to all that come after it is in the pipeline but once. */
export const pipeline: fc.Arbitrary<readonly JsonObject[]> = fc
  .tuple(
    fc.array(match, { maxLength: 1 }),
    fc.array(
      fc.tuple(sort, fc.array(part, { maxLength: 2 })).map(([s, parts]) => [s, ...parts]),
      { maxLength: 1 },
    ),
    fc.array(fc.oneof(set, unwind, project, match), { maxLength: 3 }),
    fc.array(last, { maxLength: 1 }),
  )
  .map(([matches, sorted, middle, end]) => [...matches, ...sorted.flat(), ...middle, ...end] as JsonObject[])
  .filter((stages) => stages.length > 0);
