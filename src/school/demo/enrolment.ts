import { byName, type DemoSchool, type Student } from './people.js';
import type { DemoClass, DemoSection } from './school-plan.js';
import type { EpochDay, SessionCalendar } from './session-calendar.js';

/** A student's place in one session: the class, the section on each day, and the days on roll. */
export interface Enrolment {
  readonly student: Student;
  readonly klass: DemoClass;
  /** The first and the last day on roll in this session, both included. */
  readonly from: EpochDay;
  readonly to: EpochDay;
  /** Admitted in this session. */
  readonly isNew: boolean;
  sectionOn(day: EpochDay): DemoSection;
  sectionIndexOn(day: EpochDay): number;
}

/** Everybody who is on roll in a session, by class, section and name. */
export function listEnrolments(school: DemoSchool, calendar: SessionCalendar): readonly Enrolment[] {
  const yearsAgo = school.startYear - calendar.startYear;
  const enrolments = school.students.flatMap((student): Enrolment[] => {
    const klass = school.plan.classes[student.classIndex - yearsAgo];
    const from = Math.max(student.admittedOn, calendar.start);
    const to = Math.min(student.leftOn ?? calendar.end, calendar.end);
    if (!klass || to < from) return [];
    const former = yearsAgo === 0 ? student.formerSection : undefined;
    const sectionIndexOn = (day: EpochDay): number =>
      (former && day < former.until ? former.index : student.sectionIndex) % klass.sections.length;
    const sectionOn = (day: EpochDay) => klass.sections[sectionIndexOn(day)] as DemoSection;
    const isNew = student.admittedOn >= calendar.start;
    return [{ student, klass, from, to, isNew, sectionOn, sectionIndexOn }];
  });
  return enrolments.sort(
    ({ klass, student }, other) =>
      klass.index - other.klass.index ||
      student.sectionIndex - other.student.sectionIndex ||
      byName(student, other.student),
  );
}
