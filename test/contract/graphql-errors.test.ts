/** What GraphQL says of a value that it refuses, and of an operation of which some root fields fail. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, besideExecuted, send } from './graphql.js';

const gateway = useGateway();

async function refusal(query: string) {
  const { errors } = await send(gateway, { query, as: 'admin' });
  return errors;
}

describe('a value that a scalar refuses', () => {
  for (const [query, place] of [
    [
      '{ tasks(where: {amount: {equals: "x"}}) { totalCount } }',
      'Argument "where.amount.equals" of "tasks": Expected a decimal',
    ],
    [
      '{ tasks(where: {created_on: {on: "2026-02-30"}}) { totalCount } }',
      'Argument "where.created_on.on" of "tasks": Expected a day',
    ],
    [
      '{ a: feeDues(where: {month: {in: ["2026-04", "x"]}}) { totalCount } }',
      'Argument "where.month.in" of "feeDues": Expected a month',
    ],
    [
      '{ tasks(where: {created_on: {greaterThan: "noon"}}) { totalCount } }',
      'Argument "where.created_on.greaterThan" of "tasks": Expected an instant',
    ],
    ['{ tasks(first: "x") { totalCount } }', 'Argument "first" of "tasks": Int cannot represent'],
  ] as const) {
    it(`is told with its argument and place: ${query}`, async () => {
      const errors = await refusal(query.replaceAll('created_on', 'createdOn'));
      expect(errors).toMatchObject([
        {
          locations: [{ line: 1, column: expect.any(Number) }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ]);
      expect(errors[0]?.message).toContain(place.replaceAll('created_on', 'createdOn'));
    });
  }
});

describe('a field of records that is selected beside them', () => {
  it.each([
    ['{ tasks { name } }', 'type "TaskConnection". Fields of records are selected in nodes { name }.'],
    ['{ strength { name } }', 'type "StrengthReport". Columns are selected in rows { name }.'],
    ['{ tasks { node { name } } }', 'type "TaskConnection". Did you mean "nodes"?'],
    ['{ tasks { nodes { nam } } }', 'type "Task". Did you mean "name"?'],
  ])('is told its place: %s', async (query, message) => {
    expect((await refusal(query))[0]?.message).toContain(message);
  });
});

describe('a decimal that is sent as a number', () => {
  const query = 'query ($d: Decimal) { tasks(where: {amount: {greaterThan: $d}}) { totalCount } }';
  const asked = (d: string) => `{"query": ${JSON.stringify(query)}, "variables": {"d": ${d}}}`;
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' };
    const response = await gateway.fetch('/graphql', { method: 'POST', as: 'admin', headers, body });
    return (await response.json()) as Answered;
  };

  it.each(['5', '1e3', '12345678901234567.89', '0.12345678901234567890'])('is taken: %s', async (digits) => {
    const taken = { data: { tasks: { totalCount: 0 } } };
    expect(await post(asked(digits))).toMatchObject(taken);
    const written = `{ tasks(where: {amount: {greaterThan: ${digits}}}) { totalCount } }`;
    expect(await send(gateway, { query: written, as: 'admin' })).toMatchObject(taken);
  });

  it('is refused in its own digits where it has too many', async () => {
    const expected = 'with up to 30 digits before and after the point, not 1e400.';
    const { errors } = await post(asked('1e400'));
    expect(errors?.[0]?.message).toContain('Variable "$d" got invalid value 1e400; ');
    expect(errors?.[0]?.message).toContain(expected);
    const [written] = await refusal('{ tasks(where: {amount: {greaterThan: 1e400}}) { totalCount } }');
    expect(written?.message).toContain(expected);
  });
});

describe('an operator by another name', () => {
  for (const [written, meant] of [
    ['{name: {eq: "x"}}', 'equals'],
    ['{name: {_eq: "x"}}', 'equals'],
    ['{name: {equalTo: "x"}}', 'equals'],
    ['{amount: {_gte: 5}}', 'greaterOrEqual'],
    ['{id: {ne: "x"}}', 'notEquals'],
  ] as const) {
    it(`is told: ${written}`, async () => {
      for (const list of ['tasks(', 'records(collection: "task", ']) {
        const errors = await refusal(`{ ${list}where: ${written}) { totalCount } }`);
        expect(errors[0]?.message).toContain(`Did you mean "${meant}"?`);
      }
    });
  }

  it('is told in a variable, and of lists, references and enums', async () => {
    for (const [list, type, where, meant] of [
      ['tasks', 'TaskWhereInput', { amount: { _gte: 5 } }, 'greaterOrEqual'],
      ['classes', 'ClassWhereInput', { sections: { some: { name: { equals: 'A' } } } }, 'any'],
      ['classes', 'ClassWhereInput', { sections: { any: { name: { _eq: 'A' } } } }, 'equals'],
      ['tasks', 'TaskWhereInput', { manager: { value: 'usr-clerk' } }, 'id'],
      ['tasks', 'TaskWhereInput', { manager: { equals: 'usr-clerk' } }, 'id'],
      ['attendanceRecords', 'AttendanceRecordWhereInput', { status: { eq: 'PRESENT' } }, 'equals'],
    ] as const) {
      const query = `query ($where: ${type}) { ${list}(where: $where) { totalCount } }`;
      const { errors } = await send(gateway, { query, variables: { where }, as: 'admin' });
      expect(errors).toMatchObject([{ message: expect.stringContaining(`Did you mean "${meant}"?`) }]);
      expect(errors[0]?.message.match(/Did you mean/g)).toHaveLength(1);
    }
  });
});

/** Its result would be empty, and look like an answer. */
describe('a range from behind its end', () => {
  it.each([
    [
      'auditTrail(from: "2026-11-05", until: "2026-11-01") { id }',
      'until is 2026-11-01, before from 2026-11-05',
    ],
    ['messages(from: "2026-11-05", until: "2026-11-01") { totalCount }', 'until is 2026-11-01'],
    ['tasks(where: {amount: {between: {from: "5", to: "1"}}}) { totalCount }', 'found "5 to 1"'],
    [
      'attendanceRecords(where: {created: {between: {from: "2026-11-05", to: "2026-11-01"}}}) { totalCount }',
      'where/created/between: expected `from` not after `to`',
    ],
    [
      'attendanceRecords(where: {created: {between: ' +
        '{from: "2026-11-05T10:00:00+05:30", to: "2026-11-05T04:29:59Z"}}}) { totalCount }',
      'expected `from` not after `to`',
    ],
    [
      'feeDues(where: {month: {between: {from: "2026-11", to: "2026-04"}}}) { totalCount }',
      'expected `from` not after `to`',
    ],
    ['feeDefaulters(startMonth: "2026-11", endMonth: "2026-04") { rowCount }', 'before startMonth 2026-11'],
  ])('is refused: %s', async (field, message) => {
    const { errors } = await send(gateway, { query: `{ range: ${field} }`, as: 'admin' });
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringContaining(message),
        extensions: expect.objectContaining({ code: 'INVALID_VALUE', status: 400 }),
      }),
    ]);
  });

  it.each([
    'auditTrail(from: "2026-11-05", until: "2026-11-05") { id }',
    'tasks(where: {amount: {between: {from: "5", to: "5.0"}}}) { totalCount }',
    'feeReceipts(where: {date: {between: {from: "2026-11-05", to: "2026-11-05T04:29:59Z"}}}) { totalCount }',
  ])('is answered if it may hold something: %s', async (field) => {
    expect((await send(gateway, { query: `{ range: ${field} }`, as: 'admin' })).errors).toEqual([]);
  });
});

describe('the mode of a structured filter', () => {
  it.each(['insensitive', 'INSENSITIVE'])('may be written %s in JSON', async (mode) => {
    const where = encodeURIComponent(JSON.stringify({ name: { startsWith: 'xy', mode } }));
    const response = await gateway.fetch(`/o/recs/task?where=${where}`, { as: 'admin' });
    expect(response.status).toBe(200);
    const query = `query($where: JSON) { records(collection: "task", where: $where) { totalCount } }`;
    const variables = { where: { name: { startsWith: 'xy', mode } } };
    expect((await send(gateway, { query, variables, as: 'admin' })).errors).toEqual([]);
  });

  it('is refused if it is another word', async () => {
    const where = encodeURIComponent(JSON.stringify({ name: { startsWith: 'xy', mode: 'Insensitive' } }));
    const response = await gateway.fetch(`/o/recs/task?where=${where}`, { as: 'admin' });
    expect(response.status).toBe(400);
  });
});

const codesByPath = (errors: Answered) =>
  Object.fromEntries(errors.map(({ path, extensions }: Answered) => [path.join('.'), extensions.code]));

describe('a dashboard of which some fields fail', () => {
  it('shows reports that the caller may read beside those that are refused', async () => {
    const query = `{ strength { totals { strength } }
      summary: feeSummary(type: MONTH) { totals { demand } }
      gradeBook(session: "2026-27", term: HALFYEAR, admissionNo: "GV-99999") { rows { subject } }
      attendanceRecords { totalCount } }`;
    const { status, data, errors } = await send(gateway, { query, as: 'teacher' });
    expect(status).toBe(200);
    expect(data).toEqual({
      strength: { totals: { strength: 0 } },
      summary: null,
      gradeBook: null,
      attendanceRecords: { totalCount: 0 },
    });
    expect(codesByPath(errors)).toEqual({ summary: 'FORBIDDEN', gradeBook: 'NOT_FOUND' });
  });

  it.each([
    ['is alone', (query: string) => query],
    ['stands beside a field that graphql-js executes', besideExecuted],
  ])('shows lists beside lists that fail, if the document %s', async (_, asked) => {
    const query = asked(
      '{ tasks { totalCount } wrong: tasks(after: "x") { totalCount } task(id: "no") { id } }',
    );
    const { data, errors } = await send(gateway, { query, as: 'admin' });
    expect(data).toMatchObject({ tasks: { totalCount: 0 }, wrong: null, task: null });
    expect(codesByPath(errors)).toEqual({ wrong: 'MALFORMED_REQUEST', task: 'NOT_FOUND' });
  });
});

describe('a mutation of which some fields fail', () => {
  it('answers what was carried out', async () => {
    const { status, data, errors } = await send(gateway, {
      query: `mutation { first: createTask(data: { id: "a", name: "A" }) { id version }
        second: updateTask(id: "none", data: { amount: "1" }) { id }
        third: createRecord(collection: "nowhere", data: { a: 1 }) { id }
        many: updateTasks(where: { id: { equals: "a" } }, set: { amount: "2" }) { count } }`,
      as: 'admin',
    });
    expect(status).toBe(200);
    expect(data).toEqual({ first: { id: 'a', version: 1 }, second: null, third: null, many: { count: 1 } });
    expect(codesByPath(errors)).toEqual({ second: 'NOT_FOUND', third: 'NOT_FOUND' });
  });

  it('names the account mutation that was refused', async () => {
    const query = 'mutation { logout endSession(id: "none") }';
    const { data, errors } = await send(gateway, { query, as: 'viewer' });
    expect(data).toEqual({ logout: true, endSession: null });
    expect(Object.keys(codesByPath(errors))).toEqual(['endSession']);
  });
});
