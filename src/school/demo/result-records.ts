/** Records of the results of both terms. */
import { defined } from '../../base/json/json.js';
import { type DemoRecord, demoRecord } from './demo-record.js';
import { type Enrolment, listEnrolments } from './enrolment.js';
import type { DemoSchool } from './people.js';
import { Random } from './random.js';
import { type DemoClass, subjectsOf } from './school-plan.js';
import { clock, type EpochDay, epochDay, instantText, sessionCalendar } from './session-calendar.js';

/**
 * The results begin with the session before the first one, so that a school in April has a grade book too.
 * Until a term is published, marks are missing here and there.
 */
export function* resultRecords(school: DemoSchool): Iterable<DemoRecord> {
  const { today, startYear, years } = school;
  for (let year = startYear - years; year <= startYear; year++) {
    const calendar = sessionCalendar(year);
    const enrolments = listEnrolments(school, calendar);
    for (const [term, enteredOn, days] of [
      ['halfyear', epochDay(year, 9, 24), 18],
      ['finalyear', epochDay(year + 1, 3, 18), 12],
    ] as const) {
      if (enteredOn > today) continue;
      const examination = { session: calendar.session, term, enteredOn, publishedOn: enteredOn + days };
      for (const enrolment of enrolments) {
        if (enteredOn >= enrolment.from && enteredOn <= enrolment.to)
          yield resultRecord(school, enrolment, examination);
      }
    }
  }
}

/** Marks are entered from `enteredOn`. */
function resultRecord(
  { seed, today }: DemoSchool,
  enrolment: Enrolment,
  examination: { session: string; term: string; enteredOn: EpochDay; publishedOn: EpochDay },
): DemoRecord {
  const { session, term, enteredOn, publishedOn } = examination;
  const { student, klass } = enrolment;
  const random = new Random(seed, 'results', session, term, student.sequence);
  const isPublished = publishedOn <= today;
  const missing = isPublished ? 0.0015 : 0.12;
  const ability = new Random(seed, 'ability', student.sequence).normal(66, 15);
  const id = `res-${session}-${term}-${student.id.slice(4)}`;
  const record = demoRecord(id, instantText(enteredOn, clock(16, 0)), {
    ...{ session, term },
    admission_no: student.sequence,
    student: student.reference,
    class: klass.name,
    section: enrolment.sectionOn(enteredOn).name,
    subjects: subjectsOf(klass, enrolment.sectionIndexOn(enteredOn)).map((subject) => {
      const level = Math.min(98, Math.max(12, random.normal(ability, 9)));
      const isExempt = random.isChance(0.003);
      const components = Object.entries(componentsOf(klass, subject)).map(([name, [max, weight]]) => {
        const percent = Math.min(100, Math.max(0, random.normal(level, 6)));
        const marks = Math.min(max, Math.round((percent * max) / 50) / 2);
        const chance = random.next();
        let state = 'scored';
        if (isExempt) state = 'exempt';
        else if (chance < missing) state = 'not_entered';
        else if (max >= 40 && chance > 0.99) state = 'absent';
        return defined({ name, max, weight, marks: state === 'scored' ? marks : undefined, state });
      });
      return { subject, components };
    }),
    remarks: random.pick(REMARKS),
    published: isPublished,
  });
  return { ...record, ...(isPublished && { updatedAt: instantText(publishedOn, clock(11, 0)) }) };
}

const PRACTICAL = 'Physics, Chemistry, Computer Science, Physical Education, Computer'.split(', ');

type Components = Readonly<Record<string, readonly [max: number, weight: number]>>;

/** The maximum is not always the weight: half a paper may stand for more than half of the subject. */
function componentsOf(klass: DemoClass, subject: string): Components {
  if (['Pre-primary', 'Primary'].includes(klass.category))
    return { Written: [50, 60], Oral: [20, 20], Activity: [10, 20] };
  if (PRACTICAL.includes(subject)) return { Theory: [70, 70], Practical: [30, 30] };
  return { 'Periodic test': [40, 10], Notebook: [5, 5], Enrichment: [5, 5], Written: [80, 80] };
}

const REMARKS = [
  'Attentive in class',
  'Works hard; practise handwriting',
  'Good in group work',
  'Needs to revise regularly',
  'Reads well, shy to speak',
  'Very good progress',
] as const;
