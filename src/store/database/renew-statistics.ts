/**
 * Analyzes a collection that has just received its records. Without statistics PostgreSQL expects a handful
 * of live records per domain, and looks one up through any index that begins with the domain, reading all
 * records for each look-up. Autovacuum reaches a new collection after a minute or later.
 */
import pg from 'pg';
import { sql } from '../sql.js';
import { partitionName } from './partitions.js';
import type { RecordsPlace } from './shards/shard-statements.js';

/** Statistics contain proportions, so they remain valid while a collection grows. */
const MOST_GROWTH = 10;
/**
 * A quarter of PostgreSQL's default sample: the writer waits for it, and autovacuum analyzes more thoroughly
 * later.
 */
const STATISTICS_TARGET = 25;

/**
 * Analyzes the records if that was never done, or if their number has grown many times. Within a transaction
 * it counts the records written by it. It does not wait for a concurrent analyze or vacuum.
 */
export async function renewStatistics(place: RecordsPlace, collection: string): Promise<void> {
  const name = await place.tableName(pg.escapeIdentifier(partitionName(collection)));
  const [partition] = await place.query<{ isStale: boolean }>(sql`
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
    await setStatisticsTarget(place, String(STATISTICS_TARGET));
    await place.run(sql`analyze (skip_locked) ${sql.raw(name)}`);
    await setStatisticsTarget(place, null);
  }
}

/** Within the transaction; `null`: what it is otherwise. */
async function setStatisticsTarget(place: RecordsPlace, target: string | null): Promise<void> {
  await place.run(sql`select set_config('default_statistics_target', ${target}::text, true)`);
}
