/** Records of what people put together for themselves and others: dashboards, and views of records. */
import type { JsonValue } from '../../base/json/json.js';
import { type DemoRecord, demoRecord } from './demo-record.js';
import type { DemoSchool } from './demo-school.js';

export function* dashboardRecords(school: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  const { principal, accountants } = school.staff;
  yield demoRecord('dashboard-school', createdAt, {
    title: 'The school in figures',
    owner: principal.reference,
    shared_with: ['accountant', 'teacher', 'clerk', 'viewer'],
    tiles: [
      tile('strength', { picture: 'bar', by: 'class', measure: 'strength', wide: true }),
      tile('students-by-class-and-gender', { picture: 'table' }),
    ],
  });
  yield demoRecord('dashboard-fees', createdAt, {
    title: 'Fees',
    owner: accountants[0].reference,
    tiles: [
      tile('collection-trend', { picture: 'line', wide: true }),
      tile('ways-of-paying', { picture: 'doughnut' }),
      tile('fee-defaulters', { picture: 'table', wide: true }),
    ],
  });
}

export function* savedViewRecords(school: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  yield demoRecord('view-class-5', createdAt, {
    name: 'By roll number',
    collection: 'registration',
    owner: school.staff.principal.reference,
    shared_with: ['clerk', 'teacher'],
    oquery: 'class=5,status=active',
    sort: 'section,roll_no',
    columns: ['roll_no', 'name', 'section', 'gender', 'guardian_phone'],
    is_default: false,
  });
}

function tile(operation: string, shown: Readonly<Record<string, JsonValue>>): JsonValue {
  return { operation, ...shown };
}
