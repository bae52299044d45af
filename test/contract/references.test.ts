/**
 * References point at records that are there: a write that makes one point at nothing is refused, on every
 * door.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();

async function insert(collection: string, id: string, data: object): Promise<void> {
  await gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
    collection,
    id,
    JSON.stringify(data),
  ]);
}

beforeAll(async () => {
  await ask(
    gateway,
    `mutation ($definition: JSON!) { registerCollection(definition: $definition) { name } }`,
    {
      variables: {
        definition: {
          name: 'node',
          fields: [
            { name: 'name', type: 'text', unique: true },
            { name: 'parent', type: 'reference', target: 'node' },
            { name: 'friends', type: 'reference', target: ['node', 'pltf_user'], list: true },
            {
              name: 'rows',
              type: 'object',
              list: true,
              fields: [{ name: 'of', type: 'reference', target: 'node' }],
            },
            { name: 'old', type: 'reference', target: 'node', mustExist: false },
          ],
          access: { clerk: { verbs: ['read', 'create', 'update', 'delete'] } },
        },
      },
    },
  );
});

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection = 'node'`);
  await insert('node', 'here', { name: 'here' });
  await insert('node', 'dangling', {
    name: 'dangling',
    parent: { value: 'nobody' },
    friends: [{ value: 'nobody' }],
  });
  await gateway.sql.query(
    `insert into records (domain, collection, id, data, deleted_at) values ('top', 'node', ` +
      `'removed', '{}', now())`,
  );
  await gateway.sql.query(
    `insert into domains (id, name, parent_id) values ('other', 'Other', 'top') on conflict do nothing`,
  );
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ('other', 'node', 'elsewhere', '{}')`,
  );
});

async function post(body: unknown, path = '/o/node', method = 'POST') {
  const response = await gateway.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    as: 'admin',
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const refused = (pointer: string, sent: string) => ({
  status: 400,
  body: { type: 'urn:campus:error:INVALID_VALUE', errors: [{ pointer, sent }] },
});

describe('a new record', () => {
  for (const [name, body, pointer, sent] of [
    ['that points at nothing', { parent: 'nobody' }, '/parent', 'nobody'],
    [
      'that points at nothing, with a label',
      { parent: { value: 'nobody', label: 'N' } },
      '/parent',
      'nobody',
    ],
    ['that points at a removed record', { parent: 'removed' }, '/parent', 'removed'],
    ['that points at a record of another domain', { parent: 'elsewhere' }, '/parent', 'elsewhere'],
    ['that points at a record of another collection', { parent: 'usr-clerk' }, '/parent', 'usr-clerk'],
    [
      'that points at nothing in a list',
      { friends: ['here', 'usr-clerk', 'nobody'] },
      '/friends/2',
      'nobody',
    ],
    [
      'that points at nothing in a list of objects',
      { rows: [{ of: 'here' }, { of: 'nobody' }] },
      '/rows/1/of',
      'nobody',
    ],
  ] as const) {
    it(`${name} is refused`, async () => {
      expect(await post(body)).toMatchObject(refused(pointer, sent));
    });
  }

  it('that points at records that are there is stored', async () => {
    expect(
      await post({ parent: 'here', friends: ['here', 'usr-clerk'], rows: [{ of: 'here' }] }),
    ).toMatchObject({
      status: 201,
    });
  });

  it('may point at nothing where the declaration says so', async () => {
    expect(await post({ old: 'nobody' })).toMatchObject({ status: 201 });
  });

  it('may point at itself, and at others of the same request', async () => {
    expect(await post({ _id: 'self', parent: 'self' })).toMatchObject({ status: 201 });
    expect(
      await post([
        { _id: 'a', parent: 'b' },
        { _id: 'b', parent: 'a', rows: [{ of: 'a' }] },
      ]),
    ).toMatchObject({ status: 201 });
    expect(
      await post([
        { _id: 'c', parent: 'here' },
        { _id: 'd', parent: 'x' },
      ]),
    ).toMatchObject(refused('/1/parent', 'x'));
  });
});

describe('a change', () => {
  it('that makes a reference point at nothing is refused', async () => {
    expect(await post({ parent: 'removed' }, '/o/recs/node/here', 'PATCH')).toMatchObject(
      refused('/parent', 'removed'),
    );
    expect(await post({ name: 'x', parent: 'nobody' }, '/o/recs/node/here', 'PUT')).toMatchObject(
      refused('/parent', 'nobody'),
    );
  });

  it('leaves an old reference to nothing alone, also where it is sent again', async () => {
    expect(await post({ name: 'renamed' }, '/o/recs/node/dangling', 'PATCH')).toMatchObject({ status: 200 });
    const again = { parent: 'nobody', friends: ['here', 'nobody'] };
    expect(await post(again, '/o/recs/node/dangling', 'PATCH')).toMatchObject({ status: 200 });
    expect(await post({ friends: ['removed'] }, '/o/recs/node/dangling', 'PATCH')).toMatchObject(
      refused('/friends/0', 'removed'),
    );
  });

  it('of many records at once is asked about all of them, and refuses all', async () => {
    const update = (set: string) =>
      send(gateway, {
        query:
          `mutation { updateRecords(collection: "node", where: {name: {exists: true}}, set: ${set}) { ` +
          'count } }',
        as: 'admin',
      });
    const { errors } = await update('{parent: "nobody"}');
    expect(errors).toMatchObject([
      { message: expect.stringContaining('"nobody"'), extensions: { code: 'INVALID_VALUE' } },
    ]);
    expect((await update('{parent: "here"}')).data).toEqual({ updateRecords: { count: 2 } });
  });

  it('by upsert is asked about too, new records of the same request included', async () => {
    const upsert = (records: string) =>
      send(gateway, {
        query: `mutation { upsertRecords(collection: "node", by: "_id", data: ${records}) { count } }`,
        as: 'admin',
      });
    expect((await upsert('[{_id: "here", parent: "new"}, {_id: "new", parent: "here"}]')).data).toEqual({
      upsertRecords: { count: 2 },
    });
    expect((await upsert('[{_id: "here", parent: "gone"}]')).errors).toMatchObject([
      { extensions: { code: 'INVALID_VALUE' } },
    ]);
    expect((await upsert('[{_id: "more", parent: "gone"}]')).errors).toMatchObject([
      { extensions: { code: 'INVALID_VALUE' } },
    ]);
  });

  it('in a transaction sees what the transaction made', async () => {
    const { data } = await send(gateway, {
      query: `mutation @transaction {
        a: createRecord(collection: "node", data: {_id: "t-1"}) { id }
        b: createRecord(collection: "node", data: {_id: "t-2", parent: "t-1"}) { id }
      }`,
      as: 'admin',
    });
    expect(data).toEqual({ a: { id: 't-1' }, b: { id: 't-2' } });
  });
});

it('a script is refused as well', async () => {
  const code = `
    const codes = [];
    for (const work of [
      () => platform.db.create('node', { parent: 'nobody' }),
      () => platform.db.createMultiple('node', [{ parent: 'here' }, { parent: 'nobody' }]),
      () => platform.db.update('node', { name: 'here' }, { $set: { parent: { value: 'nobody' } } }),
      () => platform.db.updateMany('node', { name: 'here' }, { $push: { friends: 'nobody' } }),
      () => platform.db.findAndModify('node', { name: 'here' }, {}, { $set: { parent: 'removed' } }),
    ]) {
      try { await work(); codes.push('done'); } catch (error) { codes.push(error.code); }
    }
    export default codes;`;
  await ask(
    gateway,
    'mutation ($code: String!) { saveScript(script: {name: "refs", code: $code}) { name } }',
    {
      variables: { code },
    },
  );
  const { runScript } = await ask(gateway, 'mutation { runScript(name: "refs") { value } }');
  expect(runScript.value).toEqual(Array(5).fill('INVALID_VALUE'));
});
