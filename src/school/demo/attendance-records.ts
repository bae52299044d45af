/** Records of the students' and the staff's attendance, leave requests and holidays. */
import { ATTENDANCE_MARKS } from './attendance-marks.js';
import { type DemoRecord, demoRecord } from './demo-record.js';
import type { DemoSchool, SessionYear } from './demo-school.js';
import { clock, dayText, type EpochDay, instantText } from './epoch-day.js';
import { Random } from './random.js';
import { listEpochDays, type SessionCalendar } from './session-calendar.js';
import type { StaffMember } from './students.js';

export function* holidayRecords(school: DemoSchool, calendar: SessionCalendar): Iterable<DemoRecord> {
  const createdAt = instantText(calendar.start - 20, clock(12, 0));
  const ownClasses = new Set(school.plan.classes.map(({ name }) => name));
  for (const { day, name, classes, isWorking } of calendar.holidays) {
    const own = classes.filter((klass) => ownClasses.has(klass));
    if (classes.length > 0 && own.length === 0) continue;
    yield demoRecord(`hol-${dayText(day)}-${isWorking ? 'w' : 'h'}`, createdAt, {
      date: dayText(day),
      name,
      classes: own,
      working: isWorking,
    });
  }
}

/**
 * Day by day, section by section. Now and then a section's register is forgotten for a day: those students
 * stay unmarked.
 */
export function* attendanceRecords(year: SessionYear): Iterable<DemoRecord> {
  const { calendar, school } = year;
  const forgetful = new Random(school.moment.seed, school.plan.domainId, 'unmarked', calendar.session);
  const forgottenDays = new Map<string, Set<EpochDay>>();
  for (const klass of school.plan.classes) {
    for (const section of klass.sections) {
      const days = calendar.workingDays(klass.name).filter(() => forgetful.isChance(0.004));
      forgottenDays.set(`${klass.name}/${section.name}`, new Set(days));
    }
  }
  for (const day of listEpochDays(calendar.start, year.lastDay)) {
    const date = dayText(day).replaceAll('-', '');
    for (const { enrolment, marks } of year.attendance) {
      const status = ATTENDANCE_MARKS[marks[day - calendar.start] ?? 0];
      if (!status) continue;
      const { student, klass } = enrolment;
      const section = enrolment.sectionOn(day).name;
      if (forgottenDays.get(`${klass.name}/${section}`)?.has(day)) continue;
      const created = instantText(day, clock(8, 30) + klass.index * 60 + enrolment.sectionIndexOn(day) * 17);
      yield {
        id: `att-${date}-${student.id.slice(4)}`,
        createdAt: created,
        data: {
          created,
          student: student.reference,
          class: klass.name,
          section,
          status,
          marked_by: school.staff.classTeacher(klass.name, section).reference,
          created_on: created,
        },
      };
    }
  }
}

interface StaffLeave {
  readonly member: StaffMember;
  readonly askedOn: EpochDay;
  readonly from: EpochDay;
  readonly to: EpochDay;
  readonly leaveType: StaffLeaveType;
  readonly isGranted: boolean;
}

type StaffLeaveType = 'casual' | 'sick' | 'earned';

export function* teacherAttendanceRecords(year: SessionYear): Iterable<DemoRecord> {
  const { calendar } = year;
  const leaves = planStaffLeaves(year).filter(({ isGranted }) => isGranted);
  const randoms = new Map(
    year.school.staff.members.map((member) => [
      member,
      new Random(year.school.moment.seed, year.school.plan.domainId, 'staff', calendar.session, member.id),
    ]),
  );
  for (const day of calendar.workingDays('')) {
    if (day > year.lastDay) return;
    for (const [member, random] of randoms) {
      const leave = leaves.find((own) => own.member === member && own.from <= day && day <= own.to);
      const marked = staffDay(day, random, leave);
      if (day < member.joinedOn || (member.leftOn !== undefined && day > member.leftOn)) continue;
      if (marked === undefined) continue;
      const date = dayText(day).replaceAll('-', '');
      yield demoRecord(`tat-${date}-${member.id.slice(4)}`, instantText(day, marked.markedAt), {
        name: member.reference,
        status: marked.status,
        in_time: marked.inAt === undefined ? undefined : instantText(day, marked.inAt),
        out_time: marked.outAt === undefined ? undefined : instantText(day, marked.outAt),
        leave_type: marked.leaveType,
        remark: marked.remark,
      });
    }
  }
}

interface StaffDay {
  readonly status: 'present' | 'absent' | 'half_day' | 'leave' | 'on_duty';
  /** Second of the day. */
  readonly markedAt: number;
  readonly inAt?: number;
  readonly outAt?: number;
  readonly leaveType?: StaffLeaveType;
  readonly remark?: string;
}

/** One day of one person; `undefined`: nobody marked it. Every call takes the same number of choices. */
function staffDay(day: EpochDay, random: Random, leave: StaffLeave | undefined): StaffDay | undefined {
  const [kind, lateness, exit, minute] = [random.next(), random.next(), random.next(), random.next()];
  const noon = clock(12, 0);
  if (leave) return { status: 'leave', leaveType: leave.leaveType, markedAt: clock(9, 0) };
  const inAt =
    lateness < 0.07 ? clock(8, 1) + Math.floor(minute * 2400) : clock(7, 25) + Math.floor(minute * 2000);
  const outAt = exit < 0.02 ? undefined : clock(14, 40) + Math.floor(minute * 3600) + (day % 5) * 60;
  if (kind < 0.003) return undefined;
  if (kind < 0.012) return { status: 'absent', markedAt: clock(9, 0) };
  if (kind < 0.025) return { status: 'on_duty', markedAt: clock(9, 0), remark: 'Training of the board' };
  if (kind < 0.037) return { status: 'half_day', markedAt: inAt, inAt, outAt: noon, leaveType: 'casual' };
  return { status: 'present', markedAt: inAt, inAt, ...(outAt === undefined ? {} : { outAt }) };
}

function planStaffLeaves(year: SessionYear): readonly StaffLeave[] {
  const { calendar, school } = year;
  const workingDays = calendar.workingDays('');
  return school.staff.members.flatMap((member) => {
    const random = new Random(school.moment.seed, school.plan.domainId, 'leave', calendar.session, member.id);
    const leaves: StaffLeave[] = [];
    for (let index = 0; index < workingDays.length; index++) {
      if (!random.isChance(0.014)) continue;
      const length = random.pick([1, 1, 1, 2, 3, 5] as const);
      const from = workingDays[index];
      const to = workingDays[index + length - 1];
      if (from === undefined || to === undefined) break;
      const askedOn = from - random.integer(0, 6);
      const leaveType = random.pick(['casual', 'casual', 'sick', 'earned'] as const);
      leaves.push({ member, askedOn, from, to, leaveType, isGranted: random.isChance(0.92) });
      index += length;
    }
    return leaves.filter(
      ({ askedOn }) => askedOn >= member.joinedOn && askedOn <= (member.leftOn ?? askedOn),
    );
  });
}

export function* leaveRequestRecords(year: SessionYear): Iterable<DemoRecord> {
  const { school, calendar } = year;
  const { today } = school.moment;
  for (const { enrolment, leaves } of year.attendance) {
    for (const leave of leaves) {
      if (leave.askedOn > year.lastDay) continue;
      const isOpen = leave.askedOn >= today && leave.from > today;
      const id = `lvr-${dayText(leave.from)}-${enrolment.student.id.slice(4)}`;
      yield demoRecord(id, instantText(leave.askedOn, clock(18, 5)), {
        name: enrolment.student.reference,
        kind: 'student',
        from: dayText(leave.from),
        to: dayText(leave.to),
        leave_type: leave.leaveType,
        reason: leave.reason,
        status: isOpen ? 'pending' : leave.decision,
        decided_by: isOpen
          ? undefined
          : school.staff.classTeacher(enrolment.klass.name, enrolment.sectionOn(leave.from).name).reference,
      });
    }
  }
  for (const leave of planStaffLeaves(year)) {
    if (leave.askedOn > year.lastDay || leave.askedOn < calendar.start) continue;
    const isOpen = leave.askedOn >= today - 1 && leave.from > today;
    yield demoRecord(
      `lvr-${dayText(leave.from)}-${leave.member.id}`,
      instantText(leave.askedOn, clock(15, 20)),
      {
        name: leave.member.reference,
        kind: 'staff',
        from: dayText(leave.from),
        to: dayText(leave.to),
        leave_type: leave.leaveType,
        reason: leave.leaveType === 'sick' ? 'Not well' : 'Personal work',
        status: decisionOf(isOpen, leave.isGranted),
        decided_by: isOpen ? undefined : school.staff.principal.reference,
      },
    );
  }
}

function decisionOf(isOpen: boolean, isGranted: boolean): 'pending' | 'approved' | 'rejected' {
  if (isOpen) return 'pending';
  return isGranted ? 'approved' : 'rejected';
}
