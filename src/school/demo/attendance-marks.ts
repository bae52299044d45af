/** How one student attended a session: a mark a working day, and the leave asked for. */

import type { Enrolment } from './enrolment.js';
import type { EpochDay } from './epoch-day.js';
import { Random } from './random.js';
import type { SessionCalendar } from './session-calendar.js';

/** Marks as bytes: a school of thousands fits into memory. 0 is "no mark". */
export const ATTENDANCE_MARKS = ['', 'present', 'absent', 'late', 'half_day', 'leave'] as const;
const PRESENT = 1;
const ABSENT = 2;
const LATE = 3;
const HALF_DAY = 4;
const LEAVE = 5;

interface PlannedLeave {
  readonly askedOn: EpochDay;
  readonly from: EpochDay;
  readonly to: EpochDay;
  readonly leaveType: 'sick' | 'family' | 'other';
  readonly reason: string;
  readonly decision: 'approved' | 'rejected';
}

export interface AttendanceYear {
  readonly enrolment: Enrolment;
  /** Indexed by the day of the session, from 0. */
  readonly marks: Uint8Array;
  readonly leaves: readonly PlannedLeave[];
}

/** About 92 % present; some students far less; illnesses and leaves last some days. */
export function planAttendance(
  enrolment: Enrolment,
  calendar: SessionCalendar,
  seed: number,
): AttendanceYear {
  const random = new Random(seed, 'attendance', calendar.session, enrolment.student.sequence);
  const marks = new Uint8Array(calendar.end - calendar.start + 1);
  const leaves: PlannedLeave[] = [];
  const absence = random.isChance(0.05) ? 0.22 : 0.013 + random.next() * 0.026;
  const lateness = random.isChance(0.08) ? 0.16 : 0.015;
  let away = 0;
  let awayMark = ABSENT;
  const workingDays = calendar.workingDays(enrolment.klass.name);
  workingDays.forEach((day, index) => {
    const choice = random.next();
    if (away === 0 && random.next() < 0.0105) {
      away = random.integer(2, 5);
      awayMark = random.isChance(0.35) ? LEAVE : ABSENT;
      if (awayMark === LEAVE || random.isChance(0.05)) {
        leaves.push(
          planLeave(random, {
            from: day,
            to: workingDays[index + away - 1] ?? day,
            isGranted: awayMark === LEAVE,
          }),
        );
      }
    }
    const isAway = away > 0;
    if (isAway) away--;
    if (day < enrolment.from || day > enrolment.to) return;
    if (isAway) marks[day - calendar.start] = awayMark;
    else marks[day - calendar.start] = ordinaryMark(choice, { absence, lateness });
  });
  return {
    enrolment,
    marks,
    leaves: leaves.filter(({ from, askedOn }) => askedOn >= enrolment.from && from <= enrolment.to),
  };
}

function ordinaryMark(choice: number, share: { absence: number; lateness: number }): number {
  if (choice < share.absence) return ABSENT;
  if (choice < share.absence + share.lateness) return LATE;
  if (choice < share.absence + share.lateness + 0.008) return HALF_DAY;
  return PRESENT;
}

function planLeave(
  random: Random,
  leave: { from: EpochDay; to: EpochDay; isGranted: boolean },
): PlannedLeave {
  const [leaveType, reason] = random.pick(LEAVE_REASONS);
  return {
    askedOn: leave.from - random.integer(0, 2),
    from: leave.from,
    to: leave.to,
    leaveType,
    reason,
    decision: leave.isGranted ? 'approved' : 'rejected',
  };
}

type LeaveReason = readonly [PlannedLeave['leaveType'], string];
const LEAVE_REASONS: readonly [LeaveReason, ...LeaveReason[]] = [
  ['sick', 'Fever, doctor advised rest'],
  ['sick', 'Medical check-up'],
  ['family', 'Wedding in the family'],
  ['family', 'Going to the native place'],
  ['other', 'Sports meet of the district'],
];
