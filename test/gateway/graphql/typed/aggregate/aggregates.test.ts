import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from '../../../../contract/gateway.js';
import { ask, besideExecuted, codesOf, send, statementsOf } from '../../../../contract/graphql.js';

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

const OF = { admin: { value: 'usr-admin', label: 'Admin' }, clerk: { value: 'usr-clerk', label: 'Clerk' } };

beforeAll(async () => {
  await insert('top', 'task', {
    // 18:30 UTC is the next day in Asia/Kolkata.
    a: { name: 'Chalk', amount: 0.1, created_on: '2026-03-31T18:29:59.999Z', manager: OF.admin },
    b: { name: 'Chairs', amount: 0.2, created_on: '2026-03-31T18:30:00.000Z', manager: OF.admin },
    c: { name: 'Chalk', amount: 100, created_on: '2026-04-06T10:00:00.000Z', manager: OF.clerk },
    // Old data of wrong types.
    d: { name: 7, amount: 'N/A', created_on: 'soon', manager: 'usr-clerk' },
    e: {},
  });
  await gateway.sql.query(`insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top')`);
  await insert('branch', 'task', { far: { name: 'Far', amount: 1000000 } });
  await insert('top', 'registration', {
    'stu-1': {
      sequence: 'A1',
      name: 'Ananya',
      class: '5',
      section: 'A',
      gender: 'female',
      guardian_phone: '+91',
    },
    'stu-2': {
      sequence: 'A2',
      name: 'Bala',
      class: '6',
      section: 'A',
      gender: 'male',
      guardian_phone: '+92',
    },
  });
  const mark = (student: string, status: string, created: string, place: string) => ({
    student: { value: student, label: student },
    status,
    created,
    class: place,
    section: 'A',
  });
  await insert('top', 'attendance', {
    m1: mark('stu-1', 'present', '2026-04-01T04:00:00.000Z', '5'),
    m2: mark('stu-1', 'absent', '2026-04-02T04:00:00.000Z', '5'),
    m3: mark('stu-2', 'present', '2026-04-01T04:00:00.000Z', '6'),
    m4: mark('stu-9', 'strange', '2026-04-01T04:00:00.000Z', '6'),
  });
});

/** What both ways answer. */
async function both(query: string, options: { readonly variables?: unknown } = {}) {
  const spliced = await ask(gateway, query, { as: 'admin', ...options });
  const plain = await ask(gateway, besideExecuted(query), { as: 'admin', ...options });
  const { plainly, ...rest } = plain;
  expect(spliced).toEqual(rest);
  return spliced;
}

describe('an aggregate refuses', () => {
  it('who has no credential', async () => {
    expect(await codesOf(gateway, { query: '{ tasksAggregate { count } }' })).toEqual(['UNAUTHENTICATED']);
  });

  it('a collection that the caller may not read', async () => {
    expect(await codesOf(gateway, { query: '{ feeReceiptsAggregate { count } }', as: 'teacher' })).toEqual([
      'FORBIDDEN',
    ]);
  });

  const HIDDEN = [
    '{ registrationsAggregate(groupBy: [GUARDIAN_PHONE]) { count } }',
    '{ registrationsAggregate { guardianPhone { countDistinct } } }',
    '{ registrationsAggregate { guardianPhone { min } } }',
    '{ registrationsAggregate(having: {guardianPhone: {count: {greaterThan: 0}}}) { count } }',
    '{ registrationsAggregate(orderBy: [{field: GUARDIAN_PHONE, measure: MAX}]) { count } }',
    '{ registrationsAggregate(where: {guardianPhone: {startsWith: "+9"}}) { count } }',
    '{ registrationsAggregate(oquery: "guardian_phone=+91") { count } }',
    '{ attendanceRecordsAggregate(groupBy: [STUDENT_RECORD_GUARDIAN_PHONE]) { count } }',
    '{ registrationsDistinct(field: GUARDIAN_PHONE) { count } }',
    '{ registrationsDistinct(field: GUARDIAN_PHONE, contains: "9") { count } }',
    '{ attendanceRecordsDistinct(field: STUDENT_RECORD_GUARDIAN_PHONE) { count } }',
  ];
  for (const query of HIDDEN) {
    it(`a hidden field, naming it: ${query}`, async () => {
      for (const one of [query, besideExecuted(query)]) {
        const { errors } = await send(gateway, { query: one, as: 'viewer' });
        expect(errors.map((error) => error.extensions.code)).toEqual(['FORBIDDEN']);
        expect(errors[0]?.message).toContain('guardian_phone');
      }
    });
  }

  const WRONG = [
    ['INVALID_VALUE', '{ tasksAggregate(having: {amount: {sum: {greaterThan: null}}}) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(having: {not: null}) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(orderBy: [{field: NAME}]) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(groupBy: [AMOUNT], orderBy: [{field: NAME}]) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(orderBy: [{field: NAME, measure: SUM}]) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(orderBy: [{measure: SUM}]) { count } }'],
    ['INVALID_VALUE', '{ tasksAggregate(orderBy: [{direction: DESCENDING}]) { count } }'],
    [
      'INVALID_VALUE',
      '{ tasksAggregate(groupBy: [CREATED_ON_DAY], orderBy: [{field: CREATED_ON_DAY, measure: MAX}]) ' +
        '{ count } }',
    ],
    ['INVALID_VALUE', '{ tasksAggregate(first: -1) { count } }'],
    ['LIMIT_EXCEEDED', '{ tasksAggregate(first: 1001) { count } }'],
    ['INVALID_VALUE', '{ tasksDistinct(field: AMOUNT, contains: "1") { count } }'],
    ['INVALID_VALUE', '{ tasksDistinct(field: MANAGER_RECORD_NAME, contains: "1") { count } }'],
    ['LIMIT_EXCEEDED', '{ tasksDistinct(field: NAME, first: 1001) { count } }'],
    ['MALFORMED_FILTER', '{ tasksAggregate(oquery: "name") { count } }'],
  ] as const;
  for (const [code, query] of WRONG) {
    it(`${query} as ${code}`, async () => {
      expect(await codesOf(gateway, { query, as: 'admin' })).toEqual([code]);
      expect(await codesOf(gateway, { query: besideExecuted(query), as: 'admin' })).toEqual([code]);
    });
  }

  it('more keys, conditions and cost than the limits', async () => {
    const keys =
      'NAME AMOUNT CREATED_ON MANAGER MANAGER_LABEL CREATED_ON_DAY CREATED_ON_WEEK CREATED_ON_MONTH ' +
      'CREATED_ON_YEAR MANAGER_RECORD_NAME MANAGER_RECORD_ACTIVE';
    const conditions = Array.from({ length: 101 }, () => ({ count: { equals: 1 } }));
    expect(
      await codesOf(gateway, { query: `{ tasksAggregate(groupBy: [${keys}]) { count } }`, as: 'admin' }),
    ).toEqual(['LIMIT_EXCEEDED']);
    expect(
      await codesOf(gateway, {
        query: 'query Q($h: TaskHavingInput) { tasksAggregate(having: $h) { count } }',
        variables: { h: { or: conditions } },
        as: 'admin',
      }),
    ).toEqual(['LIMIT_EXCEEDED']);
    const aliases = Array.from({ length: 11 }, (_, n) => `a${n}: tasksAggregate(first: 1000) { count }`);
    expect(await codesOf(gateway, { query: `{ ${aliases.join(' ')} }`, as: 'admin' })).toEqual([
      'LIMIT_EXCEEDED',
    ]);
  });
});

describe('an aggregate', () => {
  it('leaves out values of a wrong type, and other domains', async () => {
    const query = `{ tasksAggregate {
      count key { __typename name }
      amount { count countDistinct sum avg min max }
      name { count countDistinct min max }
      createdOn { count min max }
      manager { count countDistinct }
    } }`;
    expect(await both(query)).toEqual({
      tasksAggregate: [
        {
          count: 5,
          key: { __typename: 'TaskGroupKey', name: null },
          amount: {
            count: 3,
            countDistinct: 3,
            sum: '100.3',
            avg: '33.4333333333333333',
            min: '0.1',
            max: '100',
          },
          name: { count: 3, countDistinct: 2, min: 'Chairs', max: 'Chalk' },
          createdOn: { count: 3, min: '2026-03-31T18:29:59.999Z', max: '2026-04-06T10:00:00.000Z' },
          manager: { count: 3, countDistinct: 2 },
        },
      ],
    });
  });

  it('is one group of nothing where nothing matches, and none where it is grouped', async () => {
    const { whole, grouped } = await both(
      '{ whole: tasksAggregate(where: {name: {equals: "none"}}) { count amount { sum } } grouped: ' +
        'tasksAggregate(where: {name: {equals: "none"}}, groupBy: [NAME]) { count } }',
    );
    expect(whole).toEqual([{ count: 0, amount: { sum: null } }]);
    expect(grouped).toEqual([]);
  });

  it("groups by days, weeks, months and years of the domain's time zone", async () => {
    const query = `{
      day: tasksAggregate(groupBy: [CREATED_ON_DAY]) { key { createdOnDay } count }
      week: tasksAggregate(groupBy: [CREATED_ON_WEEK]) { key { createdOnWeek } count }
      month: tasksAggregate(groupBy: [CREATED_ON_MONTH]) { key { createdOnMonth } amount { sum } }
      year: tasksAggregate(groupBy: [CREATED_ON_YEAR]) { key { createdOnYear } count }
    }`;
    expect(await both(query)).toEqual({
      day: [
        { key: { createdOnDay: '2026-03-31' }, count: 1 },
        { key: { createdOnDay: '2026-04-01' }, count: 1 },
        { key: { createdOnDay: '2026-04-06' }, count: 1 },
        { key: { createdOnDay: null }, count: 2 },
      ],
      week: [
        { key: { createdOnWeek: '2026-03-30' }, count: 2 },
        { key: { createdOnWeek: '2026-04-06' }, count: 1 },
        { key: { createdOnWeek: null }, count: 2 },
      ],
      month: [
        { key: { createdOnMonth: '2026-03' }, amount: { sum: '0.1' } },
        { key: { createdOnMonth: '2026-04' }, amount: { sum: '100.2' } },
        { key: { createdOnMonth: null }, amount: { sum: null } },
      ],
      year: [
        { key: { createdOnYear: 2026 }, count: 3 },
        { key: { createdOnYear: null }, count: 2 },
      ],
    });
  });

  it('groups by a reference, its label and a field of the record it points to, in one statement', async () => {
    const query =
      '{ attendanceRecordsAggregate(groupBy: [STUDENT, STUDENT_LABEL, STUDENT_RECORD_CLASS, STATUS], ' +
      'orderBy: [{field: STUDENT, direction: DESCENDING}]) { key { student studentLabel ' +
      'studentRecordClass status } count } }';
    const { attendanceRecordsAggregate } = await both(query);
    const group = (student: string, recordClass: string | null, status: string | null) => ({
      key: { student, studentLabel: student, studentRecordClass: recordClass, status },
      count: 1,
    });
    expect(attendanceRecordsAggregate).toEqual([
      group('stu-9', null, null),
      group('stu-2', '6', 'PRESENT'),
      group('stu-1', '5', 'ABSENT'),
      group('stu-1', '5', 'PRESENT'),
    ]);
    expect(await statementsOf(() => ask(gateway, query))).toHaveLength(1);
    expect(await statementsOf(() => ask(gateway, besideExecuted(query)))).toHaveLength(1);
  });

  it('keeps the groups that having says, in the order of a measure', async () => {
    const query = `query Q($least: Decimal!) { tasksAggregate(
      groupBy: [NAME], first: 5,
      having: {amount: {sum: {greaterThan: $least}}, not: {count: {greaterThan: 10}}, or: [{createdOn: {max: {greaterOrEqual: "2026-04-06"}}}, {name: {min: {equals: "Chairs"}}}]},
      orderBy: [{field: AMOUNT, measure: SUM, direction: DESCENDING}, {measure: COUNT}]
    ) { key { name } count amount { sum } } }`;
    expect(await both(query, { variables: { least: '0.1' } })).toEqual({
      tasksAggregate: [
        { key: { name: 'Chalk' }, count: 2, amount: { sum: '100.1' } },
        { key: { name: 'Chairs' }, count: 1, amount: { sum: '0.2' } },
      ],
    });
    const { tasksAggregate } = await both(query, { variables: { least: '100.1' } });
    expect(tasksAggregate).toEqual([]);
  });

  it('compares with the year 0, which PostgreSQL has not', async () => {
    const { tasksAggregate } = await both(
      '{ tasksAggregate(groupBy: [NAME], having: {createdOn: {min: {greaterThan: "0000-01-01T00:00:00Z"}}}) ' +
        '{ key { name } } }',
    );
    expect(tasksAggregate).toEqual([{ key: { name: 'Chairs' } }, { key: { name: 'Chalk' } }]);
  });

  it('is one group also where nothing of it is asked for', async () => {
    expect(await both('{ tasksAggregate { __typename } }')).toEqual({
      tasksAggregate: [{ __typename: 'TaskGroup' }],
    });
  });

  it('is cut at first', async () => {
    const { tasksAggregate } = await both('{ tasksAggregate(groupBy: [NAME], first: 1) { key { name } } }');
    expect(tasksAggregate).toEqual([{ key: { name: 'Chairs' } }]);
  });

  it('counts only the rows of the caller', async () => {
    const query =
      '{ attendanceRecordsAggregate { count } attendanceRecordsDistinct(field: CLASS) { value count } }';
    await insert('top', 'class', {
      five: { name: '5', sections: [{ name: 'A', class_teacher: { value: 'usr-teacher', label: 'T' } }] },
    });
    const { attendanceRecordsAggregate } = await ask(gateway, query, { as: 'teacher' });
    const { attendanceRecords } = await ask(gateway, '{ attendanceRecords { totalCount } }', {
      as: 'teacher',
    });
    expect(attendanceRecordsAggregate).toEqual([{ count: attendanceRecords.totalCount }]);
    expect(attendanceRecords.totalCount).toBeLessThan(4);
  });

  it('reads only what is asked for, and never writes what a caller names into a statement', async () => {
    const [statement = ''] = await statementsOf(() =>
      ask(gateway, '{ tasksAggregate { evil_alias: count name { max } } }'),
    );
    expect(statement).toContain(`'name'`);
    expect(statement).not.toContain(`'amount'`);
    expect(statement).not.toContain('evil_alias');
  });
});

describe('the distinct values of a field', () => {
  it('come with their counts, the most frequent first, without what has none', async () => {
    const query = `{
      names: tasksDistinct(field: NAME) { value label count }
      managers: tasksDistinct(field: MANAGER) { value label count }
      amounts: tasksDistinct(field: AMOUNT, first: 1) { value label count }
      months: tasksDistinct(field: CREATED_ON_MONTH) { value count }
      statuses: attendanceRecordsDistinct(field: STATUS) { value label count }
    }`;
    expect(await both(query)).toEqual({
      names: [
        { value: 'Chalk', label: 'Chalk', count: 2 },
        { value: 'Chairs', label: 'Chairs', count: 1 },
      ],
      managers: [
        { value: 'usr-admin', label: 'Admin', count: 2 },
        { value: 'usr-clerk', label: 'Clerk', count: 1 },
      ],
      amounts: [{ value: '0.1', label: '0.1', count: 1 }],
      months: [
        { value: '2026-04', count: 2 },
        { value: '2026-03', count: 1 },
      ],
      statuses: [
        { value: 'PRESENT', label: 'present', count: 2 },
        { value: 'ABSENT', label: 'absent', count: 1 },
      ],
    });
  });

  it('are narrowed by a text they contain, a reference by its label', async () => {
    const query = `{
      names: tasksDistinct(field: NAME, contains: "AIR") { value }
      managers: tasksDistinct(field: MANAGER, contains: "ler") { value }
      statuses: attendanceRecordsDistinct(field: STATUS, contains: "sen", where: {class: {equals: "5"}}) { value }
      none: tasksDistinct(field: NAME, contains: "%") { value }
    }`;
    expect(await both(query)).toEqual({
      names: [{ value: 'Chairs' }],
      managers: [{ value: 'usr-clerk' }],
      statuses: [{ value: 'ABSENT' }, { value: 'PRESENT' }],
      none: [],
    });
  });

  it('take one statement', async () => {
    const query = '{ tasksDistinct(field: MANAGER, contains: "a") { value label count } }';
    expect(await statementsOf(() => ask(gateway, query))).toHaveLength(1);
  });
});
