import { Prisma } from '../../generated/prisma/client.js';
import type { Sql } from '../../generated/prisma/internal/prismaNamespace.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';

/**
 * The order of classes, one for every report: that of the field `order` of their records. The rows `class`
 * and `class_order` of a CTE; a class without a number there, or without a record, comes last.
 */
export function classOrders({ domain }: { readonly domain: string }): Sql {
  return Prisma.sql`
  select r.data->>'name' as class, to_number(r.data->'order') as class_order
  from records r
  where ${liveRecordsIn(domain, 'class')}`;
}
