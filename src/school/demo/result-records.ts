/** Records of the results of both terms. */
import type { JsonObject } from '../../base/json/json.js';
import { type DemoRecord, demoRecord, present } from './demo-record.js';
import { type DemoSchool, enrolmentsInOrder } from './demo-school.js';
import type { Enrolment } from './enrolment.js';
import { clock, type EpochDay, epochDay, instantText } from './epoch-day.js';
import { Random } from './random.js';
import { type DemoClass, subjectsOf } from './school-plan.js';
import { type SessionCalendar, sessionCalendar } from './session-calendar.js';

type Term = 'halfyear' | 'finalyear';

interface Examination {
  readonly term: Term;
  /** The day on which marks begin to be entered. */
  readonly enteredOn: EpochDay;
  readonly publishedOn: EpochDay;
}

function examinationsOf(calendar: SessionCalendar): readonly Examination[] {
  const { startYear } = calendar;
  const halfYear = epochDay(startYear, 9, 24);
  const finalYear = epochDay(startYear + 1, 3, 18);
  return [
    { term: 'halfyear', enteredOn: halfYear, publishedOn: halfYear + 18 },
    { term: 'finalyear', enteredOn: finalYear, publishedOn: finalYear + 12 },
  ];
}

/**
 * The results begin with the session before the first one, so that a school in April has a grade book too.
 * Until a term is published, marks are missing here and there.
 */
export function* resultRecords(school: DemoSchool): Iterable<DemoRecord> {
  const { today, startYear, years } = school.moment;
  for (let year = startYear - years; year <= startYear; year++) {
    const calendar = sessionCalendar(year);
    const enrolments = enrolmentsInOrder(school, calendar);
    for (const examination of examinationsOf(calendar)) {
      if (examination.enteredOn > today) continue;
      for (const enrolment of enrolments) {
        if (examination.enteredOn < enrolment.from || examination.enteredOn > enrolment.to) continue;
        yield resultRecord(enrolment, { school, calendar, examination });
      }
    }
  }
}

function resultRecord(
  enrolment: Enrolment,
  context: { school: DemoSchool; calendar: SessionCalendar; examination: Examination },
): DemoRecord {
  const { school, calendar, examination } = context;
  const { term, enteredOn } = examination;
  const { student, klass } = enrolment;
  const random = new Random(school.moment.seed, 'results', calendar.session, term, student.sequence);
  const isPublished = examination.publishedOn <= school.moment.today;
  const ability = new Random(school.moment.seed, 'ability', student.sequence).normal(66, 15);
  const sectionIndex = enrolment.sectionIndexOn(enteredOn);
  const missing = isPublished ? 0.0015 : 0.12;
  const id = `res-${calendar.session}-${term}-${student.id.slice(4)}`;
  const record = demoRecord(id, instantText(enteredOn, clock(16, 0)), {
    session: calendar.session,
    term,
    admission_no: student.sequence,
    student: student.reference,
    class: klass.name,
    section: enrolment.sectionOn(enteredOn).name,
    subjects: subjectsOf(klass, sectionIndex).map((subject) => {
      const level = Math.min(98, Math.max(12, random.normal(ability, 9)));
      const isExempt = random.isChance(0.003);
      return {
        subject,
        components: componentsOf(klass, subject).map((component) =>
          componentMarks(component, { random, level, isExempt, missing }),
        ),
      };
    }),
    remarks: random.pick(REMARKS),
    published: isPublished,
  });
  return isPublished ? { ...record, updatedAt: instantText(examination.publishedOn, clock(11, 0)) } : record;
}

interface Component {
  readonly name: string;
  readonly max: number;
  readonly weight: number;
}

const PRACTICAL_SUBJECTS = new Set([
  'Physics',
  'Chemistry',
  'Computer Science',
  'Physical Education',
  'Computer',
]);

/** The maximum is not always the weight: half a paper may stand for more than half of the subject. */
function componentsOf(klass: DemoClass, subject: string): readonly Component[] {
  if (['Pre-primary', 'Primary'].includes(klass.category)) {
    return [
      { name: 'Written', max: 50, weight: 60 },
      { name: 'Oral', max: 20, weight: 20 },
      { name: 'Activity', max: 10, weight: 20 },
    ];
  }
  if (PRACTICAL_SUBJECTS.has(subject)) {
    return [
      { name: 'Theory', max: 70, weight: 70 },
      { name: 'Practical', max: 30, weight: 30 },
    ];
  }
  return [
    { name: 'Periodic test', max: 40, weight: 10 },
    { name: 'Notebook', max: 5, weight: 5 },
    { name: 'Enrichment', max: 5, weight: 5 },
    { name: 'Written', max: 80, weight: 80 },
  ];
}

function componentMarks(
  component: Component,
  context: { random: Random; level: number; isExempt: boolean; missing: number },
): JsonObject {
  const { random, level, isExempt, missing } = context;
  const { name, max, weight } = component;
  const percent = Math.min(100, Math.max(0, random.normal(level, 6)));
  const marks = Math.min(max, Math.round((percent * max) / 50) / 2);
  const chance = random.next();
  const isPaper = max >= 40;
  const state = stateOf({ isExempt, isMissing: chance < missing, isAbsent: isPaper && chance > 0.99 });
  return present({ name, max, weight, marks: state === 'scored' ? marks : undefined, state });
}

function stateOf(is: {
  isExempt: boolean;
  isMissing: boolean;
  isAbsent: boolean;
}): 'exempt' | 'not_entered' | 'absent' | 'scored' {
  if (is.isExempt) return 'exempt';
  if (is.isMissing) return 'not_entered';
  return is.isAbsent ? 'absent' : 'scored';
}

const REMARKS = [
  'Attentive in class',
  'Works hard; practise handwriting',
  'Good in group work',
  'Needs to revise regularly',
  'Reads well, shy to speak',
  'Very good progress',
] as const;
