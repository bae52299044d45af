/**
 * Follows the audit trail and notes a delivery for each webhook with a matching event. The deliveries and
 * the position in the trail are written in one transaction, so that no change is lost or noted twice,
 * whatever process dies.
 *
 * @see commit-follower.ts
 */
import type { ChangeOutbox } from '../../store/changes/change-outbox.js';
import { isNewSince, isSetBack, parseSnapshot } from '../../store/changes/commit-follower.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';

/** The lock of following the trail: one gateway does it at a time. */
const FOLLOW_LOCK = 0x77686b73;

export interface FollowedTrail {
  readonly database: Database;
  /** `undefined` if changes do not go through it. */
  readonly outbox: ChangeOutbox | undefined;
}

/** Notes what was committed since the last call. Calls `onNoted` if it is for this gateway to do so. */
export async function followTrail(
  { database, outbox }: FollowedTrail,
  onNoted: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  await outbox?.moveAll();
  await inOwnTransaction(database.background, async (transaction) => {
    const [lock] = await transaction.query<{ isHeld: boolean }>(sql`
      select pg_try_advisory_xact_lock(${FOLLOW_LOCK}::int) as "isHeld"`);
    if (lock?.isHeld !== true) return;
    await note(transaction, outbox);
    await onNoted(transaction);
  });
}

async function note(transaction: Transaction, changes: ChangeOutbox | undefined): Promise<void> {
  const [position] = await transaction.query<{ seen: string; present: string }>(sql`
    select snapshot as seen, pg_current_snapshot()::text as present from webhook_position`);
  const seen = parseSnapshot(position?.seen ?? '');
  // The database was restored, or its server set back: follow its trail from now on.
  if (position === undefined || isSetBack(seen, parseSnapshot(position.present)))
    return await moveOn(transaction);
  // If changes go through the outbox, the trail is read only as far as the outbox was moved into it.
  const trail = sql.raw(changes === undefined ? 'audit_entries' : 'told_changes');
  await transaction.query(sql`
    with moved as (
      update webhook_position set snapshot = pg_current_snapshot()::text
    )
    insert into webhook_deliveries (webhook_id, event)
    select w.id, jsonb_build_object('type', 'record.' || e.operation, 'at', e.at,
      'collection', e.collection, 'recordId', e.record_id, 'version', e.to_version, 'by', e.principal)
    from ${trail} e
    join webhooks w on w.domain_id = e.domain
    where ${isNewSince(seen)}
      and exists (
        select
        from jsonb_array_elements(w.events) as wanted (event)
        where wanted.event ->> 'collection' = e.collection
          and wanted.event -> 'operations' ? e.operation
      )
    order by e.id`);
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
