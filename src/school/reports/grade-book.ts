import { liveRecordsIn } from '../../store/sql/records-of.js';
import { type Sql, sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { sessionType, term, textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, jsonListOf } from './engine/report-parts.js';
import { assertPlace, assertStudent } from './shared/assert-place.js';
import { inSection } from './shared/common-parameters.js';
import { gradedResults } from './shared/graded-results.js';
import { isNobody } from './shared/orphans.js';
import { isInSections, rollNumber } from './shared/record-parts.js';

const OUTCOME = {
  percent: column.nullable.percent('Mean of the graded subjects; none while something is not entered.'),
  grade: column.nullable.text('The grade of it.'),
  result: column.nullable.text('pass, compartment (one or two subjects not passed), fail, or incomplete.'),
  rank: column.nullable.whole('Rank in the section; none while incomplete.'),
};

const GRADED = {
  percent: column.nullable.percent('The weighted percentage; none if it is incomplete or exempt.'),
  grade: column.nullable.text('The grade.'),
  state: column.text('graded, incomplete (something is not entered) or exempt.'),
};

const GradeBookComponent = rowType('GradeBookComponent', 'A part of the mark of a subject.', {
  name: column.text('The component, e.g. Written.'),
  marks: column.text('The marks, AB (absent), EX (exempt) or – (not entered).'),
  max: column.nullable.number('The greatest marks possible.'),
  weight: column.nullable.number('The share in the subject, in the same unit over its components.'),
});

const GradeBookSubject = rowType('GradeBookSubject', 'The marks of the student in one subject.', {
  subject: column.text('The subject.'),
  components: column.rows(GradeBookComponent, 'Its components.'),
  ...GRADED,
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
  ...OUTCOME,
  sectionSize: column.nullable.whole('Number of results of the section.'),
  classRank: column.nullable.whole('Rank in the whole class.'),
  classSize: column.nullable.whole('Number of results of the class.'),
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
  description: 'The marks of a student in each subject of a term, with percentage, grade, rank and result.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/result',
    query: 'stream=true&oquery=session=2026-27,term=halfyear,admission_no=GV-01042',
  },
  parameters: {
    session: required(sessionType, 'The school year.'),
    term: required(term, 'The term.'),
    admissionNo: required(textType, "The student's admission number."),
  },
  reads: ['registration', 'result'],
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
${resultsOf(sql`(select class from own)`, { domain, session, term })},
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

const ClassGradeBookSubject = rowType('ClassGradeBookSubject', 'The marks of a student in one subject.', {
  subject: column.text('The subject.'),
  ...GRADED,
  wasAbsent: column.flag('Whether a paper was missed (AB); it counts 0.'),
});

const ClassGradeBookStudent = rowType(
  'ClassGradeBookStudent',
  "A student's line in the grade book of a class.",
  {
    section: column.text('The section.'),
    rollNo: column.nullable.whole('Roll number.'),
    studentId: column.nullable.text('`_id` of the student.'),
    admissionNo: column.text('Admission number.'),
    name: column.nullable.text(
      'Name of the student; of one whose registration is removed, the name on the result.',
    ),
    subjects: column.rows(ClassGradeBookSubject, 'By subject.', { label: 'subject', value: 'percent' }),
    ...OUTCOME,
    sectionSize: column.whole('Number of results of the section.'),
    classRank: column.nullable.whole('Rank in the whole class.'),
    classSize: column.whole('Number of results of the class.'),
    published: column.flag('Whether families may see it.'),
  },
);

const SubjectFooter = rowType('SubjectFooter', 'One subject over all students listed.', {
  subject: column.text('The subject.'),
  graded: column.whole('Students graded in it.'),
  highest: column.nullable.percent('The highest percentage.'),
  average: column.nullable.percent('The mean of the percentages.'),
  passed: column.whole('Number of students who passed.'),
  incomplete: column.whole('Number of incomplete results.'),
});

const ClassGradeBookTotals = rowType('ClassGradeBookTotals', 'All students listed.', {
  students: column.whole('Number of results.'),
  pass: column.whole('Number of students who passed.'),
  compartment: column.whole('Number of students with a compartment.'),
  fail: column.whole('Number of students who failed.'),
  incomplete: column.whole('Number of incomplete results.'),
  highest: column.nullable.percent('The highest overall percentage.'),
  average: column.nullable.percent('The mean of the overall percentages.'),
  subjects: column.rows(SubjectFooter, 'By subject.'),
});

/**
 * The results of a class for a term, with ranks and a footer per subject. Ranks are those within the whole
 * section and class, even if only one section is shown.
 *
 * pass + compartment + fail + incomplete = students, except students exempt from everything.
 *
 * @see reports 14
 */
export const classGradeBook = defineReport({
  name: 'class-grade-book',
  title: 'Grade book of a class for a term',
  description: 'The results of a class for a term: percentages, grades and ranks, with a footer per subject.',
  parameters: {
    session: required(sessionType, 'The school year.'),
    term: required(term, 'The term.'),
    class: required(textType, 'The class.'),
    section: inSection,
  },
  reads: ['registration', 'result'],
  roles: [],
  teachers: 'taught',
  row: ClassGradeBookStudent,
  totals: ClassGradeBookTotals,
  example: { session: '2026-27', term: 'halfyear', class: '5' },
  check: assertPlace,
  parts: ({ session, term, class: className, section = null }, { domain, sections, settings }) => ({
    ctes: sql`
${resultsOf(sql`to_jsonb(${className}::text)`, { domain, session, term })},
${gradedResults(settings)},
listed as materialized (
  select
    k.*, s.roll_no, coalesce(s.name, l.label) as name,
    row_number() over (order by k.section, s.roll_no, coalesce(s.name, l.label), k.admission_no,
      k.id) as position
  from ranked k
  join results l on l.id = k.id
  left join lateral (
    select
      r.data->>'name' as name,${rollNumber} as roll_no
    from records r
    where ${liveRecordsIn(domain, 'registration')} and r.id = k.student
    offset 0
  ) as s on true
  where (${section}::text is null or k.section = ${section}::text)
    and ${isInSections(sections, { className: sql`k.class`, section: sql`k.section` })}
),
listed_subjects as materialized (
  select s.* from subjects s where s.id in (select id from listed)
),
books as materialized (
  select id, ${jsonListOf(ClassGradeBookSubject, sql`subject_place`)} as subjects
  from listed_subjects
  group by id
)`,
    rows: {
      key: sql`l.id`,
      of: 'l',
      columns: {
        studentId: sql`l.student`,
        subjects: sql`b.subjects`,
        result: sql`l.outcome`,
        rank: sql`l.section_rank`,
        published: sql`l.is_published`,
      },
      from: sql`from listed l
left join books b on b.id = l.id`,
    },
    totals: {
      columns: {
        students: sql`count(*)`,
        pass: sql`count(*) filter (where outcome = 'pass')`,
        compartment: sql`count(*) filter (where outcome = 'compartment')`,
        fail: sql`count(*) filter (where outcome = 'fail')`,
        incomplete: sql`count(*) filter (where outcome = 'incomplete')`,
        highest: sql`max(percent)`,
        average: sql`round(avg(percent), 2)`,
        subjects: sql`(
          select ${jsonListOf(SubjectFooter, sql`place, subject`)}
          from (
            select
              subject, min(subject_place) as place, count(percent) as graded, max(percent) as highest,
                round(avg(exact_percent), 2) as average,
              count(*) filter (where percent >= ${settings.passPercent}) as passed,
                count(*) filter (where is_missing) as incomplete
            from listed_subjects
            group by subject
          ) as footer
        )`,
      },
      over: sql`from listed`,
    },
    leftOut: [
      faultsIn('components', 'result', sql`id in (select id from listed)`),
      sql`select 'result', id, 'its student does not exist' from listed
where ${isNobody(domain, sql`listed.student`)}`,
    ],
  }),
});

/** The results of a class for a term: the CTE that `gradedResults` reads. */
function resultsOf(
  className: Sql,
  of: { readonly domain: string; readonly session: string; readonly term: string },
): Sql {
  return sql`results as materialized (
  select
    r.id, r.data->>'class' as class, r.data->>'section' as section, r.data->'student'->>'value' as student,
    r.data->'student'->>'label' as label, r.data->>'admission_no' as admission_no,
    r.data->>'remarks' as remarks, coalesce(r.data->'published' = 'true', false) as is_published,
    r.data->'subjects' as subjects
  from records r
  where ${liveRecordsIn(of.domain, 'result')} and r.data->'class' = ${className}
    and r.data->>'session' = ${of.session} and r.data->>'term' = ${of.term}
)`;
}
