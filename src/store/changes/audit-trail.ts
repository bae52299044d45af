/**
 * Who changed which record, when, from which version, by which credential. Entries are written by the
 * statements of the changes themselves.
 */

import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Scope } from '../../model/scope.js';
import { isAdmin } from '../access/admin.js';
import type { Database } from '../database/database.js';

/** `exported` and `erased` are done with the data of a person, and change no version. */
type AuditedOperation = 'created' | 'updated' | 'deleted' | 'exported' | 'erased';

export interface AuditEntry {
  /** Goes up with time; what `before` takes. */
  readonly id: string;
  readonly at: Date;
  readonly collection: string;
  readonly recordId: string;
  readonly operation: AuditedOperation;
  /** `undefined` for a create. */
  readonly fromVersion: number | undefined;
  readonly toVersion: number;
  /** `_id` of the user, or the name of the task. */
  readonly principal: string;
  /** `token:<session>`, `key:<id>` or `system:<task>`. */
  readonly credential: string;
  readonly requestId: string;
  /**
   * The name of the GraphQL operation, or the template of the route; `undefined`: no request, or from before
   * this was kept.
   */
  readonly requestOperation: string | undefined;
}

export interface AuditQuery {
  readonly collection?: string | undefined;
  readonly recordId?: string | undefined;
  /** Only entries older than the one with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * The changes of the caller's domain, the newest first.
 *
 * @throws FORBIDDEN unless the caller is an admin, not by an API key
 */
export async function readAuditTrail(
  database: Database,
  scope: Scope,
  query: AuditQuery,
): Promise<readonly AuditEntry[]> {
  if (!isAdmin(scope.principal)) {
    throw new ServiceError('FORBIDDEN', 'only an admin reads the audit trail');
  }
  const conditions = [
    Prisma.sql`domain = ${scope.domain.id}`,
    ...(query.collection === undefined ? [] : [Prisma.sql`collection = ${query.collection}`]),
    ...(query.recordId === undefined ? [] : [Prisma.sql`record_id = ${query.recordId}`]),
    ...(query.before === undefined ? [] : [Prisma.sql`id < ${assertEntryId(query.before)}::bigint`]),
  ];
  // Ordered by the column: the bare `id` would be the text of the select list, and 999 before 1000.
  const rows = await database.query<AuditRow>(Prisma.sql`
    select id::text as id, at, collection, record_id, operation, from_version, to_version, principal,
      credential, request_id, request_operation
    from audit_entries
    where ${Prisma.join(conditions, ' and ')}
    order by audit_entries.id desc
    limit ${query.limit}`);
  return rows.map(({ record_id, from_version, to_version, request_id, request_operation, ...row }) => ({
    ...row,
    recordId: record_id,
    fromVersion: from_version ?? undefined,
    toVersion: to_version,
    requestId: request_id,
    requestOperation: request_operation ?? undefined,
  }));
}

interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly collection: string;
  readonly record_id: string;
  readonly operation: AuditedOperation;
  readonly from_version: number | null;
  readonly to_version: number;
  readonly principal: string;
  readonly credential: string;
  readonly request_id: string;
  readonly request_operation: string | null;
}

function assertEntryId(id: string): string {
  if (/^\d{1,18}$/.test(id)) return id;
  throw new ServiceError('INVALID_VALUE', `"${id}" is not the id of an audit entry`, {
    errors: [{ parameter: 'before', detail: 'not an id', expected: 'the id of an entry', sent: id }],
  });
}
