import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway({ LOG_LEVEL: 'warn', SLOW_STATEMENT_MS: '1' });
const EXPLAIN = { 'x-include-extensions': 'explain' };

/** Enough that no plan is as good as any other. */
beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'task-' || n, jsonb_build_object(
       'name', 'Task ' || n, 'amount', n,
         'created_on', to_char(timestamp '2026-01-01' + n * interval '1 minute',
         'YYYY-MM-DD"T"HH24:MI:SS.000"Z"'),
       'manager', jsonb_build_object('value', 'usr-admin', 'label', 'The admin'))
     from generate_series(1, 20000) n`,
  );
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'registration', 'student-' || n, jsonb_build_object('name', 'Student ' || n,
       'father_name', 'Father ' || n)
     from generate_series(1, 20000) n`,
  );
  await gateway.sql.query('analyze records');
});

async function explained(query: string, body: Record<string, unknown> = {}): Promise<Answered> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json', ...EXPLAIN },
    body: JSON.stringify({ query, ...body }),
  });
  return await response.json();
}

describe('an operation that is explained', () => {
  it('answers as ever, and shows each statement with its parameters, plan and index', async () => {
    const query = '{ tasks(first: 2, orderBy: [{field: CREATED_ON}]) { nodes { name } } }';
    for (let time = 1; time <= 2; time += 1) {
      const { data, extensions } = await explained(query);
      expect(data.tasks.nodes).toHaveLength(2);
      const [statement, another] = extensions.explain;
      expect(another).toBeUndefined();
      expect(statement).toEqual({
        sql: expect.stringContaining("r.collection = 'task'"),
        parameters: expect.arrayContaining(['top']),
        durationMs: expect.any(Number),
        rows: 1,
        plan: expect.arrayContaining([
          expect.stringMatching(/Index Scan using task_created_on_idx_\w+ on records_task: \d rows/),
        ]),
        indexes: [expect.stringMatching(/^task_created_on_idx_/)],
      });
    }
  });

  it('shows what no index served', async () => {
    const { extensions } = await explained(
      '{ registrations(oquery: "father_name=Father 7") { totalCount } }',
    );
    expect(extensions.explain[0].plan.join('\n')).toMatch(/on records_registration: .*looked at in vain/);
  });

  it('shows every statement, also beside a field that graphql-js executes', async () => {
    const { extensions } = await explained(
      '{ me { id } tasks { nodes { manager { record { __typename } } } } more: tasks { totalCount } }',
    );
    expect(extensions.explain).toHaveLength(2);
  });

  it('plans a write and does not do it again', async () => {
    const create = 'mutation { createTask(data: { id: "explained", name: "x" }) { version } }';
    const { data, extensions } = await explained(create);
    expect(data).toEqual({ createTask: { version: 1 } });
    expect(extensions.explain[0].plan.join('\n')).toMatch(/about \d+ rows/);
    expect(extensions.explain[0].sql).toContain('insert into');
    expect((await ask(gateway, '{ task(id: "explained") { version } }')).task.version).toBe(1);
  });

  it('is asked for by extensions of the request too', async () => {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ tasks(first: 1) { nodes { id } } }', extensions: { explain: true } }),
    });
    const { extensions } = (await response.json()) as Answered;
    expect(extensions.explain).toHaveLength(1);
  });

  it('cuts long parameters', async () => {
    const { extensions } = await explained(
      'query($n: String!) { tasks(where: {name: {equals: $n}}) { totalCount } }',
      {
        variables: { n: 'x'.repeat(500) },
      },
    );
    expect(JSON.stringify(extensions.explain[0].parameters)).toMatch(/x{150,}… \(50\d characters\)/);
  });

  it('is for admins alone, and nothing of it runs for others', async () => {
    const create = 'mutation { createTask(data: { id: "not-explained", name: "x" }) { id } }';
    for (let time = 1; time <= 2; time += 1) {
      expect(await codesOf(gateway, { as: 'clerk', query: create, headers: EXPLAIN })).toEqual(['FORBIDDEN']);
      expect(await codesOf(gateway, { query: '{ __typename }', headers: EXPLAIN })).toEqual([
        'UNAUTHENTICATED',
      ]);
    }
    expect(await codesOf(gateway, { as: 'admin', query: '{ task(id: "not-explained") { id } }' })).toEqual([
      'NOT_FOUND',
    ]);
  });

  it('is not for an API key, even of an admin', async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation { createApiKey(data: {name: "k", scopes: {collections: {task: ["read"]}, reports: ' +
        '[], scripts: []}}) { key } }',
    );
    const headers = { authorization: `Bearer ${createApiKey.key}`, ...EXPLAIN };
    expect(await codesOf(gateway, { query: '{ tasks(first: 1) { nodes { id } } }', headers })).toEqual([
      'FORBIDDEN',
    ]);
  });
});

describe('the cost of an operation', () => {
  it('is told on request', async () => {
    const query =
      '{ tasks(first: 30, oquery: "manager=x") { totalCount nodes { name manager { record { __typename } } } } }';
    for (let time = 1; time <= 2; time += 1) {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as: 'viewer',
        headers: { 'content-type': 'application/json', 'x-include-extensions': 'cost' },
        body: JSON.stringify({ query }),
      });
      const { extensions } = (await response.json()) as Answered;
      expect(extensions).toEqual({ cost: { requested: 101, limit: 10_000 } });
    }
    const response = await gateway.fetch(
      `/graphql?query=${encodeURIComponent('{ tasks(first: 1) { nodes { id } } }')}&extensions={"cost":true}`,
      { as: 'viewer' },
    );
    expect(((await response.json()) as Answered).extensions.cost.requested).toBe(2);
  });

  it('is not told otherwise', async () => {
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'viewer',
      headers: { 'content-type': 'application/json', 'x-include-extensions': 'costs' },
      body: JSON.stringify({ query: '{ me { id } }', extensions: { cost: 'yes' } }),
    });
    expect(await response.json()).toEqual({ data: { me: { id: 'usr-viewer' } } });
  });
});

describe('the log of slow statements', () => {
  const slowLines = () =>
    gateway.log
      .map((line): Answered => JSON.parse(line))
      .filter(({ event }: Answered) => event === 'statementSlow');

  it(
    'names the operation, the collection, the time, the rows and the index that would help, and no ' +
      'value',
    async () => {
      const query =
        'query SlowStudents($mother: String!) { registrations(where: {motherName: {equals: $mother}}) ' +
        '{ totalCount } }';
      const { headers, errors } = await send(gateway, {
        as: 'admin',
        query,
        variables: { mother: 'secret 77' },
      });
      expect(errors).toEqual([]);
      const line = await eventually(() =>
        slowLines().find((one: Answered) => one.operation === 'SlowStudents' && one.plan !== undefined),
      );
      expect(line).toMatchObject({
        level: 'warn',
        event: 'statementSlow',
        requestId: headers.get('x-request-id'),
        operation: 'SlowStudents',
        collections: ['registration'],
        durationMs: expect.any(Number),
        rows: 1,
        statement: expect.stringContaining('$1'),
        plan: expect.arrayContaining([expect.stringContaining('on records_registration')]),
        suggestion: 'declare of the collection registration: "index": true on the field mother_name',
      });
      expect(JSON.stringify(line)).not.toContain('secret');
    },
  );

  it('names the route of a REST request, and explains the same statement once a minute', async () => {
    for (let time = 1; time <= 3; time += 1) {
      const response = await gateway.fetch(
        '/o/recs/registration?oquery=father_name=*er 1&sort=address&limit=3',
        {
          as: 'admin',
        },
      );
      expect(response.status).toBe(200);
      await response.text();
    }
    const lines = await eventually(() => {
      const found = slowLines().filter(({ operation }: Answered) => operation === '/o/recs/registration');
      return found.length === 3 ? found : undefined;
    });
    expect(lines.filter(({ plan }: Answered) => plan !== undefined)).toHaveLength(1);
  });
});

async function eventually(find: () => Answered): Promise<Answered> {
  for (let attempt = 1; attempt <= 60; attempt += 1) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it never came');
}
