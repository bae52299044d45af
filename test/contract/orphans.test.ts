/** Reports name the records of students who do not exist in their warnings. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const gateway = useGateway();

const STUDENT = { value: 'nobody-at-all', label: 'Gone' };
const PLACE = { class: '5', section: 'A', session: '2026-27' };

beforeAll(async () => {
  expect(await post('class', { name: '5', order: 5, category: 'primary', sections: [{ name: 'A' }] })).toBe(
    201,
  );
  const made = await post('registration', {
    ...PLACE,
    _id: STUDENT.value,
    sequence: 'ORPHAN-1',
    name: 'Gone',
    admitted_on: '2026-04-01',
  });
  expect(made).toBe(201);
  const student = STUDENT.value;
  expect(
    await post('fee_due', {
      ...{ ...PLACE, _id: 'orphan-due', student, month: '2026-05' },
      ...{ fee_head: 'Tuition', amount: 12345, due_date: '2026-05-10' },
    }),
  ).toBe(201);
  expect(
    await post('attendance', {
      ...{ _id: 'orphan-mark', student, class: '5', section: 'A', status: 'absent', created: '2026-07-06' },
    }),
  ).toBe(201);
  const removed = await gateway.fetch(`/o/recs/registration/${student}?force=true`, {
    method: 'DELETE',
    as: 'admin',
  });
  expect(removed.status).toBe(204);
});

async function post(collection: string, body: object): Promise<number> {
  const { status } = await gateway.fetch(`/o/${collection}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    as: 'admin',
  });
  return status;
}

describe('the warnings name what belongs to a student who does not exist', () => {
  for (const [path, id] of [
    ['/getfeedefaultersv2.svc?start_month=2026-04&end_month=2027-03&as_on=2026-10-31', 'orphan-due'],
    ['/feesummary.svc?type=month', 'orphan-due'],
    ['/reports/outstanding-ageing?as_on=2026-10-31', 'orphan-due'],
    ['/reports/class-attendance?class=5&start=2026-07-01&end=2026-07-31', 'orphan-mark'],
    ['/reports/attendance-shortage?below=75&start=2026-07-01&end=2026-07-31', 'orphan-mark'],
    ['/reports/day-sheet?date=2026-07-06', 'orphan-mark'],
  ] as const) {
    it(path, async () => {
      const response = await gateway.fetch(path, { as: 'admin' });
      const body = (await response.json()) as {
        readonly warnings?: readonly { readonly reason: string; readonly examples: readonly string[] }[];
      };
      const found = body.warnings?.find(({ reason }) => reason === 'its student does not exist');
      expect(JSON.stringify(found ?? body)).toContain(id);
    });
  }
});
