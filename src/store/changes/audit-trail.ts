/**
 * The audit trail: who changed which record, when, from which version, by which credential. The statements of
 * the changes write the entries themselves.
 */

import { invalidAt, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { isAdmin } from '../access/access.js';
import { AUDITED_OPERATIONS, type AuditedOperation } from '../audited-act.js';
import type { Database } from '../database/database.js';
import { assertNumberOf } from '../database/keyset.js';
import { fromRow, type RowOf } from '../database/queryable.js';
import { allHold, sql } from '../sql.js';

export interface AuditEntry {
  /** Increases with time; the value for `before`. */
  readonly id: string;
  readonly at: Date;
  readonly collection: string;
  readonly recordId: string;
  readonly operation: AuditedOperation;
  /** `undefined` for a create. */
  readonly fromVersion: number | undefined;
  readonly toVersion: number;
  /** The `_id` of the user, or the name of the system task. */
  readonly principal: string;
  /** `token:<session>`, `key:<id>` or `system:<task>`. */
  readonly credential: string;
  readonly requestId: string;
  /**
   * The name of the GraphQL operation, or the route template; `undefined` without a request, or if the entry
   * is older than this column.
   */
  readonly requestOperation: string | undefined;
}

export interface AuditQuery {
  readonly collection?: string | undefined;
  readonly recordId?: string | undefined;
  /** One of the audited operations. */
  readonly operation?: string | undefined;
  readonly principal?: string | undefined;
  /** `token`, `key` or `system`, or a complete credential. */
  readonly credential?: string | undefined;
  readonly requestId?: string | undefined;
  /** Half-open. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only entries older than the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * The changes in the caller's domain, newest first.
 *
 * @throws FORBIDDEN unless the caller is an admin without an API key; INVALID_VALUE for an unknown operation
 */
export async function readAuditTrail(
  database: Database,
  scope: Scope,
  query: AuditQuery,
): Promise<readonly AuditEntry[]> {
  if (!isAdmin(scope.principal)) {
    throw new ServiceError('FORBIDDEN', 'only an admin reads the audit trail');
  }
  const { collection, recordId, principal, credential, requestId, from, until } = query;
  const operation = query.operation === undefined ? undefined : toAudited(query.operation);
  const conditions = [
    sql`domain = ${scope.domain.id}`,
    collection !== undefined && sql`collection = ${collection}`,
    recordId !== undefined && sql`record_id = ${recordId}`,
    operation !== undefined && sql`operation = ${operation}`,
    principal !== undefined && sql`principal = ${principal}`,
    credential !== undefined &&
      sql`(credential = ${credential} or starts_with(credential, ${`${credential}:`}))`,
    requestId !== undefined && sql`request_id = ${requestId}`,
    from !== undefined && sql`at >= to_timestamp(${from.getTime() / 1000}::float8)`,
    until !== undefined && sql`at < to_timestamp(${until.getTime() / 1000}::float8)`,
    query.before !== undefined &&
      sql`id < ${assertNumberOf('an audit entry')(query.before, 'before')}::bigint`,
  ];
  // Ordered by the column: the plain `id` would be the text in the select list, which puts 999 before 1000.
  const rows = await database.query<RowOf<AuditEntry>>(sql`
    select id::text as id, at, collection, record_id as "recordId", operation,
      from_version as "fromVersion", to_version as "toVersion", principal, credential,
      request_id as "requestId", request_operation as "requestOperation"
    from audit_entries
    where ${allHold(conditions)}
    order by audit_entries.id desc
    limit ${query.limit}`);
  return rows.map(fromRow<AuditEntry>);
}

function toAudited(sent: string): AuditedOperation {
  const found = AUDITED_OPERATIONS.find((one) => one === sent);
  if (found !== undefined) return found;
  const expected = `one of ${AUDITED_OPERATIONS.join(', ')}`;
  throw invalidAt(`"${sent.slice(0, 50)}" is not an operation; expected: ${expected}`, {
    parameter: 'operation',
    detail: 'no operation',
    expected,
    sent,
  });
}
