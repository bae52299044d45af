/** Every example of the library over HTTP, by every role it is for, on the demo school. */

import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findPackageDirectory } from '../../src/base/process/package-directory.js';
import { type ExampleOperation, fillVariables } from '../../src/portal/explore/example-operation.js';
import { loadOperationsLibrary } from '../../src/portal/explore/operations-library.js';
import { eventually } from '../eventually.js';
import { DEMO_TODAY, useDemoGateway } from './demo-gateway.js';
import { ROLES, type Role } from './gateway.js';
import { type Answered, besideExecuted, send } from './graphql.js';
import { connect, countSubscriptions } from './live.js';

const gateway = useDemoGateway({ students: 120 });
const library = await loadOperationsLibrary(path.join(findPackageDirectory(), 'schema', 'operations'));

/** The school has a tenth of the students of that of the examples, so one of them has another number. */
function variablesOf(example: ExampleOperation) {
  const text = JSON.stringify(fillVariables(example.variables, DEMO_TODAY));
  return JSON.parse(text.replaceAll('stu-00600', 'stu-00060').replaceAll('GV-01600', 'GV-01060'));
}

/** What an admin must see in the answer; lists are counted, and each row must have what is named. */
interface Seen {
  /** The path to the list. */
  readonly list: string;
  readonly least: number;
  /** Not null in any row. */
  readonly filled: readonly string[];
  readonly check?: (data: Answered) => void;
}

const SEEN: Readonly<Record<string, Seen>> = {
  'attendance-by-day': {
    list: 'attendanceRecordsAggregate',
    least: 60,
    filled: ['key.createdDay', 'key.status', 'count'],
  },
  'attendance-of-a-day': {
    list: 'attendanceRecords.nodes',
    least: 9,
    filled: ['section', 'student.record.rollNo', 'status'],
    check: ({ attendanceRecords: { totalCount, nodes } }) => expect(totalCount).toBe(nodes.length),
  },
  'attendance-shortage': {
    list: 'attendanceShortage.rows',
    least: 5,
    filled: ['admissionNo', 'percent', 'daysShort'],
  },
  'class-attendance': {
    list: 'classAttendance.rows',
    least: 9,
    filled: ['month', 'name', 'register', 'percent'],
    check: ({ classAttendance: { rows } }) => expect(rows[0].register).toMatch(/^[PAHL*~-]{20}/),
  },
  'class-grade-book': { list: 'classGradeBook.rows', least: 9, filled: ['name', 'section', 'result'] },
  'classes-by-category': {
    list: 'classesByCategory.rows',
    least: 4,
    filled: ['category', 'strength', 'classes'],
    check: ({ classesByCategory: { rows, totals } }) => expect(sum(rows, 'strength')).toBe(totals.strength),
  },
  'collection-by-month-and-way-of-paying': {
    list: 'feeReceiptsAggregate',
    least: 20,
    filled: ['key.dateMonth', 'key.paymentType', 'total.sum'],
    check: ({ feeReceiptsAggregate: groups }) => {
      for (const { total } of groups) expect(Number(total.sum)).toBeGreaterThan(1_000);
    },
  },
  'collection-trend': {
    list: 'collectionTrend.rows',
    least: 8,
    filled: ['start', 'end', 'total', 'cumulative'],
    check: ({ collectionTrend: { rows, totals } }) => expect(rows.at(-1).cumulative).toBe(totals.total),
  },
  'daily-fee-collection': { list: 'dailyFeeCollection.rows', least: 31, filled: ['day', 'total', 'heads'] },
  'daily-unique-sms': {
    list: 'dailyUniqueSms.rows',
    least: 30,
    filled: ['to', 'text', 'category', 'messages'],
  },
  'day-sheet': { list: 'daySheet.rows', least: 8, filled: ['class', 'name', 'phone', 'status'] },
  'fee-defaulters': {
    list: 'feeDefaulters.rows',
    least: 20,
    filled: ['name', 'class', 'balance', 'oldestDueDate'],
    check: ({ feeDefaulters: { totals } }) => expect(totals.students).toBeGreaterThan(2),
  },
  'fee-summary': { list: 'feeSummary.rows', least: 12, filled: ['month', 'demand', 'outstanding'] },
  'grade-book': { list: 'gradeBook.rows', least: 4, filled: ['subject', 'percent', 'grade'] },
  'leave-requests': { list: 'leaveRequests.rows', least: 1, filled: ['person', 'from', 'to', 'status'] },
  'leave-waiting-for-a-decision': {
    list: 'leaveRequestRecords.nodes',
    least: 1,
    filled: ['from', 'to', 'name.label', 'name.record'],
  },
  'messages-by-day-and-state': {
    list: 'smsMessagesAggregate',
    least: 20,
    filled: ['key.createdOnDay', 'key.status', 'count', 'segments.sum'],
  },
  'outstanding-ageing': {
    list: 'outstandingAgeing.rows',
    least: 20,
    filled: ['name', 'balance', 'daysOver90'],
  },
  'receipts-of-a-day': {
    list: 'feeReceipts.nodes',
    least: 1,
    filled: ['receiptNo', 'student.label', 'total'],
    check: ({ feeReceipts: { nodes } }) => {
      for (const { lines } of nodes) expect(lines.length).toBeGreaterThan(0);
    },
  },
  'records-of-any-collection': {
    list: 'records.nodes',
    least: 10,
    filled: ['id', 'version', 'data.name'],
  },
  'results-by-class-and-term': {
    list: 'resultsAggregate',
    least: 12,
    filled: ['key.class', 'key.term', 'count'],
  },
  'rolled-back-receipts': {
    list: 'rolledBackReceipts.rows',
    least: 2,
    filled: ['receiptNo', 'rolledBackAt', 'reason'],
  },
  strength: {
    list: 'strength.rows',
    least: 12,
    filled: ['class', 'section', 'strength'],
    check: ({ strength: { rows, totals } }) => expect(sum(rows, 'strength')).toBe(totals.strength),
  },
  student: {
    list: 'student.rows',
    least: 1,
    filled: ['name', 'classTeacher', 'attendance.present', 'fees.due'],
  },
  'student-attendance': {
    list: 'studentAttendance.rows',
    least: 9,
    filled: ['name', 'workingDays', 'percent', 'days'],
  },
  'student-concession': {
    list: 'studentConcession.rows',
    least: 1,
    filled: ['kind', 'value'],
    check: ({ studentConcession: { totals } }) => expect(Number(totals.total)).toBeGreaterThan(0),
  },
  'student-with-all-that-points-to-it': {
    list: 'registration.attendanceRecords.nodes',
    least: 10,
    filled: ['created', 'status'],
    check: ({ registration: { feeReceipts } }) => expect(feeReceipts.totalCount).toBeGreaterThan(0),
  },
  'students-by-class-and-gender': {
    list: 'registrationsAggregate',
    least: 24,
    filled: ['key.class', 'key.gender', 'count'],
    check: ({ registrationsAggregate: groups }) => expect(sum(groups, 'count')).toBeGreaterThan(100),
  },
  'students-by-name': {
    list: 'registrations.nodes',
    least: 2,
    filled: ['name', 'class'],
    check: ({ registrations: { nodes } }) => {
      for (const { name } of nodes) expect(name).toMatch(/sharma/i);
    },
  },
  'students-of-a-section': {
    list: 'registrations.nodes',
    least: 9,
    filled: ['rollNo', 'name', 'gender'],
    check: ({ registrations: { nodes } }) => {
      const rollNos = nodes.map(({ rollNo }: Answered) => rollNo);
      expect(rollNos).toEqual(rollNos.toSorted((a: number, b: number) => a - b));
    },
  },
  'students-page-by-page': {
    list: 'registrations.edges',
    least: 20,
    filled: ['cursor', 'node.name'],
    check: ({ registrations: { edges, pageInfo } }) => {
      expect(pageInfo).toMatchObject({ hasNextPage: true, endCursor: edges.at(-1).cursor });
    },
  },
  'tasks-above-an-amount': {
    list: 'tasks.nodes',
    least: 10,
    filled: ['name', 'amount', 'manager.record.department'],
    check: ({ tasks: { nodes } }) => {
      for (const { amount } of nodes) expect(Number(amount)).toBeGreaterThan(5000);
    },
  },
  'teacher-attendance': { list: 'teacherAttendance.rows', least: 15, filled: ['day', 'status'] },
  'teacher-workload': { list: 'teacherWorkload.rows', least: 14, filled: ['name', 'students', 'sections'] },
  teachers: { list: 'teachers.rows', least: 14, filled: ['name', 'department', 'phone'] },
  'ways-of-paying': { list: 'feeReceiptsDistinct', least: 4, filled: ['value', 'count'] },
  'what-there-is': {
    list: 'collections',
    least: 14,
    filled: ['name', 'description'],
    check: ({ me }) => expect(me).toMatchObject({ userName: 'admin', domain: { id: 'demo' } }),
  },
};

const queries = library.filter(({ kind }) => kind === 'query');

describe('an example query of the library', () => {
  it.each(queries.map((example) => [example.name, example] as const))(
    '%s shows something',
    async (name, example) => {
      const seen = SEEN[name];
      if (!seen) throw new Error(`Say in SEEN what the example ${name} must show`);
      const { data, errors } = await send(gateway, {
        query: example.document,
        variables: variablesOf(example),
        as: 'admin',
      });
      expect(errors).toEqual([]);
      const list: Answered = valueAt(data, seen.list);
      expect(list.length).toBeGreaterThanOrEqual(seen.least);
      for (const row of list)
        for (const field of seen.filled) expect(valueAt(row, field) ?? null).not.toBeNull();
      seen.check?.(data);
    },
  );

  it.each(queries.map((example) => [example.name, example] as const))(
    '%s is answered by every role it names',
    async (_, example) => {
      for (const role of example.roles) {
        const { errors } = await send(gateway, {
          query: example.document,
          variables: variablesOf(example),
          as: toRole(role),
        });
        expect({ role, errors }).toEqual({ role, errors: [] });
      }
    },
  );

  it.each(queries.map((example) => [example.name, example] as const))(
    '%s is the same alone and beside a field that graphql-js executes',
    async (_, example) => {
      const variables = variablesOf(example);
      const [spliced, plain] = await Promise.all(
        [example.document, besideExecuted(example.document)].map((query) =>
          send(gateway, { query, variables, as: 'admin' }),
        ),
      );
      const { plainly, ...data } = plain?.data ?? {};
      expect(plainly).toEqual({ id: 'usr-admin' });
      expect(withoutTime(spliced?.data)).toEqual(withoutTime(data));
    },
  );
});

describe('an example mutation of the library', () => {
  it('create-a-task stores what it answers', async () => {
    const example = library.find(({ name }) => name === 'create-a-task');
    const { data } = await send(gateway, {
      query: example?.document ?? '',
      variables: example && variablesOf(example),
      as: 'admin',
    });
    expect(data.createTask).toMatchObject({
      name: 'Repair the projector of class 5 A',
      amount: '2400.00',
      manager: { label: expect.stringMatching(/\w/) },
      version: 1,
    });
    const stored = await gateway.fetch(`/o/recs/task/${data.createTask.id}`, { as: 'admin' });
    expect(await stored.json()).toMatchObject({ name: 'Repair the projector of class 5 A' });
  });

  it('has a test for each', () => {
    const mutations = library.filter(({ kind }) => kind === 'mutation').map(({ name }) => name);
    expect(mutations).toEqual(['create-a-task']);
  });
});

describe('an example subscription of the library', () => {
  afterEach(async () => {
    await eventually(async () => (await countSubscriptions(gateway)) === 0);
  });

  it('task-changes tells of a task that is created', async () => {
    const subscriber = connect(gateway, { as: 'viewer' });
    try {
      const subscription = await subscriber.subscribe(documentOf('task-changes'));
      const task = { name: 'Paint the gate', amount: 900 };
      const stored = await gateway.fetch('/o/task', jsonBody(task, 'clerk'));
      expect(stored.status).toBe(201);
      await eventually(async () => subscription.events.length > 0);
      expect(subscription.events[0]).toMatchObject({
        operation: 'CREATED',
        version: 1,
        record: { name: 'Paint the gate', amount: '900', manager: null },
      });
    } finally {
      subscriber.dispose();
    }
  });

  it('fee-collection-changes tells a dashboard to ask again', async () => {
    const subscriber = connect(gateway, { as: 'accountant' });
    try {
      const subscription = await subscriber.subscribe(documentOf('fee-collection-changes'), {
        report: 'daily-fee-collection',
      });
      const { errors } = await send(gateway, {
        query:
          'mutation { recordReceipt(receipt: { studentId: "stu-00060", paymentType: CASH, amount: ' +
          '"1.00" }) { receiptNo } }',
        as: 'accountant',
      });
      expect(errors).toEqual([]);
      await eventually(async () => subscription.events.length > 0);
      expect(subscription.events[0]).toMatchObject({
        report: 'daily-fee-collection',
        collections: ['fee_receipt'],
      });
    } finally {
      subscriber.dispose();
    }
  });

  it('has a test for each', () => {
    const subscriptions = library.filter(({ kind }) => kind === 'subscription').map(({ name }) => name);
    expect(subscriptions.toSorted()).toEqual(['fee-collection-changes', 'task-changes']);
  });
});

function documentOf(name: string): string {
  const example = library.find((candidate) => candidate.name === name);
  if (!example) throw new Error(`The library has no ${name}`);
  return example.document;
}

function jsonBody(record: object, as: Role) {
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(record), as };
}

function valueAt(value: Answered, pathOfFields: string): Answered {
  return pathOfFields.split('.').reduce((inner, field) => inner?.[field], value);
}

function sum(rows: readonly Answered[], field: string): number {
  return rows.reduce((total, row) => total + row[field], 0);
}

function toRole(name: string): Role {
  const role = ROLES.find((known) => known === name);
  if (!role) throw new Error(`There is no role ${name}`);
  return role;
}

/** When a report was made differs from one run to the next. */
function withoutTime(data: Answered): Answered {
  return JSON.parse(JSON.stringify(data, (key, value) => (key === 'generatedAt' ? undefined : value)));
}
