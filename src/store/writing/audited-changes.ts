/**
 * The part of a statement that adds to the audit trail what the statement did, and where changes are told by
 * the outbox, adds it there too.
 */
import { Prisma } from '../../generated/prisma/client.js';

/** The `audited` of a statement; `insert` adds the entries, and has no `returning`. */
export function auditedChanges(
  insert: Prisma.Sql,
  { isToOutbox }: { readonly isToOutbox: boolean },
): Prisma.Sql {
  if (!isToOutbox) return Prisma.sql`audited as (${insert})`;
  return Prisma.sql`audited as (${insert}
  returning id, at, domain, collection, record_id, operation, to_version, principal
),
noted as (
  insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal)
  select id, at, domain, collection, record_id, operation, to_version, principal from audited
)`;
}
