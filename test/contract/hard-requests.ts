/**
 * Requests that hold something while they are answered: a connection, a lock, a thread, a stream, a socket.
 */
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { WebSocket } from 'ws';
import type { Gateway, Role } from './gateway.js';
import { type Answered, ask } from './graphql.js';
import { socketUrl } from './live.js';

/** What a request is sent through. */
export type Door = Pick<Gateway, 'url' | 'tokenOf' | 'fetch'>;

interface Turn {
  /** The how many-eth of those sent at once. */
  readonly n: number;
  /** Ends the request in the middle, as a caller does who goes. */
  readonly signal: AbortSignal;
}

export interface HardRequest {
  readonly name: string;
  readonly as: Role | undefined;
  /** Its status; throws when it was cut. */
  send(door: Door, turn: Turn): Promise<number>;
}

const SCRIPTS: readonly object[] = [
  { name: 'forever', roles: ['viewer', 'clerk'], code: 'for (;;);' },
  {
    name: 'cursors',
    roles: ['clerk'],
    code: `export default async () => {
      const cursors = Array.from({ length: 15 }, () => platform.db.findStream('attendance', {})[Symbol.asyncIterator]());
      for (const cursor of cursors) await cursor.next();
      return cursors.length;
    }`,
  },
  {
    name: 'writes',
    roles: ['clerk'],
    code: `export default async () => {
      for (let n = 0; n < 5; n++) await platform.db.create('holiday', { name: 'h' + n, date: '2026-01-26' });
    }`,
  },
  {
    name: 'asked',
    serviceRoles: ['admin'],
    before: [{ collection: 'holiday', operations: ['CREATE', 'UPDATE'] }],
    code:
      `export default ({ record }) => { platform.log('asked'); return { ...record, name: record.name + ` +
      `'!' }; }`,
  },
  {
    name: 'asked-slowly',
    serviceRoles: ['admin'],
    before: [{ collection: 'fee_head', operations: ['CREATE'] }],
    code: `export default () => { const end = Date.now() + 700; while (Date.now() < end); }`,
  },
  {
    name: 'circle',
    serviceRoles: ['admin'],
    after: [{ collection: 'class', operations: ['CREATE', 'UPDATE'] }],
    code:
      `export default async ({ id }) => { await platform.db.update('class', { _id: id }, { $inc: { ` +
      'strength: 1 } }); }',
  },
];

/** What the requests need: records to read and write, and scripts to run. */
export async function prepare(door: Door, sql: pg.Pool): Promise<void> {
  await sql.query(`
    insert into records (domain, collection, id, data)
    select 'top', 'attendance', 'a' || n, jsonb_build_object('class', '5', 'section', 'A',
      'remark', repeat('r', 400))
    from generate_series(1, 20000) as n
    on conflict do nothing`);
  await sql.query(`
    insert into records (domain, collection, id, data)
    select 'top', 'task', 't' || n, jsonb_build_object('name', 'Task ' || n, 'amount', n)
    from generate_series(1, 200) as n
    on conflict do nothing`);
  const student = { class: '5', section: 'A', session: '2026-27' };
  await sql.query(
    `insert into records (domain, collection, id, data) values ('top', 'registration', 'stu-1', $1) ` +
      'on conflict do nothing',
    [JSON.stringify({ ...student, sequence: '1', name: 'Anu', status: 'active', admitted_on: '2026-04-01' })],
  );
  await sql.query(
    `insert into records (domain, collection, id, data) values ('top', 'fee_due', 'due-1', $1) on ` +
      'conflict do nothing',
    [
      JSON.stringify({
        ...{ ...student, student: { value: 'stu-1', label: 'Anu' }, month: '2026-04', fee_head: 'Tuition' },
        ...{ amount: 100_000_000, due_date: '2026-04-10' },
      }),
    ],
  );
  const save = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';
  for (const script of SCRIPTS) await ask(door, save, { variables: { script }, as: 'admin' });
}

export const HARD_REQUESTS: readonly [HardRequest, ...HardRequest[]] = [
  graphql('a transaction in opposite order', 'admin', (n) => {
    const [one, other] = n % 2 === 0 ? ['t1', 't2'] : ['t2', 't1'];
    const update = (name: string, id: string) =>
      `${name}: updateTask(id: "${id}", data: {name: "n${n}"}) { id }`;
    return `mutation @transaction { ${update('a', one)} ${update('b', other)} }`;
  }),
  graphql(
    'a change of all tasks',
    'admin',
    () => 'mutation { updateTasks(allowAll: true, increment: {amount: 1}) { count } }',
  ),
  graphql('new tasks, many', 'clerk', (n) => {
    const records = Array.from({ length: 100 }, (_, index) => `{name: "bulk ${n} ${index}"}`);
    return `mutation { createTasks(records: [${records.join()}]) { count } }`;
  }),
  graphql('tasks by their ids, many', 'clerk', () => {
    const records = Array.from({ length: 50 }, (_, index) => `{id: "u${index}", name: "upserted"}`);
    return `mutation { upsertTasks(records: [${records.join()}]) { count } }`;
  }),
  graphql(
    'a receipt of one student',
    'accountant',
    () =>
      'mutation { recordReceipt(receipt: {studentId: "stu-1", paymentType: CASH, amount: "1"}) { ' +
      'receiptNo } }',
  ),
  graphql(
    'a total of all marks',
    'teacher',
    () => '{ attendanceRecordsAggregate { count groups(by: [CLASS]) { count } } }',
  ),
  graphql('many counts without an index', 'teacher', (n) => {
    const counts = Array.from(
      { length: 14 },
      (_, index) =>
        `c${index}: attendanceRecordsAggregate(where: {remark: {contains: "x${n}${index}"}}) { count }`,
    );
    return `{ ${counts.join(' ')} }`;
  }),
  graphql('introspection in other words each time', 'viewer', (n) => {
    const name = `n${n}${Date.now()}`;
    return `{ ${name}: __schema { types { fields { ${name}: name args { name type { name } } } } } }`;
  }),
  graphql('a script without an end', 'viewer', () => 'mutation { runScript(name: "forever") { status } }'),
  graphql('a script with many cursors', 'clerk', () => 'mutation { runScript(name: "cursors") { status } }'),
  graphql(
    'a script that writes and is asked',
    'clerk',
    () => 'mutation { runScript(name: "writes") { status } }',
  ),
  graphql(
    'a write that starts itself',
    'admin',
    (n) => `mutation { createRecord(collection: "class", data: {name: "c${n}${Date.now()}"}) { id } }`,
  ),
  graphql('a collection made and dropped', 'admin', (n) => {
    const name = `made${n}x${Date.now().toString(36)}`;
    return (
      `mutation { registerCollection(definition: {name: "${name}", singular: "${name}", plural: ` +
      `"${name}s", fields: []}) { name } dropCollection(name: "${name}") }`
    );
  }),
  post('a record', 'clerk', '/o/task', (n) => ({ name: `one ${n}` })),
  post('a record once, under one key', 'clerk', '/o/task', () => ({ name: 'once' }), {
    'idempotency-key': 'hard',
  }),
  post('a record that asks a script', 'admin', '/o/holiday', (n) => ({ name: `${n}`, date: '2026-01-26' })),
  post('a record that asks a slow script, under a key', 'admin', '/o/fee_head', (n) => ({ name: `f${n}` }), {
    'idempotency-key': `slow-${process.pid}`,
  }),
  post('a wrong login', undefined, '/auth', () => ({ user_name: 'viewer', password: 'wrong' })),
  stream('a stream that is left', 'teacher', '/o/recs/attendance?stream=true', 'leave'),
  stream('a stream that is read slowly', 'viewer', '/o/recs/attendance?stream=true', 'slow'),
  stream('a table of all marks', 'admin', '/o/recs/attendance?stream=true&format=csv', 'all'),
  stream('a workbook of all marks', 'clerk', '/o/recs/attendance?format=xlsx', 'all'),
  stream('a Parquet file of all marks', 'teacher', '/o/recs/attendance?format=parquet', 'all'),
  stream('the fee defaulters', 'accountant', '/?report=fee-defaulters&session=2026-27', 'all'),
  {
    name: 'an upload that breaks off',
    as: 'clerk',
    async send(door, { signal }) {
      const request = http.request(`${door.url}/files?name=a.bin`, {
        method: 'POST',
        agent: false,
        signal,
        headers: {
          authorization: `Bearer ${door.tokenOf('clerk')}`,
          'content-type': 'application/octet-stream',
          'content-length': '5000000',
        },
      });
      request.on('error', () => undefined);
      request.write(Buffer.alloc(700_000));
      await sleep(200);
      request.destroy();
      return 0;
    },
  },
  {
    name: 'a subscription that is left without a word',
    as: 'teacher',
    async send(door) {
      const socket = new WebSocket(socketUrl(door), 'graphql-transport-ws');
      socket.on('error', () => undefined);
      await once(socket, 'open');
      const say = (message: object) => socket.send(JSON.stringify(message));
      say({ type: 'connection_init', payload: { Authorization: `Bearer ${door.tokenOf('teacher')}` } });
      say({ id: '1', type: 'subscribe', payload: { query: 'subscription { taskChanged { id } }' } });
      await sleep(150);
      socket.terminate();
      return 0;
    },
  },
];

function graphql(name: string, as: Role, queryOf: (n: number) => string): HardRequest {
  return {
    name,
    as,
    async send(door, { n, signal }) {
      const response = await door.fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: queryOf(n) }),
        as,
        signal,
      });
      const { errors = [] } = (await response.json()) as Answered;
      return errors[0]?.extensions.status ?? response.status;
    },
  };
}

function post(
  name: string,
  as: Role | undefined,
  path: string,
  bodyOf: (n: number) => object,
  headers: Readonly<Record<string, string>> = {},
): HardRequest {
  return {
    name,
    as,
    async send(door, { n, signal }) {
      const response = await door.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(bodyOf(n)),
        as,
        signal,
      });
      await response.arrayBuffer();
      return response.status;
    },
  };
}

function stream(name: string, as: Role, path: string, reading: 'leave' | 'slow' | 'all'): HardRequest {
  return {
    name,
    as,
    async send(door, { signal }) {
      const request = http.get(`${door.url}${path}`, {
        agent: false,
        signal,
        headers: { authorization: `Bearer ${door.tokenOf(as)}` },
      });
      const [response]: http.IncomingMessage[] = await once(request, 'response');
      if (response === undefined) throw new Error('no response');
      response.on('error', () => undefined);
      if (reading === 'all') for await (const chunk of response) void chunk;
      else if (reading === 'slow') {
        let chunks = 0;
        for await (const chunk of response) {
          void chunk;
          chunks += 1;
          if (chunks > 20) break;
          await sleep(50);
        }
      }
      response.destroy();
      return response.statusCode ?? 0;
    },
  };
}

/** What the gateway's sessions hold in the database at this moment. */
export async function heldIn(sql: pg.Pool): Promise<{ readonly busy: number; readonly locks: number }> {
  const { rows } = await sql.query(`
    select
      (select count(*)::int from pg_stat_activity
       where datname = current_database() and application_name like 'campus%' and state <> 'idle') as busy,
      (select count(*)::int from pg_locks l join pg_stat_activity a using (pid)
       where a.datname = current_database() and a.application_name like 'campus%'
         and l.locktype <> 'virtualxid') as locks`);
  return rows[0];
}
