/**
 * Computes the school days for all reports that count them. These CTEs must follow one named
 * `school_classes(class)` with the requested classes ('' is the whole school, for its staff).
 *
 *   holidays     the declared days off, and weekly offs with school, of the range
 *   days_off     one object whose members are the days of school_days without school, as `<class> <day>`;
 *                it is cheap to look up for many marks
 *   school_days  class, day (`YYYY-MM-DD`), month, is_working, holiday (its name, if it has one)
 *
 * A day is off by the rules of the property `weeklyOffs`, or by a holiday of the school or the class; a day
 * marked working is school whatever else it is. No day after today is in the list.
 *
 * @see reports "Terms used by all" (working days)
 */

import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import type { Day } from '../engine/parameter-types.js';
import type { ReportContext } from '../engine/report-context.js';
import { listOrEmpty } from './record-parts.js';

export interface DayRange {
  readonly first: Day;
  /** Itself included. */
  readonly last: Day;
}

export function schoolDays(
  { domain, today, settings }: Pick<ReportContext, 'domain' | 'today' | 'settings'>,
  { first, last }: DayRange,
): Sql {
  return sql`
holidays as materialized (
  select
    r.id, r.data->>'date' as day, r.data->>'name' as name, r.data->'working' = 'true' as is_working,
    ${listOrEmpty(sql`r.data->'classes'`)} as classes
  from records r
  where ${liveRecordsIn(domain, 'holiday')}
    and r.data->'date' >= to_jsonb(${first}::text) and r.data->'date' <= to_jsonb(${last}::text)
),
school_days as materialized (
  select
    c.class, to_char(d.day, 'YYYY-MM-DD') as day, to_char(d.day, 'YYYY-MM') as month,
    coalesce(h.is_working, false) or not (d.is_off
      or coalesce(h.is_closed, false)) as is_working, h.name as holiday
  from school_classes c
  cross join (
    select
      day,
      -- 'SU' is every Sunday, '2SA' the second Saturday of the month.
      array[left(to_char(day, 'DY'), 2), (extract(day from day)::int + 6) / 7 || left(to_char(day, 'DY'), 2)]
        && string_to_array(${settings.weeklyOffs.join(',')}, ',') as is_off
    from generate_series(0, least(${last}::date, ${today}::date) - ${first}::date) as n
    cross join lateral (select ${first}::date + n as day) as date
  ) as d
  left join (
    select
      c.class, h.day, bool_or(h.is_working) as is_working,
        bool_or(not coalesce(h.is_working, false)) as is_closed,
      string_agg(h.name, ', ' order by h.name) filter (where not coalesce(h.is_working, false)) as name
    from school_classes c
    join holidays h on h.classes = '[]' or h.classes ? c.class
    group by c.class, h.day
  ) as h on h.class = c.class and h.day = to_char(d.day, 'YYYY-MM-DD')
),
days_off as materialized (
  select coalesce(jsonb_object_agg(class || ' ' || day, true), '{}') as places from school_days
    where not is_working
)`;
}

/** The holidays without a valid day: rows of `left_out` for the warnings. */
export function unusableHolidays({ domain }: Pick<ReportContext, 'domain'>): Sql {
  return sql`
  select 'holiday' as collection, r.id, 'date is not a day' as reason
  from records r
  where ${liveRecordsIn(domain, 'holiday')}
    and (r.data->'date' is null or r.data->'date' < '"1900"' or r.data->'date' > '"2199-12-31"')`;
}
