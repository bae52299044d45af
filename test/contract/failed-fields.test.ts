/** A root field that fails is null, and leaves the others of its operation standing. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, executedPlainly, send } from './graphql.js';

const gateway = useGateway();

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
    ['prints itself', (query: string) => query],
    ['is executed by graphql-js', executedPlainly],
  ])('shows lists beside lists that fail, if it %s', async (_, asked) => {
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
