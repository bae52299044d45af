/** A demo school and its sessions, planned: what the writers of records read. */
import { type AttendanceYear, planAttendance } from './attendance-marks.js';
import type { DemoOptions } from './demo-options.js';
import { type Enrolment, listEnrolments } from './enrolment.js';
import { type EpochDay, parseEpochDay } from './epoch-day.js';
import { type FeeLedger, type PlannedReceipt, planLedger } from './fee-ledger.js';
import type { SchoolPlan } from './school-plan.js';
import { type SessionCalendar, sessionCalendar, sessionStartYear } from './session-calendar.js';
import { createStaff, createStudents, type SchoolMoment, type StaffRoom, type Student } from './students.js';

export interface DemoSchool {
  readonly plan: SchoolPlan;
  readonly moment: SchoolMoment;
  readonly staff: StaffRoom;
  readonly students: readonly Student[];
}

/** One session of a school. A past one ends on 31 March, the running one today. */
export interface SessionYear {
  readonly school: DemoSchool;
  readonly calendar: SessionCalendar;
  /** The last day anything is recorded of, itself included. */
  readonly lastDay: EpochDay;
  /** They are ordered by class, section and name. */
  readonly enrolments: readonly Enrolment[];
  readonly ledgers: readonly FeeLedger[];
  readonly attendance: readonly AttendanceYear[];
  /** The receipts up to `lastDay`, in the order of their numbers. */
  readonly receipts: readonly NumberedReceipt[];
}

export interface NumberedReceipt {
  readonly receiptNo: string;
  readonly receipt: PlannedReceipt;
}

export function createDemoSchool(plan: SchoolPlan, options: DemoOptions): DemoSchool {
  const today = parseEpochDay(options.today);
  const moment = { seed: options.seed, today, startYear: sessionStartYear(today), years: options.years };
  return { plan, moment, staff: createStaff(plan, moment), students: createStudents(plan, moment) };
}

/**
 * The sessions in their order, one at a time: only one need be in memory. Receipt numbers run on from one to
 * the next.
 */
export function* sessionYears(school: DemoSchool): Iterable<SessionYear> {
  const { startYear, years } = school.moment;
  let receiptCount = 0;
  for (let year = startYear - years + 1; year <= startYear; year++) {
    const session = createSessionYear(school, { year, receiptCount });
    receiptCount += session.receipts.length;
    yield session;
  }
}

function createSessionYear(school: DemoSchool, context: { year: number; receiptCount: number }): SessionYear {
  const { moment } = school;
  const calendar = sessionCalendar(context.year);
  const lastDay = Math.min(calendar.end, moment.today);
  const enrolments = enrolmentsInOrder(school, calendar);
  const ledgers = enrolments.map((enrolment) => planLedger(enrolment, calendar, moment));
  const receipts = ledgers
    .flatMap((ledger) => ledger.receipts.filter(({ day }) => day <= lastDay))
    .sort((left, right) => left.day - right.day || left.second - right.second)
    .map((receipt, index) => ({ receipt, receiptNo: `R-${context.receiptCount + index + 1}` }));
  const attendance = enrolments.map((enrolment) => planAttendance(enrolment, calendar, moment.seed));
  return { school, calendar, lastDay, enrolments, ledgers, attendance, receipts };
}

export function enrolmentsInOrder(school: DemoSchool, calendar: SessionCalendar): readonly Enrolment[] {
  const { plan, moment, students } = school;
  return [...listEnrolments(plan, moment, { students, calendar })].sort(
    (left, right) =>
      left.klass.index - right.klass.index ||
      left.student.sectionIndex - right.student.sectionIndex ||
      compareTexts(left.student.name, right.student.name) ||
      compareTexts(left.student.id, right.student.id),
  );
}

export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
