import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { flagType, textType } from './engine/parameter-types.js';
import { defaulted, optional } from './engine/parameters.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { firstDayOf, monthOfDay, sessionOf } from './engine/school-calendar.js';
import { json } from './engine/statement.js';
import { assertDepartment, assertRole } from './shared/assert-place.js';
import { checkRange, fromAndTo } from './shared/common-parameters.js';
import { isWithinDays, listOrEmpty } from './shared/record-parts.js';
import { isInSession, studentsOfSession, unpromoted, unusableRoll } from './shared/roll.js';

const SectionOfTeacher = rowType('SectionOfTeacher', 'A section whose class teacher somebody is.', {
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
  teachers: column.whole('Number of members of staff.'),
  classTeachers: column.whole('Those of them who are class teachers.'),
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
    role: defaulted(textType, 'A role that one of the roles contains.', {
      restName: 'roles',
      default: 'teacher',
    }),
    active: defaulted(flagType, 'Active or inactive members of staff.', { default: 'true' }),
    department: optional(textType, 'Only this department.'),
  },
  reads: ['class', 'pltf_user', 'teacher_attendance'],
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

const TeacherWorkload = rowType('TeacherWorkload', 'The workload of a teacher.', {
  userId: column.text('`_id` of the teacher.'),
  name: column.text('Name.'),
  department: column.nullable.text('Department.'),
  sections: column.rows(SectionOfTeacher, 'Class teacher of.'),
  students: column.whole('Students on roll today in those sections.'),
  daysMarked: column.whole('Days of the range on which the teacher marked attendance.'),
  marks: column.whole('Marks of attendance the teacher made in the range.'),
  daysPresent: column.whole(
    'Days the teacher was present in the range, on duty included; half days are not.',
  ),
});

const TeacherWorkloadTotals = rowType('TeacherWorkloadTotals', 'All teachers.', {
  teachers: column.whole('Number of teachers.'),
  sections: column.whole('Sections with a class teacher among them.'),
  students: column.whole('Students of those sections.'),
  marks: column.whole('Marks of attendance made.'),
  studentsATeacher: column.nullable.number('Students a teacher, sections or not. Unit: students.'),
});

/**
 * The workload of each active teacher: sections, students, attendance marked.
 *
 * @see reports "Beyond the document"
 */
export const teacherWorkload = defineReport({
  name: 'teacher-workload',
  title: 'Teacher workload',
  description: 'Sections and students of each active teacher, and the attendance marked in a range of days.',
  parameters: {
    ...fromAndTo('a year'),
  },
  reads: ['attendance', 'class', 'pltf_user', 'registration', 'teacher_attendance'],
  roles: ['clerk'],
  row: TeacherWorkload,
  totals: TeacherWorkloadTotals,
  example: { from: '2026-07-01', to: '2026-07-31' },
  check({ from, to }) {
    checkRange(['from', from], ['to', to], [366, 'a year']);
  },
  parts({ from, to }, context) {
    const { domain, timeZone, today, settings } = context;
    const session = sessionOf(today, settings.sessionFirstMonth);
    return {
      ctes: sql`
staff as materialized (
  select r.id, r.data->>'name' as name, r.data->>'department' as department
  from records r
  where ${liveRecordsIn(domain, 'pltf_user')}
    and r.data->'active' = 'true' and r.data @> '{"roles": ["teacher"]}'
),
students as materialized (${studentsOfSession(session, today, context)}
),
strengths as (
  select class, section, count(*) as students
  from students
  where ${isInSession(session, today, context)}
  group by class, section
),
sections as materialized (
  select
    element->'class_teacher'->>'value' as teacher, count(*) as sections, coalesce(sum(n.students),
      0) as students,
    ${jsonListOf(SectionOfTeacher, sql`to_number(r.data->'order'), r.data->>'name', element->>'name'`, {
      columns: { class: sql`r.data->>'name'`, section: sql`element->>'name'` },
    })} as list
  from records r
  cross join lateral jsonb_array_elements(${listOrEmpty(sql`r.data->'sections'`)}) as element
  left join strengths n on n.class = r.data->>'name' and n.section = element->>'name'
  where ${liveRecordsIn(domain, 'class')}
  group by 1
),
day_starts as materialized (
  -- The first instant of each day, in the format of records; comparing it gives the day of a mark
  -- without a cast.
  select array_agg(to_char(d at time zone ${timeZone} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    order by d) as starts
  from generate_series(${from}::timestamp, ${to}::timestamp, interval '1 day') as d
),
marks as (
  select teacher, sum(marks) as marks, count(*) as days
  from (
    select
      r.data->'marked_by'->>'value' as teacher, width_bucket(r.data->>'created', (select starts
        from day_starts)) as day, count(*) as marks
    from records r
    where ${liveRecordsIn(domain, 'attendance')}
      and ${isWithinDays("r.data->'created'", [from, to], timeZone)}
    group by 1, 2
  ) as marked
  group by teacher
),
presence as (
  select r.data->'name'->>'value' as teacher, count(*) filter (where r.data->>'status' in ('present',
    'on_duty')) as days
  from records r
  where ${liveRecordsIn(domain, 'teacher_attendance')}
    and ${isWithinDays("r.data->'created_on'", [from, to], timeZone)}
  group by 1
),
loads as materialized (
  select
    t.*, coalesce(s.list, '[]') as list, coalesce(s.sections, 0) as sections,
      coalesce(s.students, 0) as students,
    coalesce(m.marks, 0) as marks, coalesce(m.days, 0) as days_marked, coalesce(p.days, 0) as days_present,
    row_number() over (order by coalesce(s.students, 0) desc, t.name, t.id) as position
  from staff t
  left join sections s on s.teacher = t.id
  left join marks m on m.teacher = t.id
  left join presence p on p.teacher = t.id
)`,
      rows: {
        key: sql`id`,
        columns: {
          userId: sql`id`,
          sections: sql`list`,
        },
        from: sql`from loads`,
      },
      totals: {
        columns: {
          teachers: sql`count(*)`,
          studentsATeacher: sql`round(sum(students) / nullif(count(*), 0), 2)`,
        },
        over: sql`from loads`,
      },
      leftOut: [unusableRoll, unpromoted(session, today, context)],
    };
  },
});
