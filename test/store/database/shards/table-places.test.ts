/** Where tables are on Citus. What asks a server about it needs one; the rest runs everywhere. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { openDatabase } from '../../../../src/store/database/database.js';
import { ensurePartition } from '../../../../src/store/database/partitions.js';
import { distributeTables, TABLE_PLACES } from '../../../../src/store/database/shards/table-places.js';
import { sql } from '../../../../src/store/sql.js';
import type { Gateway } from '../../../contract/gateway.js';
import { useTestDatabase } from '../../../database.js';
import { eventually } from '../../../eventually.js';
import { isTestedOnCitus } from '../../../spread-databases.js';

const test = useTestDatabase();
const onCitus = isTestedOnCitus() ? describe : describe.skip;

async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await test.database.pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

describe('the places of tables', () => {
  it('are said of each table that the migrations make', async () => {
    const rows = await test.database.query<{ name: string }>(sql`
      select c.relname as name
        from pg_class c
       where c.relnamespace = current_schema()::regnamespace
         and c.relkind in ('r', 'p')
         and not c.relispartition
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`);
    expect([...TABLE_PLACES.keys()].sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it('are nowhere but here where there is no Citus', async () => {
    if (isTestedOnCitus()) return;
    expect(await withClient(distributeTables)).toEqual([]);
  });
});

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), tables', () => {
  it('are spread as it is said, all of a domain on one server', async () => {
    const rows = await test.database.query<{ name: string; kind: string; column: string; group: number }>(
      sql`
      select table_name::text as name, citus_table_type as kind, distribution_column as column,
        colocation_id as group
        from citus_tables`,
    );
    const spread = new Map(rows.map((row) => [row.name, row]));
    const home = spread.get('records')?.group;
    for (const [name, place] of TABLE_PLACES) {
      if (place === 'coordinator')
        expect({ name, spread: spread.get(name) }).toEqual({ name, spread: undefined });
      else expect(spread.get(name)).toEqual({ name, kind: 'distributed', column: place.column, group: home });
    }
  });

  it('that are spread are left alone the next time', async () => {
    expect(await withClient(distributeTables)).toEqual([]);
  });

  it('are read by servers that compile no statement, also for each other', async () => {
    await withClient(distributeTables);
    const client = new pg.Client({ connectionString: test.url });
    await client.connect();
    const { rows } = await client.query(`select result from run_command_on_all_nodes('show jit')`);
    await client.end();
    expect(rows.map(({ result }) => result)).toEqual(['off', 'off', 'off']);
  });

  it('that an earlier version had on every server are brought back, with what is in them', async () => {
    await test.database.query(sql`
      insert into domains (id, name, parent_id) values ('old', 'Old', null), ('older', 'Older', 'old')`);
    for (const name of ['domains', 'properties'])
      await test.database.query(sql.raw(`select create_reference_table('${name}')`));
    await withClient(distributeTables);
    const read = sql`select id from domains where id like 'old%' order by id`;
    expect(await test.database.query(read)).toEqual([{ id: 'old' }, { id: 'older' }]);
    const spread = sql`
      select 1 from citus_tables where table_name in ('domains'::regclass, 'properties'::regclass)`;
    expect(await test.database.query(spread)).toEqual([]);
    const refused = test.database.query(sql`delete from domains where id = 'old'`);
    await expect(refused).rejects.toThrow(/still referred to/);
    await test.database.query(sql`delete from domains where id in ('old', 'older')`);
  });

  it('that have rows when they are spread leave none of them on the coordinator', async () => {
    await test.database.query(sql.raw(`select undistribute_table('receipt_series')`));
    await test.database.query(sql`
      insert into receipt_series (domain, series, last_number)
      select d, 'A', 7 from unnest(array['a', 'b', 'c', 'd']) d`);
    expect(await withClient(distributeTables)).toEqual(['receipt_series']);
    const read = sql`select count(*)::int as count from receipt_series where last_number = 7`;
    expect(await test.database.query(read)).toEqual([{ count: 4 }]);
    const size = sql`select pg_relation_size('receipt_series')::int as size`;
    expect(await test.database.query(size)).toEqual([{ size: 0 }]);
  });

  it('get partitions of records later, with the records there are', async () => {
    const insert = (domain: string, id: string) =>
      test.database.query(sql`
        insert into records (domain, collection, id, data) values (${domain}, 'bus', ${id}, '{}')`);
    const domains = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const domain of domains) await insert(domain, 'before');
    const bus = { name: 'bus', fields: [], indexes: [], uniqueTogether: [] };
    expect(await ensurePartition(test.database, bus)).toMatchObject({ isCreated: true });
    for (const domain of domains) await insert(domain, 'after');
    expect(await test.database.query(sql`select count(*)::int as count from records_bus`)).toEqual([
      { count: 12 },
    ]);
    const [shards] = await test.database.query<{ servers: number }>(sql`
      select count(distinct nodeport)::int as servers
        from citus_shards
       where table_name = 'records_bus'::regclass`);
    expect(shards?.servers).toBeGreaterThan(1);
  });
});

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), a long statement', () => {
  const long = sql`
    select pg_sleep(600 + count(*)) as slept from records where domain = 'top' and collection = 'task'`;
  const listRunning = async () =>
    await test.database.query<{ count: string }>(sql`
      select result as count
        from run_command_on_workers($$
          select count(*) from pg_stat_activity
           where query like '%pg_sleep(%600%' and datname = current_database() and state = 'active'
             and pid <> pg_backend_pid()
        $$)
       where result <> '0'`);
  const isRunning = () => eventually(async () => (await listRunning()).length === 1);
  const hasEnded = () => eventually(async () => (await listRunning()).length === 0);

  it('ends on its server, too, when its caller has gone', async () => {
    const caller = new AbortController();
    const asked = test.database.query(long, { signal: caller.signal });
    const refused = expect(asked).rejects.toThrow('gone');
    await isRunning();
    caller.abort(new Error('gone'));
    await refused;
    await hasEnded();
  });

  it('ends there when it runs out of time', async () => {
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 2_000 });
    try {
      const refused = expect(database.query(long)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await isRunning();
      await refused;
      await hasEnded();
    } finally {
      await database.close();
    }
  });

  it('ends there when the connection of the gateway is lost', async () => {
    const client = await test.database.pool.connect();
    const refused = expect(client.query(long.text)).rejects.toThrow();
    await isRunning();
    client.connection.stream.destroy();
    await refused;
    client.release(true);
    await hasEnded();
  });
});

const receipt = (amount: string) => `mutation {
  recordReceipt(receipt: {studentId: "s-1", paymentType: CASH, amount: "${amount}"}) { receiptNo }
}`;

onCitus('on Citus (skipped where TEST_DATABASE_URL names no coordinator of it), a school', () => {
  // The first start makes the partitions, on all servers, which takes longer than all that follows.
  beforeAll(async () => {
    const { startGateway } = await import('../../../contract/gateway.js');
    await (await startGateway(test.url)).close();
  });

  it('causes no statement that goes to several servers', async () => {
    const name = new URL(test.url).pathname.slice(1);
    const { startGateway } = await import('../../../contract/gateway.js');
    // Refuses, for connections that are made from now on, what is more than one task.
    await test.database.query(
      sql.raw(`alter database ${name} set citus.multi_task_query_log_level = 'error'`),
    );
    const gateway = await startGateway(test.url);
    try {
      const ask = async (method: string, path: string, body?: object) => {
        const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
        const answer = await gateway.fetch(path, { method, as: 'admin', ...init });
        const text = await answer.text();
        return { asked: `${method} ${path} ${JSON.stringify(body)}`, isAnswered: answer.ok, text };
      };
      const query = (text: string) => ask('POST', '/graphql', { query: text });
      const answers = [
        await ask('POST', '/o/task', { _id: 't-1', name: 'Count the chairs' }),
        await ask('POST', '/o/task', [
          { _id: 't-2', name: 'Ring' },
          { _id: 't-3', name: 'Sweep' },
        ]),
        await ask('PATCH', '/o/recs/task/t-1', { name: 'Count the tables' }),
        await ask('DELETE', '/o/recs/task/t-3'),
        await ask('POST', '/o/recs/task/t-3/restore', { version: 1 }),
        await ask('GET', '/o/recs/task/t-1'),
        await ask('GET', '/o/recs/task?stream=true&limit=10&sort=name'),
        await ask('GET', '/o/recs/task?oquery=name=*chairs'),
        await query('{ tasks { nodes { id name manager { label } } totalCount } }'),
        await query('{ tasksAggregate { count } }'),
        await query(
          'mutation { updateTasks(where: {name: {equals: "Ring"}}, set: {name: "Rest"}) { count } }',
        ),
        await query('{ recordHistory(collection: "task", id: "t-1") { nodes { version operation } } }'),
        await query('{ auditTrail { operation } }'),
        await query('{ accounts { nodes { id hasPassword } } }'),
        await ask('GET', '/?report=strength'),
        await ask('POST', '/o/registration', {
          ...{ _id: 's-1', sequence: 'A-1', name: 'Anu', class: '5', section: 'A', session: '2026-27' },
          ...{ admitted_on: '2026-04-01', status: 'active' },
        }),
        await ask('POST', '/o/fee_due', {
          ...{ _id: 'd-1', student: { value: 's-1' }, class: '5', section: 'A', session: '2026-27' },
          ...{ month: '2026-04', fee_head: 'Tuition', amount: 100, due_date: '2026-04-10' },
        }),
        // The first of a series, and one after it.
        ...[await query(receipt('10.00')), await query(receipt('20.00'))],
        await query('{ files { nodes { id } } }'),
        // Its traces are in many tables, the audit trail among them.
        await query('mutation { erasePerson(collection: "registration", id: "s-1") { pseudonym } }'),
      ];
      const refused = answers.filter(({ isAnswered, text }) => !isAnswered || text.includes('"errors"'));
      expect(refused).toEqual([]);
    } finally {
      await gateway.close();
      await test.database.query(sql.raw(`alter database ${name} reset all`));
    }
  });

  it('needs its own server alone for whatever it writes', async () => {
    const { startGateway } = await import('../../../contract/gateway.js');
    const gateway = await startGateway(test.url);
    const query = async (text: string) => {
      const body = JSON.stringify({ query: text });
      const headers = { 'content-type': 'application/json' };
      const answer = await gateway.fetch('/graphql', { method: 'POST', as: 'admin', headers, body });
      return (await answer.json()) as { readonly data: unknown; readonly errors?: unknown };
    };
    const create = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await gateway.fetch(path, {
        ...{ method: 'POST', as: 'admin', headers, body: JSON.stringify(body) },
      });
      return answer.status;
    };
    const others = await listOtherServers('top');
    try {
      expect(others).toHaveLength(1);
      await create('/o/registration', {
        ...{ _id: 's-1', sequence: 'B-1', name: 'Anu', class: '5', section: 'A', session: '2026-27' },
        ...{ admitted_on: '2026-04-01', status: 'active' },
      });
      await create('/o/fee_due', {
        ...{ _id: 'd-2', student: { value: 's-1' }, class: '5', section: 'A', session: '2026-27' },
        ...{ month: '2026-05', fee_head: 'Tuition', amount: 100, due_date: '2026-05-10' },
      });
      const script = `{name: "echo", code: "export default (args) => args",
        after: [{collection: "task", operations: [CREATE]}], serviceRoles: ["clerk"]}`;
      expect(await query(`mutation { saveScript(script: ${script}) { name } }`)).not.toHaveProperty('errors');
      await setConnectable(others, false);
      expect(await create('/o/task', { _id: 'echoed', name: 'Heard of' })).toBe(201);
      await eventually(async () => {
        const { data } = await query('{ scriptRuns(script: "echo") { value } }');
        return JSON.stringify(data).includes('echoed');
      });
      const user = { _id: 'usr-new', user_name: 'new', name: 'New', active: true, roles: ['clerk'] };
      expect(await create('/o/pltf_user', user)).toBe(201);
      const roles = await query('mutation { setUserRoles(userId: "usr-new", roles: ["viewer"]) { roles } }');
      expect(roles).toEqual({ data: { setUserRoles: { roles: ['viewer'] } } });
      const transaction = await query(`mutation @transaction {
        one: createTask(data: {id: "x-1", name: "Paint"}) { id }
        two: createTasks(records: [{id: "x-2", name: "Mow"}, {id: "x-3", name: "Mow"}]) { count }
        three: updateTasks(where: {name: {equals: "Mow"}}, set: {name: "Water"}) { count }
        four: deleteTasks(where: {name: {equals: "Water"}}) { count }
      }`);
      expect(transaction).toEqual({
        data: {
          ...{ one: { id: 'x-1' }, two: { count: 2 }, three: { count: 2 } },
          four: { count: 2 },
        },
      });
      expect((await query(receipt('30.00'))).errors).toBeUndefined();
      const set = await query(
        'mutation { setDomainProperty(name: "schoolName", value: "By the lake") { name } }',
      );
      expect(set.errors).toBeUndefined();
      expect(await importTasks(gateway)).toMatchObject({
        ...{ state: 'done', counts: { created: 2_598, updated: 1, same: 0, refused: 1 }, fault: null },
      });
      const many = Array.from({ length: 2_001 }, (_, index) => ({ _id: `m-${index}`, name: 'One of many' }));
      expect(await create('/o/task', many)).toBe(201);
      const refused = await query(`mutation @transaction {
        one: createTask(data: {id: "x-4", name: "Never"}) { id }
        two: createTask(data: {id: "x-1", name: "Taken"}) { id }
      }`);
      expect(refused.errors).toHaveLength(2);
      expect((await gateway.fetch('/o/recs/task/x-4', { as: 'admin' })).status).toBe(404);
      expect((await gateway.fetch('/o/recs/task/x-1', { as: 'admin' })).status).toBe(200);
    } finally {
      await setConnectable(others, true);
      await gateway.close();
    }
  });
});

/** A file of three batches: a record that is there, new ones, and a row that is wrong. */
async function importTasks(gateway: Gateway): Promise<unknown> {
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { 'content-type': 'text/csv' };
    const answer = await gateway.fetch(path, { method, as: 'admin', ...(body && { headers, body }) });
    return (await answer.json()) as { readonly id: string; readonly state: string };
  };
  const rested = async (id: string) => {
    await eventually(async () =>
      ['ready', 'done', 'failed'].includes((await ask('GET', `/imports/${id}`)).state),
    );
    return await ask('GET', `/imports/${id}`);
  };
  const lines = Array.from({ length: 2_598 }, (_, index) => `i-${index},Task ${index},${index}`);
  const csv = ['_id,name,amount', 'echoed,Heard again,1', 'i-x,Odd,none', ...lines].join('\n');
  const { id } = await ask('POST', '/imports?collection=task&name=tasks.csv', `${csv}\n`);
  await rested(id);
  await ask('POST', `/imports/${id}/run?mode=rows`);
  return await rested(id);
}

/** The ports of the servers that have the records of other domains than this one. */
async function listOtherServers(domain: string): Promise<readonly number[]> {
  const rows = await test.database.query<{ port: number }>(sql`
    select n.nodeport as port
      from pg_dist_node n
     where n.shouldhaveshards
       and not exists (
         select
           from pg_dist_placement p
          where p.groupid = n.groupid
            and p.shardid = get_shard_id_for_distribution_column('records', ${domain}::text)
       )`);
  return rows.map(({ port }) => port);
}

/** Takes the test database away from who asks these servers for it, as if they had gone, or gives it back. */
async function setConnectable(ports: readonly number[], isConnectable: boolean): Promise<void> {
  const name = new URL(test.url).pathname.slice(1);
  for (const port of ports) {
    const url = Object.assign(new URL(test.url), { port: String(port), pathname: 'postgres' }).href;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(`alter database ${name} with allow_connections ${isConnectable}`);
      if (isConnectable) continue;
      await client.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [
        name,
      ]);
    } finally {
      await client.end();
    }
  }
}
