import { Prisma } from '../generated/prisma/client.js';
import { endOf, firstDay, lastDay, sessionOf, startOf } from './calendar.js';
import * as column from './columns.js';
import { checkRange, inClass, inSection } from './common-parameters.js';
import { type DayOrMonth, dayOrMonth, percent, usualAttendance } from './parameter-types.js';
import { defaulted, parameterError } from './parameters.js';
import { assertClass } from './places.js';
import { defineReport } from './report.js';
import { schoolDays, unusableHolidays } from './school-days.js';
import { registeredStudents, sessionStart } from './student-days.js';

@column.rowType('AttendanceShortage', 'A student whose attendance is below the threshold.')
export class AttendanceShortage {
  @column.text('`_id` of the student.') readonly studentId!: string;
  @column.text('Admission number.') readonly admissionNo!: string;
  @column.text('Name of the student.') readonly name!: string;
  @column.text('The class.') readonly class!: string;
  @column.text('The section.') readonly section!: string;
  @column.whole('Roll number.', { nullable: true }) readonly rollNo!: number | null;
  @column.text('Name of the father, else of the mother.', { nullable: true }) readonly guardian!:
    | string
    | null;
  @column.text('Phone of the guardian.', { nullable: true }) readonly phone!: string | null;
  @column.whole('Working days on roll.') readonly workingDays!: number;
  @column.number('Days that count present: present + late + 0.5 half (+ leave, by setting). Unit: days.')
  readonly presentDays!: number;
  @column.whole('Days marked absent.') readonly absent!: number;
  @column.whole('Days of leave.') readonly leave!: number;
  @column.whole('Working days without a mark; many of them may be the reason.') readonly unmarked!: number;
  @column.percent('Days that count present of the working days on roll.') readonly percent!: number;
  @column.number('Days present that are missing to the threshold. Unit: days.') readonly daysShort!: number;
}

@column.rowType('AttendanceShortageOfClass', 'One class.')
export class AttendanceShortageOfClass {
  @column.text('The class.') readonly class!: string;
  @column.whole('Students with a working day on roll.') readonly students!: number;
  @column.whole('Students below the threshold.') readonly below!: number;
  @column.percent('Sum of present days by sum of working days.') readonly percent!: number;
}

@column.rowType('AttendanceShortageTotals', 'All students asked about.')
export class AttendanceShortageTotals {
  @column.whole('Students with a working day on roll.') readonly students!: number;
  @column.whole('Students below the threshold.') readonly below!: number;
  @column.percent('Sum of present days by sum of working days, over all students.', { nullable: true })
  readonly percent!: number | null;
  @column.rows(() => AttendanceShortageOfClass, 'By class.')
  readonly classes!: readonly AttendanceShortageOfClass[];
}

/**
 * The students on roll on the last day whose attendance in the range is below a percentage.
 *
 * Counted as in the class register. A student is of the class and section of the last mark in the range, else of the registration of
 * that session, and its calendar counts for all days.
 *
 * @see reports.md "Beyond the document", 9
 */
export const attendanceShortage = defineReport({
  name: 'attendance-shortage',
  field: 'attendanceShortage',
  title: 'Attendance below a threshold',
  description: 'Students whose attendance is below a percentage, with what they are short of.',
  parameters: {
    below: defaulted(percent, {
      restName: 'below',
      description: 'Only students with less than this percentage.',
      default: '75',
      value: () => usualAttendance,
    }),
    class: inClass,
    section: inSection,
    start: defaulted(dayOrMonth, {
      restName: 'start',
      description: 'First day, or month.',
      default: 'the first day of the session',
      value: ({ today, settings }): DayOrMonth => sessionStart(today, { settings }),
    }),
    end: defaulted(dayOrMonth, {
      restName: 'end',
      description: 'Last day, or month; at most 12 months.',
      default: 'today',
      value: ({ today }): DayOrMonth => today,
    }),
  },
  roles: ['clerk'],
  teachers: 'taught',
  row: AttendanceShortage,
  totals: AttendanceShortageTotals,
  example: { below: '75', class: '5', start: '2026-04-01', end: '2026-09-30' },
  async check({ class: className, section, start, end }, context) {
    checkRange(
      { name: 'start', value: start },
      { name: 'end', value: end },
      { days: 366, said: '12 months' },
    );
    if (className !== undefined) await assertClass(context, className, section);
    if (section !== undefined && className === undefined)
      throw parameterError('section', 'is of no class; expected class beside it', { sent: section });
  },
  sql: ({ below, class: className = null, section = null, start, end }, context) => {
    const { domain, timeZone, today, settings, sections } = context;
    const asked = lastDay(end);
    const range = { first: firstDay(start), last: asked.localeCompare(today) < 0 ? asked : today };
    const sessionYear = Number(sessionOf(range.last, settings.sessionFirstMonth).slice(0, 4));
    return Prisma.sql`
with
class_records as materialized (
  select r.data->>'name' as class, to_number(r.data->'order') as class_order
  from records r
  where r.domain = ${domain} and r.collection = 'class' and r.deleted_at is null
),
school_classes as (
  select class from class_records
),
${schoolDays(context, range)},
students as materialized (
  select ${registeredStudents},
    coalesce(r.data->>'father_name', r.data->>'mother_name') as guardian, r.data->>'guardian_phone' as phone
  from records r
  where r.domain = ${domain} and r.collection = 'registration' and r.deleted_at is null
),
marked as materialized (
  select
    mark.student, max(mark.day || chr(31) || mark.class || chr(31) || mark.section) as last_place,
    count(*) filter (where status in ('present', 'absent', 'late', 'half_day', 'leave')) as marks,
    count(*) filter (where status = 'absent') as absent, count(*) filter (where status = 'leave') as leave,
    count(*) filter (where status in ('present', 'late')) + 0.5 * count(*) filter (where status = 'half_day')
      + count(*) filter (where status = 'leave' and ${settings.leaveCountsPresent}) as present_days
  from (
    select
      m.student->>'value' as student, left(right(r.keys->>'student_day', 12), 10) as day, m.class, m.section, m.status
    from records r
    cross join lateral jsonb_to_record(r.data) as m(student jsonb, class text, section text, status text)
    where r.domain = ${domain} and r.collection = 'attendance' and r.deleted_at is null
      and r.data->'created' >= to_jsonb(${startOf(range.first, timeZone)}::text)
      and r.data->'created' < to_jsonb(${endOf(range.last, timeZone)}::text)
      and (${className}::text is null or r.data->'class' = to_jsonb(${className}::text))
  ) as mark
  join students s on s.student = mark.student
  where mark.day between s.admitted_on and s.left_on
    and not (select places from days_off) ? (mark.class || ' ' || mark.day)
  group by mark.student
),
placed as materialized (
  select
    s.student, s.admission_no, s.name, s.roll_no, s.guardian, s.phone, greatest(s.admitted_on, ${range.first}) as from_day,
    coalesce(split_part(m.last_place, chr(31), 2), s.class) as class, coalesce(split_part(m.last_place, chr(31), 3), s.section) as section,
    coalesce(m.marks, 0) as marks, coalesce(m.absent, 0) as absent, coalesce(m.leave, 0) as leave, coalesce(m.present_days, 0) as present_days
  from students s
  left join marked m on m.student = s.student
  where s.admitted_on <= ${range.last} and s.left_on >= ${range.last}
    and (m.student is not null or s.session_year = ${sessionYear})
),
stays as (
  select p.class, p.from_day, count(*) as working_days
  from (select distinct class, from_day from placed) as p
  join school_days d on d.class = p.class and d.is_working and d.day >= p.from_day
  group by p.class, p.from_day
),
counted as materialized (
  select p.*, c.class_order, s.working_days, 100 * p.present_days < ${below}::numeric * s.working_days as is_below
  from placed p
  join stays s on s.class = p.class and s.from_day = p.from_day
  left join class_records c on c.class = p.class
  where (${className}::text is null or p.class = ${className}::text) and (${section}::text is null or p.section = ${section}::text)
    and (${sections}::jsonb is null or ${sections}::jsonb @> jsonb_build_array(jsonb_build_array(p.class, p.section)))
)
select 'row' as part, row_number() over (order by class_order, class, section, roll_no, name, student) as position, student as key,
  json_build_object(
    'studentId', student, 'admissionNo', admission_no, 'name', name, 'class', class, 'section', section, 'rollNo', roll_no,
    'guardian', guardian, 'phone', phone, 'workingDays', working_days, 'presentDays', trim_scale(present_days),
    'absent', absent, 'leave', leave, 'unmarked', greatest(working_days - marks, 0),
    'percent', round(100 * present_days / working_days, 2),
    'daysShort', trim_scale(ceil(2 * (${below}::numeric * working_days / 100 - present_days)) / 2)
  ) as content
from counted
where is_below
union all
select 'totals', null, null, json_build_object(
  'students', count(*), 'below', count(*) filter (where is_below),
  'percent', round(100 * sum(present_days) / nullif(sum(working_days), 0), 2),
  'classes', (
    select coalesce(json_agg(json_build_object(
      'class', class, 'students', students, 'below', below, 'percent', round(100 * present_days / working_days, 2)
    ) order by class_order, class), '[]')
    from (
      select class, class_order, count(*) as students, count(*) filter (where is_below) as below,
        sum(present_days) as present_days, sum(working_days) as working_days
      from counted
      group by class, class_order
    ) as by_class
  )
)
from counted
union all
select 'warning', null, null, json_build_object(
  'collection', collection, 'reason', reason, 'count', count(*), 'ids', (array_agg(id order by id))[1:10]
)
from (
  select 'registration' as collection, student as id, 'admitted_on or left_on is not a day' as reason
  from students
  where admitted_on is null or left_on is null
  union all
  select 'attendance', r.id, 'student or created is unusable'
  from records r
  where r.domain = ${domain} and r.collection = 'attendance' and r.deleted_at is null and r.keys->>'student_day' is null
  union all
  ${unusableHolidays(context)}
) as left_out
group by collection, reason`;
  },
});
