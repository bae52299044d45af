/**
 * The demo schools as streams of records: what `campus seed` loads.
 *
 * A main school (domain `demo`) and its branch (`demo-north`), the same for the same options, byte by byte.
 * Nothing in them is later than `today`. One session is in memory at a time.
 */
import {
  attendanceRecords,
  holidayRecords,
  leaveRequestRecords,
  teacherAttendanceRecords,
} from './attendance-records.js';
import { assertDemoOptions, type DemoOptions } from './demo-options.js';
import { type DemoRecord, demoRecord, rupees } from './demo-record.js';
import {
  feeConcessionRecords,
  feeDueRecords,
  feeHeadRecords,
  feePlanRecords,
  feeReceiptRecords,
} from './fee-records.js';
import {
  classRecords,
  createDemoSchool,
  type DemoSchool,
  registrationRecords,
  staffRecords,
} from './people.js';
import { Random } from './random.js';
import { resultRecords } from './result-records.js';
import { planSchools, type SchoolPlan } from './school-plan.js';
import { clock, instantText, sessionCalendar } from './session-calendar.js';
import { sessionYears } from './session-year.js';
import { smsRecords } from './sms-records.js';

export interface Demo {
  /** The top domain first. */
  readonly schools: readonly SchoolPlan[];
  /** All records; a collection may come in several parts. May be called again: the records are made anew. */
  parts(): Iterable<DemoPart>;
}

interface DemoPart {
  readonly domainId: string;
  readonly collection: string;
  readonly records: Iterable<DemoRecord>;
}

/** @throws INVALID_VALUE for sizes or a day that no school has */
export function createDemo(options: DemoOptions): Demo {
  assertDemoOptions(options);
  const schools = planSchools(options.students);
  return {
    schools,
    *parts() {
      for (const plan of schools) {
        for (const [collection, records] of partsOf(createDemoSchool(plan, options)))
          yield { domainId: plan.domainId, collection, records };
      }
    },
  };
}

function* partsOf(school: DemoSchool): Iterable<readonly [collection: string, Iterable<DemoRecord>]> {
  const opened = instantText(sessionCalendar(school.startYear - school.years + 1).start - 30, clock(10, 0));
  yield ['pltf_user', staffRecords(school)];
  yield ['class', classRecords(school, opened)];
  yield ['fee_head', feeHeadRecords(opened)];
  yield ['registration', registrationRecords(school)];
  yield ['task', taskRecords(school)];
  yield ['dashboard', dashboardRecords(school, opened)];
  yield ['saved_view', savedViewRecords(school, opened)];
  yield ['result', resultRecords(school)];
  for (const year of sessionYears(school)) {
    yield ['holiday', holidayRecords(school, year.calendar)];
    yield ['fee_plan', feePlanRecords(year, opened)];
    yield ['fee_concession', feeConcessionRecords(year)];
    yield ['fee_due', feeDueRecords(year)];
    yield ['fee_receipt', feeReceiptRecords(year)];
    yield ['leave_request', leaveRequestRecords(year)];
    yield ['teacher_attendance', teacherAttendanceRecords(year)];
    yield ['sms_log', smsRecords(year)];
    yield ['attendance', attendanceRecords(year)];
  }
}

/** The tasks of the office. */
function* taskRecords({ seed, today, plan, staff }: DemoSchool): Iterable<DemoRecord> {
  const random = new Random(seed, plan.domainId, 'tasks');
  const managers = staff.members.filter(({ leftOn }) => leftOn === undefined);
  for (let index = 0; index < 60; index++) {
    const klass = plan.classes[random.integer(0, plan.classes.length - 1)];
    const work = random.pick(WORKS);
    const manager = managers[random.integer(0, managers.length - 1)];
    const createdAt = instantText(today - Math.floor(index * 1.7), clock(10, 30) + random.integer(0, 18_000));
    yield demoRecord(`task-${String(index + 1).padStart(3, '0')}`, createdAt, {
      name: `${work} (class ${klass?.name ?? ''})`,
      amount: random.isChance(0.85) ? rupees(random.integer(10, 1600) * 2_525) : undefined,
      manager: manager?.reference,
    });
  }
}

const WORKS = [
  'Repair the projector',
  'Order chalk and markers',
  'Paint the door',
  'Buy books for the library corner',
  'Replace the ceiling fan',
  'Book buses for the excursion',
  'Print question papers',
  'Service the water cooler',
] as const;

function* dashboardRecords({ staff }: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  yield demoRecord('dashboard-school', createdAt, {
    title: 'The school in figures',
    owner: staff.principal.reference,
    shared_with: ['accountant', 'teacher', 'clerk', 'viewer'],
    tiles: [
      { operation: 'strength', picture: 'bar', by: 'class', measure: 'strength', wide: true },
      { operation: 'students-by-class-and-gender', picture: 'table' },
    ],
  });
  yield demoRecord('dashboard-fees', createdAt, {
    title: 'Fees',
    owner: staff.accountants[0]?.reference,
    tiles: [
      { operation: 'collection-trend', picture: 'line', wide: true },
      { operation: 'ways-of-paying', picture: 'doughnut' },
      { operation: 'fee-defaulters', picture: 'table', wide: true },
    ],
  });
}

function* savedViewRecords({ staff }: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  yield demoRecord('view-class-5', createdAt, {
    name: 'By roll number',
    collection: 'registration',
    owner: staff.principal.reference,
    shared_with: ['clerk', 'teacher'],
    oquery: 'class=5,status=active',
    sort: 'section,roll_no',
    columns: ['roll_no', 'name', 'section', 'gender', 'guardian_phone'],
    is_default: false,
  });
}
