import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { firstDayOf, lastDayOf, monthsOf } from './engine/school-calendar.js';
import { inSession, onDate } from './shared/common-parameters.js';
import { classOrders, listOrEmpty } from './shared/record-parts.js';
import {
  dayOfStrength,
  isInSession,
  isOnRoll,
  studentsOfSession,
  unpromoted,
  unusableRoll,
} from './shared/roll.js';

const STRENGTH = {
  boys: column.whole('Boys.'),
  girls: column.whole('Girls.'),
  other: column.whole('Other, or gender not recorded.'),
  strength: column.whole('All.'),
  joined: column.whole('Admitted within the session.'),
};

const SectionStrength = rowType('SectionStrength', 'The students of one section.', {
  class: column.text('The class.'),
  section: column.text('The section.'),
  ...STRENGTH,
  left: column.whole('Left within the session; no longer in the strength.'),
});

const StrengthTotals = rowType('StrengthTotals', 'The whole school.', {
  ...STRENGTH,
  left: column.whole('Left within the session.'),
});

/**
 * How many students each section has, by gender, and who came and went. Strength counts those on the roll on
 * the day, or on the nearest day of the session: a student whose last day it is counts.
 *
 * @see reports "Beyond the document"
 */
export const strength = defineReport({
  name: 'strength',
  title: 'Strength by class and gender',
  description: 'Students of each section by gender, with those who joined and left within the session.',
  parameters: { session: inSession, date: onDate },
  reads: ['class', 'registration'],
  roles: ['accountant', 'clerk', 'viewer'],
  teachers: 'all',
  row: SectionStrength,
  totals: StrengthTotals,
  example: { session: '2026-27' },
  parts({ session, date }, context) {
    const { domain } = context;
    const { first, last } = monthsOf(session, context.settings.sessionFirstMonth);
    const day = dayOfStrength(session, { ...context, today: date });
    return {
      ctes: sql`
students as materialized (${studentsOfSession(session, day, context)}
),
-- A student who is not admitted yet does not count, nor one whose days are unusable.
counted as (
  select
    class, section, gender, first_day between ${firstDayOf(first)} and ${lastDayOf(last)}
      or admitted_on between ${firstDayOf(first)} and ${day} as has_joined,
    not ${isOnRoll(day)} as has_left
  from students
  cross join lateral (
    select least(admitted_on, min(stay->>'from')) as first_day
    from jsonb_array_elements(earlier_stays) as stay
  ) as came
  where first_day <= ${day} and left_on is not null
    and (session = ${session} or ${isInSession(session, day, context)})
),
classes as (${classOrders({ domain })}
),
sections as materialized (
  select
    s.class, s.section, min(c.class_order) as class_order,
    count(*) filter (where not has_left and gender = 'male') as boys,
    count(*) filter (where not has_left and gender = 'female') as girls,
    count(*) filter (where not has_left and gender is distinct from 'male' and gender is distinct
      from 'female') as other,
    count(*) filter (where not has_left) as strength, count(*) filter (where has_joined) as joined,
      count(*) filter (where has_left) as left_count
  from counted s
  left join classes c on c.class = s.class
  group by s.class, s.section
)`,
      rows: {
        position: sql`row_number() over (order by class_order, class, section)`,
        key: sql`class || ' ' || section`,
        columns: {
          left: sql`left_count`,
        },
        from: sql`from sections`,
      },
      totals: {
        columns: {
          left: sql`sum(left_count)`,
        },
        over: sql`from sections`,
      },
      leftOut: [unusableRoll, unpromoted(session, day, context)],
    };
  },
});

const STUDENTS = {
  strength: column.whole('Students.'),
  boys: column.whole('Boys.'),
  girls: column.whole('Girls.'),
  other: column.whole('Other, or gender not recorded.'),
};

const SEATED = {
  ...STUDENTS,
  capacity: column.whole('Seats of the sections that declare them.'),
  freeSeats: column.whole('Seats not taken.'),
};

const SectionDetails = rowType('SectionDetails', 'A section of a class.', {
  section: column.text('The section.'),
  classTeacherId: column.nullable.text('`_id` of the class teacher.'),
  classTeacher: column.nullable.text('The class teacher.'),
  room: column.nullable.text('The room.'),
  ...STUDENTS,
  capacity: column.nullable.whole('Seats.'),
  freeSeats: column.nullable.whole('Seats not taken; negative where there are more students than seats.'),
});

const ClassDetails = rowType('ClassDetails', 'A class with its sections.', {
  class: column.text('The class.'),
  sections: column.rows(SectionDetails, 'Its sections.', 'lines'),
  ...SEATED,
});

const ClassCategory = rowType('ClassCategory', 'The classes of one category.', {
  category: column.text('Pre-primary, Primary, Middle, Secondary …'),
  classes: column.rows(ClassDetails, 'Its classes in order.', 'lines'),
  ...SEATED,
});

const ClassCategoryTotals = rowType('ClassCategoryTotals', 'The whole school.', {
  classes: column.whole('Classes.'),
  sections: column.whole('Sections.'),
  ...SEATED,
});

/**
 * The classes of the school by category, with sections, class teachers and seats. Strength counts the
 * students of the session who are on the roll today, or on the first day of a session to come; a student
 * whose class or section is none of the school's is left out with a warning.
 *
 * @see reports 8
 */
export const classesByCategory = defineReport({
  name: 'classes-by-category',
  title: 'Class details',
  description: 'Classes by category with sections, class teachers, strength, capacity and free seats.',
  routes: [{ method: 'GET', path: '/classbycategory.svc' }],
  parameters: { session: inSession },
  reads: ['class', 'registration'],
  roles: ['accountant', 'clerk', 'viewer'],
  teachers: 'all',
  row: ClassCategory,
  totals: ClassCategoryTotals,
  example: { session: '2026-27' },
  parts: ({ session }, context) => {
    const { domain } = context;
    const day = dayOfStrength(session, context);
    return {
      ctes: sql`
sections as materialized (
  select
    coalesce(r.data->>'category', '') as category, coalesce(r.data->>'name', '') as class,
    to_number(r.data->'order') as class_order,
    section->>'name' as section, section_order,
    section->'class_teacher'->>'value' as teacher_id, section->'class_teacher'->>'label' as teacher,
      section->>'room' as room,
    to_number(section->'capacity') as capacity
  from records r
  left join lateral jsonb_array_elements(${listOrEmpty(sql`r.data->'sections'`)})
    with ordinality as listed(section, section_order) on true
  where ${liveRecordsIn(domain, 'class')}
),
students as materialized (${studentsOfSession(session, day, context)}
),
present as materialized (
  select * from students where ${isInSession(session, day, context)}
),
strengths as materialized (
  select class, section, count(*) as strength, count(*) filter (where gender = 'male') as boys,
    count(*) filter (where gender = 'female') as girls
  from present
  group by class, section
),
by_section as materialized (
  select
    s.*, coalesce(t.strength, 0) as strength, coalesce(t.boys, 0) as boys, coalesce(t.girls, 0) as girls,
    coalesce(t.strength - t.boys - t.girls, 0) as other, s.capacity - coalesce(t.strength, 0) as free_seats
  from sections s
  left join strengths t on t.class = s.class and t.section = s.section
),
by_class as (
  select
    category, class, class_order, coalesce(${jsonListOf(SectionDetails, sql`section_order`, {
      columns: { classTeacherId: sql`teacher_id`, classTeacher: sql`teacher` },
    })} filter (where section is not null), '[]') as sections,
    sum(strength) as strength, sum(boys) as boys, sum(girls) as girls, sum(other) as other,
    coalesce(sum(capacity), 0) as capacity, coalesce(sum(free_seats), 0) as free_seats
  from by_section
  group by category, class, class_order
),
by_category as (
  select
    category, ${jsonListOf(ClassDetails, sql`class_order, class`)} as classes,
    sum(strength) as strength, sum(boys) as boys, sum(girls) as girls, sum(other) as other,
    sum(capacity) as capacity, sum(free_seats) as free_seats, row_number() over (order by min(class_order),
      category) as position
  from by_class
  group by category
)`,
      rows: {
        key: sql`category`,
        from: sql`from by_category`,
      },
      totals: {
        columns: {
          classes: sql`count(distinct class)`,
          sections: sql`count(section)`,
        },
        over: sql`from by_section`,
      },
      leftOut: [
        sql`select 'registration' as collection, student as id, 'the class has no such section' as reason
from present p
where not exists (select from sections c where c.class = p.class and c.section = p.section)`,
        unusableRoll,
        unpromoted(session, day, context),
      ],
    };
  },
});
