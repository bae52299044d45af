/** `platform.db` as scripts call it: callbacks and promises, streams, files. */
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { usePlatform } from '../platform/platform.js';

const test = usePlatform();

beforeAll(async () => {
  const admin = await test.scopeOf('admin');
  await test.services.catalog.register(admin, { name: 'meal', fields: [{ name: 'n', type: 'number' }] });
  await test.services.store.create(
    admin,
    'meal',
    Array.from({ length: 1_200 }, (_, n) => ({ _id: `m${n}`, n, kind: n % 2 === 0 ? 'even' : 'odd' })),
  );
});

describe('every function of platform.db', () => {
  it('gives a promise, and calls back with (error, result)', async () => {
    const code = `
      const { db } = platform;
      const called = (start) => new Promise((done) => start((error, result) => done([error, result])));
      export default [
        await db.getCount('meal', { kind: 'even' }),
        await called((back) => db.getCount('meal', { kind: 'even' }, back)),
        await called((back) => db.getCount('meal', { kind: 'even' }, { limit: 5 }, back)),
        await db.findDistinct('meal', 'kind', {}),
        await called((back) => db.findDistinct('meal', 'kind', {}, {}, back)),
        (await db.create('meal', { _id: 'x1', n: -1 })).n,
        (await db.createMultiple('meal', [{ _id: 'x2', n: -2 }, { _id: 'x3', n: -3 }])).length,
        (await db.findAndModify('meal', { _id: 'x1' }, null, { $inc: { n: -10 } }, { new: true })).n,
        (await db.update('meal', { _id: 'x2' }, { $set: { kind: 'none' } })).modifiedCount,
        (await db.updateMany('meal', { n: { $lt: 0 } }, { $set: { kind: 'none' } })).matchedCount,
        (await db.listCollections({ name: 'meal' })).map((one) => one.name),
        await platform.aggregate('meal', [{ $match: { n: { $gte: 0 } } }, { $group: { _id: '$kind', n: { $sum: 1 } } }]),
      ];`;
    expect(await test.value('admin', code)).toEqual([
      600,
      [null, 600],
      [null, 5],
      ['even', 'odd'],
      [null, ['even', 'odd']],
      -1,
      2,
      -11,
      1,
      3,
      ['meal'],
      [
        { _id: 'even', n: 600 },
        { _id: 'odd', n: 600 },
      ],
    ]);
  });

  it('points out names that are not declared, once in the output of the run', async () => {
    const code = `
      const { db } = platform;
      await db.create('task', { name: 'x', amuont: 1 });
      for (let time = 0; time < 3; time += 1) await db.findDistinct('registration', 'clas', {});
      await db.getCount('registration', { 'class.name': '5' });
      const lookup = { from: 'registration', localField: 'studnt.value', foreignField: '_idd', as: 'who' };
      await platform.aggregate('attendance', [{ $lookup: lookup }, { $sort: { 'who.nam': 1 } }]);
      export default null;`;
    const { output } = await test.run('admin', code);
    expect(output.map(({ level, text }) => [level, text])).toEqual([
      ['warn', 'No field "amuont" is declared on task. Did you mean "amount"?'],
      ['warn', 'No field "clas" is declared on registration. Did you mean "class"?'],
      ['warn', '"class" of registration is a text; it has no members.'],
      ['warn', 'No field "studnt" is declared on attendance. Did you mean "student"?'],
      ['warn', 'No field "_idd" is declared on registration.'],
      ['warn', 'No field "nam" is declared on registration. Did you mean "name"?'],
    ]);
  });

  it('fails the promise, or calls back with the error', async () => {
    const code = `
      const errors = [];
      try { await platform.db.getCount('meal', { n: { $gte: 1, $foo: 2 } }); } catch (error) { errors.push([error.code, error.message]); }
      await new Promise((done) => platform.db.getCount('meal', null, (error) => { errors.push([error.code]); done(); }));
      try { platform.db.findStream('none', {}).toArray(); } catch (error) { errors.push([error.code]); }
      export default errors;`;
    expect(await test.value('admin', code)).toEqual([
      ['MALFORMED_FILTER', expect.stringContaining('query/n/$foo: expected an operator')],
      ['MALFORMED_FILTER'],
      ['NOT_FOUND'],
    ]);
  });

  it('takes a regular expression and a Date of JavaScript', async () => {
    const code = `
      export default [
        await platform.db.getCount('meal', { kind: /^EV/i }),
        await platform.db.getCount('meal', { kind: 'even', created_on: { $gte: new Date(0), $lt: new Date(Date.now() + 60000) } }),
      ];`;
    expect(await test.value('admin', code)).toEqual([600, 600]);
  });

  it('does for a caller without rights what GraphQL would: refuses', async () => {
    const run = await test.run('viewer', `await platform.db.getCount('meal', {});`);
    expect(run.error).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('platform.db.findStream and agg', () => {
  it('call _eod once a record and _com once at the end', async () => {
    const code = `
      const seen = [], ends = [];
      await platform.db.findStream('meal', { n: { $gte: 0 } }, { sort: { n: 1 } },
        async (record) => { seen.push(record.n); }, (error, count) => { ends.push([error, count]); });
      const groups = [];
      await platform.db.agg('meal', [{ $match: { n: { $gte: 0 } } }, { $group: { _id: '$kind', total: { $sum: '$n' } } }],
        (group) => { groups.push(group); }, (error) => { ends.push(error); });
      export default { count: seen.length, first: seen[0], last: seen.at(-1), ends, groups };`;
    expect(await test.value('admin', code)).toEqual({
      count: 1_200,
      first: 0,
      last: 1_199,
      ends: [[null, 1_200], null],
      groups: [
        { _id: 'even', total: 359_400 },
        { _id: 'odd', total: 360_000 },
      ],
    });
  });

  it('can be gone through, and left, with for await', async () => {
    const code = `
      let n = 0;
      for await (const record of platform.db.findStream('meal', { n: { $gte: 0 } })) if (++n === 700) break;
      export default n;`;
    expect(await test.value('admin', code)).toBe(700);
  });

  it('tell _com of a failure', async () => {
    const code = `
      let told;
      await platform.db.findStream('meal', { $bad: 1 }, {}, () => {}, (error) => { told = error.code; });
      export default told;`;
    expect(await test.value('admin', code)).toBe('MALFORMED_FILTER');
  });
});

describe('platform.db.readFile', () => {
  it('gives a file in pieces: text, lines, base64, a range', async () => {
    const admin = await test.scopeOf('admin');
    const content = 'name,amount\r\nAsha,100\nहिन्दी,200';
    const file = await test.services.files.create(admin, {
      name: 'fees.csv',
      contentType: 'text/csv',
      stream: Readable.from([Buffer.from(content)]),
    });
    const code = `
      const { id } = args;
      let called = '';
      await platform.db.readFile(id, 'text', {}, (piece) => { called += piece; }, () => {});
      export default [
        platform.db.readFile(id).toArray().join(''),
        platform.db.readFile(id, 'lines').toArray(),
        platform.db.readFile(id, 'base64').toArray().join(''),
        platform.db.readFile(id, 'text', { start: 5, end: 10 }).toArray(),
        called,
      ];`;
    expect(await test.value('admin', code, { id: file.id })).toEqual([
      content,
      ['name,amount', 'Asha,100', 'हिन्दी,200'],
      Buffer.from(content).toString('base64'),
      ['amount'],
      content,
    ]);
    const outside = `platform.db.readFile(args.id, 'text', { start: 5, end: 5000 }).toArray();`;
    expect((await test.run('admin', outside, { arguments: { id: file.id } })).error).toMatchObject({
      code: 'INVALID_VALUE',
    });
    const missing = `platform.db.readFile('none').toArray();`;
    expect((await test.run('viewer', missing)).error).toMatchObject({ code: 'NOT_FOUND' });
  });
});
