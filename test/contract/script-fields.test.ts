/** The fields that scripts declare, by every door: GraphQL, agents, and REST with its contract. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, eventuallyFound } from '../eventually.js';
import { type Role, useGateway } from './gateway.js';
import { type Answered, ask, codesOf, send } from './graphql.js';

const gateway = useGateway();

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name version } }';
const save = (script: object, headers = {}) =>
  send(gateway, { query: SAVE, variables: { script }, as: 'admin', headers });

const BALANCE = `// @query feeBalance(student: ID!, months: [Month!]): FeeBalance!
// @type FeeBalance { student: ID!, balance: Float!, lines: [FeeLine!]! }
// @type FeeLine {
//   head: String!
//   amount: Decimal!
// }
// @cost 50
// @cache 60
export default ({ student, months = [] }) => {
  if (student === 'bad') return { student, balance: 'much', lines: [] };
  if (student === 'none') throw new Error('there is no such student');
  if (student === 'write') platform.publish('notices', {});
  const by = platform.domains().length;
  return { student, balance: 12.5, lines: months.map((head) => ({ head, amount: '1.50', by })) };
};`;
const BOOK = `// @mutation bookBus(route: String!): Int
export default async ({ route }) => {
  await platform.db.create('task', { name: route });
  return await platform.db.getCount('task', { name: route });
};`;

/** The fields of a root type that the caller is shown. */
async function shownTo(as: Role, type = 'Query'): Promise<readonly string[]> {
  const { __type } = await ask(gateway, `{ __type(name: "${type}") { fields { name } } }`, { as });
  return __type?.fields.map(({ name }: Answered) => name) ?? [];
}

async function untilShown(name: string, isShown = true, type = 'Query'): Promise<void> {
  await eventually(async () => (await shownTo('admin', type)).includes(name) === isShown);
}

async function mcp(method: string, params: object, authorization: string): Promise<Answered> {
  const answer = await gateway.fetch('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await answer.json()) as Answered).result;
}

const bearer = (role: Role) => `Bearer ${gateway.tokenOf(role)}`;

beforeAll(async () => {
  const description = 'What a student owes.';
  const saved = await save({ name: 'fee.balance', code: BALANCE, roles: ['clerk'], description });
  expect(saved.errors).toEqual([]);
  await save({ name: 'book-bus', code: BOOK, roles: ['clerk'] });
  await untilShown('feeBalance');
  await untilShown('bookBus', true, 'Mutation');
});

describe('in GraphQL', () => {
  const CALL = `query Balance($s: ID!, $m: [Month!]) {
    due: feeBalance(student: $s, months: $m) { __typename student balance lines { head amount } }
  }`;
  const call = (s: string, as: Role = 'clerk', m?: readonly string[]) =>
    send(gateway, { query: CALL, variables: { s, m }, as });

  it('is called with variables, by an alias', async () => {
    const lines = [{ head: '2026-07', amount: '1.50' }];
    expect((await call('s-1', 'clerk', ['2026-07'])).data).toEqual({
      due: { __typename: 'FeeBalance', student: 's-1', balance: 12.5, lines },
    });
    const { scriptRuns } = await ask(gateway, '{ scriptRuns(script: "fee.balance") { cause principal } }');
    expect(scriptRuns[0]).toEqual({ cause: 'call', principal: 'usr-clerk' });
    expect(await codesOf(gateway, { query: CALL, variables: { s: 's', m: ['July'] }, as: 'clerk' })).toEqual([
      'BAD_USER_INPUT',
    ]);
    const booked = await ask(gateway, 'mutation { bookBus(route: "R1") }', { as: 'clerk' });
    expect(booked).toEqual({ bookBus: 1 });
  });

  it('is shown to those who may run the script, with its types', async () => {
    expect(await shownTo('clerk')).toContain('feeBalance');
    expect(await shownTo('clerk', 'FeeLine')).toEqual(['head', 'amount']);
    expect(await shownTo('teacher')).not.toContain('feeBalance');
    expect(await shownTo('teacher', 'FeeLine')).toEqual([]);
    expect((await call('s-1', 'teacher')).errors[0]?.extensions.code).toBe('FORBIDDEN');
    expect(await codesOf(gateway, { query: '{ feeBalance(student: 1) { student } }' })).toEqual([
      'UNAUTHENTICATED',
    ]);
  });

  it.each([
    ['bad', 'fee.balance: feeBalance.balance: Float! is expected, not "much"'],
    ['none', 'fee.balance:11:42: there is no such student'],
    ['write', 'platform.publish changes something: it is for a script with @mutation, not @query'],
  ])('fails as the script does: %s', async (student, message) => {
    const { data, errors } = await call(student);
    expect(data).toEqual({ due: null });
    expect(errors).toMatchObject([{ path: ['due'], extensions: { code: 'SCRIPT_FAILED' } }]);
    expect(errors[0]?.message).toContain(message);
  });

  it('of a query changes nothing, nor do the scripts that it runs', async () => {
    const db = ['create', 'createMultiple', 'update', 'updateMany', 'findAndModify'].map(
      (one) => `db.${one}`,
    );
    const calls = ['publish', 'sendEmail', 'sendSms', 'signToken', ...db].map(
      (one) => `() => platform.${one}({})`,
    );
    const code = `export default async () => {
      const codes = [];
      for (const call of [${calls}]) {
        try { await call(); codes.push('done'); } catch ({ code }) { codes.push(code); }
      }
      return codes;
    };`;
    await save({ name: 'changing', code });
    await save({
      name: 'asking',
      code: "// @query asks: JSON\nexport default platform.runScript('changing');",
    });
    await untilShown('asks');
    expect(await ask(gateway, '{ asks }')).toEqual({ asks: calls.map(() => 'FORBIDDEN') });
  });

  it('costs what is declared, and is kept as long', async () => {
    const query = '{ a: feeBalance(student: 1) { student } b: feeBalance(student: 2) { lines { head } } }';
    const answer = await gateway.fetch('/graphql', {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json', 'x-include-extensions': 'cost' },
      body: JSON.stringify({ query }),
    });
    expect(((await answer.json()) as Answered).extensions.cost.requested).toBe(100);
    const got = await gateway.fetch(`/graphql?query=${encodeURIComponent(query)}`, {
      as: 'clerk',
      headers: { 'x-apollo-operation-name': 'x' },
    });
    expect(got.headers.get('cache-control')).toBe('private, max-age=60');
  });
});

describe('saving', () => {
  it.each([
    ['const one = 1;\n// @query feeBalance: Int', undefined],
    ['// @query feeBalance: Int', 'x:1: the schema has the name "feeBalance" already'],
    ['// @query a: FeeLine\n// @type FeeLine { b: Int }', 'x:2: the schema has the name "FeeLine" already'],
    ['// @mutation createTask: Int', 'x:1: the schema has the name "createTask" already'],
    ['// @query a: Task\n// @type Task { b: Int }', 'x:2: the schema has the name "Task" already'],
    ['// @query a: Task', 'x:1: Unknown type "Task".'],
  ])('%j', async (code, message) => {
    const { errors } = await save({ name: 'x', code: `${code}\nexport default 1`, isEnabled: false });
    expect(errors[0]?.message).toEqual(message);
    if (message !== undefined) expect(errors[0]?.extensions.code).toBe('INVALID_VALUE');
  });

  it('changes and removes the field', async () => {
    await save({ name: 'fleeting', code: '// @query first: Int\nexport default 1' });
    await untilShown('first');
    await save({ name: 'fleeting', code: '// @query second: Int\nexport default 2' });
    await untilShown('second');
    expect(await shownTo('admin')).not.toContain('first');
    expect(await ask(gateway, '{ second }')).toEqual({ second: 2 });
    await ask(gateway, 'mutation { removeScript(name: "fleeting") }');
    await untilShown('second', false);
    await save({ name: 'fleeting', code: '// @query third: Int\nexport default 2', isEnabled: false });
    await save({ name: 'other', code: '// @query fourth: Int\nexport default 2' });
    await untilShown('fourth');
    expect(await shownTo('admin')).not.toContain('third');
  });

  it('is for the top domain, and the field for all', async () => {
    await gateway.sql.query(`
      insert into domains (id, name, parent_id) values ('north', 'North', 'top');
      select pg_notify(campus_channel('campus_domains'), '')`);
    const north = { 'x-domain': 'north' };
    const there = await eventuallyFound(async () => {
      const answer = await save({ name: 'y', code: '// @query y: Int\nexport default 1' }, north);
      return answer.errors[0]?.extensions.code === 'INVALID_VALUE' ? answer : undefined;
    });
    expect(there.errors[0]?.message).toContain('only scripts of the top domain declare a field');
    // One of the same name in the branch is another one.
    await save({ name: 'fee.balance', code: 'export default 1' }, north);
    const query = '{ feeBalance(student: "s") { balance } }';
    const { data } = await send(gateway, { query, as: 'admin', headers: north });
    expect(data).toEqual({ feeBalance: { balance: 12.5 } });
  });
});

it("of another school is nobody's here", async () => {
  await save({ name: 'foreign', code: '// @query foreign: Int\nexport default 1', roles: ['clerk'] });
  await untilShown('foreign');
  await gateway.sql.query(`
    insert into domains (id, name) values ('other', 'Other');
    update scripts set domain_id = 'other' where name = 'foreign';
    update script_versions set domain_id = 'other' where name = 'foreign';
    select pg_notify(campus_channel('campus_domains'), ''), pg_notify(campus_channel('campus_scripts'), '')`);
  await eventually(async () => !(await shownTo('clerk')).includes('foreign'));
  for (const as of ['clerk', 'admin'] as const) {
    await eventually(async () => (await codesOf(gateway, { query: '{ foreign }', as }))[0] === 'FORBIDDEN');
  }
});

describe('agents', () => {
  it('are offered a tool by those who may run it', async () => {
    const { tools } = await mcp('tools/list', {}, bearer('clerk'));
    const tool = tools.find(({ name }: Answered) => name === 'fee-balance');
    expect(tool).toMatchObject({
      ...{ title: 'fee.balance', description: 'What a student owes.', annotations: { readOnlyHint: true } },
      inputSchema: { required: ['student'], properties: { months: { type: 'array' } } },
    });
    const others = (await mcp('tools/list', {}, bearer('teacher'))).tools;
    expect(others.map(({ name }: Answered) => name)).not.toContain('fee-balance');
    const called = await mcp(
      'tools/call',
      { name: 'fee-balance', arguments: { student: 'a' } },
      bearer('clerk'),
    );
    expect(called.structuredContent).toEqual({ feeBalance: { student: 'a', balance: 12.5, lines: [] } });
  });

  it('change something by a key that names the script', async () => {
    const keyOf = async (scripts: readonly string[]) => {
      const { createApiKey } = await ask(
        gateway,
        'mutation ($s: JSON!) { createApiKey(data: {name: "agent", scopes: $s}) { key } }',
        { variables: { s: { collections: { task: ['read', 'create'] }, reports: [], scripts } } },
      );
      return `Bearer ${createApiKey.key}`;
    };
    const call = { name: 'book-bus', arguments: { route: 'R2' } };
    expect((await mcp('tools/call', call, await keyOf(['book-bus']))).structuredContent).toEqual({
      bookBus: 1,
    });
    for (const authorization of [await keyOf(['fee.balance']), bearer('admin')]) {
      expect((await mcp('tools/call', call, authorization)).isError).toBe(true);
    }
  });
});

describe('in REST', () => {
  const PATH = '/scripts/fee.balance/run';

  it('has a path of its own in the contract of those who may run it', async () => {
    const contractOf = async (as: Role) =>
      (await (await gateway.fetch('/openapi.json', { as })).json()) as Answered;
    const { post } = (await contractOf('clerk')).paths[PATH];
    expect(post).toMatchObject({
      ...{ operationId: 'runScript_feeBalance', summary: 'What a student owes.' },
      requestBody: { required: true, content: { 'application/json': { schema: { required: ['student'] } } } },
    });
    expect(post.responses[200].content['application/json'].schema.properties.value).toMatchObject({
      properties: { balance: { type: 'number' }, lines: { type: 'array' } },
    });
    expect((await contractOf('teacher')).paths[PATH]).toBeUndefined();
  });

  it.each([
    [{ student: 'a' }, 200],
    [{ student: 'a', month: 'x' }, 400],
    [undefined, 400],
    [{ student: 'bad' }, 422],
  ])('checks what is sent and given: %j', async (body, status) => {
    const answer = await gateway.fetch(PATH, {
      method: 'POST',
      as: 'clerk',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status).toBe(status);
  });
});
