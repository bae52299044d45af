/** Deletes what was only kept for a time. */
import { ServiceError } from '../../base/errors.js';
import type { Domain, Scope } from '../../base/model/scope.js';
import { isTopDomainAdmin } from '../access/access.js';
import { CATALOG_CHANNEL } from '../catalog/catalog-row.js';
import { KEEP_HISTORY_DAYS } from '../catalog/known-properties.js';
import type { Database } from '../database/database.js';
import { sql } from '../sql.js';
import { sweepDerivedRows } from '../writing/derived-rows.js';
import { IDEMPOTENCY_HOURS } from '../writing/idempotency.js';
import { USER_COLLECTION } from '../writing/record-statements.js';

export interface PurgeOptions {
  readonly topDomain: Domain | undefined;
  /**
   * Tombstones, and dropped collections with all their records, older than this are deleted; their ids and
   * names become free.
   */
  readonly removedBefore: Date;
}

/**
 * How long a gateway may be disconnected from the database and still deliver what was published meanwhile.
 */
const TOPIC_MESSAGE_HOURS = 24;

/** The numbers of deleted rows. */
export interface Purged {
  readonly tombstones: number;
  readonly idempotencyKeys: number;
  readonly topicMessages: number;
  /** Changes whose values were deleted; the fact of the change remains. */
  readonly historyValues: number;
  readonly collections: readonly string[];
}

/**
 * Purges every domain. A user's password, sessions and API keys are deleted with the record, so that the next
 * owner of its `_id` does not inherit them. The audit trail remains; for deleted records, and for changes
 * older than the domain's `KEEP_HISTORY_DAYS`, it keeps the fact but not the values.
 *
 * @throws FORBIDDEN unless the caller is an admin of the top domain or a system task with the role
 */
export async function purge(database: Database, scope: Scope, options: PurgeOptions): Promise<Purged> {
  if (!isTopDomainAdmin(scope, options.topDomain)) {
    throw new ServiceError('FORBIDDEN', 'only an admin of the top domain purges what was removed');
  }
  const before = options.removedBefore.toISOString();
  type Counted = 'forgotten' | 'tombstones' | 'keys' | 'messages';
  const [gone] = await database.query<Record<Counted, number>>(sql`
    with tombstones as (
      delete from records
      where deleted_at < ${before}::timestamptz
      returning domain, collection, id
    ),
    forgotten as (
      update audit_entries e
      set before = null
      from tombstones t
      where e.domain = t.domain and e.collection = t.collection and e.record_id = t.id
        and e.before is not null
      returning 1
    ),
    users as (
      select domain, id
      from tombstones
      where collection = ${USER_COLLECTION}
    ),
    passwords as (
      delete from credentials c
      using users u
      where c.domain_id = u.domain and c.user_id = u.id
    ),
    logins as (
      delete from sessions s
      using users u
      where s.domain_id = u.domain and s.user_id = u.id
    ),
    api_keys as (
      delete from api_keys k
      using users u
      where k.domain_id = u.domain and k.user_id = u.id
    ),
    keys as (
      delete from idempotency_keys
      where created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS}::int)
      returning domain_id, key
    ),
    messages as (
      delete from topic_messages
      where at < now() - make_interval(hours => ${TOPIC_MESSAGE_HOURS}::int)
      returning 1
    )
    select
      (select count(*) from forgotten)::int as forgotten,
      (select count(*) from tombstones)::int as tombstones,
      (select count(distinct (domain_id, key)) from keys)::int as keys,
      (select count(*) from messages)::int as messages`);
  const collections = await database.query<{ name: string }>(sql`
    with purged as (
      delete from collections
      where dropped_at < ${before}::timestamptz
      returning name
    ),
    emptied as (
      delete from records
      where collection in (select name from purged)
    ),
    forgotten as (
      update audit_entries
      set before = null
      where collection in (select name from purged) and before is not null
    )
    select name, pg_notify(campus_channel(${CATALOG_CHANNEL}), name) as announced
    from purged`);
  await sweepDerivedRows(database, 'all domains');
  await database.query(sql`
    delete from told_changes where told_at < now() - make_interval(hours => ${TOPIC_MESSAGE_HOURS}::int)`);
  const outdated = await purgeHistory(database);
  return {
    historyValues: (gone?.forgotten ?? 0) + outdated,
    tombstones: gone?.tombstones ?? 0,
    idempotencyKeys: gone?.keys ?? 0,
    topicMessages: gone?.messages ?? 0,
    collections: collections.map((row) => row.name),
  };
}

/**
 * Deletes the values of changes older than their domain's limit. The limit is the domain's property or, as
 * for all properties, the top domain's; without one, everything is kept.
 */
async function purgeHistory(database: Database): Promise<number> {
  const [done] = await database.query<{ count: number }>(sql`
    with kept as (
      select d.id, coalesce(own.value, inherited.value) as days
      from domains d
      left join properties own on own.domain_id = d.id and own.name = ${KEEP_HISTORY_DAYS}
      left join properties inherited
        on inherited.domain_id = d.parent_id and inherited.name = ${KEEP_HISTORY_DAYS}
    ),
    outdated as (
      update audit_entries e
      set before = null
      from kept k
      where e.domain = k.id
        and e.before is not null
        and e.at < now() - make_interval(days =>
          case when jsonb_typeof(k.days) = 'number' then k.days::numeric::int end)
      returning 1
    )
    select count(*)::int as count from outdated`);
  return done?.count ?? 0;
}
