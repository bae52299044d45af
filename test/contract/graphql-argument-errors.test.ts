/** What is said of a value in a document: whose argument it is, where it stands, and what was meant. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, send } from './graphql.js';

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
