/**
 * Names and values that nothing can hold, or that mean nothing where they stand: refused before they reach
 * PostgreSQL, on every door.
 */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();

async function get(path: string) {
  const response = await gateway.fetch(path, { as: 'admin' });
  return { status: response.status, body: (await response.json()) as { detail?: string } };
}

async function post(path: string, body: string) {
  const response = await gateway.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    as: 'admin',
  });
  return { status: response.status, body: (await response.json()) as { detail?: string } };
}

describe('a comparison that means nothing', () => {
  for (const oquery of [
    'name=>2026-04-01',
    'name=<2026-04',
    'name=>5',
    '_id=>2026-04-01',
    'manager=>2026-04-01',
  ]) {
    it(`is refused: ${oquery}`, async () => {
      expect(await get(`/o/recs/task?oquery=${oquery}`)).toMatchObject({ status: 400 });
    });
  }

  it('of a month is with a month', async () => {
    expect(await get('/o/recs/fee_due?oquery=month=>2026-04')).toMatchObject({ status: 200 });
    expect(await get('/o/recs/fee_due?oquery=month=>2026-04-01')).toMatchObject({ status: 400 });
  });
});

describe('a number that no float holds', () => {
  it('is refused where GraphQL prints floats', async () => {
    const student = '"name":"A","class":"5","section":"A","session":"2026-27","admitted_on":"2026-04-01"';
    const answer = await post('/o/registration', `{"sequence":"F-1",${student},"roll_no":1e400}`);
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('/roll_no') } });
  });
});

describe('two values for one member', () => {
  const twice = '{"name":{"equals":"a","equals":"b"}}';

  it('are refused in the filter of an address', async () => {
    const answer = await get(`/o/recs/task?where=${encodeURIComponent(twice)}`);
    expect(answer).toMatchObject({ status: 400 });
  });

  it('are refused in the variables of an operation', async () => {
    const query = 'query ($w: JSON) { records(collection: "task", where: $w) { nodes { id } } }';
    const answer = await post('/graphql', `{"query":"${query}","variables":{"w":${twice}}}`);
    expect(answer).toMatchObject({ status: 400 });
  });
});

describe('an oquery that the address has cut at #', () => {
  for (const path of [
    '/o/recs/task?oquery=created_on=',
    '/o/recs/fee_due?oquery=month=',
    '/o/recs/attendance?oquery=created=',
  ]) {
    it(`is told of %23: ${path}`, async () => {
      const { status, body } = await get(path);
      expect([status, body.detail]).toEqual([400, expect.stringContaining('%23in')]);
    });
  }
});

describe('a number', () => {
  it('that may be stored may be asked for', async () => {
    for (const [index, number] of ['1e400', '5e-324', '-1e-400', `1${'0'.repeat(190)}`].entries()) {
      expect(
        await post('/o/task', `{"_id": "number-${index}", "name": "N", "amount": ${number}}`),
      ).toMatchObject({ status: 201 });
      for (const operator of ['===', '=']) {
        const found = await get(
          `/o/recs/task?project=_id&oquery=amount${operator}${encodeURIComponent(number)}`,
        );
        expect(found).toEqual({ status: 200, body: [{ _id: `number-${index}` }] });
      }
    }
  });

  it('below all others is less than them', async () => {
    expect(
      await post('/o/task', `{"_id": "least", "name": "N", "amount": -${'9'.repeat(190)}e400}`),
    ).toMatchObject({ status: 201 });
    expect(await get('/o/recs/task?project=_id&oquery=amount=<-1e400')).toEqual({
      status: 200,
      body: [{ _id: 'least' }],
    });
  });

  it('that may not be stored may not be asked for', async () => {
    for (const number of ['1e401', '1e-401', '9'.repeat(201)]) {
      expect(await post('/o/task', `{"name": "N", "amount": ${number}}`)).toMatchObject({ status: 400 });
      expect(await get(`/o/recs/task?oquery=amount===${number}`)).toMatchObject({ status: 400 });
    }
  });
});

describe('an _id', () => {
  it('that an address resolves away is refused', async () => {
    for (const id of ['.', '..']) {
      expect(await post('/o/task', JSON.stringify({ _id: id, name: 'N' }))).toMatchObject({ status: 400 });
      expect(await post('/o/task', JSON.stringify({ name: 'N', manager: id }))).toMatchObject({
        status: 400,
      });
    }
  });
});

describe('a character that PostgreSQL cannot hold', () => {
  const HALF = '\\ud800';
  for (const [name, query, variables] of [
    [
      'in a name of a login',
      'mutation ($v: String!) { login(userName: $v, password: "x") { accessToken } }',
      '"a\\u0000"',
    ],
    ['in an id', 'query ($v: ID!) { task(id: $v) { id } }', '"a\\u0000"'],
    ['in the name of a script', 'query ($v: ID!) { script(name: $v) { name } }', '"a\\u0000"'],
    [
      'in a name of an order',
      'query ($v: String!) { records(collection: "task", orderBy: [{field: $v}]) { nodes { id } } }',
      `"a${HALF}"`,
    ],
    [
      'in a name of a new record',
      'mutation ($v: JSON!) { createRecord(collection: "task", data: $v) { id } }',
      `{"name": "N", "a${HALF}": 1}`,
    ],
    [
      'deep in a new record',
      'mutation ($v: JSON!) { createRecord(collection: "task", data: $v) { id } }',
      '{"name": "N", "a": [{"b\\u0000": 1}]}',
    ],
    [
      'in the title of a collection',
      'mutation ($v: JSON!) { registerCollection(definition: $v) { name } }',
      '{"name": "hostile", "title": "a\\u0000"}',
    ],
  ] as const) {
    it(`is refused ${name}`, async () => {
      const { errors } = await send(gateway, { query, variables: `{"v": ${variables}}`, as: 'admin' });
      expect(
        errors
          .map(({ extensions }) => extensions.status)
          .filter((status) => ![400, 401, 404].includes(status)),
      ).toEqual([]);
      expect(errors).toHaveLength(1);
    });
  }

  it('is refused in what a script asks platform.db', async () => {
    const code = `
      const refusals = [];
      for (const value of ['\\0', '\\ud800']) {
        const named = { ['a' + value]: 1 };
        for (const work of [
          () => platform.db.getCount('task', { name: value }),
          () => platform.db.getCount('task', { extra: named }),
          () => platform.db.getCount('task', { extra: { $in: [value] } }),
          () => platform.db.getCount('task', { $expr: { $eq: ['$extra', named] } }),
          () => platform.db.getCount('task', { ['a' + value]: 1 }),
          () => platform.db.agg('task', [{ $project: { x: { $literal: named } } }], () => {}),
          () => platform.db.agg('task', [{ $group: { _id: value } }], () => {}),
          () => platform.db.agg('task', [{ $bucket: { groupBy: '$name', boundaries: ['a', 'b' + value], default: named } }], () => {}),
          () => platform.db.create('task', { name: 'N', extra: named }),
          () => platform.db.update('task', { name: 'N' }, { $set: { ['extra.a' + value]: 1 } }),
          () => platform.db.findDistinct('task', 'a' + value, {}),
        ]) {
          try { await work(); refusals.push('answered ' + work); } catch (error) { if (error.status !== 400) refusals.push(error.status + ' ' + work); }
        }
      }
      export default refusals;`;
    await ask(
      gateway,
      'mutation ($code: String!) { saveScript(script: {name: "hostile", code: $code}) { name } }',
      {
        variables: { code },
      },
    );
    const { runScript } = await ask(
      gateway,
      'mutation { runScript(name: "hostile") { value error { message } } }',
    );
    expect(runScript).toEqual({ value: [], error: null });
  });
});

describe('a result of a script that is nested without end', () => {
  it('is the failure of the script', async () => {
    const code =
      'export default () => { let value = 1; for (let i = 0; i < 5000; i += 1) value = [value]; ' +
      'return value; }';
    await ask(
      gateway,
      'mutation ($code: String!) { saveScript(script: {name: "deep", code: $code}) { name } }',
      {
        variables: { code },
      },
    );
    const { runScript } = await ask(
      gateway,
      'mutation { runScript(name: "deep") { status value error { message code } } }',
    );
    expect(runScript).toMatchObject({
      status: 'FAILED',
      value: null,
      error: { code: 'SCRIPT_FAILED', message: expect.stringContaining('nested deeper than 500 levels') },
    });
  });
});
