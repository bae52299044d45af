import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { sessionType, term, textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, jsonListOf } from './engine/report-parts.js';
import { assertStudent } from './shared/assert-place.js';
import { gradedResults } from './shared/graded-results.js';
import { isInSections } from './shared/record-parts.js';

const GradeBookComponent = rowType('GradeBookComponent', 'A part of the mark of a subject.', {
  name: column.text('The component, e.g. Written.'),
  marks: column.text('What was got: the marks, AB (absent), EX (exempt) or – (not entered).'),
  max: column.nullable.number('The greatest marks possible.'),
  weight: column.nullable.number('The share in the subject, in the same unit over its components.'),
});

const GradeBookSubject = rowType('GradeBookSubject', 'What the student got in one subject.', {
  subject: column.text('The subject.'),
  components: column.rows(GradeBookComponent, 'What it is made of.'),
  percent: column.nullable.percent('The weighted percentage; none where it is incomplete or exempt.'),
  grade: column.nullable.text('The grade.'),
  state: column.text('graded, incomplete (something is not entered) or exempt.'),
  passed: column.nullable.flag('Whether it is passed.'),
  sectionHighest: column.nullable.percent('The highest percentage in the section.'),
  sectionAverage: column.nullable.percent('The mean percentage in the section.'),
});

const GradeBookTotals = rowType('GradeBookTotals', 'The result of the student.', {
  studentId: column.nullable.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.nullable.text('Name of the student.'),
  class: column.nullable.text('The class in that session.'),
  section: column.nullable.text('The section in that session.'),
  percent: column.nullable.percent('Mean of the graded subjects; none while something is not entered.'),
  grade: column.nullable.text('The grade of it.'),
  result: column.nullable.text('pass, compartment (one or two subjects not passed), fail, or incomplete.'),
  rank: column.nullable.whole('Rank in the section; none while incomplete.'),
  sectionSize: column.nullable.whole('How many results the section has.'),
  classRank: column.nullable.whole('Rank in the whole class.'),
  classSize: column.nullable.whole('How many results the class has.'),
  remarks: column.nullable.text("The class teacher's words."),
  published: column.nullable.flag('Whether families may see it.'),
});

/**
 * The grade book of a student for a term: one row per subject, with the result in the totals. Without a
 * result for the term there are no rows, and the totals are empty.
 *
 * @see reports 14
 */
export const gradeBook = defineReport({
  name: 'grade-book',
  title: 'Student grade book for a term',
  description: 'What a student got in each subject of a term, with percentage, grade, rank and result.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/result',
    query: 'stream=true&oquery=session=2026-27,term=halfyear,admission_no=GV-01042',
  },
  parameters: {
    session: required(sessionType, { restName: 'session', description: 'The school year.' }),
    term: required(term, { restName: 'term', description: 'The term.' }),
    admissionNo: required(textType, {
      restName: 'admission_no',
      description: "The student's admission number.",
    }),
  },
  roles: [],
  teachers: 'taught',
  row: GradeBookSubject,
  totals: GradeBookTotals,
  example: { session: '2026-27', term: 'halfyear', admissionNo: 'GV-01042' },
  check: ({ admissionNo }, context) => assertStudent(context, admissionNo),
  parts: ({ session, term, admissionNo }, { domain, sections, settings }) => ({
    ctes: sql`
own as materialized (
  select r.id, r.data->'class' as class
  from records r
  where ${liveRecordsIn(domain, 'result')}
    and r.data->'admission_no' = to_jsonb(${admissionNo}::text)
    and r.data->>'session' = ${session} and r.data->>'term' = ${term}
    and ${isInSections(sections)}
  order by r.id
  limit 1
),
-- The whole class, for the ranks.
results as materialized (
  select
    r.id, r.data->>'class' as class, r.data->>'section' as section, r.data->'student'->>'value' as student,
    r.data->>'admission_no' as admission_no, r.data->>'remarks' as remarks,
      coalesce(r.data->'published' = 'true', false) as is_published,
    r.data->'subjects' as subjects
  from records r
  where ${liveRecordsIn(domain, 'result')}
    and r.data->'class' = (select class from own)
    and r.data->>'session' = ${session} and r.data->>'term' = ${term}
),
${gradedResults(settings)},
footers as (
  select s.subject, max(s.percent) as highest, round(avg(s.exact_percent), 2) as average
  from ranked k
  join subjects s on s.id = k.id
  where k.section = (select section from ranked where id = (select id from own))
  group by s.subject
)`,
    rows: {
      position: sql`s.subject_place`,
      key: sql`s.subject`,
      of: 's',
      columns: {
        components: sql`(
          select ${jsonListOf(GradeBookComponent, sql`c.place`, {
            of: 'c',
            columns: {
              marks: sql`case when c.is_missing then '–' when c.state = 'absent' then 'AB'
                when c.state = 'exempt' then 'EX' else trim_scale(c.marks)::text end`,
            },
          })}
          from components c
          where c.id = s.id and c.subject_place = s.subject_place
        )`,
        passed: sql`s.percent >= ${settings.passPercent}`,
        sectionHighest: sql`f.highest`,
        sectionAverage: sql`f.average`,
      },
      from: sql`from subjects s
left join footers f on f.subject = s.subject
where s.id = (select id from own)`,
    },
    totals: {
      of: 'k',
      columns: {
        studentId: sql`k.student`,
        admissionNo: sql`sent.admission_no`,
        name: sql`person.name`,
        result: sql`k.outcome`,
        rank: sql`k.section_rank`,
        published: sql`k.is_published`,
      },
      from: sql`from (select ${admissionNo}::text as admission_no) as sent
left join ranked k on k.id = (select id from own)
left join lateral (
  select r.data->>'name' as name
  from records r
  where ${liveRecordsIn(domain, 'registration')}
    and r.data->'sequence' = to_jsonb(${admissionNo}::text)
  limit 1
) as person on true`,
    },
    leftOut: [faultsIn('components', 'result', sql`id = (select id from own)`)],
  }),
});
