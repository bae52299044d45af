import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonValue } from '../../../../src/base/json/json.js';
import { sql } from '../../../../src/store/sql.js';
import { ADMIN, scopeOf } from '../../../store/people.js';
import { answered, as, read, useDb } from './db.js';

const test = useDb({ maxResultRecords: 50 });
const VIEWER = as(scopeOf({ roles: ['viewer'] }));
const CLERK = as(scopeOf({ roles: ['clerk'] }));
const TEACHER = as(scopeOf({ roles: ['teacher'], attributes: { sectionsTaught: [['5', 'A']] } }));
const STRANGER = as(scopeOf({ roles: ['nobody'] }));

const STUDENTS = [
  {
    _id: 's1',
    number: '1',
    name: 'Asha',
    class: '5',
    section: 'A',
    fee: 1000,
    phone: '111',
    tags: ['bus', 'hostel'],
    seen: '2026-04-01T03:00:00.000Z',
  },
  {
    _id: 's2',
    number: '2',
    name: 'Bala',
    class: '5',
    section: 'B',
    fee: 1500.5,
    phone: '222',
    tags: ['bus'],
    seen: '2026-04-01T20:00:00.000Z',
  },
  {
    _id: 's3',
    number: '3',
    name: 'Chitra',
    class: '6',
    section: 'A',
    fee: 2000,
    phone: '333',
    marks: [
      { subject: 'Maths', got: 80, max: 100 },
      { subject: 'Art', got: 50, max: 100 },
    ],
  },
];

beforeAll(async () => {
  await test.store.create(ADMIN, 'staff', [{ _id: 't1', name: 'Mira', department: 'Maths' }]);
});

beforeEach(async () => {
  await test.database.query(sql`delete from records where collection in ('student', 'note')`);
  await test.store.create(ADMIN, 'student', STUDENTS);
});

async function ids(query: JsonValue, options?: JsonValue, call = as()): Promise<unknown[]> {
  const found = await read(test.db.find(call, 'student', query, options));
  return found.map((one) => (isJsonObject(one) ? one._id : one));
}

async function refused(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'was not refused',
    (error: unknown) => error,
  );
}

describe('platform.db.getCount', () => {
  it('counts what matches', async () => {
    expect(await test.db.getCount(as(), 'student', { class: '5' })).toBe(2);
    expect(await test.db.getCount(as(), 'student', {})).toBe(3);
    expect(await test.db.getCount(as(), 'student', { class: '9' })).toBe(0);
    expect(await test.db.getCount(as(), 'student', {}, { skip: 1, limit: 1 })).toBe(1);
  });

  it('counts the rows of the caller alone', async () => {
    expect(await test.db.getCount(TEACHER, 'student', {})).toBe(1);
  });

  it('does not take a query that is missing for one of everything', async () => {
    expect(await refused(test.db.getCount(as(), 'student', undefined))).toMatchObject({
      code: 'MALFORMED_FILTER',
      message: 'query: expected a query; {} finds every record, found nothing.',
    });
  });

  it('refuses a query or sort by a hidden field, also within an expression', async () => {
    const refusal = { code: 'FORBIDDEN', message: expect.stringContaining('"fee"') };
    expect(await refused(test.db.getCount(VIEWER, 'student', { fee: { $gt: 1 } }))).toMatchObject(refusal);
    expect(
      await refused(
        test.db.getCount(VIEWER, 'student', { $or: [{ class: '5' }, { $expr: { $gt: ['$fee', 1] } }] }),
      ),
    ).toMatchObject(refusal);
    expect(
      await refused(test.db.getCount(VIEWER, 'student', { $expr: { $eq: ['$$ROOT.fee', 1] } })),
    ).toMatchObject(refusal);
    // Of a change, all of the record as it is stored is asked for.
    const change = { query: { $expr: { $eq: ['$$ROOT', {}] } }, options: { $set: { phone: '0' } } };
    expect(await refused(test.db.update(CLERK, 'student', change))).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('refuses who may not read, and says what collection there is none', async () => {
    expect(await refused(test.db.getCount(STRANGER, 'student', {}))).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refused(test.db.getCount(as(), 'studnet', {}))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('Did you mean "student"?'),
    });
  });
});

describe('platform.db.findStream', () => {
  it('finds by operators, sorted, in part', async () => {
    expect(await ids({ fee: { $gte: 1500.5 } }, { sort: { fee: -1 } })).toEqual(['s3', 's2']);
    expect(await ids({}, { sort: { name: 1 }, skip: 1, limit: 1 })).toEqual(['s2']);
    expect(await ids({ tags: 'bus' })).toEqual(['s1', 's2']);
    expect(await ids({ marks: { $elemMatch: { subject: 'Maths', got: { $gte: 80 } } } })).toEqual(['s3']);
    expect(await ids({ name: { $regex: '^b', $options: 'i' } })).toEqual(['s2']);
    expect(await ids({ tags: null })).toEqual(['s3']);
  });

  it('compares instants with what is stored: any offset, and a day as its midnight here', async () => {
    expect(await ids({ seen: { $gte: '2026-04-02' } })).toEqual(['s2']);
    expect(await ids({ seen: '2026-04-01T08:30:00+05:30' })).toEqual(['s1']);
    expect(await ids({ seen: { $lt: { $date: '2026-04-01T04:00:00.000Z' } } })).toEqual(['s1']);
  });

  it('projects fields, leaves out, computes', async () => {
    const found = async (projection: JsonValue) =>
      (await read(test.db.find(as(), 'student', { _id: 's3' }, { projection })))[0];
    expect(await found({ name: 1 })).toEqual({ _id: 's3', name: 'Chitra' });
    expect(await found({ 'marks.subject': 1, _id: 0 })).toEqual({
      marks: [{ subject: 'Maths' }, { subject: 'Art' }],
    });
    expect(await found({ total: { $sum: '$marks.got' }, _id: 0 })).toEqual({ total: 130 });
    expect(await found(['name', 'class'])).toEqual({ _id: 's3', name: 'Chitra', class: '6' });
    expect(await found({ name: 0, marks: 0 })).toMatchObject({ _id: 's3', class: '6' });
  });

  it('shows no hidden field, and refuses one that is asked for', async () => {
    const [student] = await read(test.db.find(VIEWER, 'student', { _id: 's1' }));
    expect(student).not.toHaveProperty('fee');
    expect(student).not.toHaveProperty('phone');
    expect(() => test.db.find(VIEWER, 'student', {}, { projection: { phone: 1 } })).toThrow('"phone"');
    expect(() => test.db.find(VIEWER, 'student', {}, { sort: { fee: 1 } })).toThrow('"fee"');
  });

  it('refuses options it does not know, with what was meant', () => {
    expect(() => test.db.find(as(), 'student', {}, { limt: 1 })).toThrow('Did you mean "limit"?');
    expect(() => test.db.find(as(), 'student', {}, { limit: -1 })).toThrow(
      'options/limit: expected a whole number',
    );
    expect(() => test.db.find(as(), 'student', {}, { projection: { name: 1, phone: 0 } })).toThrow(
      'not both',
    );
  });
});

describe('platform.db.findDistinct', () => {
  it('gives the different values in order, the elements of lists, null but not what is missing', async () => {
    expect(answered(await test.db.findDistinct(as(), 'student', 'class', { query: {} }))).toEqual(['5', '6']);
    expect(answered(await test.db.findDistinct(as(), 'student', 'tags', { query: {} }))).toEqual([
      'bus',
      'hostel',
    ]);
    expect(answered(await test.db.findDistinct(as(), 'student', 'marks.subject', { query: {} }))).toEqual([
      'Art',
      'Maths',
    ]);
    await test.db.createMultiple(as(), 'note', [{ a: null }, { a: 1 }, { b: 1 }, { a: { c: 1 } }]);
    expect(answered(await test.db.findDistinct(as(), 'note', 'a', { query: {} }))).toEqual([
      1,
      { c: 1 },
      null,
    ]);
  });

  it('refuses a hidden field, and more values than are given at once', async () => {
    expect(await refused(test.db.findDistinct(VIEWER, 'student', 'phone', { query: {} }))).toMatchObject({
      code: 'FORBIDDEN',
    });
    await test.db.createMultiple(
      as(),
      'note',
      Array.from({ length: 51 }, (_, n) => ({ n })),
    );
    expect(await refused(test.db.findDistinct(as(), 'note', 'n', { query: {} }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });
});

describe('platform.db.create and createMultiple', () => {
  it('stores and gives back', async () => {
    expect(answered(await test.db.create(as(), 'note', { _id: 'n1', text: 'a' }))).toMatchObject({
      _id: 'n1',
      text: 'a',
    });
    const made = answered(await test.db.createMultiple(as(), 'note', [{ text: 'b' }, { text: 'c' }]));
    expect(made).toMatchObject([{ text: 'b' }, { text: 'c' }]);
  });

  it('stores none of several when one is at fault', async () => {
    const work = test.db.createMultiple(as(), 'student', [
      { number: '9', name: 'Z' },
      { number: '1', name: 'Y' },
    ]);
    expect(await refused(work)).toMatchObject({ code: 'CONFLICT' });
    expect(await test.db.getCount(as(), 'student', {})).toBe(3);
  });

  it('refuses what is no record, a caller without the right, a field that is not the caller’s to set', async () => {
    expect(await refused(test.db.create(as(), 'note', ['a']))).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await refused(test.db.create(VIEWER, 'student', { number: '4', name: 'D' }))).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(
      await refused(test.db.create(CLERK, 'student', { number: '4', name: 'D', status: 'left' })),
    ).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('platform.db.update and updateMany', () => {
  it('changes the first that matches, or all', async () => {
    const one = { query: { class: '5' }, options: { $set: { section: 'C' } } };
    expect(await test.db.update(as(), 'student', one)).toEqual({
      acknowledged: true,
      matchedCount: 1,
      modifiedCount: 1,
      upsertedCount: 0,
      upsertedId: null,
    });
    expect(await ids({ section: 'C' })).toEqual(['s1']);
    expect(await test.db.updateMany(as(), 'student', one)).toMatchObject({
      matchedCount: 2,
      modifiedCount: 1,
    });
    expect(await test.db.update(as(), 'student', { ...one, options2: { multi: true } })).toMatchObject({
      matchedCount: 2,
      modifiedCount: 0,
    });
  });

  it('takes options in both of the last parameters', async () => {
    const done = await test.db.update(as(), 'student', {
      query: { class: '5' },
      options: { $set: { section: 'C' } },
      options2: { sort: { name: -1 } },
      options3: { upsert: false },
    });
    expect(done.matchedCount).toBe(1);
    expect(await ids({ section: 'C' })).toEqual(['s2']);
  });

  it('makes the record that an upsert does not find, from what the query says it equals', async () => {
    const done = await test.db.update(as(), 'note', {
      query: { day: '2026-04-01', n: { $gt: 1 }, $and: [{ 'by.name': 'Asha' }] },
      options: { $inc: { count: 2 }, $setOnInsert: { first: true } },
      options2: { upsert: true },
    });
    expect(done).toMatchObject({ matchedCount: 0, upsertedCount: 1, upsertedId: expect.any(String) });
    expect(await read(test.db.find(as(), 'note', {}, { projection: { _id: 0, created_on: 0 } }))).toEqual([
      { day: '2026-04-01', by: { name: 'Asha' }, count: 2, first: true },
    ]);
  });

  it('makes the record of an upsert once, with the _id that its query names', async () => {
    for (const query of [
      { _id: 'settings' },
      { _id: { $eq: 'settings' } },
      { $and: [{ _id: 'settings' }] },
      { _id: { $in: ['settings'] } },
      { _id: { $all: ['settings'] } },
      { $or: [{ _id: 'settings' }] },
    ]) {
      for (const options of [{ n: 1 }, { $inc: { n: 1 } }, { $set: { _id: 'settings', n: 1 } }]) {
        const update = () => test.db.update(as(), 'note', { query, options, options2: { upsert: true } });
        expect([query, await update()]).toMatchObject([query, { upsertedId: 'settings' }]);
        expect(await update()).toMatchObject({ matchedCount: 1, upsertedId: null });
        const many = { query, options, options2: { upsert: true } };
        expect(await test.db.updateMany(as(), 'note', many)).toMatchObject({ matchedCount: 1 });
        await test.database.query(sql`delete from records where collection = 'note'`);
      }
    }
  });

  it('gives the record of an upsert the _id that its update names', async () => {
    const options = { $setOnInsert: { _id: 'k' }, $set: { n: 1 } };
    const request = { query: { name: 'x' }, options, options2: { upsert: true } };
    expect(await test.db.update(as(), 'note', request)).toMatchObject({ upsertedId: 'k' });
    expect(await test.db.update(as(), 'note', request)).toMatchObject({ matchedCount: 1, upsertedId: null });
    for (const [query, update] of [
      [{ _id: 'a' }, { $setOnInsert: { _id: 'b' } }],
      [{ _id: 'a' }, { _id: 'b', n: 1 }],
      [{ _id: 'k' }, { $set: { _id: 'other' } }],
      [{ _id: 'k' }, { $unset: { _id: '' } }],
    ] as const) {
      const work = test.db.update(as(), 'note', { query, options: update, options2: { upsert: true } });
      expect([update, await refused(work)]).toMatchObject([update, { code: 'INVALID_VALUE' }]);
    }
  });

  it('refuses a change of all records unless it says so, a malformed one, one of a hidden field', async () => {
    const all = { query: {}, options: { $set: { section: 'C' } } };
    expect(await refused(test.db.updateMany(as(), 'student', all))).toMatchObject({
      code: 'MALFORMED_FILTER',
      message: expect.stringContaining('allowAll'),
    });
    expect(await test.db.updateMany(as(), 'student', { ...all, options2: { allowAll: true } })).toMatchObject(
      { matchedCount: 3 },
    );
    expect(
      await refused(
        test.db.update(as(), 'student', { query: { class: '5' }, options: { $set: { a: 1 }, b: 2 } }),
      ),
    ).toMatchObject({ message: expect.stringContaining('to set a field write $set') });
    expect(
      await refused(
        test.db.update(CLERK, 'student', { query: { fee: 1000 }, options: { $set: { section: 'C' } } }),
      ),
    ).toMatchObject({ code: 'FORBIDDEN' });
    expect(
      await refused(
        test.db.update(CLERK, 'student', { query: { class: '5' }, options: { $set: { fee: 1 } } }),
      ),
    ).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('changes no record out of the caller’s rows', async () => {
    expect(
      await test.db.updateMany(TEACHER, 'student', {
        query: { class: { $in: ['5', '6'] } },
        options: { $set: { phone: '0' } },
      }),
    ).toMatchObject({ matchedCount: 1 });
  });
});

describe('platform.db.findAndModify', () => {
  it('gives the record as it was, or as it is', async () => {
    const request = { query: { class: '5' }, sort: { name: -1 }, replacement: { $set: { section: 'Z' } } };
    expect(answered(await test.db.findAndModify(as(), 'student', request))).toMatchObject({
      _id: 's2',
      section: 'B',
    });
    const after = { ...request, options: { new: true, projection: { section: 1 } } };
    expect(answered(await test.db.findAndModify(as(), 'student', after))).toEqual({
      _id: 's2',
      section: 'Z',
    });
    expect(await test.db.findAndModify(as(), 'student', { ...request, query: { class: '9' } })).toBeNull();
  });

  it('replaces, removes, and upserts', async () => {
    const { db } = test;
    await db.create(as(), 'note', { _id: 'n1', a: 1, b: 2 });
    const replaced = await db.findAndModify(as(), 'note', {
      query: { _id: 'n1' },
      sort: null,
      replacement: { c: 3 },
      options: { new: true },
    });
    expect(answered(replaced)).toMatchObject({ _id: 'n1', c: 3 });
    expect(answered(replaced)).not.toHaveProperty('a');
    const removed = await db.findAndModify(as(), 'note', {
      query: { c: 3 },
      sort: null,
      replacement: null,
      options: { remove: true },
    });
    expect(answered(removed)).toMatchObject({ _id: 'n1' });
    expect(await db.getCount(as(), 'note', {})).toBe(0);
    const one = { query: { _id: 'one' }, sort: null, replacement: { n: 7 } };
    for (let call = 1; call <= 2; call += 1) {
      const found = await db.findAndModify(as(), 'note', { ...one, options: { upsert: true, new: true } });
      expect(answered(found)).toMatchObject({ _id: 'one', n: 7 });
    }
    expect(await db.getCount(as(), 'note', {})).toBe(1);
    const upsert = { query: { name: 'x' }, sort: null, replacement: { $inc: { n: 1 } } };
    expect(await db.findAndModify(as(), 'note', { ...upsert, options: { upsert: true } })).toBeNull();
    expect(
      answered(await db.findAndModify(as(), 'note', { ...upsert, options: { upsert: true, new: true } })),
    ).toMatchObject({ name: 'x', n: 2 });
  });

  it('loses no increment of fifty at once', async () => {
    await test.db.create(as(), 'note', { _id: 'counter', value: 0 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? test.db
              .findAndModify(as(), 'note', {
                query: { _id: 'counter' },
                sort: null,
                replacement: { $inc: { value: 1 } },
                options: { new: true },
              })
              .then(answered)
          : test.db.update(as(), 'note', { query: { _id: 'counter' }, options: { $inc: { value: 1 } } }),
      ),
    );
    expect(answers).toHaveLength(50);
    const values = answers.flatMap((one) => (isJsonObject(one) && 'value' in one ? [one.value] : []));
    expect(new Set(values).size).toBe(25);
    expect((await read(test.db.find(as(), 'note', { _id: 'counter' })))[0]).toMatchObject({ value: 50 });
  });
});

describe('platform.db.listCollections', () => {
  it('lists what the caller may read', async () => {
    const names = async (call = as(), filter?: JsonValue) => {
      const found = answered(await test.db.listCollections(call, filter));
      return Array.isArray(found)
        ? found.map((one: JsonValue) => (isJsonObject(one) ? one.name : one))
        : found;
    };
    expect(await names()).toEqual(expect.arrayContaining(['note', 'student', 'staff']));
    expect(await names(VIEWER)).toEqual(['staff', 'student']);
    expect(await names(as(), 'note')).toEqual(['note']);
    expect(await names(as(), { name: { $regex: '^st' } })).toEqual(['staff', 'student']);
  });
});

describe('platform.db within a transaction', () => {
  it('sees what the transaction has written, in batches, and leaves nothing when it is rolled back', async () => {
    const work = test.database.transaction(async (within) => {
      const call = { scope: ADMIN, within };
      const many = Array.from({ length: 1_200 }, (_, n) => ({ n }));
      await test.db.createMultiple(call, 'note', many);
      expect(await test.db.getCount(call, 'note', {})).toBe(1_200);
      expect(await test.db.getCount(as(), 'note', {})).toBe(0);
      const [one, other] = [
        test.db.find(call, 'note', { n: { $gte: 0 } }),
        test.db.find(call, 'note', {}, { limit: 700 }),
      ];
      let count = 0;
      for await (const batch of one) {
        count += batch.length;
        if (count === 500) expect(await read(other)).toHaveLength(700);
      }
      expect(count).toBe(1_200);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await test.db.getCount(as(), 'note', {})).toBe(0);
  });
});

describe('names and texts of a caller', () => {
  it('are never SQL', async () => {
    const strange = `a'b"; drop table records; --`;
    await test.db.create(as(), 'note', { _id: 'strange', [strange]: strange, list: [{ [strange]: 1 }] });
    expect(await test.db.getCount(as(), 'note', { [strange]: strange })).toBe(1);
    expect(await test.db.getCount(as(), 'note', { [`list.${strange}`]: { $gte: 1 } })).toBe(1);
    const groups = await read(
      test.db.aggregate(as(), 'note', [
        { $addFields: { [`x${strange}`]: `$${strange}` } },
        {
          $group: {
            _id: `$x${strange}`,
            [`n${strange}`]: { $sum: `$list.0` },
            all: { $push: `$list.${strange}` },
          },
        },
        { $lookup: { from: 'note', localField: '_id', foreignField: strange, as: `found${strange}` } },
        { $project: { [`n${strange}`]: 1, all: 1, n: { $size: `$found${strange}` } } },
      ]),
    );
    expect(groups).toEqual([{ _id: strange, [`n${strange}`]: 0, all: [[1]], n: 1 }]);
  });

  it('find an _id by its text alone', async () => {
    await test.db.create(as(), 'note', { _id: '5' });
    expect(await test.db.getCount(as(), 'note', { _id: '5' })).toBe(1);
    expect(await test.db.getCount(as(), 'note', { _id: 5 })).toBe(0);
    expect(await test.db.getCount(as(), 'note', { _id: { $in: [5, '5'] } })).toBe(1);
  });
});
