import { liveRecordsIn } from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';

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
