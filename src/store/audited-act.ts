/** Entries of the audit trail about what is no record: keys, webhooks, links, settings. */
import { Prisma } from '../generated/prisma/client.js';
import type { Scope } from '../model/scope.js';

/**
 * `exported` and `erased` are done with the data of a person, `rotated` and `revoked` with what is no record
 * (`AuditedSubject`): none of these changes a version.
 */
export const AUDITED_OPERATIONS = [
  ...(['created', 'updated', 'deleted', 'exported', 'erased'] as const),
  ...(['rotated', 'revoked'] as const),
];
export type AuditedOperation = (typeof AUDITED_OPERATIONS)[number];

/**
 * What was looked after. No collection can have such a name, so that these entries are in no history and
 * filter of records.
 */
type AuditedSubject =
  | '$apiKey'
  | '$webhook'
  | '$accountLink'
  | '$secondFactor'
  | '$session'
  | '$collection'
  | '$property'
  | '$domain';

export interface AuditedAct {
  /** One of the subjects, or the collection of a person whose data it was done with. */
  readonly collection: AuditedSubject | (string & {});
  /** What it was done to; an expression over the rows of `from`. */
  readonly id: string | Prisma.Sql;
  readonly operation: AuditedOperation;
  /** Where it was done, if not in the domain the caller acts in. */
  readonly domainId?: string | Prisma.Sql;
  /** An entry for each of these rows, e.g. `from revoked`. Absent: one. */
  readonly from?: Prisma.Sql;
}

/**
 * A statement that writes the entry, to stand in the transaction or statement of the act itself. Neither
 * subscribers nor webhooks are told of it, for it has no place in the order of transactions.
 */
export function auditedAct(scope: Scope, act: AuditedAct): Prisma.Sql {
  const { domain, principal, requestId, operation: requestOperation } = scope;
  return Prisma.sql`
    insert into audit_entries
      (domain, collection, record_id, operation, from_version, to_version, principal, credential, request_id,
        request_operation, transaction_id)
    select ${act.domainId ?? domain.id}::text, ${act.collection}::text, ${act.id}::text,
      ${act.operation}::text, null::int, 0, ${principal.id}::text,
      ${`${principal.credential.kind}:${principal.credential.id}`}::text, ${requestId}::text,
      ${requestOperation ?? null}::text, null::xid8
    ${act.from ?? Prisma.empty}`;
}
