/** A student's place in one session: the class, the section on each day, and the days on roll. */
import type { EpochDay } from './epoch-day.js';
import type { DemoClass, DemoSection, SchoolPlan } from './school-plan.js';
import type { SessionCalendar } from './session-calendar.js';
import type { SchoolMoment, Student } from './students.js';

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

export function listEnrolments(
  plan: SchoolPlan,
  moment: SchoolMoment,
  context: { students: readonly Student[]; calendar: SessionCalendar },
): readonly Enrolment[] {
  const { calendar } = context;
  const yearsAgo = moment.startYear - calendar.startYear;
  return context.students.flatMap((student): Enrolment[] => {
    const klass = plan.classes[student.classIndex - yearsAgo];
    const from = Math.max(student.admittedOn, calendar.start);
    const to = Math.min(student.leftOn ?? calendar.end, calendar.end);
    if (!klass || to < from) return [];
    const former = yearsAgo === 0 ? student.formerSection : undefined;
    const sectionIndexOn = (day: EpochDay): number => {
      const index = former && day < former.until ? former.index : student.sectionIndex;
      return index % klass.sections.length;
    };
    const sectionOn = (day: EpochDay): DemoSection => {
      const section = klass.sections[sectionIndexOn(day)];
      if (!section) throw new Error(`class ${klass.name} has no section ${sectionIndexOn(day)}`);
      return section;
    };
    return [
      { student, klass, from, to, isNew: student.admittedOn >= calendar.start, sectionOn, sectionIndexOn },
    ];
  });
}
