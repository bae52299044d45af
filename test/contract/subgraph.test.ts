/** The gateway as a subgraph of a supergraph. `.ci/supergraph` runs Apollo's gateway before it. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { useGateway } from './gateway.js';
import { ask, besideExecuted, codesOf, send, statementsOf } from './graphql.js';

const gateway = useGateway({ FEDERATION: 'true', MAX_PAGE_SIZE: '20', GRAPHQL_MAX_COST: '60' });

const ENTITIES = `query($representations: [_Any!]!) { _entities(representations: $representations) {
  __typename ... on Task { id name } ... on Registration { name class } } }`;

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data, deleted_at)
     select 'top', 'task', 'task-' || n, jsonb_build_object('name', 'Task ' || n), null::timestamptz
     from generate_series(1, 3) n
     union all values
       ('top', 'task', 'gone', '{"name": "Gone"}'::jsonb, now()),
       ('top', 'registration', 'stu-1', '{"name": "Ananya", "class": "5", "dob": "2015-09-14"}', null),
       ('top', 'fee_receipt', 'r-1', '{"receipt_no": "R-1"}', null)`,
  );
});

const named = (typeName: string, id: unknown) => ({ __typename: typeName, id });

async function entities(representations: readonly object[], as: 'admin' | 'viewer' = 'admin') {
  const { _entities: found } = await ask(gateway, ENTITIES, { variables: { representations }, as });
  return found;
}

describe('_service', () => {
  const SERVICE = '{ _service { sdl } }';

  it('tells the schema with the keys of its types, and nothing of what makes it a subgraph', async () => {
    const { sdl } = (await ask(gateway, SERVICE))._service;
    expect(() => parse(sdl)).not.toThrow();
    expect(sdl).toContain('@link(url: "https://specs.apollo.dev/federation/v2.3"');
    expect(sdl).toContain('type Task implements Node @key(fields: "id") {');
    expect(sdl).toContain('type PageInfo @shareable {');
    expect(sdl).not.toMatch(/_entities|_service|_Any|type Record implements Node @key/);
  });

  it('is for those who may introspect', async () => {
    expect(await codesOf(gateway, { query: SERVICE })).toEqual(['UNAUTHENTICATED']);
  });
});

describe('_entities', () => {
  const ASKED = [
    named('Task', 'task-2'),
    named('Registration', 'stu-1'),
    named('Task', 'none'),
    named('Task', 'gone'),
    named('Task', 'not an id'),
    { ...named('Task', 'task-1'), name: 'what another subgraph knows' },
  ];
  const FOUND = [
    { __typename: 'Task', id: 'task-2', name: 'Task 2' },
    { __typename: 'Registration', name: 'Ananya', class: '5' },
    null,
    null,
    null,
    { __typename: 'Task', id: 'task-1', name: 'Task 1' },
  ];

  it('gives records in the order they are named, by one statement a type', async () => {
    const statements = await statementsOf(async () => expect(await entities(ASKED)).toEqual(FOUND));
    expect(statements).toHaveLength(2);
  });

  it('does the same beside a field that graphql-js executes', async () => {
    const { _entities: found } = await ask(gateway, besideExecuted(ENTITIES), {
      variables: { representations: ASKED },
    });
    expect(found).toEqual(FOUND);
  });

  it('shows nobody what is not theirs to read', async () => {
    expect(await entities([named('FeeReceipt', 'r-1')], 'viewer')).toEqual([null]);
    expect(await entities([named('FeeReceipt', 'r-1')])).toEqual([{ __typename: 'FeeReceipt' }]);
    const hidden = ENTITIES.replace('name class', 'dob');
    const variables = { representations: [named('Registration', 'stu-1')] };
    expect(await codesOf(gateway, { query: hidden, variables, as: 'viewer' })).toEqual(['FORBIDDEN']);
    expect(await codesOf(gateway, { query: ENTITIES, variables })).toEqual(['UNAUTHENTICATED']);
  });

  it('refuses what names no type with a key, too many, and what costs too much', async () => {
    for (const wrong of [
      named('Record', 'x'),
      named('Query', 'x'),
      named('Task', 7),
      { id: 'x' },
      'x',
      null,
      [],
    ]) {
      const variables = { representations: [wrong] };
      const { errors } = await send(gateway, { query: ENTITIES, variables, as: 'admin' });
      expect([wrong, errors[0]?.extensions.status]).toEqual([wrong, 400]);
    }
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => named('Task', `task-${index}`));
    const codes = async (query: string, count: number) =>
      await codesOf(gateway, { query, variables: { representations: many(count) }, as: 'admin' });
    expect(await codes(ENTITIES, 21)).toEqual(['LIMIT_EXCEEDED']);
    const dear = ENTITIES.replace('id name', 'a: manager { record { id } } b: manager { record { id } }');
    expect(await codes(dear, 5)).toEqual([]);
    expect(await codes(dear, 20)).toEqual(['LIMIT_EXCEEDED']);
  });
});
