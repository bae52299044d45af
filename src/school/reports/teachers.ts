import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { flagType, textType } from './engine/parameter-types.js';
import { defaulted, optional } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { endOf, firstDayOf, monthOfDay, startOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { assertDepartment, assertRole } from './shared/assert-place.js';
import { listOrEmpty } from './shared/list-or-empty.js';

@column.rowType('SectionOfTeacher', 'A section whose class teacher somebody is.')
export class SectionOfTeacher {
  @column.text('The class.') readonly class!: string;
  @column.text('The section.') readonly section!: string;
}

@column.rowType('TeacherProfile', 'A member of staff, with the attendance of this month so far.')
class TeacherProfile {
  @column.text('`_id` of the member of staff.') readonly userId!: string;
  @column.text('Employee code.', { nullable: true }) readonly employeeCode!: string | null;
  @column.text('Name.') readonly name!: string;
  @column.text('Department.', { nullable: true }) readonly department!: string | null;
  @column.text('Designation.', { nullable: true }) readonly designation!: string | null;
  @column.text('Phone.', { nullable: true }) readonly phone!: string | null;
  @column.text('Email.', { nullable: true }) readonly email!: string | null;
  @column.day('Joined.', { nullable: true }) readonly joinedOn!: string | null;
  @column.day('Left.', { nullable: true }) readonly leftOn!: string | null;
  @column.flag('Whether the member of staff is active.') readonly active!: boolean;
  @column.texts('Roles.') readonly roles!: readonly string[];
  @column.rows(() => SectionOfTeacher, 'Class teacher of.')
  readonly classTeacherOf!: readonly SectionOfTeacher[];
  @column.whole('Days present this month, on duty included.') readonly present!: number;
  @column.whole('Days absent this month.') readonly absent!: number;
  @column.whole('Half days this month.') readonly halfDay!: number;
  @column.whole('Days of leave this month.') readonly leave!: number;
}

@column.rowType('TeacherTotals', 'All listed.')
class TeacherTotals {
  @column.whole('How many members of staff.') readonly teachers!: number;
  @column.whole('Of them class teachers.') readonly classTeachers!: number;
}

/**
 * The members of staff with a role, and their duties; never the login name or other credentials.
 *
 * @see reports 12
 */
export const teachers = defineReport({
  name: 'teachers',
  field: 'teachers',
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
  teachers: 'none',
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
    and r.data->'created_on' >= ${json(startOf(firstDayOf(monthOfDay(today)), timeZone))}::jsonb
    and r.data->'created_on' < ${json(endOf(today, timeZone))}::jsonb
  group by 1
)`,
    rows: {
      position: sql`s.position`,
      key: sql`s.id`,
      of: 'm',
      columns: {
        userId: sql`s.id`,
        employeeCode: sql`s.data->>'employee_code'`,
        name: sql`s.data->>'name'`,
        department: sql`s.data->>'department'`,
        designation: sql`s.data->>'designation'`,
        phone: sql`s.data->>'phone'`,
        email: sql`s.data->>'email'`,
        joinedOn: sql`s.data->>'joined_on'`,
        leftOn: sql`s.data->>'left_on'`,
        active: sql`s.data->'active'`,
        roles: sql`(
          select json_agg(held order by place) filter (where held is not null)
          from jsonb_array_elements_text(s.data->'roles') with ordinality as listed(held, place)
        )`,
        classTeacherOf: sql`c.sections`,
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
