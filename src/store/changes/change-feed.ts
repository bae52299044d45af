/** The feed of committed changes by any gateway, the command line, a script or a bulk load. */

import type { Database } from '../database/database.js';
import { sql } from '../sql.js';
import type { ChangeOutbox } from './change-outbox.js';
import { CommitFollower } from './commit-follower.js';

export interface RecordChange {
  readonly domainId: string;
  readonly collection: string;
  readonly id: string;
  readonly operation: 'created' | 'updated' | 'deleted';
  /** The version of the record after the change. */
  readonly version: number;
  readonly at: Date;
  /** The `_id` of the user, or the name of the system task. */
  readonly principal: string;
  /** The id of the audit entry: unique, and the same on every gateway. */
  readonly entryId: string;
}

export interface ChangeFeedOptions {
  readonly database: Pick<Database, 'background'> & Partial<Pick<Database, 'replicas'>>;
  /** How often the database is polled while there are listeners. */
  readonly pollMs: number;
  readonly onFault: (error: unknown) => void;
  /** The outbox, if changes are announced by it; it must be moved before each poll. */
  readonly outbox?: Pick<ChangeOutbox, 'moveAll'> | undefined;
}

const PAGE_ROWS = 1_000;

/**
 * Delivers every committed change of a record, of all domains, once to every listener of this process; at
 * most 1,000 at a time, those of one record in order. It follows the audit entries that are written with the
 * changes: nothing that was rolled back is delivered, and an outage of the database delays changes but loses
 * none. If transactions have no common order, it follows what was moved from the outbox.
 *
 * @see decisions 10
 */
export class ChangeFeed extends CommitFollower<ChangeRow, RecordChange> {
  constructor({ outbox, ...options }: ChangeFeedOptions) {
    const columns = sql`at, domain as "domainId", collection, record_id as "recordId", operation,
      to_version as version, principal`;
    super({
      ...options,
      ...(outbox === undefined
        ? { table: 'audit_entries', columns: sql`id::text as "entryId", ${columns}` }
        : {
            table: 'told_changes',
            columns: sql`entry_id::text as "entryId", ${columns}`,
            prepare: () => outbox.moveAll(),
          }),
      pageRows: PAGE_ROWS,
      toNews: ({ recordId, ...row }) => ({ ...row, id: recordId }),
    });
  }
}

/** `id` is that of the row, not of the record. */
interface ChangeRow extends RecordChange {
  readonly recordId: string;
}
