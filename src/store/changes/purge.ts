/** Takes away for good what only time was kept for. */
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Domain, Scope } from '../../model/scope.js';
import { isTopDomainAdmin } from '../access/top-domain-admin.js';
import type { Database } from '../database/database.js';
import { IDEMPOTENCY_HOURS } from '../writing/idempotency.js';
import { USER_COLLECTION } from '../writing/record-statements.js';

export interface PurgeOptions {
  readonly topDomain: Domain | undefined;
  /**
   * Tombstones, and dropped collections with all their records, older than this go; their ids and names are
   * free again.
   */
  readonly removedBefore: Date;
}

/**
 * How long a gateway may be away from the database and still give its subscribers what was published
 * meanwhile.
 */
const TOPIC_MESSAGE_HOURS = 24;

/** How much went. */
export interface Purged {
  readonly tombstones: number;
  readonly idempotencyKeys: number;
  readonly topicMessages: number;
  readonly collections: readonly string[];
}

/**
 * Purges every domain. With a user go its password, sessions and API keys: who gets its `_id` next must not
 * inherit them. The audit trail stays.
 *
 * @throws FORBIDDEN unless the caller is an admin of the top domain or a task of the service with the role
 */
export async function purge(database: Database, scope: Scope, options: PurgeOptions): Promise<Purged> {
  if (!isTopDomainAdmin(scope, options.topDomain)) {
    throw new ServiceError('FORBIDDEN', 'only an admin of the top domain purges what was removed');
  }
  const before = options.removedBefore.toISOString();
  const [gone] = await database.query<{ tombstones: number; keys: number; messages: number }>(Prisma.sql`
    with tombstones as (
      delete from records
      where deleted_at < ${before}::timestamptz
      returning domain, collection, id
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
      returning 1
    ),
    messages as (
      delete from topic_messages
      where at < now() - make_interval(hours => ${TOPIC_MESSAGE_HOURS}::int)
      returning 1
    )
    select
      (select count(*) from tombstones)::int as tombstones,
      (select count(*) from keys)::int as keys,
      (select count(*) from messages)::int as messages`);
  const collections = await database.query<{ name: string }>(Prisma.sql`
    with purged as (
      delete from collections
      where dropped_at < ${before}::timestamptz
      returning name
    ),
    emptied as (
      delete from records
      where collection in (select name from purged)
    )
    select name, pg_notify('campus_catalog', name) as announced
    from purged`);
  return {
    tombstones: gone?.tombstones ?? 0,
    idempotencyKeys: gone?.keys ?? 0,
    topicMessages: gone?.messages ?? 0,
    collections: collections.map((row) => row.name),
  };
}
