/** Documents and queries to try: few names and few values, so that they meet. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/base/json/json.js';

const TEXTS = [
  '',
  'a',
  'ab',
  'B',
  'Abc',
  '5',
  'true',
  'null',
  'a.b',
  '2026-04-01',
  "'; --",
  '"',
  'हिन्दी',
  'é',
];
const NUMBERS = [0, 1, 2, 3, 5, -3, 2.5, 0.25, 100];

export const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
);
export const operand = fc.oneof(fc.constantFrom<JsonValue>(...TEXTS), fc.constantFrom<JsonValue>(...NUMBERS));

const line = fc.record(
  { head: fc.constantFrom('Tuition', 'Bus', 'a'), amount: fc.constantFrom(...NUMBERS), extra: scalar },
  { requiredKeys: ['head', 'amount'] },
);

/** Fields that are what their names say, and some that are anything. */
export const document: fc.Arbitrary<JsonObject> = fc.record(
  {
    name: fc.constantFrom('a', 'ab', 'B', 'Abc', 'हिन्दी'),
    amount: fc.constantFrom(...NUMBERS),
    count: fc.constantFrom(0, 1, 2, 3),
    active: fc.boolean(),
    at: fc.constantFrom('2026-04-01T00:00:00.000Z', '2026-04-30T18:30:00.000Z', '2026-05-01T12:15:30.250Z'),
    tags: fc.array(fc.constantFrom('a', 'ab', 'B', '5'), { maxLength: 3 }),
    scores: fc.array(fc.constantFrom(...NUMBERS), { maxLength: 3 }),
    lines: fc.array(line, { maxLength: 3 }),
    address: fc.record({ city: fc.constantFrom('a', 'B'), pin: scalar }, { requiredKeys: [] }),
    any: scalar,
    mixed: fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.constant({ a: 1 })),
  },
  { requiredKeys: ['name'] },
) as fc.Arbitrary<JsonObject>;

const SCALAR_PATHS = [
  'name',
  'amount',
  'count',
  'active',
  'at',
  'any',
  'address.city',
  'address.pin',
  'missing',
  'address.no',
];
const LIST_PATHS = ['tags', 'scores', 'mixed'];
const DEEP_PATHS = ['lines.head', 'lines.amount'];
const path = fc.constantFrom(...SCALAR_PATHS, ...LIST_PATHS, ...DEEP_PATHS);

const comparison = fc
  .constantFrom('$gt', '$gte', '$lt', '$lte')
  .chain((name) => operand.map((value) => ({ [name]: value }) as JsonObject));
const pattern = fc.record({
  $regex: fc.constantFrom(
    'a',
    '^a',
    'b$',
    '^[A-Z]',
    'a|B',
    '^.$',
    '\\d',
    '[^a]',
    'हि',
    'a{1}b?',
    '(?:a)(?=b)',
    '\\bA',
  ),
  $options: fc.constantFrom('', 'i', 's', 'm'),
});

const condition: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 2, arbitrary: scalar },
  { weight: 3, arbitrary: comparison },
  { weight: 1, arbitrary: fc.tuple(comparison, comparison).map(([a, b]) => ({ ...a, ...b })) },
  { weight: 1, arbitrary: scalar.map((value) => ({ $ne: value })) },
  { weight: 1, arbitrary: scalar.map((value) => ({ $eq: value })) },
  { weight: 1, arbitrary: fc.array(operand, { maxLength: 3 }).map((values) => ({ $in: values })) },
  { weight: 1, arbitrary: fc.array(operand, { maxLength: 3 }).map((values) => ({ $nin: values })) },
  { weight: 1, arbitrary: comparison.map((inner) => ({ $not: inner })) },
  { weight: 1, arbitrary: pattern },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(2, 3), fc.constantFrom(0, 1)).map(([d, r]) => ({ $mod: [d, r] })),
  },
);

const onAnything = fc.tuple(path, condition).map(([name, value]) => ({ [name]: value }) as JsonObject);
const onPresence = fc
  .tuple(fc.constantFrom(...SCALAR_PATHS, ...LIST_PATHS), fc.boolean())
  .map(([name, value]) => ({ [name]: { $exists: value } }) as JsonObject);
const onType = fc
  .tuple(fc.constantFrom(...SCALAR_PATHS), fc.constantFrom('string', 'number', 'bool', 'null', 'object'))
  .map(([name, type]) => ({ [name]: { $type: type } }) as JsonObject);
const onLists = fc.oneof(
  fc
    .tuple(fc.constantFrom('tags', 'scores', 'mixed', 'lines'), fc.nat({ max: 3 }))
    .map(([name, size]) => ({ [name]: { $size: size } })),
  fc
    .tuple(fc.constantFrom('tags', 'scores'), fc.array(operand, { minLength: 1, maxLength: 2 }))
    .map(([name, all]) => ({ [name]: { $all: all } })),
  fc
    .tuple(fc.constantFrom('tags', 'scores'), fc.array(operand, { maxLength: 2 }))
    .map(([name, whole]) => ({ [name]: whole })),
  fc
    .tuple(fc.constantFrom('tags', 'scores'), fc.tuple(comparison, comparison))
    .map(([name, [a, b]]) => ({ [name]: { $elemMatch: { ...a, ...b } } })),
  fc.tuple(comparison, comparison).map(([head, amount]) => ({ lines: { $elemMatch: { head, amount } } })),
  fc
    .tuple(fc.constantFrom('lines.0.head', 'lines.1.amount', 'scores.0', 'tags.1'), condition)
    .map(([name, value]) => ({ [name]: value })),
) as fc.Arbitrary<JsonObject>;

const expression = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('$gt', '$lte'),
      fc.constantFrom('$amount', '$count'),
      fc.constantFrom('$count', 1, 2),
    )
    .map(([op, a, b]) => ({
      $expr: { $and: [{ $isNumber: a }, { $isNumber: b }, { [op]: [a, b] }] },
    })),
  fc.constant({ $expr: { $gt: [{ $size: { $ifNull: ['$tags', []] } }, 1] } }),
) as unknown as fc.Arbitrary<JsonObject>;

export const query: fc.Arbitrary<JsonObject> = fc.letrec<{ query: JsonObject }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    {
      weight: 6,
      arbitrary: fc.oneof(onAnything, onAnything, onAnything, onLists, onPresence, onType, expression),
    },
    { weight: 1, arbitrary: fc.tuple(onAnything, onLists).map(([a, b]) => ({ ...a, ...b })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(tie('query'), { minLength: 1, maxLength: 3 }))
        .map(([name, parts]) => ({ [name]: parts })),
    },
  ),
})).query;
