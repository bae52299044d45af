/** Records of students, staff and classes. */

import type { JsonValue } from '../../base/json/json.js';
import { type DemoRecord, demoRecord } from './demo-record.js';
import { compareTexts, type DemoSchool } from './demo-school.js';
import { clock, dayText, epochDay, instantText } from './epoch-day.js';
import { sessionName, sessionStartYear } from './session-calendar.js';
import type { Student } from './students.js';

export function* registrationRecords(school: DemoSchool): Iterable<DemoRecord> {
  const rollNumbers = numberRolls(school);
  for (const student of school.students) {
    const { klass, section, session } = lastPlace(student, school);
    const { family } = student;
    yield demoRecord(student.id, instantText(student.admittedOn, clock(10, 0)), {
      sequence: student.sequence,
      name: student.name,
      class: klass,
      section,
      roll_no: rollNumbers.get(student),
      gender: student.gender,
      dob: dayText(student.dob),
      father_name: family.fatherName,
      mother_name: family.motherName,
      guardian_phone: family.phone,
      email: family.email,
      address: family.address,
      category: family.category,
      session,
      admitted_on: dayText(student.admittedOn),
      left_on: student.leftOn === undefined ? undefined : dayText(student.leftOn),
      status: student.status,
      route: family.route?.name,
      earlier_stays: stayInFormerSection(student, school),
    });
  }
}

/** The stay before a change of section in the running session. */
function stayInFormerSection(student: Student, school: DemoSchool): JsonValue | undefined {
  const { formerSection: former, classIndex, admittedOn, leftOn } = student;
  const { startYear } = school.moment;
  const klass = school.plan.classes[classIndex];
  const from = Math.max(admittedOn, epochDay(startYear, 4, 1));
  if (!former || !klass || from >= former.until || (leftOn ?? former.until) < former.until) return undefined;
  const section = klass.sections[former.index % klass.sections.length]?.name ?? '';
  const days = { from: dayText(from), to: dayText(former.until - 1) };
  return [{ session: sessionName(startYear), class: klass.name, section, ...days }];
}

/** The place a registration shows: that of the running session, or of the last one attended. */
function lastPlace(
  student: Student,
  school: DemoSchool,
): { klass: string; section: string; session: string } {
  const { classes } = school.plan;
  const klass = classes[Math.min(student.classIndex, classes.length - 1)];
  const { formerSection: former, leftOn } = student;
  const isLeftBefore = former !== undefined && leftOn !== undefined && leftOn < former.until;
  const isFormer = isLeftBefore && leftOn >= epochDay(school.moment.startYear, 4, 1);
  const index = isFormer ? former.index % (klass?.sections.length ?? 1) : student.sectionIndex;
  const section = klass?.sections[index];
  if (!klass || !section) throw new Error(`${student.id} has no class`);
  const startYear = student.leftOn === undefined ? school.moment.startYear : sessionStartYear(student.leftOn);
  return { klass: klass.name, section: section.name, session: sessionName(startYear) };
}

/** Roll numbers start from 1 in each section, by name. */
function numberRolls(school: DemoSchool): ReadonlyMap<Student, number> {
  const studentsBySection = new Map<string, Student[]>();
  for (const student of school.students) {
    const { klass, section, session } = lastPlace(student, school);
    const key = `${session}/${klass}/${section}`;
    const students = studentsBySection.get(key) ?? [];
    students.push(student);
    studentsBySection.set(key, students);
  }
  const rollNumbers = new Map<Student, number>();
  for (const students of studentsBySection.values()) {
    students.sort((left, right) => compareTexts(left.name, right.name) || compareTexts(left.id, right.id));
    students.forEach((student, index) => {
      rollNumbers.set(student, index + 1);
    });
  }
  return rollNumbers;
}

export function* staffRecords(school: DemoSchool): Iterable<DemoRecord> {
  for (const member of school.staff.members) {
    yield demoRecord(member.id, instantText(member.joinedOn, clock(9, 0)), {
      user_name: member.userName,
      name: member.name,
      email: `${member.userName}@${school.plan.mailDomain}`,
      phone: member.phone,
      active: member.leftOn === undefined,
      roles: member.roles,
      employee_code: member.employeeCode,
      department: member.department,
      designation: member.designation,
      joined_on: dayText(member.joinedOn),
      left_on: member.leftOn === undefined ? undefined : dayText(member.leftOn),
    });
  }
}

export function* classRecords(school: DemoSchool, createdAt: string): Iterable<DemoRecord> {
  for (const klass of school.plan.classes) {
    yield demoRecord(`class-${klass.name}`, createdAt, {
      name: klass.name,
      category: klass.category,
      order: klass.order,
      sections: klass.sections.map((section) => ({
        name: section.name,
        class_teacher: school.staff.classTeacher(klass.name, section.name).reference,
        capacity: section.capacity,
        room: section.room,
      })),
    });
  }
}
