import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { faultsIn, jsonListOf } from './engine/report-parts.js';
import { assertPlace } from './shared/assert-place.js';
import { inClass, inSection, onDate } from './shared/common-parameters.js';
import { isNobody } from './shared/orphans.js';
import { classOrders, isInPlace, isInSections, isWithinDays } from './shared/record-parts.js';
import { isOnRoll, rollDays, stayOn } from './shared/roll.js';
import { schoolDays } from './shared/school-days.js';

const AbsentStudent = rowType('AbsentStudent', 'A student who is absent or on leave on the day.', {
  class: column.text('Class on the day.'),
  section: column.text('Section on the day.'),
  rollNo: column.nullable.whole('Roll number.'),
  studentId: column.text('`_id` of the student.'),
  admissionNo: column.nullable.text('Admission number.'),
  name: column.nullable.text('Name of the student.'),
  guardian: column.nullable.text('Name of the father, else of the mother.'),
  phone: column.nullable.text('Phone of the guardian.'),
  status: column.text('absent or leave.'),
  remark: column.nullable.text('Remark of the mark.'),
});

const ClassDayCount = rowType('ClassDayCount', 'The marks of one section on the day.', {
  class: column.text('The class.'),
  section: column.text('The section.'),
  marked: column.whole('Students marked.'),
  absent: column.whole('Those of them who are absent.'),
  leave: column.whole('Those of them who are on leave.'),
});

const UnmarkedSection = rowType('UnmarkedSection', 'A section that has school on the day and no mark yet.', {
  class: column.text('The class.'),
  section: column.text('The section.'),
  students: column.whole('Students on the roll.'),
});

const DaySheetTotals = rowType('DaySheetTotals', 'All sections on the day.', {
  isSchoolDay: column.nullable.flag('Whether any class has school on the day; null for a day to come.'),
  holiday: column.nullable.text(
    'The name of the holiday, if no class has school on the day and it has a name.',
  ),
  marked: column.whole('Students marked.'),
  absent: column.whole('Those of them who are absent.'),
  leave: column.whole('Those of them who are on leave.'),
  sections: column.rows(ClassDayCount, 'By section.'),
  unmarked: column.rows(UnmarkedSection, 'Sections without a mark although they have school.'),
});

/**
 * The students who are absent today, by class, with the phone to call. Class and section are those of the
 * mark.
 *
 * @see reports "Beyond the document"
 */
export const daySheet = defineReport({
  name: 'day-sheet',
  title: 'Day sheet',
  description: 'Who is absent or on leave on a day, by class and section, with the phone of the guardian.',
  parameters: { date: onDate, class: inClass, section: inSection },
  reads: ['attendance', 'class', 'holiday', 'registration'],
  roles: ['clerk'],
  teachers: 'taught',
  row: AbsentStudent,
  totals: DaySheetTotals,
  example: { date: '2026-07-06' },
  check: assertPlace,
  parts: (
    { date, class: className = null, section = null },
    { domain, timeZone, today, settings, sections },
  ) => ({
    ctes: sql`
found as materialized (
  select
    r.id, coalesce(r.data->>'class', '') as class, coalesce(r.data->>'section', '') as section,
      r.data->'student'->>'value' as student, r.data->'student'->>'label' as label,
    r.data->>'status' as status, r.data->>'remark' as remark,
    jsonb_typeof(r.data->'student'->'value') is not distinct from 'string' as is_reference
  from records r
  where ${liveRecordsIn(domain, 'attendance')}
    and ${isWithinDays("r.data->'created'", [date, date], timeZone)}
    and ${isInPlace(className, section)}
    and ${isInSections(sections)}
),
-- A student without a registration has the name that the mark gives.
marks as materialized (
  select
    f.*,
    case
      when not is_reference then 'student is not a reference'
      when coalesce(status, '') not in ('present', 'absent', 'late', 'half_day',
        'leave') then 'status is none of the marks'
      when s.student is not null and ${isOnRoll(date)} is not true then
        'the student is not on roll on the day'
    end as fault
  from found f
  left join lateral (
    select r.id as student, ${rollDays({ today })}
    from records r
    where ${liveRecordsIn(domain, 'registration')} and r.id = f.student
  ) as s on true
),
classes as (${classOrders({ domain })}
),
by_section as materialized (
  select
    m.class, m.section, min(c.class_order) as class_order, count(*) as marked,
    count(*) filter (where m.status = 'absent') as absent,
      count(*) filter (where m.status = 'leave') as on_leave
  from marks m
  left join classes c on c.class = m.class
  where m.fault is null
  group by m.class, m.section
),
absentees as materialized (
  select
    m.*, r.data, to_number(r.data->'roll_no') as roll_no, c.class_order
  from marks m
  left join records r on ${liveRecordsIn(domain, 'registration')} and r.id = m.student
  left join classes c on c.class = m.class
  where m.fault is null and m.status in ('absent', 'leave')
),
places as materialized (
  select class, section, count(*) as students
  from (
    select stay.data->>'class' as class, stay.data->>'section' as section, ${rollDays({ today })}
    from records r
    cross join lateral (select ${stayOn(date)} as data offset 0) as stay
    where ${liveRecordsIn(domain, 'registration')} and ${isInPlace(className, section, 'stay')}
      and ${isInSections(sections, {
        className: sql`stay.data->'class'`,
        section: sql`stay.data->'section'`,
      })}
  ) as student
  where ${isOnRoll(date)}
  group by class, section
),
school_classes as (
  select distinct class from places
  union all
  select '' where not exists (select from places)
),${schoolDays({ domain, today, settings }, { first: date, last: date })}`,
    rows: {
      position: sql`row_number() over (order by class_order, class, section, roll_no, label, student)`,
      key: sql`id`,
      columns: {
        studentId: sql`student`,
        admissionNo: sql`data->>'sequence'`,
        name: sql`coalesce(data->>'name', label)`,
        guardian: sql`coalesce(data->>'father_name', data->>'mother_name')`,
        phone: sql`data->>'guardian_phone'`,
      },
      from: sql`from absentees`,
    },
    totals: {
      columns: {
        isSchoolDay: sql`(select bool_or(is_working) from school_days)`,
        holiday: sql`(select min(holiday) from school_days having not bool_or(is_working))`,
        leave: sql`sum(on_leave)`,
        sections: jsonListOf(ClassDayCount, sql`class_order, class, section`, {
          columns: { leave: sql`on_leave` },
        }),
        unmarked: sql`(
          select ${jsonListOf(UnmarkedSection, sql`class_order, class, section`)}
          from places
          join school_days using (class)
          left join classes using (class)
          where is_working and (class, section) not in (select class, section from by_section)
        )`,
      },
      over: sql`from by_section`,
    },
    leftOut: [
      faultsIn('marks', 'attendance'),
      sql`select 'attendance', id, 'its student does not exist' from marks
where fault is null and ${isNobody(domain, sql`marks.student`)}`,
    ],
  }),
});
