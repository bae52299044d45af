import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import type { JsonValue } from '../../../src/base/json/json.js';
import { parseMongoPattern } from '../../../src/store/mongo/mongo-pattern.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { startMongoPlace } from '../../../src/store/mongo/mongo-place.js';
import { parseMongoQuery } from '../../../src/store/mongo/mongo-query.js';
import { parseMongoUpdate } from '../../../src/store/mongo/mongo-update.js';

function refusal(work: () => unknown): { code: string; message: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'none', message: '' };
}

function nested(levels: number): JsonValue {
  return levels === 0 ? { a: 1 } : { $and: [nested(levels - 1)] };
}

describe('a Mongo query', () => {
  it('is read into the one algebra of filters', () => {
    expect(
      parseMongoQuery({ class: '5', 'fees.head': { $in: ['Bus', null] }, $nor: [{ left: true }] }),
    ).toEqual({
      kind: 'all',
      filters: [
        { kind: 'match', path: ['class'], test: { kind: 'equals', value: '5' } },
        {
          kind: 'any',
          filters: [
            { kind: 'match', path: ['fees', 'head'], test: { kind: 'in', values: ['Bus'] } },
            { kind: 'match', path: ['fees', 'head'], test: { kind: 'equals', value: null } },
          ],
        },
        {
          kind: 'not',
          filter: {
            kind: 'any',
            filters: [{ kind: 'match', path: ['left'], test: { kind: 'equals', value: true } }],
          },
        },
      ],
    });
  });

  for (const [query, message] of [
    [null, 'query: expected a query; {} finds every record, found null.'],
    [[], 'query: expected an object of paths and conditions, found [].'],
    [{ a: { $gr: 1 } }, 'query/a/$gr: expected an operator'],
    [{ a: { $gtt: 1 } }, 'Did you mean "$gt"?'],
    [{ $gt: 1 }, '$gt belongs inside a condition: {"field": {"$gt": …}}.'],
    [{ $or: [] }, 'query/$or: expected a list of at least one query'],
    [{ $and: { a: 1 } }, 'query/$and: expected a list'],
    [{ a: { $in: 5 } }, 'query/a/$in: expected a list'],
    [{ a: { $gt: [1] } }, 'query/a/$gt: expected a number, a text or a boolean'],
    [{ a: { $not: 5 } }, 'for a value write $ne'],
    [{ a: { $exists: 'yes' } }, 'query/a/$exists: expected true or false'],
    [{ a: { $type: 'strng' } }, 'query/a/$type: expected a type'],
    [{ a: { $size: -1 } }, 'query/a/$size: expected a whole number'],
    [{ a: { $mod: [0, 1] } }, 'query/a/$mod: expected a divisor other than 0'],
    [{ a: { $mod: [1] } }, 'query/a/$mod: expected a list of two numbers'],
    [{ a: { $options: 'i' } }, 'query/a/$options: expected $regex beside $options'],
    [{ a: { $elemMatch: 5 } }, 'query/a/$elemMatch: expected a query'],
    [{ 'a..b': 1 }, 'query/a..b: expected a path'],
    [{ 'a.$b': 1 }, 'which do not begin with $'],
    [{ a: { b: { $gt: 1 } } }, '$gt has no meaning in one'],
    [{ a: { $where: 'x' } }, 'query/a/$where: expected an operator'],
    [{ $where: 'while (true) {}' }, 'query/$where: expected a field'],
    [{ $expr: { $gt: ['$a', 1], $lt: 1 } }, 'one operator alone'],
    [{ $expr: '$$' }, 'expected a variable'],
    [{ a: { $date: 5 } }, 'expected extended JSON'],
  ] as const satisfies readonly (readonly [JsonValue, string])[]) {
    it(`is refused, with the place and what would be right: ${JSON.stringify(query)}`, () => {
      const { code, message: told } = refusal(() => parseMongoQuery(query));
      expect(code).toBe('MALFORMED_FILTER');
      expect(told).toContain(message);
    });
  }

  it('is refused where a text can be in no record', () => {
    expect(refusal(() => parseMongoQuery({ a: 'x\u0000' })).code).toBe('INVALID_VALUE');
  });

  it('is bounded in depth, size, values and texts', () => {
    const limit = (query: JsonValue) => refusal(() => parseMongoQuery(query)).code;
    expect(limit(nested(5))).toBe('none');
    expect(limit(nested(40))).toBe('LIMIT_EXCEEDED');
    expect(limit(Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`f${n}`, 1])))).toBe(
      'LIMIT_EXCEEDED',
    );
    expect(limit({ a: { $in: Array.from({ length: 1_001 }, (_, n) => n) } })).toBe('LIMIT_EXCEEDED');
    expect(limit({ a: 'x'.repeat(5_000) })).toBe('LIMIT_EXCEEDED');
    expect(limit({ [Array(30).fill('a').join('.')]: 1 })).toBe('LIMIT_EXCEEDED');
  });
});

describe('a regular expression', () => {
  const read = (source: string, options = '') =>
    parseMongoPattern({ source, options }, startMongoPlace('query'));

  it('becomes one of Postgres that means the same', () => {
    expect(read('^a.b$')).toBe('***:^a[^\\n\\r\\u2028\\u2029]b$');
    expect(read('a.b', 'si')).toBe('***:(?i)a.b');
    expect(read('\\bword\\B', 'm')).toBe('***:(?w)\\yword\\Y');
    expect(read('[[a]\\u00e9')).toBe('***:[\\[a]\\u00e9');
    expect(read('a{,2}x{1,2}')).toBe('***:a\\{,2}x{1,2}');
  });

  for (const [source, what] of [
    ['(a)\\1', 'a back reference'],
    ['(?<name>a)', 'a named group'],
    ['a{1,500}', 'a count above 100'],
    ['\\p{L}', '\\p'],
    ['(', 'a regular expression of JavaScript'],
    ['[]', 'an empty bracket'],
  ] as const) {
    it(`is refused by name: ${source}`, () => {
      expect(refusal(() => read(source))).toMatchObject({
        code: 'MALFORMED_FILTER',
        message: expect.stringContaining(what),
      });
    });
  }

  it('is bounded in length, and has the options i, m, s and x', () => {
    expect(refusal(() => read('a'.repeat(300))).code).toBe('LIMIT_EXCEEDED');
    expect(refusal(() => read('a', 'g')).code).toBe('MALFORMED_FILTER');
  });
});

describe('an update', () => {
  it('is read into operations, a document without operators is a replacement', () => {
    expect(parseMongoUpdate({ $set: { 'a.0.b': 1 }, $pop: { c: -1 } })).toEqual([
      { kind: 'set', path: ['a', '0', 'b'], value: 1 },
      { kind: 'pop', path: ['c'], end: 'first' },
    ]);
    expect(parseMongoUpdate({ a: 1 })).toEqual([{ kind: 'replace', data: { a: 1 } }]);
  });

  for (const [update, message] of [
    [[{ $set: { a: 1 } }], 'an object, not a pipeline'],
    ['a', 'update: expected an object of operators'],
    [{ $set: { a: 1 }, b: 2 }, 'to set a field write $set'],
    [{ $sett: { a: 1 } }, 'Did you mean "$set"?'],
    [{ $set: 5 }, 'update/$set: expected an object of paths'],
    [{ $inc: { a: '1' } }, 'update/$inc/a: expected a number'],
    [{ $set: { 'a.$.b': 1 } }, 'a path without $'],
    [{ $set: { 'a.$[].b': 1 } }, 'a path without $[]'],
    [{ $pop: { a: 2 } }, '1 for the last element'],
    [{ $push: { a: { $each: 5 } } }, 'update/$push/a/$each: expected a list'],
    [{ $push: { a: { $each: [], $limit: 1 } } }, 'update/$push/a/$limit'],
    [{ $rename: { a: 5 } }, 'the new path'],
    [{ $currentDate: { a: 'date' } }, 'expected true'],
    [{ $pull: { a: { $regex: '(a+)+$' } } }, 'a condition of $eq'],
    [{ $pull: { a: { $gr: 1 } } }, 'expected an operator'],
    [{ $bit: { a: { and: 1 } } }, 'update/$bit: expected an operator'],
  ] as const satisfies readonly (readonly [JsonValue, string])[]) {
    it(`is refused, with the place and what would be right: ${JSON.stringify(update)}`, () => {
      const { code, message: told } = refusal(() => parseMongoUpdate(update));
      expect(code).toBe('MALFORMED_FILTER');
      expect(told).toContain(message);
    });
  }
});

describe('a pipeline', () => {
  for (const [pipeline, message] of [
    [{ $match: {} }, 'pipeline: expected a list of stages'],
    [[{ $macth: {} }], 'Did you mean "$match"?'],
    [[{ $match: {}, $sort: { a: 1 } }], 'an object of one stage'],
    [[{ $out: 'task' }], 'pipeline/0/$out: expected a stage'],
    [[{ $match: { a: { $foo: 1 } } }], 'pipeline/0/$match/a/$foo: expected an operator'],
    [[{ $group: { n: { $sum: 1 } } }], 'an object with an expression _id'],
    [[{ $group: { _id: null, n: 1 } }], 'pipeline/0/$group/n: expected one accumulator'],
    [[{ $sort: {} }], 'pipeline/0/$sort: expected an object of paths and 1 or -1'],
    [[{ $sort: { a: 2 } }], 'pipeline/0/$sort/a: expected 1 or -1'],
    [[{ $limit: 0 }], 'a whole number from 1 on'],
    [[{ $unwind: 'lines' }], 'a path such as "$lines"'],
    [[{ $project: {} }], 'an object of fields'],
    [[{ $project: { a: 1, b: 0 } }], 'not both'],
    [[{ $project: { a: 1, 'a.b': 1 } }], 'a path that neither equals nor begins another'],
    [[{ $addFields: { 'a.b': 1, a: 2 } }], 'a path that neither equals nor begins another'],
    [[{ $lookup: { from: 'a', as: 'b' } }], 'localField and foreignField, or a pipeline'],
    [[{ $lookup: { from: 'a', as: 'b', localField: 'c' } }], 'both or none'],
    [[{ $facet: { a: [{ $facet: { b: [] } }] } }], 'no $facet inside a $facet'],
    [[{ $bucket: { groupBy: '$a', boundaries: [2, 1] } }], 'each greater than the one before'],
    [[{ $count: '' }], 'pipeline/0/$count: expected a text'],
  ] as const satisfies readonly (readonly [JsonValue, string])[]) {
    it(`is refused, with the place and what would be right: ${JSON.stringify(pipeline)}`, () => {
      const { code, message: told } = refusal(() => parseMongoPipeline(pipeline));
      expect(code).toBe('MALFORMED_FILTER');
      expect(told).toContain(message);
    });
  }

  it('has at most fifty stages', () => {
    expect(refusal(() => parseMongoPipeline(Array(51).fill({ $match: {} }))).code).toBe('LIMIT_EXCEEDED');
  });
});
