/** The dues of a month are raised by the fee plan: for all on the roll, once, and taken back by one undo. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/base/json/json.js';
import { type Role, useGateway } from './gateway.js';
import { type GraphqlAnswer, send } from './graphql.js';

const gateway = useGateway();

const RAISE = `mutation ($month: Month!, $class: String, $dryRun: Boolean) {
  raiseDues(month: $month, class: $class, dryRun: $dryRun) {
    requestId dryRun session students demands existing notPromoted amount concession payable
    heads { class feeHead students amount concession }
  }
}`;

const HERE = { session: '2026-27', section: 'A', admitted_on: '2024-04-01', status: 'active' };
const STUDENTS: readonly JsonObject[] = [
  { _id: 'asha', name: 'Asha', class: '5', ...HERE, route: 'R1' },
  { _id: 'bela', name: 'Bela', class: '5', ...HERE },
  { _id: 'omar', name: 'Omar', class: '6', ...HERE },
  { _id: 'newa', name: 'Newa', class: '6', ...HERE, admitted_on: '2026-07-20' },
  { _id: 'left', name: 'Left', class: '5', ...HERE, left_on: '2026-06-30' },
  { _id: 'july', name: 'July', class: '5', ...HERE, left_on: '2026-07-03' },
  { _id: 'away', name: 'Away', class: '5', ...HERE, status: 'withdrawn' },
  { _id: 'next', name: 'Next', class: '5', ...HERE, admitted_on: '2026-08-01' },
  { _id: 'late', name: 'Late', class: '4', ...HERE, session: '2025-26' },
];
const PLAN: readonly JsonObject[] = [
  { fee_head: 'Tuition', amount: 1000.5 },
  { fee_head: 'Tuition', amount: 1200, class: '6', due_day: 5 },
  { fee_head: 'Bus', amount: 300, route: 'R1' },
  { fee_head: 'Exam', amount: 500, months: ['2026-09'] },
  { fee_head: 'Admission', amount: 9000, newcomers: true },
];

async function raise(variables: object, as: Role = 'accountant', headers = {}): Promise<GraphqlAnswer> {
  return await send(gateway, { query: RAISE, variables, as, headers });
}

async function post(path: string, body: unknown, as: Role = 'admin') {
  const response = await gateway.fetch(path, {
    ...{ method: 'POST', as, body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function readDues(): Promise<readonly JsonObject[]> {
  const response = await gateway.fetch('/o/recs/fee_due?stream=true', { as: 'admin' });
  return (await response.json()) as readonly JsonObject[];
}

beforeEach(async () => {
  await gateway.sql.query(`delete from records where domain = 'top' and collection <> 'pltf_user'`);
  const made = [
    await post(
      '/o/class',
      ['4', '5', '6'].map((name) => ({ name, category: 'Primary', sections: [{ name: 'A' }] })),
    ),
    await post(
      '/o/fee_head',
      ['Tuition', 'Bus', 'Exam', 'Admission'].map((name) => ({ name })),
    ),
    await post(
      '/o/registration',
      STUDENTS.map((student) => ({ sequence: String(student._id), ...student })),
    ),
    await post(
      '/o/fee_plan',
      PLAN.map((entry) => ({ session: '2026-27', ...entry })),
    ),
    await post('/o/fee_concession', {
      ...{ name: 'bela', kind: 'percent', value: 10, session: '2026-27' },
      ...{ from_month: '2026-04', to_month: '2027-03', created_on: '2026-04-02T00:00:00.000Z' },
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
});

describe('raiseDues', () => {
  it('shows counts and totals, makes the demands of all on the roll, and is undone as one', async () => {
    const { data: dry } = await raise({ month: '2026-07', dryRun: true });
    expect(dry.raiseDues).toMatchObject({
      ...{ dryRun: true, session: '2026-27', students: 5, demands: 7, existing: 0, notPromoted: 1 },
      // Asha, Bela and July 1,000.50 each; Omar and Newa 1,200; the bus 300; the admission 9,000.
      ...{ amount: '14701.50', concession: '100.05', payable: '14601.45' },
    });
    expect(await readDues()).toEqual([]);
    const { data } = await raise({ month: '2026-07' });
    expect(data.raiseDues).toMatchObject({ dryRun: false, demands: 7, payable: '14601.45' });
    const dues = await readDues();
    const ofTuition = dues.filter((due) => due.fee_head === 'Tuition');
    expect(ofTuition).toHaveLength(5);
    const dueOf = (id: string, head: string) =>
      dues.find((due) => (due.student as JsonObject).value === id && due.fee_head === head);
    expect(dueOf('asha', 'Tuition')).toMatchObject({
      ...{ class: '5', section: 'A', session: '2026-27', month: '2026-07', amount: 1000.5 },
      ...{ due_date: '2026-07-10', student: { value: 'asha', label: 'Asha' } },
    });
    expect(dueOf('omar', 'Tuition')).toMatchObject({ amount: 1200, due_date: '2026-07-05' });
    expect(dueOf('newa', 'Admission')).toMatchObject({ amount: 9000, due_date: '2026-07-20' });
    const { requestId } = data.raiseDues as { requestId: string };
    const undo = `mutation { undoChange(requestId: "${requestId}") { removed } }`;
    expect((await send(gateway, { query: undo, as: 'accountant' })).data.undoChange).toEqual({ removed: 7 });
    expect(await readDues()).toEqual([]);
  });

  it('makes no demand twice, and those of newcomers when it runs again', async () => {
    await raise({ month: '2026-07', class: ' 5\u00a0' });
    const { data } = await raise({ month: '2026-07' });
    expect(data.raiseDues).toMatchObject({ demands: 3, existing: 4, students: 2 });
    expect((await raise({ month: '2026-07' })).data.raiseDues).toMatchObject({ demands: 0, existing: 7 });
    const both = await Promise.all([1, 2].map(() => raise({ month: '2026-08' })));
    expect(both.some(({ data: one }) => one?.raiseDues !== undefined)).toBe(true);
    expect((await readDues()).filter(({ month }) => month === '2026-08')).toHaveLength(7);
  });

  it('takes a route in any spelling of case, and no two amounts for the same students', async () => {
    const entry = { session: '2026-27', fee_head: 'Exam', months: ['2026-10'], amount: 70, route: 'r1' };
    expect((await post('/o/fee_plan', entry)).status).toBe(201);
    const ofExam = async () => {
      const { data, errors } = await raise({ month: '2026-10', dryRun: true });
      const heads = (data?.raiseDues as { heads: JsonObject[] } | null)?.heads;
      return heads?.filter(({ feeHead }) => feeHead === 'Exam') ?? errors[0]?.message;
    };
    expect(await ofExam()).toMatchObject([{ class: '5', students: 1, amount: '70.00' }]);
    expect((await post('/o/fee_plan', { ...entry, amount: 80, route: 'R1' })).status).toBe(201);
    expect(await ofExam()).toMatch(
      /^The fee plan has 2 entries of Exam for route [rR]1 in 2026-10\. Keep one/,
    );
  });

  it('is served by REST, once per Idempotency-Key', async () => {
    const body = { month: '2026-09', class: '5' };
    const { status, body: dry } = await post('/dues', { ...body, dryRun: true }, 'accountant');
    expect([status, dry.demands, dry.amount]).toEqual([200, 7, '4801.50']);
    const headers = { 'idempotency-key': 'sept' };
    const first = await raise(body, 'accountant', headers);
    expect((await raise(body, 'accountant', headers)).data.raiseDues).toEqual(first.data.raiseDues);
    expect((await post('/dues', { month: 9 }, 'accountant')).status).toBe(400);
  });

  it.each([
    [
      'accountant',
      { month: '2027-07' },
      'NOT_FOUND',
      'The fee plan has no entry for 2027-07 in session 2027-28',
    ],
    [
      'accountant',
      { month: '2026-07', class: '5a' },
      'INVALID_VALUE',
      'class is "5a"; expected a class of the',
    ],
    ['clerk', { month: '2026-07' }, 'FORBIDDEN', 'fee_due'],
    ['teacher', { month: '2026-07', dryRun: true }, 'FORBIDDEN', 'fee_due'],
  ] as const)('refuses %s with %j', async (as, variables, code, words) => {
    const { errors } = await raise(variables, as);
    expect(errors?.[0]?.extensions?.code).toBe(code);
    expect(errors?.[0]?.message).toContain(words);
    expect(await readDues()).toEqual([]);
  });
});
