import { type AttendedSession, planAttendance } from './attendance-records.js';
import { type Enrolment, listEnrolments } from './enrolment.js';
import { type FeeLedger, type PlannedReceipt, planLedger } from './fee-ledger.js';
import type { DemoSchool } from './people.js';
import { sessionCalendar } from './session-calendar.js';

/** One session of a school. A past one ends on 31 March, the running one today. */
export interface SessionYear extends AttendedSession {
  readonly enrolments: readonly Enrolment[];
  readonly ledgers: readonly FeeLedger[];
  /** The receipts up to `lastDay`, in the order of their numbers. */
  readonly receipts: readonly { readonly receiptNo: string; readonly receipt: PlannedReceipt }[];
}

/**
 * The sessions in their order, one at a time: only one need be in memory. Receipt numbers run on from one to
 * the next.
 */
export function* sessionYears(school: DemoSchool): Iterable<SessionYear> {
  let receiptCount = 0;
  for (let year = school.startYear - school.years + 1; year <= school.startYear; year++) {
    const calendar = sessionCalendar(year);
    const lastDay = Math.min(calendar.end, school.today);
    const enrolments = listEnrolments(school, calendar);
    const ledgers = enrolments.map((enrolment) => planLedger(enrolment, calendar, school));
    const receipts = ledgers
      .flatMap((ledger) => ledger.receipts.filter(({ day }) => day <= lastDay))
      .sort((left, right) => left.day - right.day || left.second - right.second)
      .map((receipt) => ({ receipt, receiptNo: `R-${++receiptCount}` }));
    const attendance = enrolments.map((enrolment) => planAttendance(enrolment, calendar, school.seed));
    yield { school, calendar, lastDay, enrolments, ledgers, attendance, receipts };
  }
}
