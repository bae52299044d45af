import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { dayOrMonthType, textType } from './engine/parameter-types.js';
import { parameterError, required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { countMonths, firstDayOf, lastDayOf, monthOfDay } from './engine/school-calendar.js';
import { asksFor } from './engine/shown-parts.js';
import { assertPlace } from './shared/assert-place.js';
import { checkRange, inSection } from './shared/common-parameters.js';
import { orphanMarks } from './shared/orphans.js';
import { isInSections } from './shared/record-parts.js';
import { isOnRoll } from './shared/roll.js';
import {
  marksOfNoDay,
  PRESENT_DAYS,
  presentDays,
  STUDENT_MARKS,
  SUMS_OF_MARKS,
  sessionStart,
  studentDays,
  studentsOfClass,
  unusableAttendance,
} from './shared/student-days.js';

const RegisterLine = rowType('RegisterLine', "A student's line in the register of a section for a month.", {
  month: column.month('The month.'),
  section: column.text('The section of these days; a student who changed has a line in both.'),
  rollNo: column.nullable.whole('Roll number.'),
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.text('Admission number.'),
  name: column.text('Name of the student.'),
  register: column.text(
    'One letter for each requested day up to today: P present, A absent, L late, H half day, ' +
      'V leave, – not on roll, * no school, ? unmarked.',
  ),
  ...STUDENT_MARKS,
  unmarked: column.whole('Working days without a mark: neither present nor absent.'),
  workingDays: column.whole('Working days on roll.'),
  presentDays: PRESENT_DAYS,
  percent: column.nullable.percent(
    'Days that count present of the working days on roll; none without working days.',
  ),
  broughtForwardPresentDays: column.number(
    'Brought forward: days that count present, from the first day of the session or on roll to the ' +
      'day before this line. Unit: days.',
  ),
  broughtForwardWorkingDays: column.whole('Brought forward: working days on roll.'),
  percentToDate: column.nullable.percent('Percentage of the session so far, brought forward included.'),
});

const SchoolHoliday = rowType('SchoolHoliday', 'A holiday of the class.', {
  day: column.day('The day.'),
  name: column.text('The name of the day.'),
});

const ClassAttendanceDay = rowType('ClassAttendanceDay', 'A class on one working day.', {
  day: column.day('The day.'),
  onRoll: column.whole('Students on roll.'),
  present: column.whole('Marked present.'),
  absent: column.whole('Marked absent.'),
  late: column.whole('Marked late.'),
  halfDay: column.whole('With a half day.'),
  leave: column.whole('On leave.'),
  unmarked: column.whole('Without a mark.'),
  percent: column.nullable.percent('Share of the students on roll who count as present.'),
});

const ClassAttendanceMonth = rowType('ClassAttendanceMonth', 'A class in one month.', {
  month: column.month('The month.'),
  workingDays: column.whole('Working days of the class, up to today.'),
  holidays: column.rows(SchoolHoliday, 'Holidays of the class; weekly offs are not among them.'),
  days: column.rows(ClassAttendanceDay, 'Its working days.'),
  students: column.whole('Students with a day on roll.'),
  presentDays: column.number('Sum of the days that count present. Unit: days.'),
  workingDaysOnRoll: column.whole('Sum of the working days on roll.'),
  unmarked: column.whole('Sum of the days without a mark.'),
  percent: column.nullable.percent('Class average: sum of present days by sum of working days.'),
});

const ClassAttendanceTotals = rowType('ClassAttendanceTotals', 'The whole range.', {
  workingDays: column.whole('Working days of the class.'),
  students: column.whole('Students with a day on roll.'),
  ...SUMS_OF_MARKS,
  workingDaysOnRoll: column.whole('Sum of the working days on roll.'),
  percent: column.nullable.percent('Class average: sum of present days by sum of working days.'),
  months: column.rows(ClassAttendanceMonth, 'By month.'),
});

const MOST_MONTHS = 12;

/**
 * The register of a class, month by month.
 *
 * A student is on the roll as roll.ts defines, in the section of the last mark on or before the day in that
 * session; before the first mark in the section of the first one; without any mark in that of the session's
 * registration. Marks on days without school, or of students not on the roll, do not count and are reported
 * in the warnings.
 *
 * For every line: present + absent + late + halfDay + leave + unmarked = workingDays.
 *
 * @see reports 9
 */
export const classAttendance = defineReport({
  name: 'class-attendance',
  title: 'Monthly class attendance',
  description:
    'The attendance register of a class by month: a letter a day and student, counts, percentages.',
  routes: [{ method: 'GET', path: '/attendancebyclassbymonth/:class/:start/:end' }],
  parameters: {
    class: required(textType, 'The class.'),
    section: inSection,
    start: required(dayOrMonthType, 'First day, or month.'),
    end: required(dayOrMonthType, `Last day, or month; at most ${MOST_MONTHS} months.`),
  },
  reads: ['attendance', 'holiday', 'registration'],
  roles: ['clerk', 'viewer'],
  teachers: 'taught',
  planning: 'once',
  row: RegisterLine,
  totals: ClassAttendanceTotals,
  example: { class: '5', start: '2026-07-01', end: '2026-07-31' },
  async check({ class: className, section, start, end }, context) {
    const { from, to } = checkRange(['start', start], ['end', end], [366, `${MOST_MONTHS} months`]);
    if (countMonths(monthOfDay(from), monthOfDay(to)) > MOST_MONTHS) {
      const expected = `at most ${MOST_MONTHS} calendar months`;
      const fault = `is ${end}, more than ${MOST_MONTHS} calendar months from start ${start}`;
      throw parameterError('end', `${fault}; expected ${expected}`, { expected, sent: end });
    }
    return await assertPlace({ class: className, section }, context);
  },
  parts: ({ class: className, section = null, start, end }, context, shown) => {
    const { domain, settings, sections } = context;
    const letters = asksFor(shown, 'register', 'months') ? 'with' : 'without';
    const [first, last] = [firstDayOf(start), lastDayOf(end)];
    const since = sessionStart(first, context);
    // The columns that need data from the beginning of the session.
    const ofSums = ['broughtForwardPresentDays', 'broughtForwardWorkingDays', 'percentToDate'];
    return {
      ctes: sql`${studentsOfClass({ className, section }, { first, last }, context)},
${studentDays(
  {
    first,
    last,
    classes: sql`select ${className}::text`,
    where: sql`p.class = ${className} and (${section}::text is null or p.section = ${section}::text)
    and ${isInSections(sections, { className: sql`p.class`, section: sql`p.section` })}`,
    letters,
  },
  context,
)},
class_days as materialized (
  select * from days where class = ${className}
),
lines as materialized (
  select *,${letters === 'with' ? sql.empty : sql` null::text as letters,`}
    ${presentDays(settings)} as present_days
  from register
  where class = ${className}
),
by_day as (
  select day.*, ${presentDays(settings)} as present_days
  from (
    select
      l.month, letter.place, count(*) as on_roll,
      count(*) filter (where letter = 'P') as present, count(*) filter (where letter = 'A') as absent,
      count(*) filter (where letter = 'L') as late, count(*) filter (where letter = 'H') as half_day,
      count(*) filter (where letter = 'V') as leave, count(*) filter (where letter = '?') as unmarked
    from lines l
    cross join lateral string_to_table(l.letters, null) with ordinality as letter(letter, place)
    where letter not in ('–', '*')
    group by l.month, letter.place
  ) as day
),
-- The days on the roll since the session began; few students differ.
rolls as materialized (
  select student, greatest(admitted_on, ${since}) as admitted_on, left_on,
    nullif(jsonb_path_query_array(earlier_stays, '$[*] ? (@.to >= $since && @.to < $admitted)',
      jsonb_build_object('since', ${since}::text, 'admitted', admitted_on)), '[]') as earlier_stays
  from students
),
-- The sums of the session up to each line, over all sections. The lines are among the summed rows,
-- so no join is needed.
sums as materialized (
  select
    entry.*,
    sum(present_so_far) over up_to_month as present_to_date,
      sum(working_so_far) over up_to_month as working_to_date,
    sum(present_so_far) over months_before as present_brought,
      sum(working_so_far) over months_before as working_brought
  from (
    select
      student, session_year, month, ${presentDays(settings)} as present_so_far, 0 as working_so_far,
        null as section, null as letters,
      0 as working_days, 0 as present, 0 as absent, 0 as late, 0 as half_day, 0 as leave, 0 as unmarked,
        0 as present_days
    from (
      select
        student, session_year, case when is_shown then month else '' end as month,
        bit_count((present & counted)::bit(31)) as present, bit_count((late & counted)::bit(31)) as late,
        bit_count((half_day & counted)::bit(31)) as half_day, bit_count((leave & counted)::bit(31)) as leave
      from counted_marks
    ) as counted
    union all
    select s.student, stay.session_year, stay.month, 0, stay.working_days, null, null, 0, 0, 0, 0, 0, 0, 0, 0
    from rolls s
    join (
      select stay.admitted_on, stay.left_on, stay.earlier_stays, d.session_year,
        case when d.is_shown then d.month else '' end as month, count(*) as working_days
      from (select distinct admitted_on, left_on, earlier_stays from rolls) as stay
      join class_days d on d.is_working and ${isOnRoll(sql`d.day`, 'stay')}
      group by 1, 2, 3, 4, 5
    ) as stay on stay.admitted_on = s.admitted_on and stay.left_on = s.left_on
      and stay.earlier_stays is not distinct from s.earlier_stays
    union all
    select
      student, session_year, month, 0, 0, section, letters,
      working_days, present, absent, late, half_day, leave, unmarked, present_days
    from lines
  ) as entry
  window
    up_to_month as (partition by student, session_year order by month),
    months_before as (partition by student, session_year order by month range between unbounded preceding
      and current row exclude group)
),
month_days as materialized (
  select month, count(*) filter (where is_working) as working_days from class_days where is_shown
    group by month
)`,
      rows: {
        position: sql`row_number() over (order by l.month, l.section, s.roll_no, s.name, s.student)`,
        key: sql`concat_ws('/', l.month, l.section, s.student)`,
        of: 'l',
        columns: {
          rollNo: sql`s.roll_no`,
          studentId: sql`s.student`,
          admissionNo: sql`s.admission_no`,
          name: sql`s.name`,
          register: sql`l.letters`,
          percent: sql`round(100 * l.present_days / nullif(l.working_days, 0), 2)`,
          broughtForwardPresentDays: sql`l.present_brought`,
          broughtForwardWorkingDays: sql`l.working_brought`,
          percentToDate: sql`round(100 * l.present_to_date / nullif(l.working_to_date, 0), 2)`,
        },
        from: sql`from ${asksFor(shown, ...ofSums) ? sql`sums` : sql`lines`} l
join students s on s.student = l.student
where l.section is not null`,
      },
      totals: {
        columns: {
          workingDays: sql`(select coalesce(sum(working_days), 0) from month_days)`,
          students: sql`count(distinct student)`,
          workingDaysOnRoll: sql`sum(working_days)`,
          percent: sql`round(100 * sum(present_days) / nullif(sum(working_days), 0), 2)`,
          months: sql`(
            select ${jsonListOf(ClassAttendanceMonth, sql`md.month`, {
              of: 'm',
              columns: {
                month: sql`md.month`,
                workingDays: sql`md.working_days`,
                holidays: sql`(
                  select ${jsonListOf(SchoolHoliday, sql`day`, { columns: { name: sql`holiday` } })}
                  from school_days
                  where class = ${className} and month = md.month and day >= ${first}
                    and holiday is not null and not is_working
                )`,
                days: sql`(
                  select ${jsonListOf(ClassAttendanceDay, sql`d.day`, {
                    of: 'b',
                    columns: {
                      day: sql`d.day`,
                      percent: sql`round(100 * b.present_days / nullif(b.on_roll, 0), 2)`,
                    },
                  })}
                  from class_days d
                  left join by_day b on b.month = d.month and b.place = d.place
                  where d.is_shown and d.is_working and d.month = md.month
                )`,
                workingDaysOnRoll: sql`m.working_days`,
                percent: sql`round(100 * m.present_days / nullif(m.working_days, 0), 2)`,
              },
            })}
            from month_days md
            cross join lateral (
              select count(distinct student) as students, sum(present_days) as present_days,
                sum(working_days) as working_days, sum(unmarked) as unmarked
              from lines
              where month = md.month
            ) as m
          )`,
        },
        over: sql`from lines`,
      },
      leftOut: [
        ...unusableAttendance(sql`class = ${className}`, last, context),
        marksOfNoDay(className, context),
        orphanMarks(
          { domain, first: monthOfDay(first), last: monthOfDay(last) },
          sql`r.data->>'class' = ${className} and ${isInSections(sections)}`,
        ),
      ],
    };
  },
});
