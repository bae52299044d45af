/** Records by their global ids: `nodeId`, `node` and `nodes`. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, besideExecuted, codesOf, send, statementsOf } from './graphql.js';

const gateway = useGateway({ MAX_PAGE_SIZE: '20', GRAPHQL_MAX_COST: '60' });

beforeAll(async () => {
  await gateway.sql.query(`insert into domains (id, name) values ('other', 'Another school')`);
  await gateway.sql.query(
    `insert into records (domain, collection, id, data, deleted_at)
     select 'top', 'task', 'task-' || n, jsonb_build_object('name', 'Task ' || n), null
     from generate_series(1, 3) n
     union all values
       ('top', 'task', 'with:colons', '{"name": "Colons"}'::jsonb, null),
       ('top', 'task', 'gone', '{"name": "Gone"}', now()),
       ('top', 'registration', 'stu-1', '{"name": "Ananya", "class": "5", "dob": "2015-09-14"}', null),
       ('top', 'fee_receipt', 'r-1', '{"receipt_no": "R-1"}', null),
       ('other', 'task', 'theirs', '{"name": "Theirs"}', null)`,
  );
  await ask(gateway, 'mutation { registerCollection(definition: { name: "note" }) { name } }');
  await ask(
    gateway,
    'mutation { createRecord(collection: "note", data: { _id: "n-1", text: "free" }) { id } }',
  );
});

describe('the nodeId of a record', () => {
  it('is the same however the answer is printed', async () => {
    const page = '{ tasks(first: 1, where: { name: { startsWith: "Task" } }) { nodes { nodeId name } } }';
    const edges = '{ tasks(first: 1, oquery: "name==Task") { edges { cursor node { nodeId } } } }';
    expect((await ask(gateway, page)).tasks.nodes[0].nodeId).toBe('task:task-1');
    expect((await ask(gateway, besideExecuted(page))).tasks.nodes[0].nodeId).toBe('task:task-1');
    expect((await ask(gateway, edges)).tasks.edges[0].node.nodeId).toBe('task:task-1');
    const one = await ask(gateway, '{ task(id: "with:colons") { nodeId } }');
    expect(one.task.nodeId).toBe('task:with:colons');
  });

  it('tells a Record from the same record with the type of its collection', async () => {
    const query = '{ record(collection: "task", id: "task-1") { nodeId id } }';
    expect((await ask(gateway, query)).record).toEqual({ nodeId: 'Record:task:task-1', id: 'task-1' });
    expect((await ask(gateway, besideExecuted(query))).record.nodeId).toBe('Record:task:task-1');
  });
});

describe('node', () => {
  const NODE =
    'query($id: ID!) { node(id: $id) { __typename nodeId ... on Task { id name } ' +
    '... on Record { collection data } } }';
  const nodeOf = async (id: string, as?: 'viewer') =>
    (await ask(gateway, NODE, { variables: { id }, ...(as && { as }) })).node;

  it('reads a record again, with the type it was read by', async () => {
    expect(await nodeOf('task:with:colons')).toEqual({
      __typename: 'Task',
      nodeId: 'task:with:colons',
      id: 'with:colons',
      name: 'Colons',
    });
    expect(await nodeOf('Record:note:n-1')).toMatchObject({
      __typename: 'Record',
      nodeId: 'Record:note:n-1',
      collection: 'note',
      data: { text: 'free' },
    });
  });

  it('answers the same beside a field that graphql-js executes', async () => {
    for (const id of ['task:task-1', 'Record:task:task-1', 'task:none']) {
      const { plainly: _, ...plain } = await ask(gateway, besideExecuted(NODE), { variables: { id } });
      expect(plain).toEqual({ node: await nodeOf(id) });
    }
  });

  it('is null for what is not there, and for what the caller may not read', async () => {
    for (const id of ['task:none', 'task:gone', 'task:theirs', 'nowhere:x', 'note:n-1', 'Record:nowhere:x']) {
      expect([id, await nodeOf(id)]).toEqual([id, null]);
    }
    expect(await nodeOf('Record:note:n-1', 'viewer')).toBe(null);
    expect(await nodeOf('fee_receipt:r-1', 'viewer')).toBe(null);
  });

  it('refuses what is no global id, and a field that is hidden', async () => {
    for (const id of ['', 'task-1', 'task:', 'Task:task-1', 'task:a b', 'Record:task-1', 'task:..', ':x']) {
      const answer = await send(gateway, { query: NODE, variables: { id }, as: 'admin' });
      expect([id, answer.errors[0]?.extensions.code]).toEqual([id, 'INVALID_VALUE']);
      expect(answer.data).toEqual({ node: null });
    }
    const hidden = '{ node(id: "registration:stu-1") { ... on Registration { dob } } }';
    expect(await codesOf(gateway, { query: hidden, as: 'viewer' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query: besideExecuted(hidden), as: 'viewer' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query: hidden })).toEqual(['UNAUTHENTICATED']);
  });
});

describe('nodes', () => {
  const NODES =
    'query($ids: [ID!]!) { nodes(ids: $ids) { nodeId ... on Task { name } ' +
    '... on Registration { name class } } }';
  const IDS = ['task:task-2', 'registration:stu-1', 'task:none', 'task:task-1', 'nowhere:x', 'task:task-2'];
  const FOUND = [
    { nodeId: 'task:task-2', name: 'Task 2' },
    { nodeId: 'registration:stu-1', name: 'Ananya', class: '5' },
    null,
    { nodeId: 'task:task-1', name: 'Task 1' },
    null,
    { nodeId: 'task:task-2', name: 'Task 2' },
  ];

  it('gives records in the order of the ids, by one statement a collection', async () => {
    let data: unknown;
    const statements = await statementsOf(async () => {
      data = await ask(gateway, NODES, { variables: { ids: IDS } });
    });
    expect(data).toEqual({ nodes: FOUND });
    expect(statements).toHaveLength(2);
  });

  it('does the same beside a field that graphql-js executes', async () => {
    const { nodes } = await ask(gateway, besideExecuted(NODES), { variables: { ids: IDS } });
    expect(nodes).toEqual(FOUND);
  });

  it('is empty for no ids', async () => {
    expect(await ask(gateway, NODES, { variables: { ids: [] } })).toEqual({ nodes: [] });
  });

  it('is refused for more ids than a page has records, and for what costs too much', async () => {
    const ids = Array.from({ length: 21 }, (_, index) => `task:task-${index}`);
    const tooMany = await send(gateway, { query: NODES, variables: { ids }, as: 'admin' });
    expect(tooMany.errors[0]).toMatchObject({
      message: 'ids has at most 20 elements, not 21. Split the list.',
      extensions: { code: 'LIMIT_EXCEEDED', status: 400 },
    });
    const dear =
      'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Task { manager { record { id } } } } ' +
      'b: nodes(ids: $ids) { ... on Task { manager { record { id } } } } }';
    const refused = await send(gateway, { query: dear, variables: { ids: ids.slice(0, 16) }, as: 'admin' });
    expect(refused.errors[0]?.message).toMatch(/^The operation costs 66; at most 60 is allowed\./);
    expect(
      (await send(gateway, { query: dear, variables: { ids: ['task:task-1'] }, as: 'admin' })).errors,
    ).toEqual([]);
  });

  it('names the id that is none', async () => {
    const answer = await send(gateway, { query: NODES, variables: { ids: ['task:a', 'b'] }, as: 'admin' });
    expect(answer.errors[0]?.message).toBe('ids.1: "b" names no record of any collection');
  });
});
