/** The students' and the staff's attendance, leave requests and holidays. */
import { type DemoRecord, demoRecord, type RecordMembers } from './demo-record.js';
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
import type { PlannedLeave, SessionYear } from './session-year.js';

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
export function* attendanceRecords(year: SessionYear): Iterable<DemoRecord> {
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

export function* teacherAttendanceRecords(year: SessionYear): Iterable<DemoRecord> {
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
      const id = `tat-${dayText(day).replaceAll('-', '')}-${member.id.slice(4)}`;
      const [markedAt, members] = marked;
      yield demoRecord(id, markedAt, { name: member.reference, ...members });
    }
  }
}

/**
 * The mark of one person on one day: its time and status; `undefined` if nobody marked it. Every call makes
 * the same number of random choices.
 */
function staffDay(
  day: EpochDay,
  random: Random,
  leave: PlannedLeave | undefined,
): readonly [markedAt: string, RecordMembers] | undefined {
  const [kind, lateness, exit, minute] = [random.next(), random.next(), random.next(), random.next()];
  const nine = instantText(day, clock(9, 0));
  if (leave) return [nine, { status: 'leave', leave_type: leave.leaveType }];
  const [first, range] = lateness < 0.07 ? [clock(8, 1), 2400] : [clock(7, 25), 2000];
  const in_time = instantText(day, first + Math.floor(minute * range));
  const leavesAt = clock(14, 40) + Math.floor(minute * 3600) + (day % 5) * 60;
  if (kind < 0.003) return undefined;
  if (kind < 0.012) return [nine, { status: 'absent' }];
  if (kind < 0.025) return [nine, { status: 'on_duty', remark: 'Training of the board' }];
  if (kind >= 0.037) {
    const out_time = exit < 0.02 ? undefined : instantText(day, leavesAt);
    return [in_time, { status: 'present', in_time, out_time }];
  }
  const out_time = instantText(day, clock(12, 0));
  return [in_time, { status: 'half_day', in_time, out_time, leave_type: 'casual' }];
}

function planStaffLeaves({ calendar, school }: SessionYear, member: StaffMember): readonly PlannedLeave[] {
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

export function* leaveRequestRecords(year: SessionYear): Iterable<DemoRecord> {
  const { staff, today } = year.school;
  const ofStudents = year.attendance.flatMap(({ enrolment: { student, klass, sectionOn }, leaves }) =>
    leaves.map((leave) => ({
      ...{ leave, kind: 'student', name: student.reference, idPart: student.id.slice(4), openFrom: today },
      askedAt: clock(18, 5),
      decider: staff.classTeacher(klass.name, sectionOn(leave.from).name),
    })),
  );
  const ofStaff = staff.members.flatMap((member) =>
    planStaffLeaves(year, member)
      .filter(({ askedOn }) => askedOn >= year.calendar.start)
      .map((leave) => ({
        ...{ leave, kind: 'staff', name: member.reference, idPart: member.id, openFrom: today - 1 },
        ...{ askedAt: clock(15, 20), decider: staff.principal },
      })),
  );
  for (const { leave, kind, name, idPart, openFrom, askedAt, decider } of [...ofStudents, ...ofStaff]) {
    if (leave.askedOn > year.lastDay) continue;
    const isOpen = leave.askedOn >= openFrom && leave.from > today;
    const decision = leave.isGranted ? 'approved' : 'rejected';
    yield demoRecord(`lvr-${dayText(leave.from)}-${idPart}`, instantText(leave.askedOn, askedAt), {
      ...{ name, kind },
      from: dayText(leave.from),
      to: dayText(leave.to),
      leave_type: leave.leaveType,
      reason: leave.reason,
      status: isOpen ? 'pending' : decision,
      decided_by: isOpen ? undefined : decider.reference,
    });
  }
}
