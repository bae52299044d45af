/**
 * The order of fee heads in every report: by the field `order` of their records, then by name. Heads that
 * occur in dues or receipts but have no record come last.
 */

import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';

/**
 * A CTE `head_places(places)` with one JSON object that contains the position of each fee head, cheap to look
 * up for many lines.
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

/** The order expression for lines with a column `fee_head`. */
export const byFeeHead: Sql = sql`((select places from head_places)->fee_head)::int, fee_head`;
