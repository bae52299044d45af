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
import { dashboardRecords, savedViewRecords } from './dashboard-records.js';
import { assertDemoOptions, type DemoOptions } from './demo-options.js';
import type { DemoRecord } from './demo-record.js';
import { createDemoSchool, type DemoSchool, sessionYears } from './demo-school.js';
import { clock, instantText } from './epoch-day.js';
import {
  feeConcessionRecords,
  feeDueRecords,
  feeHeadRecords,
  feePlanRecords,
  feeReceiptRecords,
} from './fee-records.js';
import { classRecords, registrationRecords, staffRecords } from './registration-records.js';
import { resultRecords } from './result-records.js';
import { planSchools, type SchoolPlan } from './school-plan.js';
import { sessionCalendar } from './session-calendar.js';
import { smsRecords } from './sms-records.js';
import { taskRecords } from './task-records.js';

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
      for (const plan of schools) yield* partsOf(createDemoSchool(plan, options));
    },
  };
}

function* partsOf(school: DemoSchool): Iterable<DemoPart> {
  const { domainId } = school.plan;
  const { startYear, years } = school.moment;
  const part = (collection: string, records: Iterable<DemoRecord>): DemoPart => ({
    domainId,
    collection,
    records,
  });
  const opened = instantText(sessionCalendar(startYear - years + 1).start - 30, clock(10, 0));
  yield part('pltf_user', staffRecords(school));
  yield part('class', classRecords(school, opened));
  yield part('fee_head', feeHeadRecords(opened));
  yield part('registration', registrationRecords(school));
  yield part('task', taskRecords(school));
  yield part('dashboard', dashboardRecords(school, opened));
  yield part('saved_view', savedViewRecords(school, opened));
  yield part('result', resultRecords(school));
  for (const year of sessionYears(school)) {
    yield part('holiday', holidayRecords(school, year.calendar));
    yield part('fee_plan', feePlanRecords(year, opened));
    yield part('fee_concession', feeConcessionRecords(year));
    yield part('fee_due', feeDueRecords(year));
    yield part('fee_receipt', feeReceiptRecords(year));
    yield part('leave_request', leaveRequestRecords(year));
    yield part('teacher_attendance', teacherAttendanceRecords(year));
    yield part('sms_log', smsRecords(year));
    yield part('attendance', attendanceRecords(year));
  }
}
