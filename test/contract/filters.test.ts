/**
 * `where` on the records that references point to; and every door reads an operand as texts are stored, and
 * ignores case where a key does.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, besideExecuted, type GraphqlAnswer, type Operation, send, statementsOf } from './graphql.js';

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
  it('on a field hidden there, alone and beside a field that graphql-js executes', async () => {
    const query = list('{manager: {record: {phone: {startsWith: "+91"}}}}');
    const expected = [
      ['FORBIDDEN', 'you may not read "phone" of pltf_user, so you may not filter or sort by it'],
    ];
    expect(await refusal(query, { as: 'teacher' })).toEqual(expected);
    expect(await refusal(besideExecuted(query), { as: 'teacher' })).toEqual(expected);
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
      ['MALFORMED_FILTER', expect.stringContaining('this object is empty')],
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
  it('finds records by it, also beside a field that graphql-js executes, in one statement', async () => {
    const query = list('{manager: {record: {active: {equals: true}}}}');
    expect(await idsOf(query)).toEqual(['of-usr-clerk', 'of-usr-teacher']);
    expect(await ask(gateway, besideExecuted(query))).toMatchObject(await ask(gateway, query));
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

const STUDENT = {
  ...{ name: 'Zoë', section: 'A', session: '2026-27', gender: 'female' },
  ...{ admitted_on: '2026-04-01', status: 'active' },
};
const PLACE = { class: 'Nurséry', section: 'A', session: '2026-27', month: '2026-04' };

async function rest(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await gateway.fetch(path, {
    ...{ method, as: 'admin', ...(body !== undefined && { body: JSON.stringify(body) }) },
    headers: { 'content-type': 'application/json' },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text === '' ? undefined : JSON.parse(text);
}

beforeAll(async () => {
  const make = async (collection: string, record: object) => await rest('POST', `/o/${collection}`, record);
  const sections = [{ name: 'A' }, { name: 'Rose  Bud' }];
  for (const name of ['Nurséry', '5']) await make('class', { name, category: 'primary', sections });
  for (const name of ['Tuition  fee', 'Bus']) await make('fee_head', { name });
  const rose = { _id: 's-1', sequence: 'Adm-É01', class: 'Nurséry', section: 'Rose  Bud' };
  await make('registration', { ...STUDENT, ...rose });
  await make('registration', { ...STUDENT, _id: 's-2', sequence: 'Adm-É02', class: '5' });
  for (const [student, place, head, section] of [
    ['s-1', 'Nurséry', 'Tuition  fee', 'Rose  Bud'],
    ['s-2', '5', 'Bus', 'A'],
  ]) {
    const due = { _id: `due-${student}`, student, fee_head: head, amount: 100, due_date: '2026-04-10' };
    await make('fee_due', { ...PLACE, ...due, class: place, section });
  }
  for (const student of ['s-1', 's-2']) {
    await ask(
      gateway,
      `mutation { recordReceipt(receipt: {studentId: "${student}", paymentType: CASH, amount: "1"}) { id } }`,
    );
  }
  const code = `export default async ({ collection, filter }) =>
    (await platform.aggregate(collection, [{ $match: filter }])).map(({ _id }) => _id)`;
  await ask(gateway, 'mutation($s: SaveScriptInput!) { saveScript(script: $s) { name } }', {
    variables: { s: { name: 'seek', code } },
  });
});

/** Spellings of the number, class, fee head and section: blanks, case, invisible and decomposed letters. */
const SPELLINGS: readonly (readonly [number: string, place: string, head: string, section: string])[] = [
  ['Adm-É01', 'Nurséry', 'Tuition fee', 'Rose Bud'],
  [' aDm-é01 ', ' nURSÉRY', 'TUITION  FEE ', ' ROSE BUD'],
  ['\u00A0ADM-E\u030101\u00A0', '\u00A0NURSE\u0301RY', '\u00A0tuition\u00A0fee', 'rose\u00A0bud'],
  ['\u200Badm-e\u030101\u200E', 'Nurse\u0301ry\u200B', 'Tuition\u200B Fee', 'rose \u200B Bud'],
];

type Door = (field: string, collection: string, operand: string) => Promise<readonly string[]>;

const ids = (records: unknown) =>
  (records as readonly { _id?: string; id?: string }[]).map((r) => r._id ?? r.id ?? '');
const graphql = async (query: string, variables: object) => (await ask(gateway, query, { variables })).found;
const script = async (collection: string, filter: object) => {
  const { runScript } = await ask(
    gateway,
    'mutation($a: JSON) { runScript(name: "seek", arguments: $a) { value error { message } } }',
    { variables: { a: { collection, filter } } },
  );
  return runScript.value ?? runScript.error;
};
const oquery = (field: string, operand: string) => `oquery=${encodeURIComponent(`${field}=${operand}`)}`;
const where = (filter: object) => `where=${encodeURIComponent(JSON.stringify(filter))}`;
const nested = (field: string, condition: unknown) =>
  field.split('.').reduceRight<unknown>(
    (inner, name, at, all) => ({
      [name]: at < all.length - 1 && name === 'lines' ? { any: inner } : inner,
    }),
    condition,
  ) as object;
const TYPED: Readonly<Record<string, string>> = {
  registration: 'registrations',
  fee_due: 'feeDues',
  fee_receipt: 'feeReceipts',
};
const INPUT: Readonly<Record<string, string>> = {
  registration: 'Registration',
  fee_due: 'FeeDue',
  fee_receipt: 'FeeReceipt',
};
const camel = (field: string) => field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const DOORS: Readonly<Record<string, Door>> = {
  'REST, oquery': async (field, collection, operand) =>
    ids(await rest('GET', `/o/recs/${collection}?${oquery(field, operand)}`)),
  'REST, oquery in a body': async (field, collection, operand) =>
    ids(await rest('POST', `/o/recs/${collection}`, { oquery: `${field}=${operand}` })),
  'REST, where': async (field, collection, operand) =>
    ids(await rest('GET', `/o/recs/${collection}?${where(nested(field, { equals: operand }))}`)),
  'REST, where, not': async (field, collection, operand) => {
    const all = ids(await rest('GET', `/o/recs/${collection}`));
    const others = ids(
      await rest('GET', `/o/recs/${collection}?${where({ not: nested(field, { equals: operand }) })}`),
    );
    return all.filter((id) => !others.includes(id));
  },
  'GraphQL, typed': async (field, collection, operand) =>
    ids(
      (
        await graphql(
          `query($w: ${INPUT[collection]}WhereInput) {
            found: ${TYPED[collection]}(where: $w) { nodes { id } }
          }`,
          {
            w: nested(camel(field), { in: ['nothing', operand] }),
          },
        )
      ).nodes,
    ),
  'GraphQL, a count': async (field, collection, operand) => {
    const [{ count }] = await graphql(
      `query($w: ${INPUT[collection]}WhereInput) {
            found: ${TYPED[collection]}Aggregate(where: $w) { count }
      }`,
      {
        w: nested(camel(field), { equals: operand }),
      },
    );
    return count === 1
      ? ids(await rest('GET', `/o/recs/${collection}?${oquery(field, operand)}`))
      : [`count ${count}`];
  },
  'GraphQL, generic': async (field, collection, operand) =>
    ids(
      (
        await graphql(
          `query($w: JSON) { found: records(collection: "${collection}", where: $w) { nodes { id } } }`,
          {
            w: nested(field, { equals: operand }),
          },
        )
      ).nodes,
    ),
  'an agent': async (field, collection, operand) => {
    const answer = (await rest('POST', '/mcp', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: {
        name: 'search-records',
        arguments: { collection, where: nested(field, { equals: operand }) },
      },
    })) as { result: { content: readonly { text: string }[] } };
    return ids(JSON.parse(answer.result.content[0]?.text ?? '').records.nodes);
  },
  'a script, equality': async (field, collection, operand) => await script(collection, { [field]: operand }),
  'a script, $in': async (field, collection, operand) =>
    await script(collection, { [field]: { $in: ['nothing', operand] } }),
  'a script, $nin': async (field, collection, operand) =>
    await script(collection, { $nor: [{ [field]: { $nin: ['nothing', operand] } }] }),
};

describe.each(Object.keys(DOORS))('%s', (door) => {
  it.each(SPELLINGS)('finds %j', async (number, place, head, section) => {
    const receipt = ids(await rest('GET', '/o/recs/fee_receipt?oquery=student.value=s-1'));
    const find = async (...of: Parameters<Door>) => await DOORS[door]?.(...of);
    expect([
      await find('sequence', 'registration', number),
      await find('class', 'fee_due', place),
      await find('fee_head', 'fee_due', head),
      await find('lines.fee_head', 'fee_receipt', head),
      await find('section', 'registration', section),
    ]).toEqual([['s-1'], ['due-s-1'], ['due-s-1'], receipt, ['s-1']]);
  });
});

it('finds elements of lists by $elemMatch', async () => {
  const query = { lines: { $elemMatch: { fee_head: ' tuition FEE' } } };
  expect(await script('fee_receipt', query)).toHaveLength(1);
});

it('compares texts that are no key by case', async () => {
  expect(await rest('GET', '/o/recs/registration?oquery=name=zoe\u0308')).toEqual([]);
  expect(await rest('GET', '/o/recs/registration?oquery=name=Zoe\u0308%20')).toHaveLength(2);
});
