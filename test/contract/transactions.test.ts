import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { expectEventually } from '../expect-eventually.js';
import { deriveRows } from './derive-rows.js';
import { useGateway } from './gateway.js';
import { ask, type GraphqlAnswer, type Operation, send } from './graphql.js';

const gateway = useGateway({ POOL_SIZE: '4', LOG_LEVEL: 'error' });

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection in ('task', 'attendance')`);
  await gateway.sql.query('delete from audit_entries');
  await gateway.sql.query(
    `insert into records (domain, collection, id, data) values ('top', 'task', 't-1', '{"name": ` +
      `"One", "amount": 1}')`,
  );
});

afterEach(() => {
  expect(gateway.log.filter((line) => line.includes('requestFailed'))).toEqual([]);
});

async function taskIds(): Promise<string> {
  const { rows } = await gateway.sql.query(
    `select string_agg(id || ':' || version, ' ' order by id) as ids from records where collection = ` +
      `'task' and deleted_at is null`,
  );
  return rows[0].ids ?? '';
}

async function auditCount(): Promise<number> {
  const { rows } = await gateway.sql.query('select count(*)::int as count from audit_entries');
  return rows[0].count;
}

function transact(fields: string, options: Partial<Operation> = {}): Promise<GraphqlAnswer> {
  return send(gateway, { as: 'admin', query: `mutation Test @transaction { ${fields} }`, ...options });
}

function errorsOf({ errors }: GraphqlAnswer) {
  return errors.map(({ path, extensions, message }) => [path?.join('.'), extensions.code, message]);
}

describe('a transaction that cannot be', () => {
  it('is refused on a query, before it begins', async () => {
    const { errors, status } = await send(gateway, {
      query: 'query @transaction { me { id } }',
      as: 'admin',
    });
    expect([status, errors[0]?.message]).toEqual([400, 'Directive "@transaction" may not be used on QUERY.']);
  });

  it('is refused without a credential', async () => {
    const answer = await transact('createTask(data: {name: "x"}) { id }', { as: undefined });
    expect([answer.status, errorsOf(answer)[0]?.[1]]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('is refused with a mutation that cannot be undone, also within a fragment', async () => {
    const login = 'login(userName: "admin", password: "x") { accessToken }';
    const query =
      'mutation @transaction { createTask(data: {name: "x"}) { id } ...More } fragment More on ' +
      `Mutation { ... { ${login} } }`;
    const answer = await send(gateway, { query, as: 'admin' });
    expect(answer.status).toBe(400);
    expect(errorsOf(answer)).toEqual([
      [
        undefined,
        'MALFORMED_REQUEST',
        '@transaction: login cannot be part of a transaction; only mutations of records and receipts can.',
      ],
    ]);
    expect(await taskIds()).toBe('t-1:1');
  });
});

describe('a transaction of which a field fails', () => {
  it('does none of them and says so of each', async () => {
    const answer = await transact(`
      made: createTask(data: {id: "a", name: "A"}) { id }
      changed: updateTasks(where: {id: {equals: "t-1"}}, increment: {amount: 1}) { count }
      taken: createTask(data: {id: "t-1", name: "B"}) { id }
      after: deleteRecord(collection: "task", id: "t-1") { id }`);
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({ made: null, changed: null, taken: null, after: null });
    expect(errorsOf(answer)).toEqual([
      ['taken', 'CONFLICT', expect.stringContaining('the _id "t-1" is taken')],
      ['made', 'ROLLED_BACK', 'made is not done: taken failed, and with it the whole transaction.'],
      ['changed', 'ROLLED_BACK', 'changed is not done: taken failed, and with it the whole transaction.'],
      ['after', 'ROLLED_BACK', 'after is not done: taken failed, and with it the whole transaction.'],
    ]);
    expect(await taskIds()).toBe('t-1:1');
    expect(await auditCount()).toBe(0);
  });

  it('is undone also for a fault in the answer of a field that is done', async () => {
    const answer = await transact(
      `one: createTask(data: {id: "a", name: "A"}) { id }
       two: createTask(data: {id: "b", name: "B", manager: {id: "usr-clerk"}}) { manager { record { phone } } }`,
      { as: 'teacher' },
    );
    expect(answer.data).toEqual({ one: null, two: null });
    expect(errorsOf(answer).map(([path, code]) => [path, code])).toEqual([
      ['two', 'FORBIDDEN'],
      ['one', 'ROLLED_BACK'],
    ]);
    expect(await taskIds()).toBe('t-1:1');
  });

  it('leaves no key behind: sent again it is tried again', async () => {
    const headers = { 'idempotency-key': 'tx-1' };
    const fields = (id: string) =>
      `one: createTask(data: {id: "a", name: "A"}) { id } two: createTask(data: {id: "${id}", name: ` +
      '"B"}) { id }';
    expect(errorsOf(await transact(fields('t-1'), { headers })).map(([, code]) => code)).toEqual([
      'CONFLICT',
      'ROLLED_BACK',
    ]);
    expect((await transact(fields('b'), { headers })).data).toEqual({ one: { id: 'a' }, two: { id: 'b' } });
    expect(await taskIds()).toBe('a:1 b:1 t-1:1');
    const { rows } = await gateway.sql.query(
      `select distinct key from idempotency_keys where key like 'tx-1%' order by key`,
    );
    expect(rows.map(({ key }) => key)).toEqual(['tx-1/one', 'tx-1/two']);
  });

  it('announces nothing', async () => {
    const heard: string[] = [];
    const client = await gateway.sql.connect();
    const { rows } = await client.query("select campus_channel('campus_principals') as name");
    await client.query(`listen ${rows[0].name}`);
    client.on('notification', ({ payload }) => heard.push(String(payload)));
    const user = (id: string) =>
      `createRecord(collection: "pltf_user", data: {_id: "${id}", user_name: "${id}", name: "N", ` +
      'active: true, roles: ["clerk"]}) { id }';
    await transact(`${user('new-1')} clash: createTask(data: {id: "t-1", name: "B"}) { id }`);
    expect((await transact(user('new-2'))).errors).toEqual([]);
    // On Citus, the outbox announces it, a moment later.
    await expectEventually<unknown>(async () => {
      await client.query('select 1');
      return heard.filter((payload) => payload.includes('new-'));
    }, [expect.stringContaining('new-2')]);
    await client.query('unlisten *');
    client.release();
  });
});

describe('a transaction', () => {
  it(
    'does typed, generic and bulk mutations one after the other, each seeing the ones before, ' +
      'references too',
    async () => {
      const answer = await transact(`
      createRecord(collection: "pltf_user", data: {_id: "boss", user_name: "boss", name: "Boss", active: true, roles: ["teacher"]}) { id }
      createTasks(records: [{id: "a", name: "A", amount: 1, manager: {id: "boss"}}, {id: "b", name: "B", amount: 2}]) {
        records { id manager { label record { name roles } } }
      }
      updateTasks(where: {amount: {greaterOrEqual: 1}}, increment: {amount: "0.1"}) { count records { id amount } }
      updateTask(id: "a", data: {name: "A2"}) { id version manager { record { id } } }
      upsertTask(data: {id: "c", name: "C"}) { version }
      deleteTasks(where: {id: {equals: "b"}}) { count }
      deleteRecord(collection: "task", id: "t-1") { version data }`);
      expect(answer.errors).toEqual([]);
      expect(answer.data).toMatchObject({
        createTasks: {
          records: [
            { id: 'a', manager: { label: 'Boss', record: { name: 'Boss', roles: ['teacher'] } } },
            { id: 'b', manager: null },
          ],
        },
        updateTasks: {
          count: 3,
          records: [
            { id: 'a', amount: '1.1' },
            { id: 'b', amount: '2.1' },
            { id: 't-1', amount: '1.1' },
          ],
        },
        updateTask: { id: 'a', version: 3, manager: { record: { id: 'boss' } } },
        deleteTasks: { count: 1 },
        deleteRecord: { version: 3, data: { name: 'One', amount: 1.1 } },
      });
      expect(await taskIds()).toBe('a:3 c:1');
    },
  );

  it('is seen by nobody else before it is done', async () => {
    const blocker = await gateway.sql.connect();
    await blocker.query('begin');
    await blocker.query(`
      select 1 from records
      where domain = 'top' and collection = 'task' and id = 't-1'
      for update`);
    const pending = transact(
      'createTask(data: {id: "a", name: "A"}) { id } updateTask(id: "t-1", data: {name: "Two"}) { id }',
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await ask(gateway, '{ tasks { nodes { id } } }')).tasks.nodes).toEqual([{ id: 't-1' }]);
    await blocker.query('commit');
    blocker.release();
    expect((await pending).errors).toEqual([]);
    expect(await taskIds()).toBe('a:1 t-1:2');
  });

  it('of more callers than there are connections ends for all', async () => {
    const fields = `a: updateTasks(where: {id: {equals: "t-1"}}, increment: {amount: 1}) { count records { manager { record { name } } } }
      b: updateTasks(where: {id: {equals: "t-1"}}, increment: {amount: 1}) { count records { id } }`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => transact(fields)));
    expect(answers.flatMap(errorsOf)).toEqual([]);
    expect(await taskIds()).toBe('t-1:41');
  });

  it('with an idempotency key gives the first answers again', async () => {
    const headers = { 'idempotency-key': 'tx-2' };
    const fields =
      'one: createTask(data: {name: "A"}) { id } two: updateTasks(where: {id: {equals: "t-1"}}, ' +
      'increment: {amount: 1}) { count }';
    const first = await transact(fields, { headers });
    expect((await transact(fields, { headers })).data).toEqual(first.data);
    expect((await taskIds()).split(' ')).toHaveLength(2);
  });

  it('takes fields of variables and fragments, and skips what is skipped', async () => {
    const query = `mutation ($with: Boolean!) @transaction { ...Two one: createTask(data: {id: "a", name: "A"}) @include(if: $with) { id } }
      fragment Two on Mutation { __typename two: createTask(data: {id: "b", name: "B"}) { id } }`;
    const answer = await send(gateway, { query, variables: { with: false }, as: 'admin' });
    expect(answer.data).toEqual({ __typename: 'Mutation', two: { id: 'b' } });
  });
});

describe('receipts in a transaction', () => {
  const insert = (collection: string, id: string, data: object) =>
    gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
      collection,
      id,
      JSON.stringify(data),
    ]);
  const receipt = (alias: string, amount: string) =>
    `${alias}: recordReceipt(receipt: {studentId: "stu-1", paymentType: CASH, amount: "${amount}"}) ` +
    '{ receiptNo total }';

  beforeEach(async () => {
    await gateway.sql.query(
      `delete from records where collection in ('registration', 'fee_due', 'fee_receipt')`,
    );
    const place = { class: '5', section: 'A', session: '2026-27' };
    await insert('registration', 'stu-1', { sequence: 'A1', name: 'Ananya', status: 'active', ...place });
    const due = { fee_head: 'Tuition', month: '2026-04', amount: 1000, due_date: '2026-04-10', ...place };
    await insert('fee_due', 'due-1', { student: { value: 'stu-1', label: 'Ananya' }, ...due });
    await deriveRows(gateway.sql);
  });

  it('follow one another with one idempotency key, and see the tasks and receipts before them', async () => {
    const headers = { 'idempotency-key': 'receipts-1' };
    const fields =
      `${receipt('one', '400')} createTask(data: {id: "a", name: "File it"}) { id } ` +
      `${receipt('two', '600')}`;
    const first = await transact(fields, { as: 'accountant', headers });
    expect(first.errors).toEqual([]);
    expect([first.data.one.total, first.data.two.total]).toEqual(['400.00', '600.00']);
    expect((await transact(fields, { as: 'accountant', headers })).data).toEqual(first.data);
  });

  it('take no number where a field fails: the second pays more than is owed by then', async () => {
    const answer = await transact(`${receipt('one', '400')} ${receipt('two', '601')}`, { as: 'accountant' });
    expect(errorsOf(answer).map(([path, code]) => [path, code])).toEqual([
      ['two', 'INVALID_VALUE'],
      ['one', 'ROLLED_BACK'],
    ]);
    const { rows } = await gateway.sql.query(
      `select count(*)::int as count from records where collection = 'fee_receipt'`,
    );
    expect(rows[0].count).toBe(0);
    const next = await transact(receipt('one', '1000'), { as: 'accountant' });
    expect(next.errors).toEqual([]);
    expect(next.data.one.total).toBe('1000.00');
  });
});

describe('without the directive', () => {
  it('each field stands alone, as ever', async () => {
    const query =
      'mutation { one: createTask(data: {id: "a", name: "A"}) { id } two: createTask(data: {id: ' +
      '"t-1", name: "B"}) { id } }';
    const answer = await send(gateway, { query, as: 'admin' });
    expect(errorsOf(answer).map(([path, code]) => [path, code])).toEqual([['two', 'CONFLICT']]);
    expect(await taskIds()).toBe('a:1 t-1:1');
  });
});

describe('the manual', () => {
  it('shows a transaction that works as it says', async () => {
    const manual = readFileSync(new URL('../../docs/graphql.md', import.meta.url), 'utf8');
    const [, query = ''] = /```graphql\n(mutation HandOver[^`]*)```/.exec(manual) ?? [];
    await gateway.sql.query(
      `insert into records (domain, collection, id, data) values
         ('top', 'pltf_user', 'left', '{"name": "Left", "active": false, "roles": []}'),
         ('top', 'task', 't-2', '{"name": "Two", "amount": 2, "manager": {"value": "left", "label": "Left"}}'),
         ('top', 'task', 't-3', '{"name": "Old", "created_on": "2020-04-30T10:00:00.000Z"}')`,
    );
    const answer = await send(gateway, { query, as: 'clerk' });
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({
      createTask: { id: 'stock-taking' },
      updateTasks: {
        matched: 1,
        count: 1,
        records: [{ id: 't-2', name: 'Two', amount: '2.5', manager: { label: 'The clerk' } }],
      },
      deleteTasks: { count: 1 },
    });
  });
});
