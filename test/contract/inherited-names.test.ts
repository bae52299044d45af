import { afterEach, describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';

/** What every object inherits is nothing a caller sent, declared or may reach. */
const gateway = useGateway();
const MEMBERS = Object.getOwnPropertyNames(Object.prototype).sort().join();

afterEach(() => expect(Object.getOwnPropertyNames(Object.prototype).sort().join()).toBe(MEMBERS));

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** The text too: what is read back from JSON may have a `__proto__` of its own. */
async function ask(
  query: string,
  variables: object = {},
  as: Role = 'clerk',
): Promise<Answer & { text: string }> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  return { ...JSON.parse(text), text };
}

async function send(method: string, path: string, body: string, as: Role = 'clerk') {
  const response = await gateway.fetch(path, {
    method,
    as,
    headers: { 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, text: await response.text() };
}

describe('a record with such names', () => {
  const RECORD =
    '{"_id":"odd","name":"x","__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":3}';

  it('is kept as it is sent, changed and read by them', async () => {
    expect((await send('POST', '/o/task', RECORD)).status).toBe(201);
    const read = await gateway.fetch('/o/recs/task?stream=true&oquery=constructor.prototype.b===2', {
      as: 'clerk',
    });
    expect(await read.text()).toMatch(/"__proto__": ?\{"a": ?1\}/);
    const patched = await send('PATCH', '/o/recs/task/odd', '{"constructor":null,"__proto__":{"c":2}}');
    expect(patched.status).toBe(200);
    expect(patched.text).toMatch(/"__proto__": ?\{"c": ?2\}/);
    expect(patched.text).not.toMatch('constructor');
  });

  it('is updated by operators that name them', async () => {
    await ask(`mutation { createRecord(collection: "task", data: {name: "y", constructor: {z: 1}}) { id } }`);
    const changed = await ask(
      `mutation($set: JSON) {
        updateRecords(collection: "task", where: {name: {equals: "y"}}, set: $set) {
          count records(first: 1) { data }
        }
      }`,
      { set: { '__proto__.polluted': 1, 'toString.x': 2, constructor: null } },
    );
    if (changed.errors) throw new Error(changed.text);
    expect(changed.text).toMatch(/"__proto__": \{"polluted": 1\}/);
    expect(changed.text).not.toMatch('constructor');
  });
});

describe('a document with such names', () => {
  it('gets its answer by them', async () => {
    await send('POST', '/o/task', '{"_id":"plain","name":"plain"}');
    const { text, errors } = await ask(
      `{ __proto__: tasks(where: {id: {equals: "plain"}}) { constructor: nodes { __proto__: id toString: name } }
         constructor: tasksAggregate(where: {id: {equals: "plain"}}) { __proto__: count valueOf: amount { __proto__: sum } } }`,
    );
    expect(errors).toBeUndefined();
    expect(text).toContain('"__proto__":{"constructor":[{"__proto__":"plain","toString":"plain"}]}');
    expect(text).toContain('"constructor":[{"__proto__":1,"valueOf":{"__proto__":null}}]');
  });

  it('is refused where a filter takes such a variable that was not sent', async () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      const { errors } = await ask(
        `query($${name}: Decimal) { tasks(where: {amount: {equals: $${name}, greaterThan: 3}}) { ` +
          'nodes { id } } }',
      );
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining(`$${name} of where is missing`),
          extensions: { code: 'INVALID_VALUE' },
        },
      ]);
    }
  });

  it('takes such a variable that was not sent for null in JSON', async () => {
    const { data } = await ask(
      'mutation($constructor: JSON) { createRecord(collection: "task", data: {name: "z", y: ' +
        '$constructor}) { data } }',
    );
    expect(data).toMatchObject({ createRecord: { data: { name: 'z' } } });
  });
});

it('nothing is found under such a name that nobody made', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const paths = [`/o/recs/${name}?stream=true`, `/?report=${name}`, `/x/${name}`, `/files/${name}`];
    for (const path of paths) {
      expect([path, (await gateway.fetch(path, { as: 'admin' })).status]).toEqual([path, expect.any(Number)]);
      expect((await gateway.fetch(path, { as: 'admin' })).status).toBeGreaterThanOrEqual(400);
      expect((await gateway.fetch(path, { as: 'admin' })).status).toBeLessThan(500);
    }
    const { errors, text } = await ask(
      `{ a: collection(name: "${name}") { name } b: records(collection: "${name}") { nodes { id } } ` +
        `c: script(name: "${name}") { name } }`,
      {},
      'admin',
    );
    expect([text, errors?.map(({ extensions }) => extensions.code)]).toEqual([
      text,
      ['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'],
    ]);
  }
});

it('a collection and fields of such names are served under names that are their own', async () => {
  const registered = await ask(
    `mutation($d: JSON!) { registerCollection(definition: $d) { name } }`,
    {
      d: {
        name: 'constructor',
        fields: [
          { name: 'constructor', type: 'text', unique: true },
          { name: 'toString', type: 'number' },
          { name: 'kind', type: 'text', enum: ['constructor', '__proto__', 'toString'] },
          { name: 'valueOf', type: 'object', list: true, fields: [{ name: 'constructor', type: 'text' }] },
        ],
        checks: [{ kind: 'sum', total: 'toString', of: ['toString'] }],
      },
    },
    'admin',
  );
  expect(registered.data).toEqual({ registerCollection: { name: 'constructor' } });
  expect((await send('POST', '/o/constructor', '{"_id":"a","kind":"__proto__"}', 'admin')).status).toBe(201);
  expect((await send('POST', '/o/constructor', '{"_id":"b","constructor":"C"}', 'admin')).status).toBe(201);
  const twice = await send('POST', '/o/constructor', '{"constructor":"C"}', 'admin');
  expect([twice.status, JSON.parse(twice.text).detail]).toEqual([
    409,
    'constructor "C" is taken: it is unique in constructor',
  ]);
  const { text, errors } = await ask(
    'mutation { createConstructorRecord(data: {toString_: 4, valueOf_: [{}]}) { constructor_ ' +
      'toString_ kind valueOf_ { constructor_ } } }',
    {},
    'admin',
  );
  expect(errors).toBeUndefined();
  expect(text).toContain(
    '{"constructor_":null,"toString_":4,"kind":null,"valueOf_":[{"constructor_":null}]}',
  );
  const read = await ask(
    `{ constructorRecords(where: {id: {in: ["a", "b"]}}) { nodes { id constructor_ kind } } }`,
    {},
    'admin',
  );
  expect(read.errors).toBeUndefined();
  expect(read.data).toEqual({
    constructorRecords: {
      nodes: [
        { id: 'a', constructor_: null, kind: 'PROTO' },
        { id: 'b', constructor_: 'C', kind: null },
      ],
    },
  });
});
