/**
 * Follows the audit trail and notes a delivery for each webhook that asked for a change. The deliveries and
 * the position in the trail are written in one transaction, so that no change is lost or delivered twice,
 * whatever process dies.
 *
 * It compares snapshots, as `CommitFollower` does: a change is new if it is visible now and was not in the
 * snapshot before, however late its transaction committed.
 */

import type { ChangeOutbox } from '../../store/changes/change-outbox.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';

/** The lock of following the trail: one gateway does it at a time. */
const FOLLOW_LOCK = 0x77686b73;

export class WebhookOutbox {
  readonly #database: Database;
  readonly #changes: ChangeOutbox | undefined;
  /** Reads the trail only as far as the outbox was moved into it, where changes go through the outbox. */
  readonly #trail: Sql;

  constructor(database: Database, changes: ChangeOutbox | undefined) {
    this.#database = database;
    this.#changes = changes;
    this.#trail = sql.raw(changes === undefined ? 'audit_entries' : 'told_changes');
  }

  /** Notes what was committed since the last call. Returns the number of deliveries. */
  async follow(): Promise<number> {
    await this.#changes?.moveAll();
    return await inOwnTransaction(this.#database.background, async (transaction) => {
      const [lock] = await transaction.query<{ isHeld: boolean }>(sql`
        select pg_try_advisory_xact_lock(${FOLLOW_LOCK}::int) as "isHeld"`);
      if (lock?.isHeld !== true) return 0;
      const [position] = await transaction.query<Position>(sql`
        select
          pg_snapshot_xmax(p.snapshot::pg_snapshot)::text as "end",
          array(select pg_snapshot_xip(p.snapshot::pg_snapshot)::text) as "underWay",
          pg_snapshot_xmax(p.snapshot::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"
        from webhook_position p`);
      // The database was restored, or its server set back: follow its trail from now on.
      if (position === undefined || position.isAhead) {
        await moveOn(transaction);
        return 0;
      }
      const [news] = await transaction.query<{ told: number }>(sql`
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
 * Follows the trail from now on, unless there are webhooks already. It runs in the transaction that creates
 * the webhook.
 */
export async function beginFollowing(transaction: Queryable): Promise<void> {
  await moveOn(transaction, sql`where not exists (select from webhooks)`);
}

async function moveOn(transaction: Queryable, condition = sql.empty): Promise<void> {
  await transaction.query(sql`
    insert into webhook_position (id, snapshot)
    values (1, pg_current_snapshot()::text)
    on conflict (id) do update set snapshot = excluded.snapshot ${condition}`);
}
