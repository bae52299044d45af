import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import * as column from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { jsonListOf } from './engine/report-parts.js';
import { inSession } from './shared/common-parameters.js';
import { listOrEmpty } from './shared/list-or-empty.js';
import { dayOfStrength, isInSession, studentsOfSession, unpromoted, unusableRoll } from './shared/roll.js';

@column.rowType('SectionDetails', 'A section of a class.')
class SectionDetails {
  @column.text('The section.') readonly section!: string;
  @column.text('`_id` of the class teacher.', { nullable: true }) readonly classTeacherId!: string | null;
  @column.text('The class teacher.', { nullable: true }) readonly classTeacher!: string | null;
  @column.text('The room.', { nullable: true }) readonly room!: string | null;
  @column.whole('Students.') readonly strength!: number;
  @column.whole('Boys.') readonly boys!: number;
  @column.whole('Girls.') readonly girls!: number;
  @column.whole('Other, or gender not recorded.') readonly other!: number;
  @column.whole('Seats.', { nullable: true }) readonly capacity!: number | null;
  @column.whole('Seats not taken; negative where there are more students than seats.', { nullable: true })
  readonly freeSeats!: number | null;
}

@column.rowType('ClassDetails', 'A class with its sections.')
class ClassDetails {
  @column.text('The class.') readonly class!: string;
  @column.rows(() => SectionDetails, 'Its sections.') readonly sections!: readonly SectionDetails[];
  @column.whole('Students.') readonly strength!: number;
  @column.whole('Boys.') readonly boys!: number;
  @column.whole('Girls.') readonly girls!: number;
  @column.whole('Other, or gender not recorded.') readonly other!: number;
  @column.whole('Seats of the sections that say so.') readonly capacity!: number;
  @column.whole('Seats not taken.') readonly freeSeats!: number;
}

@column.rowType('ClassCategory', 'The classes of one category.')
class ClassCategory {
  @column.text('Pre-primary, Primary, Middle, Secondary …') readonly category!: string;
  @column.rows(() => ClassDetails, 'Its classes in order.') readonly classes!: readonly ClassDetails[];
  @column.whole('Students.') readonly strength!: number;
  @column.whole('Boys.') readonly boys!: number;
  @column.whole('Girls.') readonly girls!: number;
  @column.whole('Other, or gender not recorded.') readonly other!: number;
  @column.whole('Seats of the sections that say so.') readonly capacity!: number;
  @column.whole('Seats not taken.') readonly freeSeats!: number;
}

@column.rowType('ClassCategoryTotals', 'The whole school.')
class ClassCategoryTotals {
  @column.whole('Classes.') readonly classes!: number;
  @column.whole('Sections.') readonly sections!: number;
  @column.whole('Students.') readonly strength!: number;
  @column.whole('Boys.') readonly boys!: number;
  @column.whole('Girls.') readonly girls!: number;
  @column.whole('Other, or gender not recorded.') readonly other!: number;
  @column.whole('Seats of the sections that say so.') readonly capacity!: number;
  @column.whole('Seats not taken.') readonly freeSeats!: number;
}

/**
 * The classes of the school by category, with sections, class teachers and seats. Strength counts the
 * students of the session who are on the roll today, or on the first day of a session to come; a student
 * whose class or section is none of the school's is left out with a warning.
 *
 * @see reports 8
 */
export const classesByCategory = defineReport({
  name: 'classes-by-category',
  field: 'classesByCategory',
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
      leftOut: sql`select collection, reason, id
from (
  select 'registration' as collection, student as id, 'the class has no such section' as reason
  from present p
  where not exists (select from sections c where c.class = p.class and c.section = p.section)
  union all
  ${unusableRoll}
  union all
  ${unpromoted(session, day, context)}
) as left_out`,
    };
  },
});
