import { beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, codesOf, type GraphqlError, send } from './graphql.js';

const gateway = useGateway({ MAX_RECORDS_PER_WRITE: '20', GRAPHQL_MAX_COST: '2000' });

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection in ('task', 'registration', 'attendance')`);
  for (let number = 1; number <= 5; number += 1) {
    const data = { name: `Task ${number}`, amount: number, created_on: '2026-04-01T10:00:00.000Z' };
    await gateway.sql.query(
      `insert into records (domain, collection, id, data) values ('top', 'task', $1, $2)`,
      [`t-${number}`, JSON.stringify(data)],
    );
  }
});

async function tasks(): Promise<Record<string, unknown>> {
  const { rows } = await gateway.sql.query(
    `select id, version, data from records where collection = 'task' and deleted_at is null order by id`,
  );
  return Object.fromEntries(rows.map((row) => [row.id, { version: row.version, ...row.data }]));
}

const UNTOUCHED = 't-1 1, t-2 1, t-3 1, t-4 1, t-5 1';
async function versions(): Promise<string> {
  const { rows } = await gateway.sql.query(
    `select string_agg(id || ' ' || version, ', ' order by id) as all from records where collection ` +
      `= 'task' and deleted_at is null`,
  );
  return rows[0].all ?? '';
}

function first(errors: readonly GraphqlError[]) {
  const [error] = errors;
  return { code: error?.extensions.code, message: error?.message };
}

describe('a write of many that may not be', () => {
  it.each([
    [
      'without a credential',
      'updateTasks(where: {id: {equals: "t-1"}}, set: {name: "x"})',
      undefined,
      'UNAUTHENTICATED',
    ],
    [
      'by who may only read',
      'updateTasks(where: {id: {equals: "t-1"}}, set: {name: "x"})',
      'viewer',
      'FORBIDDEN',
    ],
    ['by who may not delete', 'deleteTasks(where: {id: {equals: "t-1"}})', 'teacher', 'FORBIDDEN'],
    ['by who may not create', 'createTasks(records: [{name: "x"}])', 'viewer', 'FORBIDDEN'],
    [
      'by who may not create or change',
      'upsertTasks(records: [{id: "t-1", name: "x"}])',
      'viewer',
      'FORBIDDEN',
    ],
    ['of everything', 'updateTasks(set: {name: "x"})', 'admin', 'MALFORMED_FILTER'],
    ['of everything, said with an empty where', 'deleteTasks(where: {})', 'admin', 'MALFORMED_FILTER'],
    [
      'of everything, said with a filter of nothing',
      'deleteTasks(where: {name: {notIn: []}})',
      'admin',
      'MALFORMED_FILTER',
    ],
    ['of everything, said with an empty oquery', 'deleteTasks(oquery: "")', 'admin', 'MALFORMED_FILTER'],
    ['that says nothing', 'updateTasks(where: {id: {equals: "t-1"}})', 'admin', 'INVALID_VALUE'],
    [
      'that says two things of one field',
      'updateTasks(where: {id: {equals: "t-1"}}, set: {amount: 1}, increment: {amount: 1})',
      'admin',
      'INVALID_VALUE',
    ],
    [
      'that takes a required field away',
      'updateTasks(where: {id: {equals: "t-1"}}, set: {name: null})',
      'admin',
      'INVALID_VALUE',
    ],
    [
      'with a limit of nothing',
      'updateTasks(allowAll: true, limit: 0, set: {name: "x"})',
      'admin',
      'INVALID_VALUE',
    ],
    [
      'with a limit above all limits',
      'updateTasks(allowAll: true, limit: 21, set: {name: "x"})',
      'admin',
      'LIMIT_EXCEEDED',
    ],
  ] as const)('is refused: %s', async (name, field, as, code) => {
    const before = await tasks();
    const { errors, data } = await send(gateway, {
      query: `mutation { ${field} { ${field.startsWith('upsertTask(') ? 'id' : 'count'} } }`,
      as,
    });
    expect({ name, code: errors[0]?.extensions.code }).toEqual({ name, code });
    expect(Object.values(data ?? {}).filter((field) => field !== null)).toEqual([]);
    expect(await tasks()).toEqual(before);
  });

  it('is refused with a condition whose variable was not sent', async () => {
    const query = 'mutation ($id: ID) { deleteTasks(where: {id: {equals: $id}}) { count } }';
    expect(await codesOf(gateway, { query, variables: {}, as: 'admin' })).toEqual(['INVALID_VALUE']);
    expect(await versions()).toBe(UNTOUCHED);
  });

  it('is refused with more records than one call may write, before any is', async () => {
    const records = Array.from({ length: 21 }, (_, index) => ({ name: `New ${index}` }));
    const query = 'mutation ($records: [CreateTaskInput!]!) { createTasks(records: $records) { count } }';
    const { errors } = await send(gateway, { query, variables: { records }, as: 'admin' });
    expect(first(errors)).toEqual({
      code: 'LIMIT_EXCEEDED',
      message: 'at most 20 records are stored at once (MAX_RECORDS_PER_WRITE), not 21',
    });
    await gateway.sql.query(
      `insert into records (domain, collection, id, data) select 'top', 'task', 'm-' || n, '{"name": ` +
        `"Many"}' from generate_series(1, 30) n`,
    );
    const update = 'mutation { updateTasks(where: {name: {equals: "Many"}}, set: {amount: 1}) { count } }';
    expect(first((await send(gateway, { query: update, as: 'admin' })).errors)).toEqual({
      code: 'LIMIT_EXCEEDED',
      message:
        'at most 20 records are written at once (MAX_RECORDS_PER_WRITE), and more than 20 records match: ' +
        'narrow the filter, or give a limit',
    });
    const some = await ask(
      gateway,
      'mutation { updateTasks(where: {name: {equals: "Many"}}, set: {amount: 1}, limit: 20) { count ' +
        'matched } }',
    );
    expect(some.updateTasks).toEqual({ count: 20, matched: 20 });
  });

  it('is refused when its answer costs too much or is too long, before anything is written', async () => {
    const page = (count: number) =>
      `mutation { updateTasks(allowAll: true, set: {amount: 9}) { records(first: ${count}) { id ` +
      'manager { record { id } } } } }';
    expect(await codesOf(gateway, { query: page(1000), as: 'admin' })).toEqual(['LIMIT_EXCEEDED']);
    const long = 'mutation { updateTasks(allowAll: true, set: {amount: 9}) { records(first: 1001) { id } } }';
    expect(await codesOf(gateway, { query: long, as: 'admin' })).toEqual(['LIMIT_EXCEEDED']);
    const negative =
      'mutation { deleteRecords(collection: "task", allowAll: true) { records(first: -1) { id } } }';
    expect(await codesOf(gateway, { query: negative, as: 'admin' })).toEqual(['INVALID_VALUE']);
    expect(await versions()).toBe(UNTOUCHED);
  });

  it('is refused when its answer would show what the caller may not read, before anything is written', async () => {
    const create =
      'mutation { createTasks(records: [{name: "x"}]) { records { manager { record { phone } } } } }';
    expect(await codesOf(gateway, { query: create, as: 'teacher' })).toEqual(['FORBIDDEN']);
    expect(await versions()).toBe(UNTOUCHED);
  });

  it('is refused for one record among them, which it names', async () => {
    await gateway.sql.query(`update records set data = data || '{"amount": "N/A"}' where id = 't-3'`);
    const query = 'mutation { updateTasks(allowAll: true, increment: {amount: 1}) { count } }';
    expect(first((await send(gateway, { query, as: 'admin' })).errors)).toEqual({
      code: 'INVALID_VALUE',
      message: 'record "t-3": amount: a number is expected, "N/A" is there',
    });
    expect(await versions()).toBe(UNTOUCHED);
  });

  it('by stored names is refused with what is no object, no number, no list', async () => {
    const update = (changes: string) =>
      `mutation { updateRecords(collection: "task", allowAll: true, ${changes}) { count } }`;
    const cases = {
      'set: "x"': /set: an object of fields/,
      'increment: {amount: "1"}': /increment.amount: a number/,
      'push: {tags: "a"}': /push.tags: a list/,
      'set: {_id: "x"}': /never changes/,
      'set: {name: 5}': /\/name: text is expected/,
    };
    for (const [changes, message] of Object.entries(cases)) {
      const error = first((await send(gateway, { query: update(changes), as: 'admin' })).errors);
      expect(error).toEqual({ code: 'INVALID_VALUE', message: expect.stringMatching(message) });
    }
    expect(
      await codesOf(gateway, { query: update('set: {name: "x"}').replace('task', 'nothing'), as: 'admin' }),
    ).toEqual(['NOT_FOUND']);
    const by = 'mutation { upsertRecords(collection: "task", data: [{name: "x"}], by: "name") { count } }';
    expect(first((await send(gateway, { query: by, as: 'admin' })).errors).message).toMatch(
      /does not identify the records of task/,
    );
    expect(await versions()).toBe(UNTOUCHED);
  });
});

describe('createTasks', () => {
  it('gives as many of the records as are asked for, the first of them', async () => {
    const names = ['A', 'B', 'C', 'D', 'E'];
    const shownOf = async (selection: string) => {
      const query = `mutation ($records: [CreateTaskInput!]!) {
        createTasks(records: $records) { count created ${selection} }
      }`;
      const variables = { records: names.map((name) => ({ name })) };
      return (await ask(gateway, query, { variables })).createTasks;
    };
    expect(await shownOf('')).toEqual({ count: 5, created: 5 });
    const records = [{ name: 'A' }, { name: 'B' }];
    expect(await shownOf('records(first: 2) { name }')).toEqual({ count: 5, created: 5, records });
    const all = await shownOf('records { name }');
    expect(all.records).toEqual(names.map((name) => ({ name })));
    const { rows } = await gateway.sql.query(
      `select data->>'name' as name, count(*)::int as count from records
       where collection = 'task' and id not like 't-%' group by 1 order by 1`,
    );
    expect(rows).toEqual(names.map((name) => ({ name, count: 3 })));
  });

  it('stores all and gives as many back as are asked for', async () => {
    const data = await ask(
      gateway,
      `mutation { createTasks(records: [{id: "n-1", name: "A", amount: "0.10", manager: {id: "usr-teacher"}}, {name: "B"}]) {
         count created matched one: records(first: 1) { id name amount manager { label record { id } } } all: records { version }
       } }`,
    );
    expect(data.createTasks).toEqual({
      count: 2,
      created: 2,
      matched: 0,
      one: [
        {
          id: 'n-1',
          name: 'A',
          amount: '0.10',
          manager: { label: 'The teacher', record: { id: 'usr-teacher' } },
        },
      ],
      all: [{ version: 1 }, { version: 1 }],
    });
  });

  it('stores none where one is at fault', async () => {
    const query = 'mutation { createTasks(records: [{name: "A"}, {id: "t-1", name: "B"}]) { count } }';
    expect(await codesOf(gateway, { query, as: 'admin' })).toEqual(['CONFLICT']);
    expect(await versions()).toBe(UNTOUCHED);
  });
});

describe('updateTasks', () => {
  it('changes what matches, exactly, and counts', async () => {
    const data = await ask(
      gateway,
      `mutation { updateTasks(where: {amount: {greaterOrEqual: "4"}}, oquery: "name==Task", set: {manager: {id: "usr-clerk"}}, increment: {amount: "0.1"}) {
         count matched created records { id amount version manager { label } }
       } }`,
      { as: 'teacher' },
    );
    expect(data.updateTasks).toEqual({
      count: 2,
      matched: 2,
      created: 0,
      records: [
        { id: 't-4', amount: '4.1', version: 2, manager: { label: 'The clerk' } },
        { id: 't-5', amount: '5.1', version: 2, manager: { label: 'The clerk' } },
      ],
    });
    expect(await versions()).toBe('t-1 1, t-2 1, t-3 1, t-4 2, t-5 2');
  });

  it('takes the first of an order, leaves what is the same, and removes by null', async () => {
    const data = await ask(
      gateway,
      `mutation {
         most: updateTasks(allowAll: true, orderBy: [{field: AMOUNT, direction: DESCENDING}], limit: 1, set: {amount: null}) { count records { id amount } }
         same: updateTasks(allowAll: true, max: {amount: 2}) { count matched }
       }`,
    );
    expect(data).toEqual({
      most: { count: 1, records: [{ id: 't-5', amount: null }] },
      same: { count: 2, matched: 5 },
    });
  });

  it('of fifty callers at once loses nothing', async () => {
    const query =
      'mutation { updateTasks(where: {id: {equals: "t-1"}}, increment: {amount: "0.1"}) { count } }';
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(gateway, query, { as: 'clerk' })));
    expect(answers).toEqual(answers.map(() => ({ updateTasks: { count: 1 } })));
    expect((await tasks())['t-1']).toMatchObject({ amount: 6, version: 51 });
  });

  it('with an idempotency key is done once', async () => {
    const query =
      'mutation { updateTasks(allowAll: true, increment: {amount: 1}) { count records(first: 1) { ' +
      'amount } } }';
    const operation = { query, as: 'admin', headers: { 'idempotency-key': 'bulk-1' } } as const;
    const once = await send(gateway, operation);
    const again = await send(gateway, operation);
    expect(again.data).toEqual(once.data);
    expect(once.data.updateTasks).toEqual({ count: 5, records: [{ amount: '2' }] });
    expect((await tasks())['t-1']).toMatchObject({ amount: 2 });
    const other = { ...operation, query: query.replace('amount: 1', 'amount: 2') };
    expect(await codesOf(gateway, other)).toEqual(['IDEMPOTENCY_CONFLICT']);
  });

  it('offers lists and numbers to those collections alone that have them', async () => {
    const args = async (name: string) => {
      const { __type } = await ask(gateway, '{ __type(name: "Mutation") { fields { name args { name } } } }');
      const field = __type.fields.find((one: { name: string }) => one.name === name);
      return field.args.map((one: { name: string }) => one.name);
    };
    expect(await args('updateTasks')).toEqual([
      'where',
      'oquery',
      'ci',
      'orderBy',
      'limit',
      'allowAll',
      'set',
      'increment',
      'multiply',
      'min',
      'max',
    ]);
    expect(
      await args('updatePltfUsers').then((names: string[]) =>
        names.filter((name) => ['increment', 'push'].includes(name)),
      ),
    ).toEqual(['push']);
  });
});

describe('deleteTasks', () => {
  it('removes what matches and gives it as it was', async () => {
    const data = await ask(
      gateway,
      'mutation { deleteTasks(where: {amount: {lessThan: 3}}) { count matched records { id name } } }',
      { as: 'clerk' },
    );
    expect(data.deleteTasks).toEqual({
      count: 2,
      matched: 2,
      records: [
        { id: 't-1', name: 'Task 1' },
        { id: 't-2', name: 'Task 2' },
      ],
    });
    expect(await codesOf(gateway, { query: '{ task(id: "t-1") { id } }', as: 'clerk' })).toEqual(['GONE']);
  });
});

describe('upsertTasks', () => {
  it('makes what is not there and changes what is', async () => {
    const data = await ask(
      gateway,
      `mutation { upsertTasks(records: [{id: "t-1", name: "Changed"}, {id: "n-1", name: "New", amount: 7}]) {
         count created matched records { id name amount version }
       } }`,
    );
    expect(data.upsertTasks).toEqual({
      count: 2,
      created: 1,
      matched: 1,
      records: [
        { id: 't-1', name: 'Changed', amount: '1', version: 2 },
        { id: 'n-1', name: 'New', amount: '7', version: 1 },
      ],
    });
  });

  it('goes by a unique field, and by values unique together', async () => {
    const student = (name: string) =>
      `mutation { upsertRegistration(by: SEQUENCE, data: {sequence: "A1", name: "${name}", class: ` +
      '"5", section: "A", session: "2026-27", admittedOn: "2026-04-01"}) { id name version } }';
    const { upsertRegistration: made } = await ask(gateway, student('Ananya'));
    expect(await ask(gateway, student('Anu'))).toEqual({
      upsertRegistration: { id: made.id, name: 'Anu', version: 2 },
    });
  });
});

describe('the generic fields', () => {
  it('update and delete with where and oquery together', async () => {
    const data = await ask(
      gateway,
      `mutation {
         updated: updateRecords(collection: "task", where: {amount: {greaterThan: 1}}, oquery: "amount=<4", set: {extra: {note: "x", n: 1}, tags: ["a"]}) { count }
         listed: updateRecords(collection: "task", oquery: "extra.note=x", addToSet: {tags: ["a", "b"]}, multiply: {amount: 10, extra: {n: 3}}) { count records { id collection version data } }
         deleted: deleteRecords(collection: "task", oquery: "amount===20") { count records { id data } }
       }`,
    );
    expect(data.updated).toEqual({ count: 2 });
    expect(data.listed.records).toMatchObject([
      {
        id: 't-2',
        collection: 'task',
        version: 3,
        data: { amount: 20, tags: ['a', 'b'], extra: { note: 'x' } },
      },
      { id: 't-3', version: 3, data: { amount: 30 } },
    ]);
    expect(data.deleted).toMatchObject({ count: 1, records: [{ id: 't-2' }] });
  });

  it('reach a path by a variable, and store by a key', async () => {
    const data = await ask(
      gateway,
      `mutation ($set: JSON) {
         made: upsertRecords(collection: "task", data: [{_id: "k", name: "K"}, {_id: "t-1", name: "One"}]) { count created matched records { id version } }
         updated: updateRecords(collection: "task", oquery: "_id=k", set: $set) { records(first: 1) { data } }
       }`,
      { variables: { set: { 'a.b': 1, name: 'Path' } } },
    );
    expect(data.made).toEqual({
      count: 2,
      created: 1,
      matched: 1,
      records: [
        { id: 'k', version: 1 },
        { id: 't-1', version: 2 },
      ],
    });
    expect(data.updated.records).toMatchObject([{ data: { name: 'Path', a: { b: 1 } } }]);
  });
});
