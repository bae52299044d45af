/** One session of a school: the students on roll, their attendance, and their payments. */
import { type Enrolment, listEnrolments } from './enrolment.js';
import { planFeeLedger } from './fee-ledger.js';
import type { DemoSchool } from './people.js';
import { Random } from './random.js';
import { type EpochDay, type SessionCalendar, sessionCalendar } from './session-calendar.js';

export type SessionYear = ReturnType<typeof planSession>;

/**
 * The sessions in their order, one at a time: only one need be in memory. Receipt numbers run on from one to
 * the next.
 */
export function* sessionYears(school: DemoSchool): Iterable<SessionYear> {
  let receiptCount = 0;
  for (let startYear = school.startYear - school.years + 1; startYear <= school.startYear; startYear++) {
    const year = planSession(school, startYear, receiptCount);
    receiptCount += year.receipts.length;
    yield year;
  }
}

function planSession(school: DemoSchool, startYear: number, receiptCount: number) {
  const calendar = sessionCalendar(startYear);
  const enrolments = listEnrolments(school, calendar);
  const ledgers = enrolments.map((enrolment) => planFeeLedger(enrolment, calendar, school));
  /** A past session ends on 31 March, the running one today. */
  const lastDay = Math.min(calendar.end, school.today);
  /** The receipts up to `lastDay`, in the order of their numbers. */
  const receipts = ledgers
    .flatMap((ledger) => ledger.receipts.filter(({ day }) => day <= lastDay))
    .sort((left, right) => left.day - right.day || left.second - right.second)
    .map((receipt, index) => ({ receipt, receiptNo: `R-${receiptCount + index + 1}` }));
  const attendance = enrolments.map((enrolment) => planAttendance(enrolment, calendar, school.seed));
  return { school, calendar, lastDay, enrolments, ledgers, attendance, receipts };
}

/** Marks as bytes: a school of thousands fits into memory. 0 is "no mark". */
const MARKS = ['', 'present', 'absent', 'late', 'half_day', 'leave'] as const;
const [PRESENT, ABSENT, LATE, HALF_DAY, LEAVE] = [1, 2, 3, 4, 5] as const;

export interface PlannedLeave {
  readonly askedOn: EpochDay;
  readonly from: EpochDay;
  readonly to: EpochDay;
  readonly leaveType: string;
  readonly reason: string;
  readonly isGranted: boolean;
}

/**
 * One student's attendance in a session: a mark a working day, and requested leave. About 92 % present; some
 * students far less; illnesses and leaves last some days.
 */
function planAttendance(enrolment: Enrolment, calendar: SessionCalendar, seed: number) {
  const random = new Random(seed, 'attendance', calendar.session, enrolment.student.sequence);
  const marks = new Uint8Array(calendar.end - calendar.start + 1);
  const leaves: PlannedLeave[] = [];
  const absence = random.isChance(0.05) ? 0.22 : 0.013 + random.next() * 0.026;
  const lateness = random.isChance(0.08) ? 0.16 : 0.015;
  let away = 0;
  let awayMark: number = ABSENT;
  const workingDays = calendar.workingDays(enrolment.klass.name);
  for (const [index, day] of workingDays.entries()) {
    const choice = random.next();
    if (away === 0 && random.next() < 0.0105) {
      away = random.integer(2, 5);
      const isGranted = random.isChance(0.35);
      awayMark = isGranted ? LEAVE : ABSENT;
      if (isGranted || random.isChance(0.05)) {
        const [leaveType, reason] = random.pick(LEAVE_REASONS);
        const askedOn = day - random.integer(0, 2);
        leaves.push({
          ...{ askedOn, from: day, to: workingDays[index + away - 1] ?? day, leaveType, reason, isGranted },
        });
      }
    }
    let mark: number = PRESENT;
    if (away > 0) mark = awayMark;
    else if (choice < absence) mark = ABSENT;
    else if (choice < absence + lateness) mark = LATE;
    else if (choice < absence + lateness + 0.008) mark = HALF_DAY;
    if (away > 0) away--;
    if (day >= enrolment.from && day <= enrolment.to) marks[day - calendar.start] = mark;
  }
  return {
    enrolment,
    /** Empty: not marked. */
    markOn: (day: EpochDay) => MARKS[marks[day - calendar.start] ?? 0] ?? '',
    leaves: leaves.filter(({ from, askedOn }) => askedOn >= enrolment.from && from <= enrolment.to),
  };
}

type LeaveReason = readonly [leaveType: string, reason: string];
const LEAVE_REASONS: readonly [LeaveReason, ...LeaveReason[]] = [
  ['sick', 'Fever, doctor advised rest'],
  ['sick', 'Medical check-up'],
  ['family', 'Wedding in the family'],
  ['family', 'Going to the native place'],
  ['other', 'Sports meet of the district'],
];
