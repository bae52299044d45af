/**
 * Computes percentages, grades, results and ranks from marks, for the grade book of a student and that of a
 * class. These CTEs must follow one named `results(id, class, section, student, admission_no, remarks,
 * is_published, subjects)` with the results of a session and term, of all sections that are ranked together.
 *
 *   components  one row per component, with its marks and weight; `fault` if it is unusable
 *   subjects    one row per result and subject: percent, grade, state (graded, incomplete, exempt)
 *   ranked      one row per result: percent, grade, outcome, ranks and the number of ranked results
 *
 * A component that is scored or absent (which is 0) counts by its weight, an exempt one does not; one that is
 * not entered, or unusable, leaves the subject incomplete, and a result with such a subject has no percent,
 * no outcome and no rank.
 *
 * @see reports 14
 */
import { type Sql, sql } from '../../../store/sql.js';
import type { SchoolSettings } from '../engine/school-settings.js';
import { listOrEmpty } from './record-parts.js';

export function gradedResults({ grades, passPercent, rankMethod }: SchoolSettings): Sql {
  return sql`
scale as materialized (
  select array_agg((bound->>'from')::numeric order by (bound->>'from')::numeric) as bounds,
    array_agg(bound->>'grade' order by (bound->>'from')::numeric) as grades
  from jsonb_array_elements(${JSON.stringify(grades)}::jsonb) as bound
),
components as materialized (
  select
    c.id, c.subject_place, c.subject, c.place, c.component->>'name' as name, c.max, c.weight, c.marks,
      c.state,
    c.fault is not null or c.state = 'not_entered' as is_missing, c.fault,
    case when c.fault is null and c.state in ('scored', 'absent') then c.weight end as counted,
    case when c.fault is null and c.state = 'scored' then c.marks * c.weight / c.max when c.fault is null
      and c.state = 'absent' then 0 end as points
  from (
    select
      part.*,
      case
        when state not in ('scored', 'absent', 'exempt',
          'not_entered') then 'state is none of scored, absent, exempt, not_entered'
        when coalesce(max, 0) <= 0 then 'max is not a number above 0'
        when coalesce(weight, -1) < 0 then 'weight is not a number'
        when state = 'scored' and marks is null then 'marks is not a number'
        when state = 'scored' and not marks between 0 and max then 'marks is not between 0 and max'
      end as fault
    from (
      select
        q.id, s.place as subject_place, s.subject->>'subject' as subject, c.place, c.component,
        to_number(c.component->'max') as max, to_number(c.component->'weight') as weight,
          to_number(c.component->'marks') as marks,
        coalesce(c.component->>'state', case when c.component->'marks' is null then 'not_entered'
          else 'scored' end) as state
      from results q
      cross join lateral jsonb_array_elements(${listOrEmpty(sql`q.subjects`)})
        with ordinality as s(subject, place)
      cross join lateral jsonb_array_elements(
        ${listOrEmpty(sql`s.subject->'components'`)}
      ) with ordinality as c(component, place)
      -- Reads each number once, not at each use.
      offset 0
    ) as part
    offset 0
  ) as c
),
subjects as materialized (
  select
    sums.*,
    case when is_missing then 'incomplete' when percent is null then 'exempt' else 'graded' end as state,
    scale.grades[width_bucket(percent, scale.bounds)] as grade
  from (
    select
      id, subject_place, subject, bool_or(is_missing) as is_missing, bool_or(state = 'absent') as was_absent,
      case when not bool_or(is_missing) then 100 * sum(points) / nullif(sum(counted), 0) end as exact_percent,
      case when not bool_or(is_missing) then round(100 * sum(points) / nullif(sum(counted), 0),
        2) end as percent
    from components
    group by id, subject_place, subject
  ) as sums
  cross join scale
),
overall as materialized (
  select
    id, bool_or(is_missing) as is_missing, case
      when not bool_or(is_missing) then round(avg(exact_percent), 2) end as percent,
    count(*) filter (where percent < ${passPercent}) as failed
  from subjects
  group by id
),
ranked as materialized (
  select
    q.id, q.class, q.section, q.student, q.admission_no, q.remarks, q.is_published,
    o.percent, scale.grades[width_bucket(o.percent, scale.bounds)] as grade,
    case when coalesce(o.is_missing, true) then 'incomplete' when o.percent is null then null
      when o.failed = 0 then 'pass' when o.failed <= 2 then 'compartment' else 'fail' end
      as outcome,
    case when o.percent is not null then
      case when ${rankMethod === 'dense'} then dense_rank() over in_section else rank() over in_section end
    end as section_rank,
    case when o.percent is not null then
      case when ${rankMethod === 'dense'} then dense_rank() over in_class else rank() over in_class end
    end as class_rank,
    count(*) over (partition by q.class, q.section) as section_size,
      count(*) over (partition by q.class) as class_size
  from results q
  cross join scale
  left join overall o on o.id = q.id
  window
    in_section as (partition by q.class, q.section order by o.percent desc nulls last),
    in_class as (partition by q.class order by o.percent desc nulls last)
)`;
}
