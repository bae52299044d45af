import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from '../../../contract/gateway.js';
import {
  type Answered,
  ask,
  besideExecuted,
  codesOf,
  send,
  statementsOf,
} from '../../../contract/graphql.js';

const gateway = useGateway();

async function insert(domain: string, collection: string, records: Readonly<Record<string, object>>) {
  for (const [id, data] of Object.entries(records)) {
    await gateway.sql.query('insert into records (domain, collection, id, data) values ($1, $2, $3, $4)', [
      domain,
      collection,
      id,
      JSON.stringify(data),
    ]);
  }
}

const mark = (student: unknown, status: string, created: string, place = '5') => ({
  student,
  status,
  created,
  class: place,
  section: 'A',
  remark: 'Fever',
  marked_by: { value: 'usr-teacher', label: 'T' },
});
const of = (student: string) => ({ value: student, label: student });
const task = (amount: number, manager: string) => ({ name: `T${amount}`, amount, manager: of(manager) });

beforeAll(async () => {
  await insert('top', 'registration', {
    'stu-1': { sequence: 'A1', name: 'Ananya', class: '5', section: 'A' },
    'stu-2': { sequence: 'A2', name: 'Bala', class: '6', section: 'A' },
    'stu-3': { sequence: 'A3', name: 'Chitra', class: '6', section: 'A' },
  });
  await insert('top', 'attendance', {
    m1: mark(of('stu-1'), 'present', '2026-04-01T04:00:00.000Z'),
    m2: mark(of('stu-1'), 'absent', '2026-04-02T04:00:00.000Z'),
    m3: mark(of('stu-1'), 'late', '2026-04-03T04:00:00.000Z'),
    m4: mark(of('stu-2'), 'present', '2026-04-01T04:00:00.000Z', '6'),
    // Not references as they are declared.
    m5: mark('stu-2', 'present', '2026-04-02T04:00:00.000Z', '6'),
    m6: mark({ value: 7 }, 'present', '2026-04-03T04:00:00.000Z', '6'),
  });
  await insert('top', 'task', {
    t1: task(30, 'usr-admin'),
    t2: task(10, 'usr-admin'),
    t3: task(20, 'usr-clerk'),
    t4: task(0, 'usr-admin'),
    gone: task(99, 'usr-admin'),
  });
  await gateway.sql.query(`update records set deleted_at = now() where collection = 'task' and id = 'gone'`);
  await gateway.sql.query(`insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top')`);
  await insert('branch', 'task', { far: task(5, 'usr-admin') });
  await insert('top', 'leave_request', {
    l1: { name: of('usr-clerk'), kind: 'staff', status: 'granted', decided_by: of('usr-admin') },
  });
  await insert('top', 'class', {
    five: { name: '5', sections: [{ name: 'A', class_teacher: { value: 'usr-teacher', label: 'T' } }] },
  });
});

/** The answer, which is the same beside a field that graphql-js executes. */
async function both(query: string, variables?: unknown): Promise<Answered> {
  const spliced = await ask(gateway, query, { as: 'admin', variables });
  const { plainly, ...plain } = await ask(gateway, besideExecuted(query), { as: 'admin', variables });
  expect(spliced).toEqual(plain);
  return spliced;
}

describe('the records that point to a record are refused', () => {
  const REFUSED = [
    ['teacher', 'FORBIDDEN', '{ registrations { nodes { feeReceipts { nodes { id } } } } }', 'fee_receipt'],
    ['teacher', 'FORBIDDEN', '{ registrations { nodes { feeReceipts { totalCount } } } }', 'fee_receipt'],
    ['teacher', 'FORBIDDEN', '{ registration(id: "stu-1") { feeReceipts { totalCount } } }', 'fee_receipt'],
    [
      'viewer',
      'FORBIDDEN',
      '{ registrations { nodes { attendanceRecords { nodes { remark } } } } }',
      'remark',
    ],
    [
      'viewer',
      'FORBIDDEN',
      '{ registrations { nodes { attendanceRecords(where: {remark: {startsWith: "F"}}) { totalCount } } } }',
      'remark',
    ],
    [
      'viewer',
      'FORBIDDEN',
      '{ registrations { nodes { attendanceRecords(oquery: "remark=Fever") { totalCount } } } }',
      'remark',
    ],
    [
      'viewer',
      'FORBIDDEN',
      '{ registrations { nodes { attendanceRecords(orderBy: [{field: REMARK}]) { nodes { id } } } } }',
      'remark',
    ],
    [
      'viewer',
      'FORBIDDEN',
      '{ pltfUsers { nodes { attendanceRecords { nodes { student { record { guardianPhone } } } } } } }',
      'guardian_phone',
    ],
    [
      'admin',
      'LIMIT_EXCEEDED',
      '{ registrations(first: 1) { nodes { attendanceRecords(first: 1001) { nodes { id } } } } }',
      '1001',
    ],
    [
      'admin',
      'INVALID_VALUE',
      '{ registrations { nodes { attendanceRecords(first: -1) { nodes { id } } } } }',
      '-1',
    ],
    [
      'admin',
      'MALFORMED_FILTER',
      '{ registrations { nodes { attendanceRecords(oquery: "class") { nodes { id } } } } }',
      'class',
    ],
    [
      'admin',
      'MALFORMED_REQUEST',
      '{ registrations { nodes { attendanceRecords(after: "WyJ4Il0") { nodes { id } } } } }',
      'cursor',
    ],
  ] as const;
  for (const [as, code, query, named] of REFUSED) {
    it(`to ${as}, ${code}: ${query}`, async () => {
      for (const one of [query, besideExecuted(query)]) {
        const { errors } = await send(gateway, { query: one, as });
        expect(new Set(errors.map((error) => error.extensions.code))).toEqual(new Set([code]));
        expect(errors[0]?.message).toContain(named);
      }
    });
  }

  it('where they cost too much, in no time', async () => {
    const fragments = Array.from(
      { length: 40 },
      (_, n) =>
        `fragment F${n} on AttendanceRecordConnection { ...F${n + 1} @skip(if: true) ...F${n + 1} ` +
        '@skip(if: true) }',
    );
    const query =
      `{ registrations { nodes { attendanceRecords { ...F0 } } } } ${fragments.join(' ')} fragment F40 ` +
      'on AttendanceRecordConnection { totalCount }';
    expect(await codesOf(gateway, { query, as: 'admin' })).toEqual(['LIMIT_EXCEEDED']);
  });

  it('where they cost too much', async () => {
    const query =
      '{ registrations(first: 200) { nodes { attendanceRecords(first: 100) { nodes { id } } } } }';
    expect(await codesOf(gateway, { query, as: 'admin' })).toEqual(['LIMIT_EXCEEDED']);
    const counts = Array.from({ length: 20 }, (_, n) => `c${n}: totalCount`).join(' ');
    const counting =
      '{ registrations { nodes { attendanceRecords { ...F } } } } fragment F on ' +
      `AttendanceRecordConnection { ${counts} }`;
    expect(await codesOf(gateway, { query: counting, as: 'admin' })).toEqual(['LIMIT_EXCEEDED']);
  });
});

describe('the records that point to a record', () => {
  it('are a page for each, without those of other domains and removed ones', async () => {
    const query = `{ pltfUsers(where: {id: {startsWith: "usr-"}}) { nodes { id tasks(orderBy: [{field: AMOUNT}], first: 2) {
      __typename totalCount nodes { id amount } edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage }
    } } } }`;
    const { pltfUsers } = await both(query.replace('where: {id: {startsWith: "usr-"}}', 'first: 10'));
    const pages = Object.fromEntries(pltfUsers.nodes.map((one: Answered) => [one.id, one.tasks]));
    expect(pages['usr-admin']).toMatchObject({
      __typename: 'TaskConnection',
      totalCount: 3,
      nodes: [
        { id: 't4', amount: '0' },
        { id: 't2', amount: '10' },
      ],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    expect(pages['usr-clerk']).toMatchObject({ totalCount: 1, nodes: [{ id: 't3' }] });
    expect(pages['usr-viewer']).toMatchObject({
      totalCount: 0,
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false },
    });
  });

  const SAME: readonly (readonly [string, string, object?])[] = [
    [
      'with conditions',
      '{ registrations { nodes { name attendanceRecords(where: {status: {in: [PRESENT, LATE]}}, ' +
        'oquery: "class=5") { nodes { id status } totalCount } } } }',
    ],
    [
      'in an order',
      '{ registrations { nodes { attendanceRecords(orderBy: [{field: CREATED, direction: ' +
        'DESCENDING}]) { nodes { id created } pageInfo { startCursor endCursor } } } } }',
    ],
    [
      'one at most',
      '{ registrations { nodes { attendanceRecords(first: 1) { nodes { id } pageInfo { hasNextPage } } } } }',
    ],
    [
      'none',
      '{ registrations { nodes { attendanceRecords(first: 0) { nodes { id } pageInfo { hasNextPage } ' +
        'totalCount } } } }',
    ],
    ['only counted', '{ registrations { nodes { attendanceRecords { totalCount } } } }'],
    [
      'nothing of them',
      '{ registrations { nodes { attendanceRecords { __typename pageInfo { __typename } } } } }',
    ],
    [
      'by two names',
      '{ registrations { nodes { a: attendanceRecords(first: 1) { nodes { id } } b: ' +
        'attendanceRecords(where: {status: {equals: ABSENT}}) { nodes { id } } } } }',
    ],
    [
      'of one record',
      '{ registration(id: "stu-1") { name attendanceRecords { nodes { id status } totalCount } } }',
    ],
    [
      'there and back',
      '{ registrations { nodes { id attendanceRecords(first: 2) { nodes { id student { label record ' +
        '{ id name attendanceRecords(first: 1) { totalCount nodes { id } } } } } } } } }',
    ],
    [
      'by a second reference',
      '{ pltfUsers(first: 10) { nodes { id leaveRequestRecords(first: 5) { nodes { id } } ' +
        'leaveRequestRecordsByDecidedBy(first: 5) { nodes { id name { label record { ... on PltfUser { ' +
        'id tasks { totalCount } } } } } } } } }',
    ],
    [
      'in a fragment, by variables',
      'query Q($n: Int!, $s: AttendanceRecordStatus!, $c: Boolean!) { registrations { nodes { ...F } ' +
        '} } fragment F on Registration { attendanceRecords(first: $n, where: {status: {equals: $s}}) ' +
        '{ nodes { id } totalCount @include(if: $c) } }',
      { n: 1, s: 'PRESENT', c: true },
    ],
  ];
  for (const [name, query, variables] of SAME) {
    it(`are the same beside another field: ${name}`, async () => {
      expect(await both(query, variables)).toMatchSnapshot();
    });
  }

  it('go on after a cursor', async () => {
    const query =
      'query Q($after: String) { registrations(where: {name: {equals: "Ananya"}}) { nodes { ' +
      'attendanceRecords(first: 1, after: $after, orderBy: [{field: CREATED}]) { nodes { id } ' +
      'pageInfo { endCursor hasNextPage hasPreviousPage } totalCount } } } }';
    const read: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 3; page += 1) {
      const { registrations } = await both(query, { after });
      const [{ attendanceRecords }] = registrations.nodes;
      read.push(attendanceRecords.nodes[0].id);
      expect(attendanceRecords.pageInfo).toMatchObject({ hasNextPage: page < 2, hasPreviousPage: page > 0 });
      expect(attendanceRecords.totalCount).toBe(3);
      after = attendanceRecords.pageInfo.endCursor;
    }
    expect(read).toEqual(['m1', 'm2', 'm3']);
  });

  it('are remembered for no other variables of the same document', async () => {
    const query =
      'query Q($n: Int) { registration(id: "stu-1") { attendanceRecords(first: $n) { nodes { id } } } }';
    for (const n of [1, 2, 1]) {
      const { registration } = await both(query, { n });
      expect(registration.attendanceRecords.nodes).toHaveLength(n);
    }
  });

  it('are those the caller may see', async () => {
    const query = '{ pltfUsers { nodes { id attendanceRecords { totalCount nodes { class } } } } }';
    for (const one of [query, besideExecuted(query)]) {
      const { pltfUsers } = await ask(gateway, one, { as: 'teacher' });
      const mine = pltfUsers.nodes.find((node: Answered) => node.id === 'usr-teacher');
      expect(mine.attendanceRecords).toEqual({ totalCount: 3, nodes: Array(3).fill({ class: '5' }) });
    }
  });

  it('are one statement where they are printed, and one a level in the answer to a write', async () => {
    const selection =
      '{ attendanceRecords(first: 5) { totalCount nodes { markedBy { record { tasks(first: 5) ' +
      '{ nodes { id } totalCount } } } } } }';
    const query = `{ registrations(first: 5) { nodes ${selection} } }`;
    expect(await statementsOf(() => ask(gateway, query))).toHaveLength(1);
    const written = (selected: string) =>
      statementsOf(() => ask(gateway, `mutation { updateRegistration(id: "stu-1", data: {}) ${selected} }`));
    expect(await written(selection)).toHaveLength((await written('{ id }')).length + 3);
  });

  it('are found by the index of the reference', async () => {
    const [statement = ''] = await statementsOf(() =>
      ask(gateway, '{ registrations { nodes { attendanceRecords { nodes { id } } } } }'),
    );
    expect(statement).toContain(`(r.data->'student'->'value') = parent_1.id`);
  });
});
