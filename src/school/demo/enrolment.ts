import { byName, type DemoSchool } from './people.js';
import type { DemoClass } from './school-plan.js';
import type { EpochDay, SessionCalendar } from './session-calendar.js';

/** A student's place in one session: the class, the section on each day, and the days on roll. */
export type Enrolment = ReturnType<typeof listEnrolments>[number];

/** All students on roll in a session, by class, section and name. */
export function listEnrolments(school: DemoSchool, calendar: SessionCalendar) {
  const yearsAgo = school.startYear - calendar.startYear;
  const enrolments = school.students.flatMap((student) => {
    const klass = school.plan.classes[student.classIndex - yearsAgo];
    // The first and the last day on roll in this session, both included.
    const from = Math.max(student.admittedOn, calendar.start);
    const to = Math.min(student.leftOn ?? calendar.end, calendar.end);
    if (!klass || to < from) return [];
    const former = yearsAgo === 0 ? student.formerSection : undefined;
    const sectionIndexOn = (day: EpochDay): number =>
      (former && day < former.until ? former.index : student.sectionIndex) % klass.sections.length;
    const sectionOn = (day: EpochDay) => klass.sections[sectionIndexOn(day)] as DemoClass['sections'][number];
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
