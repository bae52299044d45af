import { liveRecordsById, liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { textType } from './engine/parameter-types.js';
import { required } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { faultsIn, jsonListOf } from './engine/report-parts.js';
import { firstDayOf, lastDayOf } from './engine/school-calendar.js';
import { assertStaff } from './shared/assert-place.js';
import { checkRange, startAndEnd } from './shared/common-parameters.js';
import { isWithinDays } from './shared/record-parts.js';
import { schoolDays, unusableHolidays } from './shared/school-days.js';

const TeacherAttendanceDay = rowType(
  'TeacherAttendanceDay',
  "A staff member's day: every school day, and others with a mark.",
  {
    day: column.day('The day.'),
    status: column.text('present, absent, half_day, leave, on_duty or unmarked.'),
    schoolDay: column.flag('Whether it is a school day; only such days count.'),
    inTime: column.nullable.instant('When the person came.'),
    outTime: column.nullable.instant('When the person went.'),
    lateIn: column.flag('Came later than school starts (property `schoolStartsAt`).'),
    missingOut: column.flag('Came, and no time of going was recorded; not on the day itself.'),
    leaveType: column.nullable.text('The kind of leave.'),
    remark: column.nullable.text('The reason, if one was given.'),
  },
);

const LeaveTaken = rowType('LeaveTaken', 'Leave of one kind.', {
  leaveType: column.text('The kind of leave; "other" if none was given.'),
  days: column.number('Days of it; half a day of leave is 0.5. Unit: days.'),
});

const TeacherAttendanceTotals = rowType('TeacherAttendanceTotals', 'The range.', {
  userId: column.text('`_id` of the staff member.'),
  name: column.text('Name of the staff member.'),
  department: column.nullable.text('The department.'),
  workingDays: column.whole('School days in the range, from joining to leaving, up to today.'),
  present: column.whole('Days marked present.'),
  absent: column.whole('Days marked absent.'),
  halfDay: column.whole('Half days; each counts 0.5.'),
  leave: column.whole('Whole days of leave.'),
  leaveByType: column.rows(LeaveTaken, 'Leave by kind, half days of leave among it.'),
  onDuty: column.whole('Days away for the school; they count present.'),
  unmarked: column.whole('School days without a mark.'),
  presentDays: column.number('Days that count present: present + on duty + 0.5 half. Unit: days.'),
  percent: column.nullable.percent('Days that count present of the school days.'),
  lateIns: column.whole('School days come late.'),
  missingOuts: column.whole('School days without a time of going.'),
  otherDays: column.whole('Days with a mark that are no school days; they do not count.'),
});

/**
 * The days of a staff member. The school days are those of the whole school: holidays of single classes are
 * none of the staff.
 *
 * present + absent + halfDay + leave + onDuty + unmarked = workingDays.
 *
 * @see reports 13
 */
export const teacherAttendance = defineReport({
  name: 'teacher-attendance',
  title: 'Teacher attendance',
  description:
    'The days of a staff member: present, absent, half days, leave by kind, on duty, late ins, missing outs.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/teacher_attendance',
    query: 'stream=true&oquery=created_on=today,name.value=usr-teacher',
  },
  parameters: {
    userId: required(textType, "The staff member's user ID.", { restName: 'name.value' }),
    ...startAndEnd(),
  },
  reads: ['holiday', 'pltf_user', 'teacher_attendance'],
  roles: ['clerk'],
  teachers: 'taught',
  row: TeacherAttendanceDay,
  totals: TeacherAttendanceTotals,
  example: { userId: 'usr-teacher', start: '2026-07-01', end: '2026-07-31' },
  async check({ userId, start, end }, context) {
    checkRange(['start', start], ['end', end], [366, '12 months']);
    await assertStaff(context, userId);
  },
  parts: ({ userId, start, end }, context) => {
    const { domain, timeZone, today, settings } = context;
    const range = { first: firstDayOf(start), last: lastDayOf(end) };
    return {
      ctes: sql`
school_classes as (
  select '' as class
),
${schoolDays(context, range)},
member as materialized (
  select
    r.data->>'name' as name, r.data->>'department' as department,
    coalesce(to_char(day_of(r.data->>'joined_on'), 'YYYY-MM-DD'), '') as joined_on,
    coalesce(to_char(day_of(r.data->>'left_on'), 'YYYY-MM-DD'), '9999') as left_on
  from records r
  where ${liveRecordsById(domain, 'pltf_user', sql`= ${userId}`)}
),
marks as materialized (
  select
    r.id, to_char(instant_of(r.data->>'created_on') at time zone ${timeZone}, 'YYYY-MM-DD') as day,
      r.data->>'status' as status,
    instant_of(r.data->>'in_time') as in_time, instant_of(r.data->>'out_time') as out_time,
    r.data->>'leave_type' as leave_type, r.data->>'remark' as remark,
    case
      when instant_of(r.data->>'created_on') is null then 'created_on is not an instant'
      when coalesce(r.data->>'status' not in ('present', 'absent', 'half_day', 'leave', 'on_duty'), true)
        then 'status is none of present, absent, half_day, leave, on_duty'
      when r.data->'in_time' <> 'null' and instant_of(r.data->>'in_time') is null
        or r.data->'out_time' <> 'null'
          and instant_of(r.data->>'out_time') is null then 'in_time or out_time is not an instant'
    end as fault
  from records r
  where ${liveRecordsIn(domain, 'teacher_attendance')}
    and r.data->'name'->'value' = to_jsonb(${userId}::text)
    and ${isWithinDays("r.data->'created_on'", [range.first, range.last], timeZone)}
),
days as materialized (
  select
    d.day, d.is_working and d.day between m.joined_on and m.left_on as is_working,
    case when mark.status in ('present', 'absent', 'half_day', 'leave', 'on_duty') then mark.status
      else 'unmarked' end as status,
    mark.in_time, mark.out_time, mark.leave_type, mark.remark,
    coalesce((mark.in_time at time zone ${timeZone})::time > ${settings.schoolStartsAt}::time
      and mark.status = 'present', false) as is_late,
    coalesce(mark.status in ('present', 'half_day') and mark.out_time is null
      and d.day < ${today}, false) as is_out_missing
  from school_days d
  cross join member m
  left join lateral (
    select * from marks where marks.day = d.day order by marks.id limit 1
  ) as mark on true
  where d.is_working and d.day between m.joined_on and m.left_on or mark.id is not null
)`,
      rows: {
        position: sql`row_number() over (order by day)`,
        key: sql`day`,
        columns: {
          schoolDay: sql`is_working`,
          inTime: sql`to_char(in_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
          outTime: sql`to_char(out_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
          lateIn: sql`is_late`,
          missingOut: sql`is_out_missing`,
        },
        from: sql`from days`,
      },
      totals: {
        columns: {
          userId: sql`${userId}::text`,
          name: sql`(select name from member)`,
          department: sql`(select department from member)`,
          workingDays: sql`count(*) filter (where is_working)`,
          present: sql`count(*) filter (where is_working and status = 'present')`,
          absent: sql`count(*) filter (where is_working and status = 'absent')`,
          halfDay: sql`count(*) filter (where is_working and status = 'half_day')`,
          leave: sql`count(*) filter (where is_working and status = 'leave')`,
          leaveByType: sql`(
            select ${jsonListOf(LeaveTaken, sql`leave_type`)}
            from (
              select coalesce(leave_type, 'other') as leave_type,
                sum(case status when 'leave' then 1 else 0.5 end) as days
              from days
              where is_working and (status = 'leave' or status = 'half_day' and leave_type is not null)
              group by 1
            ) as taken
          )`,
          onDuty: sql`count(*) filter (where is_working and status = 'on_duty')`,
          unmarked: sql`count(*) filter (where is_working and status = 'unmarked')`,
          percent: sql`round(100 * sum(present_days) / nullif(count(*) filter (where is_working), 0),
            2)`,
          lateIns: sql`count(*) filter (where is_working and is_late)`,
          missingOuts: sql`count(*) filter (where is_working and is_out_missing)`,
          otherDays: sql`count(*) filter (where not is_working)`,
        },
        over: sql`from (
  select *, case when not is_working then 0 when status in ('present', 'on_duty') then 1
    when status = 'half_day' then 0.5 else 0 end as present_days
  from days
) as day`,
      },
      leftOut: [faultsIn('marks', 'teacher_attendance'), unusableHolidays(context)],
    };
  },
});
