import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { percentType, textType } from './engine/parameter-types.js';
import { defaulted, optional, parameterError } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { groupsOf, jsonListOf } from './engine/report-parts.js';
import { firstDayOf, lastDayOf, monthOfDay } from './engine/school-calendar.js';
import { assertPlace, assertStudent } from './shared/assert-place.js';
import { checkRange, inClass, inSection, startAndEnd } from './shared/common-parameters.js';
import { orphanMarks } from './shared/orphans.js';
import { classOrders, isInPlace, isInSections } from './shared/record-parts.js';
import { isOnRoll, stayOn, unusableRoll } from './shared/roll.js';
import { unusableHolidays } from './shared/school-days.js';
import {
  countingMark,
  marksOf,
  marksOfNoDay,
  PRESENT_DAYS,
  presentDays,
  registeredStudents,
  STUDENT_MARKS,
  SUMS_OF_MARKS,
  sessionStart,
  studentDays,
  studentsOfClass,
  unpromotedBy,
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
  ...STUDENT_MARKS,
  unmarked: column.whole('Working days without a mark.'),
  presentDays: PRESENT_DAYS,
  percent: column.nullable.percent('Days that count present of the working days on roll.'),
  absenceStreak: column.whole(
    'Number of the last marked working days of the session, up to the end of the range, that are ' +
      'absences without another mark between them; unmarked days are skipped. Unit: days.',
  ),
  days: column.rows(StudentAttendanceDay, 'The working days on roll.'),
});

const StudentAttendanceTotals = rowType('StudentAttendanceTotals', 'All students listed.', {
  students: column.whole('Number of students.'),
  workingDays: column.whole('Sum of the working days on roll.'),
  ...SUMS_OF_MARKS,
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
    admissionNo: optional(textType, "One student's admission number; either this or a class."),
    class: optional(textType, 'The students of a class.'),
    section: inSection,
    ...startAndEnd(),
  },
  reads: ['attendance', 'holiday', 'registration'],
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
-- The absences after the last mark of the session that is not an absence.
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

const AttendanceShortage = rowType(
  'AttendanceShortage',
  'A student whose attendance is below the threshold.',
  {
    studentId: column.text('`_id` of the student.'),
    admissionNo: column.text('Admission number.'),
    name: column.text('Name of the student.'),
    class: column.text('The class on the last day.'),
    section: column.text('The section on the last day.'),
    rollNo: column.nullable.whole('Roll number.'),
    guardian: column.nullable.text('Name of the father, else of the mother.'),
    phone: column.nullable.text('Phone of the guardian.'),
    workingDays: column.whole('Working days on roll.'),
    presentDays: PRESENT_DAYS,
    absent: column.whole('Days marked absent.'),
    leave: column.whole('Days of leave.'),
    unmarked: column.whole('Working days without a mark; many of them may be the reason.'),
    percent: column.percent('Days that count present of the working days on roll.'),
    daysShort: column.number('Days present that are missing to the threshold. Unit: days.'),
  },
);

const AttendanceShortageOfClass = rowType('AttendanceShortageOfClass', 'One class.', {
  class: column.text('The class.'),
  students: column.whole('Students with a working day on roll.'),
  below: column.whole('Students below the threshold.'),
  percent: column.percent('Sum of present days by sum of working days.'),
});

const AttendanceShortageTotals = rowType('AttendanceShortageTotals', 'All students of the report.', {
  students: column.whole('Students with a working day on roll.'),
  below: column.whole('Students below the threshold.'),
  percent: column.nullable.percent('Sum of present days by sum of working days, over all students.'),
  classes: column.rows(AttendanceShortageOfClass, 'By class.'),
});

/**
 * The students on roll on the last day whose attendance in the range is below a percentage.
 *
 * Counted as in the class register: every day by the class of the student on that day. `class` lists only the
 * students of that class on the last day, with the same days as without it.
 *
 * @see reports "Beyond the document", 9
 */
export const attendanceShortage = defineReport({
  name: 'attendance-shortage',
  title: 'Attendance below a threshold',
  description: 'Students whose attendance is below a percentage, with the number of missing days.',
  parameters: {
    below: defaulted(percentType, 'Only students with less than this percentage.', { default: '75' }),
    class: inClass,
    section: inSection,
    ...startAndEnd({
      default: 'the first day of the session',
      value: ({ today, settings }) => sessionStart(today, { settings }),
    }),
  },
  reads: ['attendance', 'class', 'holiday', 'registration'],
  roles: ['clerk'],
  teachers: 'taught',
  row: AttendanceShortage,
  totals: AttendanceShortageTotals,
  example: { below: '75', class: '5', start: '2026-04-01', end: '2026-09-30' },
  async check({ class: className, section, start, end }, context) {
    checkRange(['start', start], ['end', end], [366, '12 months']);
    if (section !== undefined && className === undefined)
      throw parameterError('section', 'is of no class; expected class beside it', { sent: section });
    return await assertPlace({ class: className, section }, context);
  },
  parts: ({ below, class: className = null, section = null, start, end }, context) => {
    const { domain, today, settings, sections } = context;
    const asked = lastDayOf(end);
    const range = { first: firstDayOf(start), last: asked.localeCompare(today) < 0 ? asked : today };
    return {
      ctes: sql`
class_records as materialized (${classOrders({ domain })}
),
registrations as materialized (
  select ${registeredStudents(context)},
    stay.data->>'class' as last_class, stay.data->>'section' as last_section,
    coalesce(r.data->>'father_name', r.data->>'mother_name') as guardian, r.data->>'guardian_phone' as phone
  from records r
  cross join lateral (select ${stayOn(range.last)} as data offset 0) as stay
  where ${liveRecordsIn(domain, 'registration')}
    and ${isInPlace(className, section, 'stay')}
    and ${isInSections(sections, {
      className: sql`stay.data->'class'`,
      section: sql`stay.data->'section'`,
    })}
),
-- Those who are unusable go to the warnings; they have no day on the roll.
students as materialized (
  select * from registrations where coalesce(${isOnRoll(range.last)}, true)
),
${studentDays(
  { ...range, classes: sql`select null where false`, where: sql`true`, letters: 'without' },
  context,
)},
days_of as (
  select
    student, sum(working_days) as working_days, sum(absent) as absent, sum(leave) as leave,
      sum(unmarked) as unmarked,
    sum(${presentDays(settings)}) as present_days
  from register
  group by student
),
counted as materialized (
  select
    s.*, c.class_order, d.working_days, d.absent, d.leave, d.unmarked, d.present_days,
    100 * d.present_days < ${below}::numeric * d.working_days as is_below
  from students s
  join days_of d on d.student = s.student
  left join class_records c on c.class = s.last_class
  where d.working_days > 0
)`,
      rows: {
        position: sql`row_number() over (order by class_order, last_class, last_section, roll_no, name,
          student)`,
        key: sql`student`,
        columns: {
          studentId: sql`student`,
          class: sql`last_class`,
          section: sql`last_section`,
          percent: sql`round(100 * present_days / working_days, 2)`,
          daysShort: sql`ceil(2 * (${below}::numeric * working_days / 100
            - present_days)) / 2`,
        },
        from: sql`from counted
where is_below`,
      },
      totals: {
        columns: {
          students: sql`count(*)`,
          below: sql`count(*) filter (where is_below)`,
          percent: sql`round(100 * sum(present_days) / nullif(sum(working_days), 0), 2)`,
          classes: groupsOf(
            AttendanceShortageOfClass,
            { from: 'counted', by: ['class_order', 'last_class'] },
            {
              class: sql`last_class`,
              students: sql`count(*)`,
              below: sql`count(*) filter (where is_below)`,
              percent: sql`round(100 * sum(present_days) / sum(working_days), 2)`,
            },
          ),
        },
        over: sql`from counted`,
      },
      leftOut: [
        unusableRoll,
        unpromotedBy(range.last, context),
        marksOfNoDay(null, context),
        orphanMarks(
          { domain, first: monthOfDay(range.first), last: monthOfDay(range.last) },
          sql`${isInPlace(className, section)} and ${isInSections(sections)}`,
        ),
        unusableHolidays(context),
      ],
    };
  },
});
