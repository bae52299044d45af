/** `where` on the records that references point to, over HTTP. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, executedPlainly, type GraphqlAnswer, type Operation, send, statementsOf } from './graphql.js';

const gateway = useGateway();

beforeAll(async () => {
  const insert = (collection: string, id: string, data: object) =>
    gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
      collection,
      id,
      JSON.stringify(data),
    ]);
  await insert('pltf_user', 'gone', { name: 'Gone', active: false, roles: ['teacher'], phone: '+91 1' });
  for (const manager of ['usr-clerk', 'usr-teacher', 'gone', 'nobody']) {
    await insert('task', `of-${manager}`, {
      name: 'T',
      amount: 1,
      manager: { value: manager, label: manager },
    });
  }
  await insert('registration', 'stu-1', {
    sequence: 'A1',
    name: 'Ananya',
    class: '5',
    section: 'A',
    status: 'withdrawn',
  });
  await insert('leave_request', 'l-1', { name: { value: 'stu-1', label: 'A' }, kind: 'student' });
  await insert('leave_request', 'l-2', { name: { value: 'gone', label: 'G' }, kind: 'staff' });
});

const list = (where: string) => `{ tasks(where: ${where}) { nodes { id } totalCount } }`;

async function idsOf(query: string, as: 'admin' | 'teacher' | 'viewer' = 'admin'): Promise<string[]> {
  const data = await ask(gateway, query, { as });
  const [connection] = Object.values(data) as { nodes: { id: string }[] }[];
  return connection?.nodes.map((node) => node.id) ?? [];
}

function errorsOf({ errors }: GraphqlAnswer) {
  return errors.map(({ extensions, message }) => [extensions.code, message]);
}

async function refusal(query: string, options: Partial<Operation> = {}) {
  return errorsOf(await send(gateway, { query, as: 'admin', ...options }));
}

describe('a where on what a reference points to is refused', () => {
  it('on a field hidden there, in the splice and without it', async () => {
    const query = list('{manager: {record: {phone: {startsWith: "+91"}}}}');
    const expected = [
      ['FORBIDDEN', 'the field "phone" of pltf_user is not yours to read, so neither to filter or sort by'],
    ];
    expect(await refusal(query, { as: 'teacher' })).toEqual(expected);
    expect(await refusal(executedPlainly(query), { as: 'teacher' })).toEqual(expected);
    const aggregate = '{ tasksAggregate(where: {manager: {record: {phone: {exists: true}}}}) { count } }';
    expect(await refusal(aggregate, { as: 'teacher' })).toEqual(expected);
    const generic =
      '{ records(collection: "task", where: {manager: {record: {phone: {exists: true}}}}) { nodes { id } } }';
    expect(await refusal(generic, { as: 'teacher' })).toEqual(expected);
  });

  it('by a key whose scopes do not include that collection', async () => {
    const { createApiKey } = await ask(
      gateway,
      'mutation { createApiKey(data: {name: "tasks", scopes: {collections: {task: ["read"]}, ' +
        'reports: [], scripts: []}}) { key } }',
    );
    const headers = { authorization: `Bearer ${createApiKey.key}` };
    const query = list('{manager: {record: {active: {equals: true}}}}');
    expect(await refusal(query, { as: undefined, headers })).toEqual([
      ['FORBIDDEN', 'you may not read records of pltf_user'],
    ]);
  });

  it('where a variable in it was not sent', async () => {
    const query = `query ($active: Boolean) ${list('{manager: {record: {active: {equals: $active}}}}')}`;
    expect(await refusal(query, { variables: {} })).toEqual([
      ['INVALID_VALUE', expect.stringContaining('The variable $active of where is missing')],
    ]);
  });

  it('with nothing in it, an unknown field, or too many references in a row', async () => {
    expect(await refusal(list('{manager: {record: {}}}'))).toEqual([
      ['MALFORMED_FILTER', expect.stringContaining('an empty object says nothing')],
    ]);
    expect((await refusal(list('{manager: {record: {activ: {equals: true}}}}')))[0]?.[0]).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
    const generic = (where: object) => ({
      query: 'query ($where: JSON) { records(collection: "attendance", where: $where) { nodes { id } } }',
      variables: { where },
      as: 'admin' as const,
    });
    const unknown = await send(gateway, generic({ student: { record: { clas: { equals: '5' } } } }));
    expect(errorsOf(unknown)).toEqual([
      ['MALFORMED_FILTER', expect.stringContaining('Did you mean "class"?')],
    ]);
    const several =
      '{ leaveRequestRecords(where: {name: {record: {registration: {id: {equals: "a"}}, pltfUser: ' +
      '{id: {equals: "b"}}}}}) { nodes { id } } }';
    expect((await refusal(several))[0]).toEqual([
      'MALFORMED_FILTER',
      expect.stringContaining('one of the collections'),
    ]);
  });
});

describe('a where on what a reference points to', () => {
  it('finds records by it, spliced and executed alike, in one statement', async () => {
    const query = list('{manager: {record: {active: {equals: true}}}}');
    expect(await idsOf(query)).toEqual(['of-usr-clerk', 'of-usr-teacher']);
    expect(await ask(gateway, executedPlainly(query))).toMatchObject(await ask(gateway, query));
    expect(await statementsOf(() => ask(gateway, query))).toHaveLength(1);
    expect(
      await idsOf(list('{manager: {record: {roles: {any: {equals: "teacher"}}, active: {equals: false}}}}')),
    ).toEqual(['of-gone']);
    expect(await idsOf(list('{not: {manager: {record: {active: {equals: true}}}}}'))).toEqual([
      'of-gone',
      'of-nobody',
    ]);
    expect(
      await idsOf(list('{manager: {record: {name: {exists: true}}, id: {startsWith: "usr"}}}'), 'viewer'),
    ).toHaveLength(2);
  });

  it('says which kind of record, where there are several', async () => {
    const where = (record: string) =>
      `{ leaveRequestRecords(where: {name: {record: ${record}}}) { nodes { id } } }`;
    expect(await idsOf(where('{registration: {status: {equals: WITHDRAWN}}}'))).toEqual(['l-1']);
    expect(await idsOf(where('{pltfUser: {active: {equals: false}}}'))).toEqual(['l-2']);
    expect(await idsOf(where('{registration: {name: {equals: "Gone"}}}'))).toEqual([]);
  });

  it('serves groups, distinct values and bulk mutations', async () => {
    const active = '{manager: {record: {active: {equals: true}}}}';
    const data = await ask(
      gateway,
      `{ tasksAggregate(where: ${active}) { count } tasksDistinct(field: MANAGER, where: ${active}) ` +
        '{ value } }',
    );
    expect(data.tasksAggregate).toEqual([{ count: 2 }]);
    expect(data.tasksDistinct.map((one: { value: string }) => one.value).sort()).toEqual([
      'usr-clerk',
      'usr-teacher',
    ]);
    const changed = await ask(
      gateway,
      `mutation { updateTasks(where: ${active}, increment: {amount: 1}) { count } }`,
    );
    expect(changed.updateTasks).toEqual({ count: 2 });
  });

  it('takes the months of a datetime by inMonth', async () => {
    await gateway.sql.query(
      `update records set data = data || '{"created_on": "2026-04-30T18:29:59.999Z"}' where id = 'of-gone'`,
    );
    await gateway.sql.query(
      `update records set data = data || '{"created_on": "2026-04-30T18:30:00.000Z"}' where id = 'of-nobody'`,
    );
    expect(await idsOf(list('{createdOn: {inMonth: "2026-04"}}'))).toEqual(['of-gone']);
    expect(await idsOf(list('{createdOn: {inMonth: "2026-05"}}'))).toEqual(['of-nobody']);
  });
});
