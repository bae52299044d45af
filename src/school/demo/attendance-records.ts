/** The students' and the staff's attendance, leave requests and holidays. */
import { type DemoRecord, demoRecord } from './demo-record.js';
import type { Enrolment } from './enrolment.js';
import type { DemoSchool, StaffMember } from './people.js';
import { Random } from './random.js';
import {
  clock,
  dayText,
  type EpochDay,
  instantText,
  listEpochDays,
  type SessionCalendar,
} from './session-calendar.js';

/** Marks as bytes: a school of thousands fits into memory. 0 is "no mark". */
const MARKS = ['', 'present', 'absent', 'late', 'half_day', 'leave'] as const;
const [PRESENT, ABSENT, LATE, HALF_DAY, LEAVE] = [1, 2, 3, 4, 5] as const;

interface PlannedLeave {
  readonly askedOn: EpochDay;
  readonly from: EpochDay;
  readonly to: EpochDay;
  readonly leaveType: string;
  readonly reason: string;
  readonly isGranted: boolean;
}

/** How one student attended a session: a mark a working day, and the leave asked for. */
export interface AttendanceYear {
  readonly enrolment: Enrolment;
  markOn(day: EpochDay): (typeof MARKS)[number];
  readonly leaves: readonly PlannedLeave[];
}

/** What the writers of records read of a session. */
export interface AttendedSession {
  readonly school: DemoSchool;
  readonly calendar: SessionCalendar;
  /** The last day anything is recorded of, itself included. */
  readonly lastDay: EpochDay;
  readonly attendance: readonly AttendanceYear[];
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
    markOn: (day) => MARKS[marks[day - calendar.start] ?? 0] ?? '',
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

export function* holidayRecords(school: DemoSchool, calendar: SessionCalendar): Iterable<DemoRecord> {
  const createdAt = instantText(calendar.start - 20, clock(12, 0));
  for (const { day, name, classes, isWorking } of calendar.holidays) {
    const own = classes.filter((klass) => school.plan.classes.some((one) => one.name === klass));
    if (classes.length > 0 && own.length === 0) continue;
    const date = dayText(day);
    yield demoRecord(`hol-${date}-${isWorking ? 'w' : 'h'}`, createdAt, {
      ...{ date, name, classes: own, working: isWorking },
    });
  }
}

/**
 * Day by day, section by section. Now and then a section's register is forgotten for a day: those students
 * stay unmarked.
 */
export function* attendanceRecords(year: AttendedSession): Iterable<DemoRecord> {
  const { calendar, school } = year;
  const random = new Random(school.seed, school.plan.domainId, 'unmarked', calendar.session);
  const forgotten = new Set<string>();
  for (const klass of school.plan.classes) {
    for (const { name } of klass.sections) {
      for (const day of calendar.workingDays(klass.name))
        if (random.isChance(0.004)) forgotten.add(`${klass.name}/${name}/${day}`);
    }
  }
  for (const day of listEpochDays(calendar.start, year.lastDay)) {
    const date = dayText(day).replaceAll('-', '');
    for (const { enrolment, markOn } of year.attendance) {
      const status = markOn(day);
      if (status === '') continue;
      const { student, klass } = enrolment;
      const section = enrolment.sectionOn(day).name;
      if (forgotten.has(`${klass.name}/${section}/${day}`)) continue;
      const created = instantText(day, clock(8, 30) + klass.index * 60 + enrolment.sectionIndexOn(day) * 17);
      yield demoRecord(`att-${date}-${student.id.slice(4)}`, created, {
        created,
        student: student.reference,
        class: klass.name,
        section,
        status,
        marked_by: school.staff.classTeacher(klass.name, section).reference,
      });
    }
  }
}

export function* teacherAttendanceRecords(year: AttendedSession): Iterable<DemoRecord> {
  const { calendar, school } = year;
  const { seed, plan, staff } = school;
  const members = staff.members.map((member) => ({
    member,
    leaves: planStaffLeaves(year, member).filter(({ isGranted }) => isGranted),
    random: new Random(seed, plan.domainId, 'staff', calendar.session, member.id),
  }));
  for (const day of calendar.workingDays('')) {
    if (day > year.lastDay) return;
    for (const { member, leaves, random } of members) {
      const leave = leaves.find(({ from, to }) => from <= day && day <= to);
      const marked = staffDay(day, random, leave);
      if (!marked || day < member.joinedOn || day > (member.leftOn ?? day)) continue;
      const { markedAt, status, inAt, outAt, leave_type, remark } = marked;
      const id = `tat-${dayText(day).replaceAll('-', '')}-${member.id.slice(4)}`;
      yield demoRecord(id, instantText(day, markedAt), {
        name: member.reference,
        status,
        in_time: inAt && instantText(day, inAt),
        out_time: outAt && instantText(day, outAt),
        ...{ leave_type, remark },
      });
    }
  }
}

interface StaffDay {
  readonly status: 'present' | 'absent' | 'half_day' | 'leave' | 'on_duty';
  /** Second of the day. */
  readonly markedAt: number;
  readonly inAt?: number;
  readonly outAt?: number | undefined;
  readonly leave_type?: string;
  readonly remark?: string;
}

/** One day of one person; `undefined`: nobody marked it. Every call takes the same number of choices. */
function staffDay(day: EpochDay, random: Random, leave: PlannedLeave | undefined): StaffDay | undefined {
  const [kind, lateness, exit, minute] = [random.next(), random.next(), random.next(), random.next()];
  const nine = clock(9, 0);
  if (leave) return { status: 'leave', leave_type: leave.leaveType, markedAt: nine };
  const inAt =
    lateness < 0.07 ? clock(8, 1) + Math.floor(minute * 2400) : clock(7, 25) + Math.floor(minute * 2000);
  const outAt = exit < 0.02 ? undefined : clock(14, 40) + Math.floor(minute * 3600) + (day % 5) * 60;
  if (kind < 0.003) return undefined;
  if (kind < 0.012) return { status: 'absent', markedAt: nine };
  if (kind < 0.025) return { status: 'on_duty', markedAt: nine, remark: 'Training of the board' };
  if (kind >= 0.037) return { status: 'present', markedAt: inAt, inAt, outAt };
  return { status: 'half_day', markedAt: inAt, inAt, outAt: clock(12, 0), leave_type: 'casual' };
}

function planStaffLeaves(
  { calendar, school }: AttendedSession,
  member: StaffMember,
): readonly PlannedLeave[] {
  const workingDays = calendar.workingDays('');
  const random = new Random(school.seed, school.plan.domainId, 'leave', calendar.session, member.id);
  const leaves: PlannedLeave[] = [];
  for (let index = 0; index < workingDays.length; index++) {
    if (!random.isChance(0.014)) continue;
    const length = random.pick([1, 1, 1, 2, 3, 5] as const);
    const from = workingDays[index];
    const to = workingDays[index + length - 1];
    if (from === undefined || to === undefined) break;
    const askedOn = from - random.integer(0, 6);
    const leaveType = random.pick(['casual', 'casual', 'sick', 'earned'] as const);
    const reason = leaveType === 'sick' ? 'Not well' : 'Personal work';
    leaves.push({ askedOn, from, to, leaveType, reason, isGranted: random.isChance(0.92) });
    index += length;
  }
  return leaves.filter(({ askedOn }) => askedOn >= member.joinedOn && askedOn <= (member.leftOn ?? askedOn));
}

export function* leaveRequestRecords(year: AttendedSession): Iterable<DemoRecord> {
  const { staff, today } = year.school;
  for (const { enrolment, leaves } of year.attendance) {
    const { student, klass } = enrolment;
    for (const leave of leaves) {
      if (leave.askedOn > year.lastDay) continue;
      const teacher = staff.classTeacher(klass.name, enrolment.sectionOn(leave.from).name);
      yield leaveRequest(leave, student, teacher, {
        ...{ kind: 'student', id: student.id.slice(4), askedAt: clock(18, 5), openFrom: today, today },
      });
    }
  }
  for (const member of staff.members) {
    for (const leave of planStaffLeaves(year, member)) {
      if (leave.askedOn > year.lastDay || leave.askedOn < year.calendar.start) continue;
      yield leaveRequest(leave, member, staff.principal, {
        ...{ kind: 'staff', id: member.id, askedAt: clock(15, 20), openFrom: today - 1, today },
      });
    }
  }
}

function leaveRequest(
  leave: PlannedLeave,
  person: Pick<StaffMember, 'reference'>,
  decider: StaffMember,
  of: {
    readonly kind: string;
    readonly id: string;
    readonly askedAt: number;
    readonly openFrom: EpochDay;
    readonly today: EpochDay;
  },
): DemoRecord {
  const isOpen = leave.askedOn >= of.openFrom && leave.from > of.today;
  const decision = leave.isGranted ? 'approved' : 'rejected';
  return demoRecord(`lvr-${dayText(leave.from)}-${of.id}`, instantText(leave.askedOn, of.askedAt), {
    name: person.reference,
    kind: of.kind,
    from: dayText(leave.from),
    to: dayText(leave.to),
    leave_type: leave.leaveType,
    reason: leave.reason,
    status: isOpen ? 'pending' : decision,
    decided_by: isOpen ? undefined : decider.reference,
  });
}
