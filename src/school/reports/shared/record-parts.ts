/** SQL fragments over single records that several reports share. */

import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { Sql, sql } from '../../../store/sql.js';
import type { Day } from '../engine/parameter-types.js';
import { endOf, startOf } from '../engine/school-calendar.js';
import type { ShownParts } from '../engine/shown-parts.js';
import { json } from '../engine/statement.js';

/** The records `r`, or the stays of students, of a class and section; without these, all. */
export function isInPlace(className: string | null, section: string | null, of: 'r' | 'stay' = 'r'): Sql {
  const data = sql.raw(`${of}.data`);
  return sql`(${className}::text is null or ${data}->'class' = ${json(className)}::jsonb)
    and (${section}::text is null or ${data}->'section' = ${json(section)}::jsonb)`;
}

/**
 * Records of a section that a teacher teaches; all if `sections` is null. Class and section are SQL
 * expressions, JSON or text.
 */
export function isInSections(
  sections: string | null,
  { className, section }: { readonly className: Sql; readonly section: Sql } = OF_RECORD,
): Sql {
  const pair = sql`jsonb_build_array(jsonb_build_array(${className}, ${section}))`;
  return sql`(${sections}::jsonb is null or ${sections}::jsonb @> ${pair})`;
}

const OF_RECORD = { className: sql`r.data->'class'`, section: sql`r.data->'section'` };

/**
 * The order of classes in every report, by the field `order` of their records: the rows `class` and
 * `class_order` of a CTE. A class without a number or a record comes last.
 */
export function classOrders({ domain }: { readonly domain: string }): Sql {
  return sql`
  select r.data->>'name' as class, to_number(r.data->'order') as class_order
  from records r
  where ${liveRecordsIn(domain, 'class')}`;
}

/**
 * The order of fee heads in every report: by the field `order` of their records, then by name. Heads that
 * occur in dues or receipts but have no record come last. A CTE `head_places(places)` with one JSON object
 * that contains the position of each fee head, cheap to look up for many lines.
 */
export function feeHeadPlaces({ domain }: { readonly domain: string }): Sql {
  return sql`
head_places as materialized (
  select coalesce(jsonb_object_agg(fee_head, place), '{}') as places
  from (
    select r.data->>'name' as fee_head, row_number() over (order by to_number(r.data->'order'),
      r.data->>'name') as place
    from records r
    where ${liveRecordsIn(domain, 'fee_head')} and r.data->>'name' is not null
  ) as head
)`;
}

/** For a table, one row of 0 per fee head, so that its columns do not depend on the payments. */
export function linesOfNothing({ isTable = false }: ShownParts): Sql {
  return isTable ? sql` union all select null, jsonb_object_keys(places), 0, 0 from head_places` : sql.empty;
}

/** The order expression for lines with a column `fee_head`. */
export const byFeeHead: Sql = sql`((select places from head_places)->fee_head)::int, fee_head`;

/**
 * The roll number of the registration `r`; null if it is implausible. In JSON, only numbers lie between two
 * numbers.
 */
export const rollNumber: Sql = sql`
    case when r.data->'roll_no' between '0' and '999999' then (r.data->'roll_no')::int end`;

/**
 * A list in a record; empty if it is missing or not a list, because one faulty record must not fail a report.
 */
export function listOrEmpty(value: Sql): Sql {
  return sql`case when jsonb_typeof(${value}) = 'array' then ${value} else '[]' end`;
}

/** Whether an instant of a record, at the path of its member, is within two days of a zone, both included. */
export function isWithinDays(path: string, days: readonly [first: Day, last: Day], timeZone: string): Sql {
  const [start, end] = [startOf(days[0], timeZone), endOf(days[1], timeZone)].map(json);
  return sql`${sql.raw(path)} >= ${start}::jsonb and ${sql.raw(path)} < ${end}::jsonb`;
}
