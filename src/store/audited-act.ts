/** Audit entries for acts on anything but records: keys, webhooks, links, settings. */

import type { Scope } from '../base/model/scope.js';
import { type Sql, sql } from './sql.js';

/**
 * `exported` and `erased` concern the data of a person; `rotated`, `revoked`, `refused` (a log-in) and
 * `unlocked` (a user) concern an `AuditedSubject`.
 * None of these changes a version.
 */
export const AUDITED_OPERATIONS = [
  ...(['created', 'updated', 'deleted', 'exported', 'erased'] as const),
  ...(['rotated', 'revoked', 'refused', 'unlocked'] as const),
];
export type AuditedOperation = (typeof AUDITED_OPERATIONS)[number];

/**
 * The subject of the act. No collection can have such a name, so these entries never appear in a record's
 * history or filter.
 */
type AuditedSubject =
  | '$apiKey'
  | '$webhook'
  | '$accountLink'
  | '$secondFactor'
  | '$session'
  | '$password'
  | '$collection'
  | '$property'
  | '$domain';

export interface AuditedAct {
  /** One of the subjects, or the collection of the person whose data was exported or erased. */
  readonly collection: AuditedSubject | (string & {});
  /** The id of the subject; an expression over the rows of `from`. */
  readonly id: string | Sql;
  readonly operation: AuditedOperation;
  /** The domain of the act, if it is not the one the caller acts in. */
  readonly domainId?: string | Sql;
  /** The actor, if it is not the credential of the caller: `address:<IP address>`. */
  readonly credential?: string;
  /** One entry for each of these rows, e.g. `from revoked`. Absent: a single entry. */
  readonly from?: Sql;
}

/** The part of a scope that an entry has. */
export interface AuditedBy {
  readonly domain: Pick<Scope['domain'], 'id'>;
  readonly principal: Pick<Scope['principal'], 'id' | 'credential'>;
  readonly call: Pick<Scope['call'], 'requestId' | 'operation'>;
}

/**
 * A statement that writes the entry, as part of the transaction or statement of the act. Subscribers and
 * webhooks do not receive it, because it has no place in the order of transactions.
 */
export function auditedAct(scope: AuditedBy, act: AuditedAct): Sql {
  const { domain, principal, call } = scope;
  return sql`
    insert into audit_entries
      (domain, collection, record_id, operation, from_version, to_version, principal, credential, request_id,
        request_operation, transaction_id)
    select ${act.domainId ?? domain.id}::text, ${act.collection}::text, ${act.id}::text,
      ${act.operation}::text, null::int, 0, ${principal.id}::text,
      ${act.credential ?? `${principal.credential.kind}:${principal.credential.id}`}::text,
      ${call.requestId}::text,
      ${call.operation ?? null}::text, null::xid8
    ${act.from ?? sql.empty}`;
}
