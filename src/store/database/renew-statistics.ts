/**
 * Statistics of a collection that has just got its records. Without them PostgreSQL takes the live records of
 * a domain for a handful, and looks for one of them by any index that begins with the domain: it reads all
 * records for each that it looks for. Autovacuum comes to a new collection after a minute or later.
 */
import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { Queryable } from './database.js';
import { partitionName } from './partitions.js';

/** Statistics tell of shares, so they hold for a while when a collection grows. */
const MOST_GROWTH = 10;
/**
 * A fourth of the records that PostgreSQL would look at: whoever writes waits for it, and autovacuum looks at
 * all of them later.
 */
const STATISTICS_TARGET = 25;

/**
 * Analyzes the collection's records if nobody has, or if there are many times as many as then. Inside a
 * transaction it counts the records that this one has written. Whoever analyzes or vacuums them at the moment
 * is not waited for.
 */
export async function renewStatistics(queryable: Queryable, collection: string): Promise<void> {
  const name = pg.escapeIdentifier(partitionName(collection));
  const [partition] = await queryable.query<{ isStale: boolean }>(Prisma.sql`
    select size > 0 and (not is_known or size > ${MOST_GROWTH}::int * known_size) as "isStale"
    from pg_class c
    cross join lateral (
      select pg_relation_size(c.oid) as size,
        c.relpages * current_setting('block_size')::bigint as known_size,
        exists (
          select from pg_stats s
          where s.schemaname = c.relnamespace::regnamespace::text and s.tablename = c.relname
        ) as is_known
    ) as sizes
    where c.oid = to_regclass(${name})`);
  if (partition?.isStale === true) {
    await setStatisticsTarget(queryable, String(STATISTICS_TARGET));
    await queryable.query(Prisma.sql`analyze (skip_locked) ${Prisma.raw(name)}`);
    await setStatisticsTarget(queryable, null);
  }
}

/** Within the transaction; `null`: what it is otherwise. */
async function setStatisticsTarget(queryable: Queryable, target: string | null): Promise<void> {
  await queryable.query(Prisma.sql`select set_config('default_statistics_target', ${target}::text, true)`);
}
