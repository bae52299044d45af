/** A school of many records, and every kind of write, each with the number of records that it is about. */
import type pg from 'pg';
import { eventually } from '../eventually.js';
import { type Gateway, startGateway } from './gateway.js';
import { ask } from './graphql.js';
import { importSteps } from './import-steps.js';

/** A collection declared while the gateway runs, with both kinds of keys. */
const LOCKER = {
  name: 'locker',
  singular: 'locker',
  plural: 'lockers',
  fields: [
    { name: 'number', type: 'text', unique: true, required: true },
    { name: 'floor', type: 'text', required: true, index: true },
    { name: 'place', type: 'text', required: true },
    { name: 'student', type: 'reference', target: 'registration', index: true },
    { name: 'size', type: 'number' },
  ],
  uniqueTogether: [{ name: 'floor_place', parts: [{ path: 'floor' }, { path: 'place' }] }],
};

/** What PostgreSQL knows of the tables: nothing, everything, or only the records of another school. */
export const KNOWLEDGE = ['nothing', 'everything', 'another school'] as const;
export type Knowledge = (typeof KNOWLEDGE)[number];

/** Fills a database: with the statistics of another school alone, and nothing gathers others by itself. */
export async function fillSchool(databaseUrl: string, records: number): Promise<void> {
  const gateway = await startGateway(databaseUrl, { POOL_SIZE: '2' });
  try {
    await ask(gateway, 'mutation($d: JSON!) { registerCollection(definition: $d) { name } }', {
      variables: { d: LOCKER },
      as: 'admin',
    });
    const { sql } = gateway;
    const { rows: tables } = await sql.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of tables) await sql.query(`alter table ${name} set (autovacuum_enabled = off)`);
    await sql.query(`insert into domains (id, name, parent_id) values ('other', 'Other', 'top')`);
    await insertRecords(sql, 'other', Math.max(2_000, records / 20));
    await sql.query('analyze');
    await insertRecords(sql, 'top', records);
    // The first receipt of a series looks for the greatest number of all others.
    await ask(gateway, takeTen(0));
  } finally {
    await gateway.close();
  }
}

export async function learn(sql: pg.Client, knowledge: Knowledge): Promise<void> {
  if (knowledge === 'everything') await sql.query('analyze');
  if (knowledge !== 'nothing') return;
  await sql.query(`delete from pg_statistic where starelid >= 16384`);
  await sql.query('delete from pg_statistic_ext_data');
}

/** So many students that a statement that goes through all of them is seen. */
const FEWEST_STUDENTS = 5_000;

/** A student in forty of the records, or fewer; 12 classes; each mark on a day of its own. */
async function insertRecords(sql: pg.Pool, domain: string, records: number): Promise<void> {
  const students = Math.max(FEWEST_STUDENTS, Math.ceil(records / 100));
  const day = `to_char(date '2020-01-01' + (n / ${students})::int, 'YYYY-MM-DD')`;
  const student = `'s-' || n % ${students}`;
  const reference = `jsonb_build_object('value', ${student}, 'label', 'Student ' || n % ${students})`;
  const place = `'class', (n % 12 + 1)::text, 'section', 'A'`;
  const parts: readonly (readonly [string, number, string, string, string])[] = [
    [
      'registration',
      students,
      `'s-' || n`,
      // Without number, and of a session to come, so that no other record has to agree with it.
      `jsonb_build_object('name', 'Student ' || n, 'class', (n % 12 + 1)::text,
        'section', 'A', 'session', '2040-41', 'status', 'active', 'admitted_on', '2026-04-01')`,
      'null::jsonb',
    ],
    [
      'attendance',
      records,
      `'a-' || n`,
      `jsonb_build_object('student', ${reference}, ${place}, 'status', 'present',
        'created', ${day} || 'T04:00:00.000Z')`,
      `jsonb_build_object('student_day', format('["%s","%s"]', ${student}, ${day}))`,
    ],
    [
      'teacher_attendance',
      records / 2,
      `'t-' || n`,
      `jsonb_build_object('name', jsonb_build_object('value', 'usr-' || n % 50, 'label', 'x'),
        'status', 'present', 'created_on', to_char(date '2000-01-01' + (n / 50)::int, 'YYYY-MM-DD')
          || 'T04:00:00.000Z')`,
      `jsonb_build_object('name_day', format('["usr-%s","%s"]', n % 50,
        to_char(date '2000-01-01' + (n / 50)::int, 'YYYY-MM-DD')))`,
    ],
    [
      'result',
      records / 2,
      `'r-' || n`,
      `jsonb_build_object('session', '2026-27', 'term', 'halfyear', 'admission_no', 'N-' || n,
        'student', ${reference}, ${place}, 'subjects', '[]'::jsonb)`,
      `jsonb_build_object('student_term', format('["N-%s","2026-27","halfyear"]', n))`,
    ],
    [
      'locker',
      records / 2,
      `'l-' || n`,
      `jsonb_build_object('number', 'L' || n, 'floor', (n % 4)::text, 'place', n::text, 'size', n % 5,
        'student', ${reference})`,
      `jsonb_build_object('floor_place', format('["%s","%s"]', n % 4, n))`,
    ],
    [
      'task',
      records / 2,
      `'k-' || n`,
      `jsonb_build_object('name', 'Task ' || n, 'amount', n % 1000,
        'created_on', ${day} || 'T04:00:00.000Z')`,
      'null::jsonb',
    ],
    [
      'fee_due',
      records / 2,
      `'d-' || n`,
      `jsonb_build_object('student', ${reference}, ${place}, 'session', '2026-27',
        'month', to_char(date '2026-04-01' + n / ${students} % 12 * interval '1 month', 'YYYY-MM'),
        'fee_head', 'Head ' || n / ${students} / 12, 'amount', 100, 'due_date', '2026-04-10')`,
      'null::jsonb',
    ],
    [
      'fee_receipt',
      records / 4,
      `'e-' || n`,
      `jsonb_build_object('receipt_no', 'X-' || n, 'date', ${day} || 'T04:00:00.000Z',
        'student', ${reference},
        ${place}, 'session', '2026-27', 'payment_type', 'cash', 'status', 'active', 'total', 1,
        'lines', jsonb_build_array(
          jsonb_build_object('fee_head', 'Head 0', 'month', '2026-04', 'amount', 1)))`,
      `jsonb_build_object('receipt_no', format('["x-%s"]', n))`,
    ],
  ];
  for (const [collection, count, id, data, keys] of parts) {
    await sql.query(
      `insert into records (domain, collection, id, data, keys)
       select $1, '${collection}', ${id}, ${data}, ${keys} from generate_series(0, $2::int - 1) n`,
      [domain, Math.floor(count)],
    );
    await sql.query(
      `insert into audit_entries (at, domain, collection, record_id, operation, to_version, principal,
         credential,
         request_id)
       select now() - interval '40 days', $1, '${collection}', ${id}, 'created', 1, 'usr-admin', 'token:x',
         'load-' || n / 500
       from generate_series(0, $2::int - 1) n`,
      [domain, Math.floor(count)],
    );
  }
}

/** A write, with the records it is about. */
export interface Write {
  readonly name: string;
  readonly records: number;
  readonly run: () => Promise<unknown>;
  /** It searches a text in all that there is, and so reads it once. */
  readonly searchesAll?: boolean;
}

const MANY = 40;

const takeTen = (student: number) =>
  `mutation { recordReceipt(receipt: {studentId: "s-${student}", paymentType: CASH, amount: "10"}) {
    receiptNo } }`;

/** Every kind of write. `mark` keeps the records of one run from those of another on the same database. */
export function listWrites(
  gateway: Gateway,
  { records, mark }: { records: number; mark: string },
): readonly Write[] {
  const { take, run } = importSteps(gateway);
  const half = Math.floor(records / 2);
  const far = (n: number) => half - 1 - n * 7 - (mark.length % 7);
  // Each run has students of its own, because it erases one.
  const first = mark.length * 50;
  const many = Array.from({ length: MANY }, (_, n) => n);
  const graphql = (query: string, variables: object = {}, requestId?: string) =>
    ask(gateway, query, {
      variables,
      as: 'admin',
      ...(requestId !== undefined && { headers: { 'x-request-id': requestId } }),
    });
  const rest = async (method: string, path: string, body?: unknown, requestId?: string) => {
    const response = await gateway.fetch(path, {
      method,
      as: 'admin',
      headers: {
        'content-type': 'application/json',
        ...(requestId !== undefined && { 'x-request-id': requestId }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const upsert = (collection: string, by: string, list: readonly object[], requestId?: string) =>
    graphql(
      `mutation($list: [JSON!]!) {
        upsertRecords(collection: "${collection}", by: "${by}", data: $list) { count } }`,
      { list },
      requestId,
    );
  // Every tenth record is new.
  const attendance = (n: number) => ({
    ...{ student: { value: `s-${first + n}` }, class: `${(n % 12) + 1}`, section: 'A', status: 'absent' },
    ...{ remark: mark, created: n % 10 === 0 ? `2035-0${mark.length}-01T04:00:00Z` : '2020-01-02T04:00:00Z' },
  });
  const teacher = (n: number) => ({
    ...{ name: { value: `usr-${n % 50}` }, status: 'absent', remark: mark },
    created_on: '2000-01-03T04:00:00Z',
  });
  const result = (n: number) => ({
    ...{
      session: '2026-27',
      term: 'halfyear',
      admission_no: `N-${far(n)}`,
      student: { value: `s-${first + n}` },
    },
    ...{
      class: '1',
      section: mark,
      subjects: [
        { subject: 'English', components: [{ name: 'Written', max: 80, weight: 1, state: 'not_entered' }] },
      ],
    },
  });
  const locker = (n: number) => ({
    ...{ number: `L${far(n)}`, floor: `${far(n) % 4}`, place: `${far(n)}`, size: 7 + mark.length + n },
  });
  const csv = (list: readonly object[]) =>
    [
      Object.keys(list[0] ?? {}).join(','),
      ...list.map((one) =>
        Object.values(one)
          .map((value) => (value as { value?: string }).value ?? value)
          .join(','),
      ),
    ].join('\n');
  const imported = async (collection: string, by: string, list: readonly object[]) => {
    const { id } = await take(collection, csv(list), `&by=${by}`);
    const done = await run(id, 'mode=rows');
    if (done.state !== 'done') throw new Error(JSON.stringify(done));
    return id;
  };
  const undone = async (id: string) => {
    await rest('GET', `/imports/${id}/undo`);
    await rest('POST', `/imports/${id}/undo`);
    await eventually(async () => (await rest('GET', `/imports/${id}`)).state === 'undone');
  };
  let importId = '';
  const one = `n-${mark}`;
  return [
    { name: 'create', records: 1, run: () => rest('POST', '/o/task', { _id: one, name: 'A' }) },
    {
      name: 'create with what is unique and references',
      records: 1,
      run: () =>
        rest('POST', '/o/locker', { number: one, floor: one, place: '1', student: { value: `s-${first}` } }),
    },
    {
      name: 'create many',
      records: MANY,
      run: () =>
        rest(
          'POST',
          '/o/locker',
          many.map((n) => ({
            number: `${one}-${n}`,
            floor: `${one}-${n}`,
            place: '1',
            student: { value: `s-${n}` },
          })),
        ),
    },
    { name: 'update', records: 1, run: () => rest('PATCH', `/o/recs/task/k-${far(1)}`, { name: mark }) },
    { name: 'replace', records: 1, run: () => rest('PUT', `/o/recs/task/k-${far(2)}`, { name: mark }) },
    {
      name: 'update of what is unique',
      records: 1,
      run: () => rest('PATCH', `/o/recs/locker/l-${far(100)}`, { number: `u-${mark}`, place: mark }),
    },
    {
      name: 'upsert by _id',
      records: MANY,
      run: () =>
        upsert(
          'task',
          '_id',
          many.map((n) => ({ _id: `k-${far(n)}`, name: `${mark} ${n}` })),
          `upsert-${mark}`,
        ),
    },
    {
      name: 'upsert one by a rule',
      records: 1,
      run: () => upsert('attendance', 'student_day', [attendance(99)]),
    },
    {
      name: 'upsert by student_day',
      records: MANY,
      run: () => upsert('attendance', 'student_day', many.map(attendance)),
    },
    {
      name: 'upsert by name_day',
      records: MANY,
      run: () => upsert('teacher_attendance', 'name_day', many.map(teacher)),
    },
    {
      name: 'upsert by student_term',
      records: MANY,
      run: () => upsert('result', 'student_term', many.map(result)),
    },
    {
      name: 'upsert by a declared rule',
      records: MANY,
      run: () => upsert('locker', 'floor_place', many.map(locker)),
    },
    {
      name: 'upsert by a unique field',
      records: MANY,
      run: () =>
        upsert(
          'locker',
          'number',
          many.map((n) => ({ ...locker(n), size: n })),
        ),
    },
    {
      name: 'typed upsert',
      records: 1,
      run: () =>
        graphql(`mutation { upsertAttendanceRecord(by: STUDENT_DAY,
          data: {student: {id: "s-${first - 1}"}, class: "1",
          section: "A", status: LATE, created: "2020-01-02T04:00:00Z"}) { id } }`),
    },
    {
      name: 'update of those that match an id',
      records: MANY,
      run: () =>
        graphql(
          'mutation($ids: [JSON!]) { updateRecords(collection: "task", where: {_id: {in: $ids}}, ' +
            'set: {amount: 1}) { count } }',
          { ids: many.map((n) => `k-${far(n)}`) },
          `match-${mark}`,
        ),
    },
    {
      name: 'update of those that match a unique field',
      records: MANY,
      run: () =>
        graphql(
          'mutation($v: [JSON!]) { updateRecords(collection: "locker", where: {number: {in: $v}}, ' +
            'set: {size: 3}) { count } }',
          { v: many.map((n) => `L${far(n)}`) },
        ),
    },
    {
      name: 'update of those that match, with a limit',
      records: 5,
      run: () =>
        graphql(
          'mutation($v: JSON) { updateRecords(collection: "locker", where: {number: {equals: $v}}, ' +
            'limit: 5, set: {size: 4}) { count } }',
          { v: `L${far(9)}` },
        ),
    },
    {
      name: 'delete of those that match',
      records: MANY,
      run: () =>
        graphql(
          'mutation($ids: [JSON!]) { deleteRecords(collection: "task", where: {_id: {in: $ids}}) { count } }',
          { ids: many.map((n) => `k-${far(n + 200)}`) },
          `delete-${mark}`,
        ),
    },
    {
      name: 'undo of an upsert',
      records: MANY,
      run: () => graphql(`mutation { undoChange(requestId: "match-${mark}") { changed } }`),
    },
    {
      name: 'undo of a deletion',
      records: MANY,
      run: () => graphql(`mutation { undoChange(requestId: "delete-${mark}") { broughtBack } }`),
    },
    { name: 'delete', records: 1, run: () => rest('DELETE', `/o/recs/task/k-${far(3)}`) },
    {
      name: 'restore of a version',
      records: 1,
      run: () => rest('POST', `/o/recs/task/k-${far(1)}/restore`, { version: 1 }),
    },
    {
      name: 'receipt',
      records: 12,
      run: () => graphql(takeTen(first + 1)),
    },
    {
      name: 'roll-back of a receipt',
      records: 12,
      run: async () => {
        const { recordReceipt } = await graphql(takeTen(first + 2));
        await graphql(
          `mutation { rollBackReceipt(rollback: {receiptNo: "${recordReceipt.receiptNo}", reason: "wrong",
            type: ENTRY_ERROR}) { receiptNo } }`,
        );
      },
    },
    {
      name: 'import by a rule',
      records: MANY,
      run: async () => {
        importId = await imported(
          'attendance',
          'student_day',
          many.map((n) => ({ ...attendance(n + 50), status: 'late' })),
        );
      },
    },
    { name: 'undo of an import', records: MANY, run: () => undone(importId) },
    {
      name: 'import by a unique field',
      records: MANY,
      run: async () => {
        importId = await imported(
          'locker',
          'number',
          many.map((n) => ({ ...locker(n + 50), size: 30 + mark.length })),
        );
      },
    },
    {
      name: 'import by _id',
      records: MANY,
      run: () =>
        imported(
          'task',
          '_id',
          many.map((n) => ({ _id: `k-${far(n + 300)}`, name: `${mark} ${n}` })),
        ),
    },
    {
      name: 'import of new records',
      records: MANY,
      run: () =>
        imported(
          'locker',
          'number',
          many.map((n) => ({ number: `i${mark}${n}`, floor: `i${mark}${n}`, place: 'x', size: n })),
        ),
    },
    {
      name: 'erasure',
      records: 300,
      searchesAll: true,
      run: () =>
        graphql(`mutation { erasePerson(collection: "registration", id: "s-${first + 20}") { pseudonym } }`),
    },
  ];
}
