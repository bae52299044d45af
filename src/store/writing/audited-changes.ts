/**
 * The part of a statement that adds its changes to the audit trail and, if changes are announced by the
 * outbox, also to the outbox, with the follow-ups.
 */
import { type Sql, sql } from '../sql.js';

/** The follow-ups of a written record `r`, as expressions, which the outbox stores until they are started. */
export interface FollowUps {
  /** @see WriteTriggers.after */
  readonly started: Sql | undefined;
  /** The announcement of changed rights to the gateways. */
  readonly announced: Sql | undefined;
}

const NOTHING_FOLLOWS: FollowUps = { started: undefined, announced: undefined };

/**
 * The CTE `audited` of a statement. `insert` adds the entries and has no `returning`. If there are
 * follow-ups, the statement must have the records as `written`.
 */
export function auditedChanges(
  insert: Sql,
  {
    isToOutbox,
    following = NOTHING_FOLLOWS,
  }: { readonly isToOutbox: boolean; readonly following?: FollowUps },
): Sql {
  if (!isToOutbox) return sql`audited as (${insert})`;
  const { started, announced } = following;
  if (started !== undefined || announced !== undefined) {
    return sql`audited as (${insert}
  returning id, at, domain, collection, record_id, operation, to_version, principal
),
noted as (
  insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal,
    started, announced)
  select a.id, a.at, a.domain, a.collection, a.record_id, a.operation, a.to_version, a.principal,
    ${started ?? sql`null::json`}, ${announced ?? sql`null::text`}
  from audited a join written r on r.id = a.record_id
)`;
  }
  return sql`audited as (${insert}
  returning id, at, domain, collection, record_id, operation, to_version, principal
),
noted as (
  insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal)
  select id, at, domain, collection, record_id, operation, to_version, principal from audited
)`;
}
