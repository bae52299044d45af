import { beforeAll, describe, expect, it } from '@jest/globals';
import { deriveRows } from './derive-rows.js';
import { useGateway } from './gateway.js';
import { send } from './graphql.js';

const gateway = useGateway();

const STUDENT = {
  sequence: 'A-1',
  name: 'Asha',
  class: '5',
  section: 'A',
  session: '2026-27',
  admitted_on: '2026-04-01',
  status: 'active',
};
const TEACHER = { value: 'usr-teacher', label: 'Teacher' };

/** Past every door, as an old database has them. */
async function insert(collection: string, records: Readonly<Record<string, object>>) {
  for (const [id, data] of Object.entries(records)) {
    await gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
      collection,
      id,
      JSON.stringify(data),
    ]);
  }
}

describe('a record that lacks what every record has', () => {
  beforeAll(async () => {
    await insert('class', {
      named: { name: '5', category: 'Primary', order: 5, sections: [{ name: 'A', class_teacher: TEACHER }] },
      nameless: { category: 'Primary', order: 6, sections: [{ class_teacher: TEACHER }, { name: 'B' }] },
    });
    await insert('registration', {
      whole: STUDENT,
      'no-sequence': { ...STUDENT, sequence: null },
      'no-name': { ...STUDENT, sequence: 'A-2', name: null },
      'no-section': { ...STUDENT, sequence: 'A-3', section: null },
      'no-class': { ...STUDENT, sequence: 'A-4', class: null },
    });
    const due = { class: '5', section: 'A', session: '2026-27', month: '2026-04', fee_head: 'Tuition' };
    const owed = { ...due, amount: 100, due_date: '2026-04-10' };
    await insert('fee_due', {
      'due-1': { ...owed, student: { value: 'no-sequence' } },
      'due-2': { ...owed, student: { value: 'no-section' } },
    });
    const mark = { class: '5', section: 'A', created: '2026-04-02T04:00:00.000Z', status: 'absent' };
    await insert('pltf_user', {
      'odd-roles': { name: 'Odd', user_name: 'odd', active: true, roles: [null, { a: 1 }, 'teacher'] },
    });
    const asked = { name: { value: 'whole' }, from: '2026-04-01', to: '2026-04-02', kind: 'student' };
    await insert('leave_request', {
      'leave-1': { ...asked, status: null, created_on: '2026-04-01T04:00:00.000Z' },
      'leave-2': { ...asked, kind: null, status: 'pending', created_on: '2026-04-01T05:00:00.000Z' },
    });
    await insert('attendance', {
      'mark-1': { ...mark, student: { value: 'no-sequence' } },
      'mark-2': { ...mark, student: { value: 'no-name' } },
      'mark-3': { ...mark, section: null, student: { value: 'no-section' } },
    });
    await deriveRows(gateway.sql);
  });

  it.each([
    ['strength', '', 'strength', 'rows { class section strength }'],
    ['classes-by-category', '', 'classesByCategory', 'rows { classes { class sections { section } } }'],
    ['teachers', '', 'teachers', 'rows { name roles classTeacherOf { class section } }'],
    ['teacher-workload', '', 'teacherWorkload', 'rows { name sections { class section } }'],
    [
      'attendance-shortage',
      '?below=100&start=2026-04-01&end=2026-04-30',
      'attendanceShortage(below: 100, start: "2026-04-01", end: "2026-04-30")',
      'rows { admissionNo name class section }',
    ],
    [
      'student-attendance',
      '?class=5&start=2026-04-01&end=2026-04-30',
      'studentAttendance(class: "5", start: "2026-04-01", end: "2026-04-30")',
      'rows { admissionNo name class section days { day class section } }',
    ],
    [
      'class-attendance',
      '?class=5&start=2026-04&end=2026-04',
      'classAttendance(class: "5", start: "2026-04", end: "2026-04")',
      'rows { admissionNo name section }',
    ],
    [
      'day-sheet',
      '?date=2026-04-02',
      'daySheet(date: "2026-04-02")',
      'rows { admissionNo name class section } totals { sections { class section absent } }',
    ],
    [
      'leave-requests',
      '?date=2026-04-01',
      'leaveRequests(date: "2026-04-01")',
      'rows { id kind status } totals { requests byKindAndStatus { kind status requests } }',
    ],
    [
      'fee-defaulters',
      '?start_month=2026-04&end_month=2026-04',
      'feeDefaulters(startMonth: "2026-04", endMonth: "2026-04")',
      'rows { admissionNo name class section }',
    ],
    ['outstanding-ageing', '', 'outstandingAgeing', 'rows { admissionNo name class section }'],
  ])('fails no report, and %s says the same through both doors', async (name, query, field, rows) => {
    const response = await gateway.fetch(`/reports/${name}${query}`, { as: 'admin' });
    expect(response.status).toBe(200);
    const rest: { rows: unknown[]; warnings: unknown[] } = JSON.parse(await response.text());
    const { data, errors } = await send(gateway, {
      as: 'admin',
      query: `{ report: ${field} { ${rows} warnings { collection reason count ids } } }`,
    });
    expect(errors).toEqual([]);
    expect(rest.rows.length).toBeGreaterThan(0);
    expect(rest).toMatchObject(Object((data as { report: unknown }).report));
  });
});

const PLACE = { class: '5', section: 'A', session: '2026-27' };

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
  beforeAll(async () => {
    const student = 'nobody-at-all';
    const made = await post('registration', {
      ...PLACE,
      _id: student,
      sequence: 'ORPHAN-1',
      name: 'Gone',
      admitted_on: '2026-04-01',
    });
    expect(made).toBe(201);
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
