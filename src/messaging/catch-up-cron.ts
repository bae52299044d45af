/**
 * Makes up for scheduled runs that were missed while no gateway was up, by one run per item. The library
 * would add a job for every missed tick, and a fast worker would run several of them.
 */
import { type ParsedCronItem, parseCronItem } from 'graphile-worker';
import type pg from 'pg';
import type { CronItem } from './job.js';
import { JOB_SCHEMA } from './job-queue.js';

const MINUTE_MS = 60_000;
/** A day, plus the hour that a day may be longer. */
const LOOK_BACK_MINUTES = 25 * 60;

/**
 * Adds the last missed tick of each item that wants it. Of several gateways that start at once, only one
 * does.
 */
export async function catchUpCron(pool: pg.Pool, items: readonly CronItem[], now: Date): Promise<void> {
  for (const item of items) {
    if (item.catchUp === 'never') continue;
    const tick = lastTick(parseCronItem({ task: item.task, match: item.schedule }), now);
    if (tick === undefined) continue;
    // A new item has missed nothing. The tick is recorded by the statement that adds its job.
    await pool.query(
      `with taken as (
         update ${JOB_SCHEMA}._private_known_crontabs
         set last_execution = $2::timestamptz
         where identifier = $1 and coalesce(last_execution, known_since) < $2::timestamptz
         returning identifier
       )
       select ${JOB_SCHEMA}.add_job(
         $3, json_build_object('_cron', json_build_object('ts', $4::text, 'backfilled', true)),
         queue_name => $5, job_key => $5, max_attempts => $6::int
       )
       from taken`,
      [item.name, tick, item.task, tick.toISOString(), cronQueueOf(item), item.maxAttempts ?? null],
    );
  }
}

/** The queue of an item: its runs do not overlap, and waiting ones are merged. */
export function cronQueueOf({ name }: CronItem): string {
  return `cron ${name}`;
}

/** Includes the present minute, because the library begins with the next one. */
function lastTick(item: ParsedCronItem, now: Date): Date | undefined {
  const thisMinute = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  for (let minutes = 0; minutes <= LOOK_BACK_MINUTES; minutes++) {
    const at = new Date(thisMinute - minutes * MINUTE_MS);
    const digest = {
      min: at.getUTCMinutes(),
      hour: at.getUTCHours(),
      date: at.getUTCDate(),
      month: at.getUTCMonth() + 1,
      dow: at.getUTCDay(),
    };
    if (item.match(digest)) return at;
  }
  return undefined;
}
