import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { type DayOrMonth, dayOrMonthType, textType } from './engine/parameter-types.js';
import { defaulted, optional, parameterError } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { firstDayOf, lastDayOf } from './engine/school-calendar.js';
import { assertPlace } from './shared/assert-place.js';
import { assertStudent } from './shared/assert-student.js';
import { checkRange, firstOfMonth, inSection } from './shared/common-parameters.js';
import { isInSections } from './shared/place-conditions.js';
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

@column.rowType('StudentAttendanceDay', "A student's working day.")
class StudentAttendanceDay {
  @column.day('The day.') readonly day!: string;
  @column.text('present, absent, late, half_day, leave or unmarked.') readonly status!: string;
  @column.text('Class on the day.') readonly class!: string;
  @column.text('Section on the day.') readonly section!: string;
}

@column.rowType('StudentAttendance', 'The attendance of one student.')
class StudentAttendance {
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Admission number.') readonly admissionNo!: string;
  @column.text('Name of the student.') readonly name!: string;
  @column.text('Class at the end of the range.') readonly class!: string;
  @column.text('Section at the end of the range.') readonly section!: string;
  @column.whole('Roll number.', { nullable: true }) readonly rollNo!: number | null;
  @column.whole('Working days on roll.') readonly workingDays!: number;
  @column.whole('Days marked present.') readonly present!: number;
  @column.whole('Days marked absent.') readonly absent!: number;
  @column.whole('Days marked late; they count present.') readonly late!: number;
  @column.whole('Half days; each counts 0.5.') readonly halfDay!: number;
  @column.whole('Days of leave.') readonly leave!: number;
  @column.whole('Working days without a mark.') readonly unmarked!: number;
  @column.number('Days that count present: present + late + 0.5 half (+ leave, by setting). Unit: days.')
  readonly presentDays!: number;
  @column.percent('Days that count present of the working days on roll.', { nullable: true })
  readonly percent!: number | null;
  @column.whole(
    'How many of the last marked working days of the session, up to the end of the range, are ' +
      'absences without another mark between them; unmarked days are passed over. Unit: days.',
  )
  readonly absenceStreak!: number;
  @column.rows(() => StudentAttendanceDay, 'The working days on roll.')
  readonly days!: readonly StudentAttendanceDay[];
}

@column.rowType('StudentAttendanceTotals', 'All students listed.')
class StudentAttendanceTotals {
  @column.whole('How many students.') readonly students!: number;
  @column.whole('Sum of the working days on roll.') readonly workingDays!: number;
  @column.whole('Days marked present.') readonly present!: number;
  @column.whole('Days marked absent.') readonly absent!: number;
  @column.whole('Days marked late.') readonly late!: number;
  @column.whole('Half days.') readonly halfDay!: number;
  @column.whole('Days of leave.') readonly leave!: number;
  @column.whole('Working days without a mark.') readonly unmarked!: number;
  @column.number('Sum of the days that count present. Unit: days.') readonly presentDays!: number;
  @column.percent('Sum of present days by sum of working days.', { nullable: true }) readonly percent!:
    | number
    | null;
}

/**
 * The days of one student, or of the students of a class, by the rules of the class register.
 *
 * For every student: present + absent + late + halfDay + leave + unmarked = workingDays.
 *
 * @see reports 10, 9
 */
export const studentAttendance = defineReport({
  name: 'student-attendance',
  field: 'studentAttendance',
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
    start: defaulted(dayOrMonthType, {
      restName: 'start',
      description: 'First day, or month.',
      default: 'the first of this month',
      value: ({ today }): DayOrMonth => firstOfMonth(today),
    }),
    end: defaulted(dayOrMonthType, {
      restName: 'end',
      description: 'Last day, or month; at most 12 months.',
      default: 'today',
      value: ({ today }): DayOrMonth => today,
    }),
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
    checkRange(
      { name: 'start', value: start },
      { name: 'end', value: end },
      { days: 366, said: '12 months' },
    );
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
),
left_out as (
  ${unusableAttendance(
    sql`(${className}::text is null or class = ${className}::text)`,
    range.last,
    context,
  )}${
    className === null
      ? sql.empty
      : sql`
  union all
  ${marksOfNoDay(className, context)}`
  }
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
      leftOut: sql`select collection, reason, id
from left_out`,
    };
  },
});
