/**
 * SQL views for BI programs: what a role or a user may read by GraphQL is there, and what it may not is not;
 * the login reads its views and nothing else.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Collection } from '../../src/base/model/collection.js';
import type { Audience } from '../../src/services/sql-views/compile-view.js';
import { type AudienceChange, endLongSessions, SqlViews } from '../../src/services/sql-views/sql-views.js';
import { sql } from '../../src/store/sql.js';
import { useCampus } from '../cli/use-campus.js';
import { eventually } from '../eventually.js';
import { isTestedOnCitus } from '../spread-databases.js';
import { useDemoGateway } from './demo-gateway.js';
import type { Role } from './gateway.js';
import { ask, send } from './graphql.js';

const campus = useCampus();
const pools = new Map<string, pg.Pool>();
// Before that of the gateway, which wants nobody left in its database.
afterAll(endPools);

const gateway = useDemoGateway({ students: 60 });
const ROLES = ['admin', 'clerk', 'viewer'] as const;
/** Those whose rows depend on who asks. */
const USERS = ['accountant', 'teacher'] as const;
let views: SqlViews;
let made: readonly AudienceChange[];

/** What the views are made for: roles as such, and users whose rows rules limit. */
function audiences(): readonly Audience[] {
  const domain = gateway.services.domains.get('demo');
  return [
    ...ROLES.map((role): Audience => ({ kind: 'role', domain, role })),
    { kind: 'role', domain, role: 'teacher' },
    ...USERS.map((name): Audience => {
      return { kind: 'user', domain, userId: `usr-${name}`, userName: name, roles: [name] };
    }),
  ];
}

beforeAll(async () => {
  const { database, catalog } = gateway.services;
  await ask(gateway, 'mutation ($d: JSON!) { registerCollection(definition: $d) { name } }', {
    variables: { d: HOSTILE },
  });
  for (const data of HOSTILE_RECORDS) {
    await ask(gateway, 'mutation ($d: JSON!) { createRecord(collection: "hostile", data: $d) { id } }', {
      variables: { d: data },
    });
  }
  const board = { tiles: [], owner: { value: 'usr-accountant' } };
  for (const data of [
    { ...board, title: 'own' },
    { ...board, title: 'shared', shared_with: ['porter', 'teacher'] },
    { ...board, title: 'shared with others', shared_with: ['porter'] },
  ])
    await ask(gateway, 'mutation ($d: JSON!) { createRecord(collection: "dashboard", data: $d) { id } }', {
      variables: { d: data },
      as: 'accountant',
    });
  // Of before the declaration: values of other types than it says.
  await database.query(sql`
    insert into records (domain, collection, id, data)
    values ('demo', 'hostile', 'before', ${JSON.stringify({ select: 7, [LONG]: 'text' })}::jsonb)`);
  views = new SqlViews({ database, collections: catalog });
  made = await views.apply({ audiences: audiences(), mode: 'done', passwords: 'kept' });
  for (const { audience, login, password } of made) {
    const url = new URL(gateway.databaseUrl);
    url.username = encodeURIComponent(login);
    url.password = password ?? '';
    pools.set(nameOf(audience), new pg.Pool({ connectionString: url.href, max: 1 }));
  }
});

async function endPools(): Promise<void> {
  for (const [who, pool] of pools) {
    pools.delete(who);
    await pool.end();
  }
}

function nameOf(audience: Audience): string {
  return audience.kind === 'role' ? audience.role : `user ${audience.userName}`;
}

/** Names that declarations allow and SQL minds; values that would end a text. */
const HOSTILE = {
  name: 'hostile',
  title: 'Hostile',
  description: "It's of names; drop table records --",
  fields: [
    { name: 'select', type: 'text', description: 'A word of SQL.' },
    { name: 'a-b$1', type: 'text', description: 'No name without quotes.' },
    { name: 'constructor', type: 'text', description: 'Every object has it.' },
    {
      name: 'n'.repeat(60),
      type: 'object',
      description: 'Long.',
      fields: [
        { name: `${'m'.repeat(50)}1`, type: 'number', description: 'Longer.' },
        { name: `${'m'.repeat(50)}2`, type: 'number', description: 'Longer.' },
      ],
    },
    { name: 'hidden', type: 'text', description: "Not the viewer's." },
  ],
  access: { viewer: { verbs: ['read'], hiddenFields: ['hidden'] }, admin: { verbs: ['read', 'create'] } },
};
const LONG = 'n'.repeat(60);
const HOSTILE_RECORDS = [
  {
    select: `'; drop table records; --`,
    'a-b$1': '%I %L %s $1 {0}',
    hidden: 'secret',
    [LONG]: { [`${'m'.repeat(50)}1`]: 1.5, [`${'m'.repeat(50)}2`]: 2 },
  },
  { select: '"', 'a-b$1': '\\', hidden: 'secret' },
];

async function query(who: string, text: string, values: readonly unknown[] = []) {
  const pool = pools.get(who);
  if (!pool) throw new Error(`${who} has no login`);
  return (await pool.query(text, [...values])).rows;
}

async function codeOf(who: string, text: string): Promise<string | undefined> {
  return await query(who, text).then(
    () => undefined,
    (error: pg.DatabaseError) => error.code,
  );
}

it('takes no advisory lock, for which the gateway would wait', async () => {
  for (const lock of ['lock(1)', 'xact_lock(1, 2)', 'lock_shared(1)', 'unlock_all()']) {
    expect([lock, await codeOf('viewer', `select pg_advisory_${lock}`)]).toEqual([lock, '42501']);
  }
  expect(await codeOf('viewer', 'select pg_try_advisory_lock(1)')).toBe('42501');
});

it('hears nothing on the channels of the gateway', async () => {
  expect(await codeOf('viewer', 'select value from public.settings')).toBe('42501');
  const guest = await pools.get('viewer')?.connect();
  const heard: string[] = [];
  guest?.on('notification', ({ channel }) => heard.push(channel));
  await guest?.query('listen campus_principals; listen campus_domains; listen own');
  const changed = await gateway.fetch('/o/recs/pltf_user/usr-viewer', {
    ...{ method: 'PATCH', as: 'admin', body: '{"name":"Viewer"}' },
    headers: { 'content-type': 'application/json' },
  });
  expect(changed.status).toBe(200);
  await guest?.query('notify own');
  expect(heard).toEqual(['own']);
  guest?.release();
});

describe('a login that lifts its limits', () => {
  const login = async (work: (client: pg.PoolClient) => Promise<void>) => {
    const client = await pools.get('viewer')?.connect();
    if (client === undefined) throw new Error('viewer has no login');
    client.on('error', () => undefined);
    try {
      await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
      await work(client);
    } finally {
      client.release(true);
    }
  };

  it('has its long statements ended all the same', async () => {
    await login(async (client) => {
      const slept = client.query('select pg_sleep(60)').catch((error: pg.DatabaseError) => error.code);
      await eventually(async () => (await endLongSessions(gateway.services.database, 0)) > 0);
      expect(await slept).toBe('57P01');
    });
  });

  it('has its idle transactions ended', async () => {
    await login(async (client) => {
      await client.query('begin');
      await eventually(async () => (await endLongSessions(gateway.services.database, 0)) > 0);
      await eventually(async () => (await client.query('select 1').catch(() => undefined)) === undefined);
    });
  });

  it('may not raise what a superuser has fixed', async () => {
    const [me] = await gateway.services.database.query<{ rolsuper: boolean }>(
      sql`select rolsuper from pg_roles where rolname = current_user`,
    );
    expect(me?.rolsuper).toBe(true);
    expect(await query('viewer', 'show temp_file_limit')).toEqual([{ temp_file_limit: '2GB' }]);
    expect(await codeOf('viewer', "set temp_file_limit = '100GB'")).toBe('42501');
  });
});

/** The ids of all records that the caller reads by GraphQL; `undefined`: it may not. */
async function idsByGraphql(as: Role, collection: string): Promise<readonly string[] | undefined> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const { data, errors } = await send(gateway, {
      query:
        'query ($c: String!, $a: String) { records(collection: $c, first: 1000, after: $a, project: ["x"]) ' +
        '{ nodes { id } pageInfo { endCursor hasNextPage } } }',
      variables: { c: collection, a: after },
      as,
    });
    if (errors[0]?.extensions.code === 'FORBIDDEN') return undefined;
    expect(errors).toEqual([]);
    ids.push(...data.records.nodes.map(({ id }: { id: string }) => id));
    after = data.records.pageInfo.hasNextPage ? data.records.pageInfo.endCursor : null;
  } while (after !== null);
  return ids.sort();
}

function listCollections(): readonly Collection[] {
  return gateway.services.catalog.list();
}

/** That the views show the records of every collection that GraphQL shows. */
async function expectSameRecords(role: Role): Promise<void> {
  const faults: string[] = [];
  for (const { name } of listCollections()) {
    const expected = await idsByGraphql(role, name);
    const found = await query(whoIs(role), `select _id from "${name}" order by _id collate "C"`).then(
      (rows) => rows.map(({ _id }) => _id).sort(),
      (error: pg.DatabaseError) => (error.code === '42P01' ? undefined : error.code),
    );
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      faults.push(`${name}: ${found?.length} by SQL, ${expected?.length} by GraphQL`);
    }
  }
  expect(faults).toEqual([]);
}

/** A role is asked about as such, a user by its name. */
function whoIs(role: Role): string {
  return ROLES.some((one) => one === role) ? role : `user ${role}`;
}

describe.each([...ROLES, ...USERS])('as %s', (role: Role) => {
  const who = whoIs(role);

  it('the same records are there as by GraphQL, of every collection', async () => {
    await expectSameRecords(role);
  });

  it('the same fields are there as by GraphQL', async () => {
    const { collections } = await ask(gateway, '{ collections { name fields { name } } }', { as: role });
    const shown = new Map<string, Set<string>>(
      collections.map(({ name, fields }: { name: string; fields: { name: string }[] }) => [
        name,
        new Set(fields.map((field) => field.name)),
      ]),
    );
    const rows = await query(
      who,
      `select table_name, column_name from information_schema.columns where table_schema = current_schema()`,
    );
    expect(rows.length).toBeGreaterThan(10);
    const faults = rows.filter(({ table_name: table, column_name: column }) => {
      const [field] = column.split('.');
      const isOurs = column.startsWith('_') || column === 'created_on' || column.startsWith('nnn');
      const [collection = ''] = [...shown].flatMap(([name, fields]) =>
        name === table || [...fields].some((list) => table === `${name}_${list}`) ? [name] : [],
      );
      return !isOurs && !shown.get(collection)?.has(field);
    });
    expect(faults).toEqual([]);
  });
});

it('a role whose rows depend on who asks sees none of them, without a user', async () => {
  expect(await query('teacher', 'select * from attendance')).toEqual([]);
  expect((await query('user teacher', 'select * from attendance limit 1')).length).toBe(1);
});

it('elements of lists are rows, and everything says what it is and when it changed', async () => {
  const [{ rows, records }] = await query(
    'user accountant',
    `select (select array[count(*), sum("lines.amount"), max(_position)] from fee_receipt_lines) as rows,
      (select array[count(*), sum((line->>'amount')::numeric), max(position)]
       from fee_receipt, jsonb_array_elements(lines) with ordinality as each(line, position)) as records`,
  );
  expect(Number(rows[0])).toBeGreaterThan(10);
  expect(rows).toEqual(records);
  const comments = await query(
    'user accountant',
    `select c.relname as view, obj_description(c.oid) as about, col_description(c.oid, a.attnum) as amount
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname in ('lines.amount', '_updated_at')
     where c.relname = 'fee_receipt_lines' and c.relnamespace = current_schema()::regnamespace
     order by a.attname desc`,
  );
  expect(comments).toMatchObject([
    { about: expect.stringMatching(/A row for each of lines\./), amount: expect.stringMatching(/\w/) },
    { amount: 'When the record was changed last.' },
  ]);
  const changed = await query(
    'user accountant',
    `select count(*)::int as n from fee_head where _updated_at <= now()`,
  );
  expect(changed[0].n).toBeGreaterThan(0);
});

it('values have types, and are those of the records', async () => {
  const [row] = await query('admin', 'select * from fee_receipt order by _id collate "C" limit 1');
  const { record } = await ask(
    gateway,
    'query ($id: ID!) { record(collection: "fee_receipt", id: $id) { data } }',
    { variables: { id: row._id } },
  );
  expect(row).toMatchObject({
    receipt_no: record.data.receipt_no,
    'student.value': record.data.student.value,
    'student.label': record.data.student.label,
    lines: record.data.lines,
  });
  expect(Number(row.total)).toBe(Number(record.data.total));
  const types = await query(
    'admin',
    `select column_name, data_type from information_schema.columns where table_name = 'fee_receipt'`,
  );
  expect(Object.fromEntries(types.map((one) => [one.column_name, one.data_type]))).toMatchObject({
    total: 'numeric',
    created_on: 'timestamp with time zone',
    lines: 'jsonb',
    'student.label': 'text',
  });
});

it('hostile names and values are names and values', async () => {
  const rows = await query('admin', 'select * from hostile order by "select" collate "C" desc nulls last');
  expect(rows.map((row) => row.select)).toEqual([`'; drop table records; --`, '"', null]);
  const [whole] = rows.filter((row) => row['a-b$1'] === '%I %L %s $1 {0}');
  const long = Object.keys(whole).filter((name) => name.startsWith('nnn'));
  expect(long).toHaveLength(2);
  expect(long.map((name) => Number(whole[name]))).toEqual([1.5, 2]);
  expect(Object.keys((await query('viewer', 'select * from hostile'))[0])).not.toContain('hidden');
});

describe('the login', () => {
  it('may read its views alone, as PostgreSQL says itself', async () => {
    // Views of an extension, e.g. Citus, show its settings.
    const granted = await query(
      'viewer',
      `select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and n.nspname !~ '^(pg_|information_schema)'
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
         and has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')`,
    );
    expect(granted.length).toBeGreaterThan(3);
    expect(new Set(granted.map(({ nspname }) => nspname))).toEqual(
      new Set([made.find(({ audience }) => nameOf(audience) === 'viewer')?.login]),
    );
    const other = made.find(({ audience }) => nameOf(audience) === 'admin')?.login;
    expect(await codeOf('viewer', `select * from "${other}".task`)).toBe('42501');
  });

  it.each([
    ['read a table', 'select * from public.records'],
    ['read a partition', 'select * from public.records_task'],
    ['read passwords', 'select * from public.credentials'],
    ['read keys', 'select * from public.api_keys'],
    ['read the logins', 'select * from pg_authid'],
    ['read jobs', 'select * from graphile_worker.jobs'],
    ['make a table', 'create table public.mine (a int)'],
    ['make a table among its views', 'create table mine (a int)'],
    ['read a file', `select pg_read_file('/etc/passwd')`],
    ['run a program', `copy (select 1) to program 'true'`],
    ['become another', 'set role postgres'],
    ['end a session', 'select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user'],
  ])('may not %s', async (_what, text) => {
    await query('viewer', 'set default_transaction_read_only = off');
    expect(['42501', '42P01', '22023']).toContain(await codeOf('viewer', text));
  });

  it.each([
    ['insert into task (_id) values ($$x$$)'],
    ['update task set name = $$x$$'],
    ['delete from task'],
  ])('may not write: %s', async (text) => {
    await query('admin', 'set default_transaction_read_only = off');
    expect(await codeOf('admin', text)).toMatch(/42501|55000|0A000/);
  });

  it('learns nothing by a function of its own in a condition', async () => {
    // A view without a barrier would let a cheap function see rows that the rules leave out.
    await query('user teacher', 'set default_transaction_read_only = off');
    await query(
      'user teacher',
      `create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0001
         as 'begin raise notice ''%'', $1; return true; end'`,
    );
    const seen: string[] = [];
    const client = await pools.get('user teacher')?.connect();
    client?.on('notice', ({ message }) => seen.push(String(message)));
    const rows = (await client?.query('select _id from registration where pg_temp.leak(_id)'))?.rows ?? [];
    client?.release();
    expect(seen.sort()).toEqual(rows.map(({ _id }) => _id).sort());
    expect(rows.length).toBeLessThan((await query('admin', 'select _id from registration')).length);
  });
});

describe('rights that change', () => {
  it('of a user show at once: its sections, and that it is inactive', async () => {
    const before = (await query('user teacher', 'select _id from registration')).length;
    expect(before).toBeGreaterThan(0);
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-teacher", data: {active: false}) { id } }',
    );
    expect(await query('user teacher', 'select _id from registration')).toEqual([]);
    expect(await query('user teacher', 'select _id from holiday')).toEqual([]);
    await ask(
      gateway,
      'mutation { updateRecord(collection: "pltf_user", id: "usr-teacher", data: {active: true}) { id } }',
    );
    expect((await query('user teacher', 'select _id from registration')).length).toBe(before);
  });

  it('by a declaration stop the view, until it is renewed', async () => {
    const { alterCollection } = await ask(
      gateway,
      'mutation ($d: JSON!) { alterCollection(definition: $d) { name } }',
      {
        variables: {
          d: {
            ...HOSTILE,
            access: { ...HOSTILE.access, viewer: { verbs: ['read'], hiddenFields: ['hidden', 'select'] } },
          },
        },
      },
    );
    expect(alterCollection.name).toBe('hostile');
    await expect(query('viewer', 'select * from hostile')).rejects.toMatchObject({
      message: expect.stringContaining('hostile has another declaration by now: run campus sql-views'),
    });
    const tried = await views.apply({ audiences: audiences(), mode: 'tried', passwords: 'kept' });
    await expect(query('viewer', 'select * from hostile')).rejects.toThrow('another declaration');
    const renewed = await views.apply({ audiences: audiences(), mode: 'done', passwords: 'kept' });
    expect(renewed).toEqual(tried);
    const viewer = renewed.find(({ audience }) => nameOf(audience) === 'viewer');
    expect(viewer).toMatchObject({ change: 'renewed', password: undefined });
    expect(viewer?.views.filter(({ change }) => change !== 'kept')).toEqual([
      { view: 'hostile', change: 'changed', added: [], removed: ['select'] },
    ]);
    expect(Object.keys((await query('viewer', 'select * from hostile'))[0])).not.toContain('select');
    const again = await views.apply({ audiences: audiences(), mode: 'done', passwords: 'kept' });
    expect(again.flatMap((one) => one.views).every(({ change }) => change === 'kept')).toBe(true);
  });
});

describe('campus sql-views', () => {
  const run = (...words: string[]) =>
    campus(['sql-views', '--domain', 'demo-north', ...words], {
      environment: { DATABASE_URL: gateway.databaseUrl },
    });

  it('tries, makes, renews and removes', async () => {
    const tried = await run('--role', 'viewer', '--dry-run');
    expect(tried).toMatchObject({ code: 0, output: expect.stringContaining('nothing was changed') });
    expect(tried.output).not.toContain('password');
    // Nothing was made, so there is nothing to renew.
    const none = await run();
    expect(none).toMatchObject({ code: 1, errors: expect.stringContaining('--role or --user') });
    const first = await run('--role', 'viewer', '--user', 'teacher');
    expect(first.output).toMatch(/the role viewer of demo-north: made, login and schema bi_[\w-]+_viewer/);
    expect(first.output).toMatch(/attendance made, \d+ columns/);
    const { hostname, port, pathname } = new URL(gateway.databaseUrl);
    expect(first.output).toContain(
      `connect to: host ${hostname}, port ${port}, database ${pathname.slice(1)}`,
    );
    expect(first.output.match(/password: [\w-]{32}$/gm)).toHaveLength(2);
    const renewed = await run();
    expect(renewed.output).toMatch(
      /the user teacher of demo-north: renewed[\s\S]*\d+ views are as they were/,
    );
    expect(renewed.output).not.toContain('password');
    const again = await run('--role', 'viewer', '--new-password');
    const url = new URL(gateway.databaseUrl);
    url.username = /schema (bi_\S+_viewer)$/m.exec(again.output)?.[1] ?? '';
    url.password = /password: (\S+)/.exec(again.output)?.[1] ?? '';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const { rows } = await client.query('select count(*)::int as n from registration');
    await client.end();
    expect(rows[0].n).toBeGreaterThan(0);
    const dropped = await run('--drop');
    expect(dropped.output).toMatch(/the role viewer of demo-north: removed/);
  });

  // On Citus, the login of the gateway also needs a password for the other servers.
  const onOneServer = isTestedOnCitus() ? it.skip : it;
  onOneServer(
    'says what the database refuses, leaves nothing, and needs no more than that',
    async () => {
      const owner = new URL(gateway.databaseUrl);
      const weak = `weak_${owner.pathname.slice(1)}`;
      const sql = new pg.Client({ connectionString: gateway.databaseUrl });
      await sql.connect();
      // It may do with tables what their owner may, as the login of a gateway in a database of others.
      await sql.query(`create role "${weak}" login password 'weak' in role "${owner.username}"`);
      try {
        const url = new URL(gateway.databaseUrl);
        url.username = weak;
        url.password = 'weak';
        const runWeakly = (...words: string[]) =>
          campus(['sql-views', '--role', 'clerk', '--domain', 'demo-north', ...words], {
            environment: { DATABASE_URL: url.href },
          });
        const refused = await runWeakly();
        expect(refused.code).toBe(1);
        expect(refused.errors).toContain('Its login needs to make roles and schemas');
        const { rows } = await sql.query(`select from pg_namespace where nspname like 'bi%north_clerk'`);
        expect(rows).toEqual([]);
        await sql.query(`alter role "${weak}" createrole`);
        expect(await runWeakly()).toMatchObject({ code: 0, errors: '' });
        expect(await runWeakly('--drop')).toMatchObject({ code: 0, errors: '' });
      } finally {
        await sql.query(`drop role "${weak}"`);
        await sql.end();
      }
    },
    60_000,
  );

  it('says which role is not there', async () => {
    expect((await run('--role', 'viewr')).errors).toContain('Did you mean "viewer"?');
  });
});

describe('through functions, as on Citus', () => {
  const listTypes = () =>
    query(
      'admin',
      `select table_name, column_name, data_type, collation_name from information_schema.columns
       where table_schema = current_schema() order by 1, ordinal_position`,
    );

  beforeAll(async () => {
    const types = await listTypes();
    const { database, catalog } = gateway.services;
    const byFunction = new SqlViews({ database, collections: catalog, reading: 'through functions' });
    const renewed = await byFunction.apply({ audiences: audiences(), mode: 'done', passwords: 'kept' });
    const changes = new Set(renewed.flatMap((one) => one.views.map(({ change }) => change)));
    expect(changes).toEqual(new Set([isTestedOnCitus() ? 'kept' : 'changed']));
    expect(await listTypes()).toEqual(types);
  });

  // The log-in of the teacher has ended with its account, which is active again.
  it.each([...ROLES, 'accountant'] as const)('%s reads as by GraphQL', expectSameRecords);

  it('a user reads its own rows', async () => {
    const { length: all } = await query('admin', 'select _id from registration');
    const { length: own } = await query('user teacher', 'select _id from registration');
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThan(all);
  });

  it('a login may call only the functions of its own views', async () => {
    const { login: admins } = made.find(({ audience }) => nameOf(audience) === 'admin') ?? {};
    expect(await codeOf('viewer', `select * from "${admins}".task()`)).toBe('42501');
    expect(await codeOf('viewer', 'select * from task()')).toBeUndefined();
    expect(await codeOf('viewer', 'select * from public.records')).toBe('42501');
  });

  it('a table that the login makes does not take the place of that of the gateway', async () => {
    await query('user teacher', 'set default_transaction_read_only = off');
    await query('user teacher', 'create temporary table records (domain text, collection text, data jsonb)');
    await query('user teacher', 'create temporary table collections (name text)');
    expect(await query('user teacher', 'select _id from attendance limit 1')).toHaveLength(1);
  });
});

it('are removed, and their logins with them', async () => {
  // A session that has made something of its own for the time it lasts stands in the way.
  await query('clerk', 'set default_transaction_read_only = off');
  await query('clerk', 'create temporary table mine (a int)');
  await expect(views.drop({ audiences: audiences(), mode: 'done' })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('End its sessions first'),
  });
  await endPools();
  const logins = made.map(({ login }) => login);
  await eventually(async () => {
    const removed = await views.drop({ audiences: audiences(), mode: 'done' }).catch(() => []);
    return removed.length > 0 && removed.every(({ change }) => change === 'removed');
  });
  const rows = await gateway.services.database.query(
    sql`select rolname from pg_roles where rolname = any(${logins}::text[])`,
  );
  expect(rows).toEqual([]);
});
