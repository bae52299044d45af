import { describe, expect, it } from '@jest/globals';
import { type Role, useGateway } from './gateway.js';
import { type Answered, send } from './graphql.js';

/** Every limit a setting, each one small enough that an attack is a line. */
const gateway = useGateway({
  GRAPHQL_BATCHING: 'true',
  GRAPHQL_MAX_BATCH: '3',
  GRAPHQL_MAX_DEPTH: '6',
  GRAPHQL_MAX_COST: '500',
  GRAPHQL_MAX_ROOT_FIELDS: '4',
  GRAPHQL_MAX_TOKENS: '200',
  GRAPHQL_MAX_DIRECTIVES: '3',
  MAX_PAGE_SIZE: '200',
});

async function batch(operations: readonly unknown[], as: Role = 'viewer') {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(operations),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered };
}

describe('a limit that is a setting', () => {
  it.each([
    [
      'nesting',
      '{ registrations { nodes { attendanceRecords { nodes { student { record { __typename } } } } } } }',
      'levels of nesting; at most 6',
    ],
    [
      'nesting by fragments',
      '{ ...A } fragment A on Query { registrations { ...B } } fragment B on RegistrationConnection ' +
        '{ nodes { attendanceRecords { nodes { student { record { __typename } } } } } }',
      'levels of nesting; at most 6',
    ],
    ['root fields', '{ a: __typename b: __typename c: __typename d: __typename e: __typename }', 'at most 4'],
    ['aliases', '{ me { a: id b: id c: id d: id e: id } }', '5 aliases; at most 4'],
    ['directives', `{ me { id ${'@skip(if: false) '.repeat(4)} } }`, '4 directives; at most 3'],
    [
      'directives on everything',
      'query @a { me @a { id @a ...F @a } } fragment F on Caller @a { id }',
      'directives; at most 3',
    ],
    ['tokens', `{ me { ${'id '.repeat(250)} } }`, 'contains more that 200 tokens'],
    [
      'cost',
      '{ tasks(first: 100) { nodes { manager { record { __typename } } } edges { node { manager { ' +
        'record { __typename } } } } } }',
      'at most 500',
    ],
    [
      'cost of pages in pages',
      '{ registrations(first: 20) { nodes { attendanceRecords(first: 50) { nodes { id } } } } }',
      'at most 500',
    ],
    [
      'cost by fragments',
      '{ tasks(first: 200) { ...F } } fragment F on TaskConnection { nodes { ...G } edges { node { ' +
        '...G } } } fragment G on Task { manager { record { __typename } } }',
      'at most 500',
    ],
    ['the size of a page', '{ tasks(first: 201) { nodes { id } } }', '200'],
  ])('of %s holds, the first time and after', async (_, query, message) => {
    for (let time = 1; time <= 3; time += 1) {
      const { errors } = await send(gateway, { as: 'viewer', query });
      expect(errors[0]?.message).toContain(message);
      expect(errors[0]?.extensions.status).toBe(400);
    }
  });

  it('of cost holds for the variables of each request, also of a document known to be cheap', async () => {
    const query = 'query($n: Int!) { tasks(first: $n) { nodes { manager { record { __typename } } } } }';
    for (const [n, code] of [
      [1, undefined],
      [1, undefined],
      [100, undefined],
      [1, undefined],
    ] as const) {
      expect(
        (await send(gateway, { as: 'viewer', query, variables: { n } })).errors[0]?.extensions.code,
      ).toBe(code);
    }
    const both =
      'query($n: Int!) { a: tasks(first: $n) { nodes { manager { record { __typename } } } } b: ' +
      'tasks(first: $n) { nodes { manager { record { __typename } } } } }';
    expect((await send(gateway, { as: 'viewer', query: both, variables: { n: 2 } })).errors).toEqual([]);
    for (let time = 1; time <= 2; time += 1) {
      const { errors } = await send(gateway, { as: 'viewer', query: both, variables: { n: 100 } });
      expect(errors[0]?.extensions.code).toBe('LIMIT_EXCEEDED');
    }
  });
});

describe('a batch', () => {
  const tasks = { query: '{ tasks(first: 2) { totalCount } }' };

  it('is answered in its order, spliced, executed and refused ones side by side', async () => {
    const { status, body } = await batch([
      tasks,
      { query: '{ nothing }' },
      { query: 'query($id: ID!) { me { id } task(id: $id) { name } }', variables: { id: 'nobody' } },
    ]);
    expect(status).toBe(200);
    expect(body[0]).toEqual({ data: { tasks: { totalCount: 0 } } });
    expect(body[1].errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(body[2].data).toEqual({ me: { id: 'usr-viewer' }, task: null });
    expect(body[2].errors[0].extensions.code).toBe('NOT_FOUND');
  });

  it('of more operations than the setting allows is refused whole, before any has run', async () => {
    const create = { query: 'mutation { createTask(data: { id: "batched", name: "x" }) { id } }' };
    const { status, body } = await batch([create, tasks, tasks, tasks], 'admin');
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'LIMIT_EXCEEDED']);
    expect(body.errors[0].message).toContain('at most 3 operations, not 4');
    const { errors } = await send(gateway, { as: 'admin', query: '{ task(id: "batched") { id } }' });
    expect(errors[0]?.extensions.code).toBe('NOT_FOUND');
  });

  it('is held to the limits of a document in each of its operations', async () => {
    const { body } = await batch([
      tasks,
      { query: '{ me { a: id b: id c: id d: id e: id } }' },
      {
        query:
          '{ tasks(first: 200) { nodes { manager { record { __typename } } } edges { node { manager ' +
          '{ record { __typename } } } } } }',
      },
    ]);
    expect(body.map((one: Answered) => one.errors?.[0].extensions.code)).toEqual([
      undefined,
      'LIMIT_EXCEEDED',
      'LIMIT_EXCEEDED',
    ]);
  });

  it('adds its timings up, and is empty or nested only to be refused', async () => {
    const { headers } = await batch([tasks, tasks]);
    expect(headers.get('server-timing')).toContain('2 statements');
    expect((await batch([])).status).toBe(400);
    expect((await batch([[tasks]])).status).toBe(400);
  });
});
