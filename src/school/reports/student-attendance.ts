import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { textType } from './engine/parameter-types.js';
import { optional, parameterError } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { firstDayOf, lastDayOf } from './engine/school-calendar.js';
import { assertPlace, assertStudent } from './shared/assert-place.js';
import { checkRange, inSection, startAndEnd } from './shared/common-parameters.js';
import { isInSections } from './shared/record-parts.js';
import {
  countingMark,
  marksOf,
  marksOfNoDay,
  presentDays,
  registeredStudents,
  sessionStart,
  studentDays,
  studentsOfClass,
  unusableAttendance,
} from './shared/student-days.js';

const StudentAttendanceDay = rowType('StudentAttendanceDay', "A student's working day.", {
  day: column.day('The day.'),
  status: column.text('present, absent, late, half_day, leave or unmarked.'),
  class: column.text('Class on the day.'),
  section: column.text('Section on the day.'),
});

const StudentAttendance = rowType('StudentAttendance', 'The attendance of one student.', {
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.text('Name of the student.'),
  class: column.text('Class at the end of the range.'),
  section: column.text('Section at the end of the range.'),
  rollNo: column.nullable.whole('Roll number.'),
  workingDays: column.whole('Working days on roll.'),
  present: column.whole('Days marked present.'),
  absent: column.whole('Days marked absent.'),
  late: column.whole('Days marked late; they count present.'),
  halfDay: column.whole('Half days; each counts 0.5.'),
  leave: column.whole('Days of leave.'),
  unmarked: column.whole('Working days without a mark.'),
  presentDays: column.number(
    'Days that count present: present + late + 0.5 half (+ leave, by setting). Unit: days.',
  ),
  percent: column.nullable.percent('Days that count present of the working days on roll.'),
  absenceStreak: column.whole(
    'How many of the last marked working days of the session, up to the end of the range, are ' +
      'absences without another mark between them; unmarked days are passed over. Unit: days.',
  ),
  days: column.rows(StudentAttendanceDay, 'The working days on roll.'),
});

const StudentAttendanceTotals = rowType('StudentAttendanceTotals', 'All students listed.', {
  students: column.whole('How many students.'),
  workingDays: column.whole('Sum of the working days on roll.'),
  present: column.whole('Days marked present.'),
  absent: column.whole('Days marked absent.'),
  late: column.whole('Days marked late.'),
  halfDay: column.whole('Half days.'),
  leave: column.whole('Days of leave.'),
  unmarked: column.whole('Working days without a mark.'),
  presentDays: column.number('Sum of the days that count present. Unit: days.'),
  percent: column.nullable.percent('Sum of present days by sum of working days.'),
});

/**
 * The days of one student, or of the students of a class, by the rules of the class register.
 *
 * For every student: present + absent + late + halfDay + leave + unmarked = workingDays.
 *
 * @see reports 10, 9
 */
export const studentAttendance = defineReport({
  name: 'student-attendance',
  title: 'Student attendance',
  description: 'The days of a student, or of the students of a class: counts, percentage, streak of absence.',
  recordRoute: { method: 'GET', path: '/o/recs/attendance', query: 'stream=true&oquery=created=today' },
  parameters: {
    admissionNo: optional(textType, {
      restName: 'admission_no',
      description: "One student's admission number; either this or a class.",
    }),
    class: optional(textType, { restName: 'class', description: 'The students of a class.' }),
    section: inSection,
    ...startAndEnd(),
  },
  roles: ['clerk', 'viewer'],
  teachers: 'taught',
  row: StudentAttendance,
  totals: StudentAttendanceTotals,
  example: { class: '5', section: 'A', start: '2026-07-01', end: '2026-07-31' },
  async check({ admissionNo, class: className, section, start, end }, context) {
    if ((admissionNo === undefined) === (className === undefined)) {
      const expected = 'either admission_no or class';
      throw parameterError('admission_no', `and class: expected ${expected}, and not both`, { expected });
    }
    if (section !== undefined && className === undefined) {
      throw parameterError('section', 'is of no class; expected class beside it', { sent: section });
    }
    checkRange(['start', start], ['end', end], [366, '12 months']);
    const student = admissionNo === undefined ? {} : await assertStudent(context, admissionNo);
    return { ...student, ...(await assertPlace({ class: className, section }, context)) };
  },
  parts: ({ admissionNo = null, class: className = null, section = null, start, end }, context) => {
    const { domain, settings, sections } = context;
    const range = { first: firstDayOf(start), last: lastDayOf(end) };
    const students =
      className === null
        ? sql`
students as materialized (
  select ${registeredStudents(context)}
  from records r
  where ${liveRecordsIn(domain, 'registration')} and r.data->'sequence' = to_jsonb(${admissionNo}::text)
)`
        : studentsOfClass({ className, section }, range, context);
    return {
      ctes: sql`${students},
${studentDays(
  {
    ...range,
    classes: sql`select null where false`,
    where: sql`(${className}::text is null or p.class = ${className}::text)
      and (${section}::text is null or p.section = ${section}::text)
    and ${isInSections(sections, { className: sql`p.class`, section: sql`p.section` })}`,
  },
  context,
)},
counted as materialized (
  select counts.*, ${presentDays(settings)} as present_days, day.class, day.section, day.days
  from (
    select
      student, sum(working_days) as working_days, sum(present) as present, sum(absent) as absent,
        sum(late) as late,
      sum(half_day) as half_day, sum(leave) as leave, sum(unmarked) as unmarked
    from register
    group by student
  ) as counts
  join (
    select
      r.student, (array_agg(r.class order by d.day desc))[1] as class, (array_agg(r.section
        order by d.day desc))[1] as section,
      ${jsonListOf(StudentAttendanceDay, sql`d.day`, {
        of: 'r',
        columns: {
          day: sql`d.day`,
          status: sql`case letter when 'P' then 'present' when 'A' then 'absent' when 'L' then 'late'
            when 'H' then 'half_day' when 'V' then 'leave' else 'unmarked' end`,
        },
      })} filter (where d.is_working) as days
    from register r
    cross join lateral string_to_table(r.letters, null) with ordinality as letter(letter, place)
    join days d on d.class = r.class and d.month = r.month and d.is_shown and d.place = letter.place
    where letter <> '–'
    group by r.student
  ) as day on day.student = counts.student
),
-- The absences after the last mark of the session that is none.
streaks as (
  select s.student, streak.days
  from students s
  left join lateral (
    select r.keys->>'student_day' as key
    from records r
    where ${marksOf(sessionStart(range.last, context), range.last, context)}
      and r.data->>'status' in ('present', 'late', 'half_day', 'leave')
      and ${countingMark}
    order by r.keys->>'student_day' desc
    limit 1
  ) as other on true
  cross join lateral (
    select count(*) as days
    from records r
    where ${marksOf(sessionStart(range.last, context), range.last, context)}
      and r.keys->>'student_day' > coalesce(other.key, '')
      and r.data->>'status' = 'absent'
      and ${countingMark}
  ) as streak
)`,
      rows: {
        position: sql`row_number() over (order by c.section, s.roll_no, s.name, s.student)`,
        key: sql`s.student`,
        of: 'c',
        columns: {
          studentId: sql`s.student`,
          admissionNo: sql`s.admission_no`,
          name: sql`s.name`,
          rollNo: sql`s.roll_no`,
          percent: sql`round(100 * c.present_days / nullif(c.working_days, 0), 2)`,
          absenceStreak: sql`k.days`,
        },
        from: sql`from counted c
join students s on s.student = c.student
left join streaks k on k.student = c.student`,
      },
      totals: {
        columns: {
          students: sql`count(*)`,
          percent: sql`round(100 * sum(present_days) / nullif(sum(working_days), 0), 2)`,
        },
        over: sql`from counted`,
      },
      leftOut: [
        ...unusableAttendance(
          sql`(${className}::text is null or class = ${className}::text)`,
          range.last,
          context,
        ),
        ...(className === null ? [] : [marksOfNoDay(className, context)]),
      ],
    };
  },
});
