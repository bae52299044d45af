import { sql } from '../../store/sql.js';
import { column, rowType } from './engine/columns.js';
import { defineReport } from './engine/report.js';
import { firstDayOf, lastDayOf, monthsOf } from './engine/school-calendar.js';
import { inSession, onDate } from './shared/common-parameters.js';
import { classOrders } from './shared/record-parts.js';
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
