/** Pipelines over the records a caller may read: rights, what is refused, and bounds. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import type { JsonValue } from '../../../src/base/json/json.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { as, read, useDb } from '../../services/scripting/db/db.js';
import { ADMIN, scopeOf } from '../people.js';

const test = useDb();
const VIEWER = scopeOf({ roles: ['viewer'] });
const CLERK = scopeOf({ roles: ['clerk'] });
const TEACHER = scopeOf({ roles: ['teacher'], attributes: { sectionsTaught: [['5', 'A']] } });

beforeAll(async () => {
  await test.store.create(ADMIN, 'staff', [
    { _id: 't1', name: 'Mira', department: 'Maths' },
    { _id: 't2', name: 'Nila', department: 'Art' },
  ]);
  await test.store.create(ADMIN, 'student', [
    {
      _id: 's1',
      number: '1',
      name: 'Asha',
      class: '5',
      section: 'A',
      fee: 0.1,
      phone: '1',
      tutor: { value: 't1' },
      seen: '2026-04-01T20:00:00.000Z',
    },
    {
      _id: 's2',
      number: '2',
      name: 'Bala',
      class: '5',
      section: 'B',
      fee: 0.2,
      phone: '2',
      tutor: { value: 't2' },
    },
    { _id: 's3', number: '3', name: 'Chitra', class: '6', section: 'A', fee: 5, tutor: { value: 't1' } },
  ]);
  await test.store.create(
    ADMIN,
    'note',
    Array.from({ length: 600 }, (_, n) => ({ _id: `n${1000 + n}`, n, text: `line ${n} ${'x'.repeat(40)}` })),
  );
});

async function run(collection: string, pipeline: JsonValue, scope = ADMIN) {
  return await read(test.pipelines.run(scope, { collection, stages: parseMongoPipeline(pipeline) }));
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'was not refused',
    (error: unknown) => error,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof ServiceError ? error.code : error;
}

describe('a pipeline', () => {
  it('sums exactly', async () => {
    expect(
      await run('student', [{ $match: { class: '5' } }, { $group: { _id: null, fee: { $sum: '$fee' } } }]),
    ).toEqual([{ _id: null, fee: 0.3 }]);
  });

  it('sees the rows of the caller alone, in a $lookup and a $facet too', async () => {
    expect(await run('student', [{ $count: 'n' }], TEACHER)).toEqual([{ n: 1 }]);
    expect(await run('student', [{ $facet: { all: [{ $count: 'n' }] } }], TEACHER)).toEqual([
      { all: [{ n: 1 }] },
    ]);
    const lookup = [
      { $match: { _id: 't1' } },
      { $lookup: { from: 'student', localField: '_id', foreignField: 'tutor.value', as: 'students' } },
      { $project: { n: { $size: '$students' } } },
    ];
    expect(await run('staff', lookup)).toEqual([{ _id: 't1', n: 2 }]);
    const self = scopeOf({ id: 't1', roles: ['teacher'], attributes: { sectionsTaught: [['5', 'A']] } });
    expect(await run('staff', lookup, self)).toEqual([{ _id: 't1', n: 1 }]);
  });

  it('has no hidden field in any document, and refuses one that is named', async () => {
    const [whole] = await run(
      'student',
      [{ $match: { _id: 's1' } }, { $replaceRoot: { newRoot: { all: '$$ROOT' } } }],
      VIEWER,
    );
    expect(JSON.stringify(whole)).not.toContain('fee');
    for (const stages of [
      [{ $match: { phone: '1' } }],
      [{ $project: { phone: 1 } }],
      [{ $project: { x: { $concat: ['$phone', ''] } } }],
      [{ $addFields: { x: '$$ROOT.phone' } }],
      [{ $group: { _id: '$phone' } }],
      [{ $group: { _id: null, all: { $push: '$phone' } } }],
      [{ $sort: { phone: 1 } }],
      [{ $unwind: '$phone' }],
      [{ $sortByCount: '$phone' }],
      [{ $facet: { a: [{ $project: { phone: 1 } }] } }],
      [{ $lookup: { from: 'staff', localField: 'phone', foreignField: '_id', as: 'x' } }],
      [{ $lookup: { from: 'staff', localField: 'class', foreignField: 'name', as: 'x' } }],
      [{ $lookup: { from: 'staff', let: { p: '$phone' }, pipeline: [], as: 'x' } }],
      [{ $lookup: { from: 'staff', pipeline: [{ $match: { name: 'Mira' } }], as: 'x' } }],
      [
        { $lookup: { from: 'staff', localField: 'tutor.value', foreignField: '_id', as: 'x' } },
        { $project: { n: '$x.name' } },
      ],
    ]) {
      expect([stages, await refusal(run('student', stages as JsonValue, VIEWER))]).toMatchObject([
        stages,
        { code: 'FORBIDDEN' },
      ]);
    }
  });

  it('refuses to look up what the caller may not read, or what there is not', async () => {
    const lookup = (from: string) => [{ $lookup: { from, localField: 'a', foreignField: '_id', as: 'x' } }];
    expect(await refusal(run('student', lookup('receipt'), VIEWER))).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('receipt'),
    });
    expect(await refusal(run('student', lookup('recipt'), CLERK))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal(run('receipt', [], VIEWER))).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('finds a value on a boundary in the bucket that begins with it', async () => {
    const bucket = { groupBy: '$n', boundaries: [0, 100, 200], output: { n: { $sum: 1 } } };
    expect(await run('note', [{ $bucket: { ...bucket, default: 'more' } }])).toEqual([
      { _id: 0, n: 100 },
      { _id: 100, n: 100 },
      { _id: 'more', n: 400 },
    ]);
    expect(await run('note', [{ $match: { n: { $lt: 200 } } }, { $bucket: bucket }])).toEqual([
      { _id: 0, n: 100 },
      { _id: 100, n: 100 },
    ]);
    expect(await refusal(run('note', [{ $bucket: bucket }]))).toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining('$bucket: a value is in none of the buckets'),
    });
    expect(await refusal(run('note', [{ $bucket: { ...bucket, default: 50 } }]))).toMatchObject({
      code: 'MALFORMED_FILTER',
    });
  });

  it('reads numbers from text', async () => {
    const read = async (operator: string, text: JsonValue) => {
      const [made] = await run('note', [{ $limit: 1 }, { $project: { _id: 0, r: { [operator]: text } } }]);
      return (made as { r: JsonValue }).r;
    };
    expect(await read('$toInt', '12')).toBe(12);
    expect(await read('$toInt', { $substrCP: ['2026-04-01', 0, 4] })).toBe(2026);
    expect(await read('$toLong', '-9000000000')).toBe(-9_000_000_000);
    expect(await read('$toDouble', '1.5e3')).toBe(1500);
    expect(await read('$toDecimal', '.25')).toBe(0.25);
    expect(await read('$toInt', 2.9)).toBe(2);
    expect(await read('$toInt', true)).toBe(1);
    for (const text of ['', 'N/A', '1.5', ' 12', '3000000000', '9'.repeat(400)])
      expect([text, await read('$toInt', text)]).toEqual([text, null]);
  });

  it(
    'reads days and instants of a $match as they are stored, as long as the fields are the records’ ' + 'own',
    async () => {
      expect(await test.db.getCount(as(), 'student', { seen: { $gte: '2026-04-02' } })).toBe(1);
      const stages = [
        { $addFields: { seen: { $substrCP: ['$seen', 0, 10] } } },
        { $match: { seen: '2026-04-01' } },
      ];
      expect(await read(test.db.aggregate(as(), 'student', stages))).toHaveLength(1);
    },
  );
});

describe('an expression', () => {
  it('ends with an error where it takes all memory, or forever; the gateway goes on', async () => {
    const doubled = (levels: number): JsonValue =>
      levels === 0
        ? '$n'
        : {
            $reduce: {
              input: { $range: [0, 1000] },
              initialValue: 0,
              in: { $add: ['$$value', doubled(levels - 1)] },
            },
          };
    for (const value of [
      { $range: [0, 900_000_000] },
      { $size: { $range: [0, 150_000_000] } },
      {
        $reduce: {
          input: { $range: [0, 60] },
          initialValue: ['x'],
          in: { $concatArrays: ['$$value', '$$value'] },
        },
      },
      doubled(6),
    ]) {
      const work = run('note', [{ $limit: 1 }, { $addFields: { x: value } }]);
      expect([value, codeOf(await refusal(work))]).toEqual([value, 'INVALID_VALUE']);
    }
  });

  it('is refused for an operator that there is not, with what was meant', async () => {
    expect(await refusal(run('note', [{ $addFields: { x: { $rangge: [0, 2] } } }]))).toMatchObject({
      code: 'MALFORMED_FILTER',
      message: expect.stringContaining('$rangge is not supported'),
    });
    for (const name of ['$function', '$regexFind', '$rand']) {
      expect(await refusal(run('note', [{ $addFields: { x: { [name]: {} } } }]))).toMatchObject({
        code: 'MALFORMED_FILTER',
        message: expect.stringContaining(`${name} is not supported`),
      });
    }
    expect(await refusal(run('note', [{ $group: { _id: 1, x: { $top: {} } } }]))).toMatchObject({
      code: 'MALFORMED_FILTER',
    });
  });
});

describe('a pattern that takes forever elsewhere', () => {
  it('is answered at once', async () => {
    await test.store.create(ADMIN, 'note', [{ _id: 'long', text: `${'a'.repeat(50_000)}!` }]);
    const started = Date.now();
    expect(await test.db.getCount(as(), 'note', { text: { $regex: '^(a+)+$' } })).toBe(0);
    expect(Date.now() - started).toBeLessThan(2_000);
  });

  it('is refused where it is too complex', async () => {
    const pattern = '(((a{100}){100}){100}){100}';
    expect(await refusal(test.db.getCount(as(), 'note', { text: { $regex: pattern } }))).toMatchObject({
      code: 'MALFORMED_FILTER',
    });
  });
});
