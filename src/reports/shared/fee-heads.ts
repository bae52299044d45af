/**
 * The order of fee heads, one for every report: that of the field `order` of their records, then by name.
 * Heads that money was asked or paid for, but that are no record, come last.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';

/**
 * A CTE `head_places(places)`: one JSON object with the place of each fee head, cheap to ask for many lines.
 */
export function feeHeadPlaces({ domain }: { readonly domain: string }): Sql {
  return Prisma.sql`
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

/** What to order lines with a column `fee_head` by. */
export const byFeeHead: Sql = Prisma.sql`((select places from head_places)->fee_head)::int, fee_head`;
