/** Records of the results of both terms. */
import type { JsonObject } from '../../base/json/json.js';
import { type DemoRecord, demoRecord, present } from './demo-record.js';
import { type Enrolment, listEnrolments } from './enrolment.js';
import type { DemoSchool } from './people.js';
import { Random } from './random.js';
import { type DemoClass, subjectsOf } from './school-plan.js';
import { clock, type EpochDay, epochDay, instantText, sessionCalendar } from './session-calendar.js';

interface Examination {
  readonly session: string;
  readonly term: 'halfyear' | 'finalyear';
  /** The day on which marks begin to be entered. */
  readonly enteredOn: EpochDay;
  readonly publishedOn: EpochDay;
}

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

function resultRecord(
  { seed, today }: DemoSchool,
  enrolment: Enrolment,
  { session, term, enteredOn, publishedOn }: Examination,
): DemoRecord {
  const { student, klass } = enrolment;
  const random = new Random(seed, 'results', session, term, student.sequence);
  const isPublished = publishedOn <= today;
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
      const missing = isPublished ? 0.0015 : 0.12;
      const components = componentsOf(klass, subject).map((component) =>
        withMarks(component, { random, level, isExempt, missing }),
      );
      return { subject, components };
    }),
    remarks: random.pick(REMARKS),
    published: isPublished,
  });
  return { ...record, ...(isPublished && { updatedAt: instantText(publishedOn, clock(11, 0)) }) };
}

type Component = readonly [name: string, max: number, weight: number];

const PRACTICAL = 'Physics, Chemistry, Computer Science, Physical Education, Computer'.split(', ');

/** The maximum is not always the weight: half a paper may stand for more than half of the subject. */
function componentsOf(klass: DemoClass, subject: string): readonly Component[] {
  if (['Pre-primary', 'Primary'].includes(klass.category)) {
    return [
      ['Written', 50, 60],
      ['Oral', 20, 20],
      ['Activity', 10, 20],
    ];
  }
  if (PRACTICAL.includes(subject)) {
    return [
      ['Theory', 70, 70],
      ['Practical', 30, 30],
    ];
  }
  return [
    ['Periodic test', 40, 10],
    ['Notebook', 5, 5],
    ['Enrichment', 5, 5],
    ['Written', 80, 80],
  ];
}

function withMarks(
  [name, max, weight]: Component,
  of: {
    readonly random: Random;
    readonly level: number;
    readonly isExempt: boolean;
    readonly missing: number;
  },
): JsonObject {
  const percent = Math.min(100, Math.max(0, of.random.normal(of.level, 6)));
  const marks = Math.min(max, Math.round((percent * max) / 50) / 2);
  const chance = of.random.next();
  let state = 'scored';
  if (of.isExempt) state = 'exempt';
  else if (chance < of.missing) state = 'not_entered';
  else if (max >= 40 && chance > 0.99) state = 'absent';
  return present({ name, max, weight, marks: state === 'scored' ? marks : undefined, state });
}

const REMARKS = [
  'Attentive in class',
  'Works hard; practise handwriting',
  'Good in group work',
  'Needs to revise regularly',
  'Reads well, shy to speak',
  'Very good progress',
] as const;
