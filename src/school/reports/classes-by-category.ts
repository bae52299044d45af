import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { inSession } from './shared/common-parameters.js';
import { listOrEmpty } from './shared/record-parts.js';
import { dayOfStrength, isInSession, studentsOfSession, unpromoted, unusableRoll } from './shared/roll.js';

const STRENGTH = {
  strength: column.whole('Students.'),
  boys: column.whole('Boys.'),
  girls: column.whole('Girls.'),
  other: column.whole('Other, or gender not recorded.'),
};

const SEATED = {
  ...STRENGTH,
  capacity: column.whole('Seats of the sections that say so.'),
  freeSeats: column.whole('Seats not taken.'),
};

const SectionDetails = rowType('SectionDetails', 'A section of a class.', {
  section: column.text('The section.'),
  classTeacherId: column.nullable.text('`_id` of the class teacher.'),
  classTeacher: column.nullable.text('The class teacher.'),
  room: column.nullable.text('The room.'),
  ...STRENGTH,
  capacity: column.nullable.whole('Seats.'),
  freeSeats: column.nullable.whole('Seats not taken; negative where there are more students than seats.'),
});

const ClassDetails = rowType('ClassDetails', 'A class with its sections.', {
  class: column.text('The class.'),
  sections: column.rows(SectionDetails, 'Its sections.'),
  ...SEATED,
});

const ClassCategory = rowType('ClassCategory', 'The classes of one category.', {
  category: column.text('Pre-primary, Primary, Middle, Secondary …'),
  classes: column.rows(ClassDetails, 'Its classes in order.'),
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
        position: sql`position`,
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
