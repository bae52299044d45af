import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { flagType, textType } from './engine/parameter-types.js';
import { defaulted, optional } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { firstDayOf, monthOfDay } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { assertDepartment, assertRole } from './shared/assert-place.js';
import { isWithinDays, listOrEmpty } from './shared/record-parts.js';

export const SectionOfTeacher = rowType('SectionOfTeacher', 'A section whose class teacher somebody is.', {
  class: column.text('The class.'),
  section: column.text('The section.'),
});

const TeacherProfile = rowType(
  'TeacherProfile',
  'A member of staff, with the attendance of this month so far.',
  {
    userId: column.text('`_id` of the member of staff.'),
    employeeCode: column.nullable.text('Employee code.'),
    name: column.text('Name.'),
    department: column.nullable.text('Department.'),
    designation: column.nullable.text('Designation.'),
    phone: column.nullable.text('Phone.'),
    email: column.nullable.text('Email.'),
    joinedOn: column.nullable.day('Joined.'),
    leftOn: column.nullable.day('Left.'),
    active: column.flag('Whether the member of staff is active.'),
    roles: column.texts('Roles.'),
    classTeacherOf: column.rows(SectionOfTeacher, 'Class teacher of.'),
    present: column.whole('Days present this month, on duty included.'),
    absent: column.whole('Days absent this month.'),
    halfDay: column.whole('Half days this month.'),
    leave: column.whole('Days of leave this month.'),
  },
);

const TeacherTotals = rowType('TeacherTotals', 'All listed.', {
  teachers: column.whole('How many members of staff.'),
  classTeachers: column.whole('Of them class teachers.'),
});

/**
 * The members of staff with a role, and their duties; never the login name or other credentials.
 *
 * @see reports 12
 */
export const teachers = defineReport({
  name: 'teachers',
  title: 'Teacher information',
  description: 'Members of staff by role: profile, class teacher of, attendance this month.',
  recordRoute: {
    method: 'GET',
    path: '/o/recs/pltf_user',
    query: 'stream=true&oquery=active=true,roles=*teacher',
  },
  parameters: {
    role: defaulted(textType, {
      restName: 'roles',
      description: 'A role that one of the roles contains.',
      default: 'teacher',
      value: () => 'teacher',
    }),
    active: defaulted(flagType, {
      restName: 'active',
      description: 'Who is active, or who is not.',
      default: 'true',
      value: () => true,
    }),
    department: optional(textType, { restName: 'department', description: 'One department alone.' }),
  },
  roles: ['clerk'],
  row: TeacherProfile,
  totals: TeacherTotals,
  example: { role: 'teacher' },
  async check({ role, department }, context) {
    await assertRole(role, context);
    return await assertDepartment(department, context);
  },
  parts: ({ role, active, department = null }, { domain, timeZone, today }) => ({
    ctes: sql`
staff as materialized (
  select r.id, r.data, row_number() over (order by r.data->>'name', r.id) as position
  from records r
  where ${liveRecordsIn(domain, 'pltf_user')}
    and r.data->'active' = ${String(active)}::jsonb
    and (${department}::text is null or r.data->'department' = ${json(department)}::jsonb)
    and exists (
      select from jsonb_array_elements_text(${listOrEmpty(sql`r.data->'roles'`)}) as held
      where strpos(held, ${role}) > 0
    )
),
sections as materialized (
  select section->'class_teacher'->>'value' as teacher, ${jsonListOf(
    SectionOfTeacher,
    sql`to_number(r.data->'order'), r.data->>'name', section->>'name'`,
    {
      columns: { class: sql`r.data->>'name'`, section: sql`section->>'name'` },
    },
  )} as sections
  from records r
  cross join lateral jsonb_array_elements(${listOrEmpty(sql`r.data->'sections'`)}) as section
  where ${liveRecordsIn(domain, 'class')}
  group by 1
),
marks as materialized (
  select
    r.data->'name'->>'value' as teacher, count(*) filter (where r.data->>'status' in ('present',
      'on_duty')) as present,
    count(*) filter (where r.data->>'status' = 'absent') as absent,
      count(*) filter (where r.data->>'status' = 'half_day') as half_day,
    count(*) filter (where r.data->>'status' = 'leave') as on_leave
  from records r
  where ${liveRecordsIn(domain, 'teacher_attendance')}
    and ${isWithinDays("r.data->'created_on'", [firstDayOf(monthOfDay(today)), today], timeZone)}
  group by 1
)`,
    rows: {
      position: sql`s.position`,
      key: sql`s.id`,
      of: 's.data',
      columns: {
        userId: sql`s.id`,
        active: sql`s.data->'active'`,
        roles: sql`(
          select json_agg(held order by place) filter (where held is not null)
          from jsonb_array_elements_text(s.data->'roles') with ordinality as listed(held, place)
        )`,
        classTeacherOf: sql`c.sections`,
        present: sql`m.present`,
        absent: sql`m.absent`,
        halfDay: sql`m.half_day`,
        leave: sql`m.on_leave`,
      },
      from: sql`from staff s
left join sections c on c.teacher = s.id
left join marks m on m.teacher = s.id`,
    },
    totals: {
      columns: {
        teachers: sql`(select count(*) from staff)`,
        classTeachers: sql`(select count(*) from staff where id in (select teacher from sections))`,
      },
    },
  }),
});
