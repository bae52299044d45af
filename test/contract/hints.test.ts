import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway();

/**
 * A filter by a name that is not declared is answered, for records may hold such fields; who mistyped one is
 * told.
 */
async function hintsOf(
  query: string,
  as: 'admin' | 'viewer' = 'admin',
): Promise<readonly string[] | undefined> {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors, extensions } = (await response.json()) as Answered;
  expect(errors).toBeUndefined();
  return extensions?.hints;
}

const CLASS = 'No field "clas" is declared on attendance. Did you mean "class"?';

describe('a name that is nearly a declared one', () => {
  beforeAll(async () => {
    await ask(
      gateway,
      'mutation { createRecord(collection: "task", data: {name: "x", nickname: "y", amountt: 1}) { id } }',
    );
  });

  it.each([
    ['in an oquery', '{ attendanceRecords(oquery: "clas=5") { totalCount } }', [CLASS]],
    [
      'in an oquery of any collection',
      '{ records(collection: "attendance", oquery: "clas=5") { totalCount } }',
      [CLASS],
    ],
    [
      'in an order of any collection',
      '{ records(collection: "attendance", orderBy: [{field: "clas"}]) { totalCount } }',
      [CLASS],
    ],
    [
      'in a projection',
      '{ records(collection: "attendance", project: ["clas", "sectoin"]) { nodes { data } } }',
      [CLASS, 'No field "sectoin" is declared on attendance. Did you mean "section"?'],
    ],
    [
      'not where it is declared',
      '{ attendanceRecords(oquery: "class=5,created_on=today") { totalCount } }',
      undefined,
    ],
    ['not where it is like no other', '{ attendanceRecords(oquery: "bicycle=5") { totalCount } }', undefined],
  ])('is pointed out, %s', async (_, query, expected) => {
    for (let time = 1; time <= 2; time += 1) expect(await hintsOf(query)).toEqual(expected);
  });

  it('finds what holds it all the same', async () => {
    const query = '{ records(collection: "task", oquery: "amountt===1") { totalCount } }';
    expect((await send(gateway, { as: 'admin', query })).data).toEqual({ records: { totalCount: 1 } });
  });

  it('is not pointed out by the name of a field the caller may not see', async () => {
    const query = '{ records(collection: "registration", oquery: "guardian_phon=5") { totalCount } }';
    expect(await hintsOf(query, 'viewer')).toBeUndefined();
    expect(await hintsOf(query)).toHaveLength(1);
  });

  it('is pointed out where a key is asked for that is not grouped by', async () => {
    const query = (key: string) => `{ tasksAggregate(groupBy: [MANAGER]) { key { ${key} } count } }`;
    expect(await hintsOf(query('name'))).toEqual([
      '`key.name` is null in every group: groupBy does not name it. In `key`, for MANAGER select `manager`.',
    ]);
    expect(await hintsOf(query('manager'))).toBeUndefined();
    expect(await hintsOf('{ tasksAggregate { key { name } count } }')).toEqual([
      '`key.name` is null in every group: groupBy does not name it.',
    ]);
  });

  it('is pointed out by a header on REST', async () => {
    const hintOf = async (query: string) =>
      (await gateway.fetch(`/o/recs/attendance?${query}`, { as: 'admin' })).headers.get('x-hint');
    expect(await hintOf('oquery=clas=5')).toBe(CLASS);
    expect(await hintOf('sort=clas')).toBe(CLASS);
    expect(await hintOf('project=clas')).toBe(CLASS);
    expect(await hintOf('oquery=class=5')).toBeNull();
  });
});
