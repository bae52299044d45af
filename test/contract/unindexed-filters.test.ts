/** A filter without an index costs the records that it goes through, whoever asks and by whichever door. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { createGatewayDatabase, type Role, type StartedGateway, startGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const RECORDS = 40_000;
/** What a read costs of a user's minute beside itself: a request for each 10,000 records. */
const REQUESTS = RECORDS / 10_000;
/** What it adds to the cost of an operation: an object for each 100 records, at most a tenth of the limit. */
const OBJECTS = RECORDS / 100;
const UNINDEXED = 'note=*abc';
const ONE_OF =
  '{ tasks(first: 1, where: {or: [{name: {contains: "abc"}}, {name: {contains: "ab"}}]}) { nodes { id } } }';

let database: TestDatabase;
let gateway: StartedGateway;

beforeAll(async () => {
  database = await createGatewayDatabase();
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  await sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'x' || n, jsonb_build_object('name', 'task ' || n, 'note', 'n' || n,
       'created_on', to_char(date '2026-01-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI":00.000Z"'),
       'manager', jsonb_build_object('value', 'm' || n % 50, 'label', 'M ' || n % 50))
     from generate_series(1, $1::int) as n
     union all
     select 'top', 'attendance', 'a' || n, '{"marked_by": {"value": "usr-clerk"}}'
     from generate_series(1, 20000) as n`,
    [RECORDS],
  );
  await sql.query('analyze records');
  await sql.end();
  gateway = await startGateway(database.url, { POOL_SIZE: '16', GRAPHQL_MAX_COST: '5000' });
  // The sizes are known from the start on.
  expect(await costOf(`{ tasks(oquery: "${UNINDEXED}") { totalCount } }`)).toBeGreaterThan(OBJECTS);
});

afterAll(async () => {
  await gateway?.close();
  await database?.drop();
});

async function costOf(query: string, variables?: unknown): Promise<number> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json', 'x-include-extensions': 'cost' },
    body: JSON.stringify({ query, variables }),
  });
  const { extensions } = (await response.json()) as { extensions?: { cost?: { requested: number } } };
  return extensions?.cost?.requested ?? 0;
}

/** How many requests the work took from the minute of the user. */
async function spentBy(as: Role, work: () => Promise<unknown>): Promise<number> {
  const left = async () => {
    const answer = await gateway.fetch('/o/recs/holiday?limit=1', { as });
    await answer.text();
    return Number(answer.headers.get('ratelimit-remaining'));
  };
  for (;;) {
    const before = await left();
    await work();
    const spent = before - (await left()) - 1;
    // A new minute began meanwhile.
    if (spent >= 0) return spent;
  }
}

const rest =
  (path: string, headers: Record<string, string> = {}) =>
  async () => {
    const answer = await gateway.fetch(path, { as: 'clerk', headers });
    await answer.text();
    expect(answer.status).toBe(200);
  };
const graphql = (query: string) => () => ask(gateway, query, { as: 'clerk' });
const script = (code: string) => async () => {
  const name = 'scan';
  await ask(gateway, 'mutation ($s: SaveScriptInput!) { saveScript(script: $s) { version } }', {
    variables: { s: { name, code, roles: ['clerk'] } },
  });
  const run = 'mutation { runScript(name: "scan") { value error { message } } }';
  expect((await ask(gateway, run, { as: 'clerk' })).runScript.error).toBeNull();
};
const tool = (name: string, args: object) => async () => {
  const answer = await gateway.fetch('/mcp', {
    method: 'POST',
    as: 'clerk',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: args },
    }),
  });
  await answer.text();
  expect(answer.status).toBe(200);
};

describe('a read or write that goes through a collection counts as further requests', () => {
  it.each<[string, () => Promise<unknown>, number]>([
    ['a list of REST', rest(`/o/recs/task?oquery=${UNINDEXED}&limit=1`), 1],
    ['its count', rest(`/o/recs/task?oquery=${UNINDEXED}&limit=1`, { prefer: 'count=exact' }), 2],
    ['an export', rest(`/o/recs/task?oquery=${UNINDEXED}&format=csv`), 1],
    ['a list in an order without an index', rest('/o/recs/task?sort=note&limit=1'), 1],
    ['a list that skips them', rest(`/o/recs/task?skip=${RECORDS - 5}&limit=1`), 1],
    ['a page of GraphQL', graphql(`{ tasks(oquery: "${UNINDEXED}") { nodes { id } } }`), 1],
    [
      'of any collection',
      graphql(`{ records(collection: "task", oquery: "${UNINDEXED}") { totalCount } }`),
      1,
    ],
    ['an aggregate', graphql('{ tasksAggregate(oquery: "note=*x") { count } }'), 1],
    ['distinct values', graphql('{ tasksDistinct(field: NAME, first: 1) { count } }'), 1],
    ['a write', graphql(`mutation { updateTasks(oquery: "${UNINDEXED}", set: {name: "n"}) { count } }`), 1],
    [
      'a removal',
      graphql(`mutation { deleteRecords(collection: "task", oquery: "${UNINDEXED}") { count } }`),
      1,
    ],
    ['a tool of an agent', tool('search-records', { collection: 'task', label: 'sk', first: 1 }), 1],
    [
      'a count of a wide range with an index',
      graphql('{ tasks(where: {createdOn: {greaterOrEqual: "2026-01-01"}}) { totalCount } }'),
      1,
    ],
    [
      'a page of it in an order without one',
      rest('/o/recs/task?oquery=created_on=>2025-12-31&sort=note&limit=1'),
      1,
    ],
    [
      'a script',
      script("export default async () => platform.db.getCount('task', {note: {$regex: 'abc'}})"),
      1,
    ],
  ])('%s', async (_door, work, scans) => {
    // The door itself is at most two requests: for a script, its saving is the admin's.
    const spent = await spentBy('clerk', work);
    expect([scans * REQUESTS, scans * REQUESTS + 1]).toContain(spent);
  });

  it.each([
    ['of a page', '{ pltfUsers(first: 3) { nodes { attendanceRecords(first: 1) { nodes { id } } } } }', 6],
    ['of a record', '{ pltfUser(id: "usr-clerk") { attendanceRecords(first: 1) { totalCount } } }', 2],
  ])('the records that point to those %s, by a reference without an index', async (_of, query, requests) => {
    const spent = await spentBy('clerk', graphql(query));
    expect([requests, requests + 1]).toContain(spent);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['an equality with an index', rest('/o/recs/task?oquery=manager=m1&limit=1')],
    ['an equality of an undeclared field', rest('/o/recs/task?oquery=note=n7&limit=1')],
    ['a search by trigrams', rest('/o/recs/task?oquery=name=*777&limit=1')],
    ['a first page', rest('/o/recs/task?limit=1')],
    ['an order with an index', rest('/o/recs/task?sort=-created_on&limit=1')],
    ['a page of a wide range', rest('/o/recs/task?oquery=created_on=>2025-12-31&limit=1')],
    [
      'a count between two near ends',
      graphql(
        '{ tasks(where: {createdOn: {greaterThan: "2026-01-10", lessThan: "2026-01-11"}}) { totalCount } }',
      ),
    ],
    ['with a condition without one', rest(`/o/recs/task?oquery=manager=m1,${UNINDEXED}&limit=1`)],
    ['an export of everything', rest('/o/recs/task?format=csv')],
    ['a write by id', graphql('mutation { updateTasks(oquery: "_id=x1", set: {name: "n"}) { count } }')],
  ])('but not %s', async (_read, work) => {
    expect(await spentBy('clerk', work)).toBe(1);
  });
});

describe('the cost of an operation', () => {
  it.each([
    ['a count', `{ tasks(oquery: "${UNINDEXED}") { totalCount } }`, 11 + OBJECTS],
    ['a page', `{ tasks(first: 1, oquery: "${UNINDEXED}") { nodes { id } } }`, 2 + OBJECTS],
    ['alternatives, one without an index', ONE_OF, 2 + OBJECTS],
    ['a write', `mutation { updateTasks(oquery: "${UNINDEXED}", set: {name: "n"}) { count } }`, 1 + OBJECTS],
  ])('of %s', async (_kind, query, cost) => {
    expect(await costOf(query)).toBe(cost);
  });

  it('of a count by an index is that of the fiftieth part that it finds', async () => {
    const cost = await costOf('{ tasks(oquery: "manager=m1") { totalCount } }');
    expect(cost).toBeGreaterThan(11 + OBJECTS / 100);
    expect(cost).toBeLessThan(11 + OBJECTS / 25);
  });

  it('follows the variables', async () => {
    const query = 'query ($t: String) { tasks(first: 1, where: {name: {contains: $t}}) { nodes { id } } }';
    expect(await costOf(query, { t: 'ab' })).toBe(2 + OBJECTS);
    expect(await costOf(query, { t: 'abc' })).toBe(2);
    expect(await costOf(query, { t: 'xy' })).toBe(2 + OBJECTS);
    const order = 'query ($o: [TaskOrderByInput!]) { tasks(first: 1, orderBy: $o) { nodes { id } } }';
    expect(await costOf(order, { o: [{ field: 'NAME' }] })).toBe(2);
  });

  it('refuses many at once, before any of them runs', async () => {
    const fields = Array.from(
      { length: 14 },
      (_, n) => `c${n}: tasksAggregate(oquery: "note=*q${n}") { count }`,
    );
    const { status, errors } = await send(gateway, { query: `{ ${fields.join(' ')} }`, as: 'clerk' });
    expect([status, errors.map(({ extensions }) => extensions.code)]).toEqual([400, ['LIMIT_EXCEEDED']]);
  });

  it('does not tell the size of a collection that the caller may not read', async () => {
    const query = `{ records(collection: "task", oquery: "${UNINDEXED}") { totalCount } }`;
    const { createApiKey } = await ask(
      gateway,
      'mutation ($s: JSON!) { createApiKey(data: {name: "k", scopes: $s}) { key } }',
      { variables: { s: { collections: { holiday: ['read'] } } } },
    );
    const response = await gateway.fetch('/graphql', {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'x-include-extensions': 'cost' },
        authorization: `Bearer ${createApiKey.key}`,
      },
      body: JSON.stringify({ query }),
    });
    const answer = (await response.json()) as { extensions?: { cost?: { requested: number } } };
    expect(answer.extensions?.cost?.requested ?? 11).toBe(11);
  });
});

describe('long reads and writes of all users', () => {
  it('leave connections to short ones', async () => {
    const locker = await gateway.sql.connect();
    const waiting = async () => {
      const { rows } = await gateway.sql.query(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and application_name like 'campus%' and wait_event_type = 'Lock'`,
      );
      return rows[0].n;
    };
    try {
      await locker.query('begin');
      await locker.query('lock table records_task in access exclusive mode');
      const users = ['admin', 'clerk', 'teacher', 'viewer', 'accountant'] as const;
      const key = (n: number) => ({ 'idempotency-key': `k${n}` });
      const sent = users.flatMap((as) =>
        [0, 1, 2, 3].map((n) => {
          const text = `oquery: "note=*${as}${n}"`;
          const isWriter = as === 'admin' || as === 'clerk';
          const write = `mutation { updateTasks(${text}, set: {name: "n"}) { count } }`;
          const query = isWriter && n % 2 === 0 ? write : `{ tasks(${text}) { totalCount } }`;
          return send(gateway, { query, as, ...(n === 0 && { headers: key(n) }) });
        }),
      );
      // Three eighths of 16.
      await eventually(async () => (await waiting()) === 6);
      for (const as of users) {
        expect((await gateway.fetch('/o/recs/holiday?limit=1', { as })).status).toBe(200);
      }
      expect(await waiting()).toBe(6);
      await locker.query('commit');
      for (const { errors } of await Promise.all(sent)) expect(errors).toEqual([]);
    } finally {
      locker.release(true);
    }
  });
});
