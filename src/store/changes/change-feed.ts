/**
 * What was committed, as it is committed: by this gateway, another one, the command line, a script or a load.
 */
import { Prisma } from '../../generated/prisma/client.js';
import type { Database } from '../database/database.js';
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
  /** `_id` of the user, or the name of the task. */
  readonly principal: string;
  /** The id of the audit entry: the same on every gateway, and never twice. */
  readonly entryId: string;
}

export interface ChangeFeedOptions {
  readonly database: Pick<Database, 'query'> & Partial<Pick<Database, 'replicas'>>;
  /** How often the database is asked, while somebody listens. */
  readonly pollMs: number;
  readonly onFault: (error: unknown) => void;
  /** What has to be moved before it can be heard of, where changes are told by the outbox. */
  readonly outbox?: Pick<ChangeOutbox, 'moveAll'> | undefined;
}

const PAGE_ROWS = 1_000;

export type ChangeListener = (changes: readonly RecordChange[]) => void;

/**
 * Every committed change of a record, once, to every listener of this process. The audit entry that is
 * written with each change is what is followed: what is rolled back is never heard of, and an outage of the
 * database delays changes but loses none. Where transactions have no common order, that is what was moved
 * from the outbox.
 *
 * @see commit-follower.ts, decisions 10
 */
export class ChangeFeed {
  readonly #follower: CommitFollower<ChangeRow, RecordChange>;

  constructor({ outbox, ...options }: ChangeFeedOptions) {
    const columns = Prisma.sql`at, domain, collection, record_id, operation, to_version, principal`;
    this.#follower = new CommitFollower({
      ...options,
      ...(outbox === undefined
        ? { table: 'audit_entries', columns: Prisma.sql`id::text as entry_id, ${columns}` }
        : {
            table: 'told_changes',
            columns: Prisma.sql`entry_id::text as entry_id, ${columns}`,
            prepare: () => outbox.moveAll(),
          }),
      pageRows: PAGE_ROWS,
      toNews: toRecordChange,
    });
  }

  /**
   * Calls the listener after each commit, with changes of all domains; those of one record come in order. At
   * most 1,000 at once. The listener must return soon and bound what it keeps. The answer ends it.
   */
  subscribe(listener: ChangeListener): () => void {
    return this.#follower.subscribe(listener).stop;
  }

  /** Does as `subscribe`; resolved when every change that is committed from then on is heard. */
  async follow(listener: ChangeListener): Promise<() => void> {
    const { ready, stop } = this.#follower.subscribe(listener);
    await ready;
    return stop;
  }

  /**
   * Looks for changes now: for a writer in this process, whose subscribers need not wait for the next poll.
   */
  wake(): void {
    this.#follower.wake();
  }

  /** Nobody is called afterwards. */
  async close(): Promise<void> {
    await this.#follower.close();
  }
}

interface ChangeRow {
  readonly id: string;
  readonly entry_id: string;
  readonly at: Date;
  readonly domain: string;
  readonly collection: string;
  readonly record_id: string;
  readonly operation: RecordChange['operation'];
  readonly to_version: number;
  readonly principal: string;
}

function toRecordChange(row: ChangeRow): RecordChange {
  return {
    domainId: row.domain,
    collection: row.collection,
    id: row.record_id,
    operation: row.operation,
    version: row.to_version,
    at: row.at,
    principal: row.principal,
    entryId: row.entry_id,
  };
}
