/**
 * Follows the audit trail and notes a delivery for each webhook that wants to know of a change: in one
 * transaction with the position it has come to, so that no change is lost and none told twice, whatever dies
 * in between.
 *
 * By snapshots, as CommitFollower does: a change is news when it is visible now and was not in the snapshot
 * before, however late its transaction committed.
 */
import { Prisma } from '../generated/prisma/client.js';
import type { ChangeOutbox } from '../store/changes/change-outbox.js';
import type { Database, Queryable } from '../store/database/database.js';
import { inOwnTransaction } from '../store/writing/atomically.js';

/** Held while the trail is followed: one gateway does it at a time. */
const FOLLOW_LOCK = 0x77686b73;

export class WebhookOutbox {
  readonly #database: Database;
  readonly #changes: ChangeOutbox | undefined;
  /** Where changes are told by the outbox, the trail as far as it was moved from there. */
  readonly #trail: Prisma.Sql;

  constructor(database: Database, changes: ChangeOutbox | undefined) {
    this.#database = database;
    this.#changes = changes;
    this.#trail = Prisma.raw(changes === undefined ? 'audit_entries' : 'told_changes');
  }

  /** Notes what has been committed since the last time; gives how many deliveries that makes. */
  async follow(): Promise<number> {
    await this.#changes?.moveAll();
    return await inOwnTransaction(this.#database, async (transaction) => {
      const [lock] = await transaction.query<{ isHeld: boolean }>(Prisma.sql`
        select pg_try_advisory_xact_lock(${FOLLOW_LOCK}::int) as "isHeld"`);
      if (lock?.isHeld !== true) return 0;
      const [position] = await transaction.query<Position>(Prisma.sql`
        select
          pg_snapshot_xmax(p.snapshot::pg_snapshot)::text as "end",
          array(select pg_snapshot_xip(p.snapshot::pg_snapshot)::text) as "underWay",
          pg_snapshot_xmax(p.snapshot::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"
        from webhook_position p`);
      // Restored from a backup, or a server that was set back: its trail is followed from now on.
      if (position === undefined || position.isAhead) return await moveOn(transaction);
      const [news] = await transaction.query<{ told: number }>(Prisma.sql`
        with told as (
          insert into webhook_deliveries (webhook_id, event)
          select w.id, jsonb_build_object('type', 'record.' || e.operation, 'at', e.at,
            'collection', e.collection, 'recordId', e.record_id, 'version', e.to_version, 'by', e.principal)
          from ${this.#trail} e
          join webhooks w on w.domain_id = e.domain
          where (e.transaction_id >= ${position.end}::xid8
              or e.transaction_id = any(${position.underWay}::xid8[]))
            and exists (
              select
              from jsonb_array_elements(w.events) as wanted (event)
              where wanted.event ->> 'collection' = e.collection
                and wanted.event -> 'operations' ? e.operation
            )
          order by e.id
          returning 1
        ), moved as (
          update webhook_position set snapshot = pg_current_snapshot()::text
        )
        select count(*)::int as told from told`);
      return news?.told ?? 0;
    });
  }
}

interface Position {
  readonly end: string;
  readonly underWay: readonly string[];
  readonly isAhead: boolean;
}

/**
 * Follows the trail from now on, where nobody wanted to know before: for the transaction that makes a
 * webhook.
 */
export async function beginFollowing(transaction: Queryable): Promise<void> {
  await transaction.query(Prisma.sql`
    insert into webhook_position (id, snapshot)
    values (1, pg_current_snapshot()::text)
    on conflict (id) do update
    set snapshot = excluded.snapshot
    where not exists (select from webhooks)`);
}

async function moveOn(transaction: Queryable): Promise<number> {
  await transaction.query(Prisma.sql`
    insert into webhook_position (id, snapshot)
    values (1, pg_current_snapshot()::text)
    on conflict (id) do update set snapshot = excluded.snapshot`);
  return 0;
}
