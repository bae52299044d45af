import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { sessionType, term, textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, jsonListOf } from './engine/report-parts.js';
import { assertPlace } from './shared/assert-place.js';
import { inSection } from './shared/common-parameters.js';
import { gradedResults } from './shared/graded-results.js';
import { isNobody } from './shared/orphans.js';
import { isInSections, rollNumber } from './shared/record-parts.js';

const ClassGradeBookSubject = rowType('ClassGradeBookSubject', 'What a student got in one subject.', {
  subject: column.text('The subject.'),
  percent: column.nullable.percent('The weighted percentage; none where it is incomplete or exempt.'),
  grade: column.nullable.text('The grade.'),
  state: column.text('graded, incomplete (something is not entered) or exempt.'),
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
    subjects: column.rows(ClassGradeBookSubject, 'By subject.', {
      kind: 'spread',
      label: 'subject',
      value: 'percent',
    }),
    percent: column.nullable.percent('Mean of the graded subjects; none while something is not entered.'),
    grade: column.nullable.text('The grade of it.'),
    result: column.nullable.text('pass, compartment (one or two subjects not passed), fail, or incomplete.'),
    rank: column.nullable.whole('Rank in the section; none while incomplete.'),
    sectionSize: column.whole('How many results the section has.'),
    classRank: column.nullable.whole('Rank in the whole class.'),
    classSize: column.whole('How many results the class has.'),
    published: column.flag('Whether families may see it.'),
  },
);

const SubjectFooter = rowType('SubjectFooter', 'One subject over all students listed.', {
  subject: column.text('The subject.'),
  graded: column.whole('Students graded in it.'),
  highest: column.nullable.percent('The highest percentage.'),
  average: column.nullable.percent('The mean of the percentages.'),
  passed: column.whole('How many passed.'),
  incomplete: column.whole('How many are incomplete.'),
});

const ClassGradeBookTotals = rowType('ClassGradeBookTotals', 'All students listed.', {
  students: column.whole('How many results.'),
  pass: column.whole('How many passed.'),
  compartment: column.whole('How many with a compartment.'),
  fail: column.whole('How many failed.'),
  incomplete: column.whole('How many are incomplete.'),
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
    session: required(sessionType, { restName: 'session', description: 'The school year.' }),
    term: required(term, { restName: 'term', description: 'The term.' }),
    class: required(textType, { restName: 'class', description: 'The class.' }),
    section: inSection,
  },
  roles: [],
  teachers: 'taught',
  row: ClassGradeBookStudent,
  totals: ClassGradeBookTotals,
  example: { session: '2026-27', term: 'halfyear', class: '5' },
  check: assertPlace,
  parts: ({ session, term, class: className, section = null }, { domain, sections, settings }) => ({
    ctes: sql`
results as materialized (
  select
    r.id, r.data->>'class' as class, r.data->>'section' as section, r.data->'student'->>'value' as student,
      r.data->'student'->>'label' as label,
    r.data->>'admission_no' as admission_no, r.data->>'remarks' as remarks,
      coalesce(r.data->'published' = 'true', false) as is_published,
    r.data->'subjects' as subjects
  from records r
  where ${liveRecordsIn(domain, 'result')}
    and r.data->'class' = to_jsonb(${className}::text)
    and r.data->>'session' = ${session} and r.data->>'term' = ${term}
),
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
      position: sql`l.position`,
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
