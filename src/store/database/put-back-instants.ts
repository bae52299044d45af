/**
 * Puts instants back that were written while a clock was ahead, e.g. by a machine whose hardware clock has
 * local time until it is synchronized. Work that is due at such an instant would stand still until the
 * true time has reached it.
 */
import type pg from 'pg';

/** The corrections that were made. */
export interface PutBack {
  /** How far ahead the clock was, by the furthest schedule. */
  readonly aheadSeconds: number;
  readonly schedules: number;
  readonly jobs: number;
}

/** A difference that clocks of synchronized machines never have. */
const TOLERANCE = `interval '10 minutes'`;

/** `updated_at` is written together with `run_at`, so that their difference is the wait that was meant. */
const SCHEDULES_AND_JOBS = `
with schedules as (
  update campus_jobs._private_known_crontabs new
  set last_execution = least(new.last_execution, now()), known_since = least(new.known_since, now())
  from campus_jobs._private_known_crontabs old
  where new.identifier = old.identifier
    and greatest(old.last_execution, old.known_since) > now() + ${TOLERANCE}
  returning greatest(old.last_execution, old.known_since) - now() as ahead
), looks as (
  update settings new
  set value = to_jsonb(to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from settings old
  where new.name = old.name
    and old.name = 'scriptScheduleLookedAt'
    and (old.value #>> '{}')::timestamptz > now() + ${TOLERANCE}
  returning (old.value #>> '{}')::timestamptz - now() as ahead
), jobs as (
  update campus_jobs._private_jobs new
  set run_at = case
        when old.updated_at > now() + ${TOLERANCE}
        then greatest(now(), old.run_at - (old.updated_at - now()))
        else now()
      end,
      created_at = least(old.created_at, now()),
      updated_at = now()
  from campus_jobs._private_jobs old
  where new.id = old.id
    and old.locked_at is null
    and (
      old.updated_at > now() + ${TOLERANCE}
      -- No retry waits that long.
      or old.run_at > now() + interval '1 day'
      or old.key like 'cron %' and old.attempts = 0 and old.run_at > now() + ${TOLERANCE}
    )
  returning greatest(old.updated_at, old.run_at) - now() as ahead
)
select
  (select count(*)::int from (table schedules union all table looks) as moved) as schedules,
  (select count(*)::int from jobs) as jobs,
  coalesce(
    (
      select extract(epoch from max(ahead))
      from (table schedules union all table looks union all table jobs) as moved
    ),
    0
  )::float8 as "aheadSeconds"`;

const DELIVERIES_AND_LOCKOUTS = [
  `update webhook_deliveries
   set next_attempt_at = now(),
       created_at = least(created_at, now()),
       attempted_at = least(attempted_at, now())
   where state in ('waiting', 'sending')
     and (greatest(created_at, attempted_at) > now() + ${TOLERANCE}
       or next_attempt_at > now() + interval '1 day')`,
  `update webhooks set tried_at = now() where tried_at > now() + ${TOLERANCE}`,
  `update messages
   set next_attempt_at = case when next_attempt_at is not null then now() end, updated_at = now()
   where state in ('queued', 'sending')
     and (updated_at > now() + ${TOLERANCE} or next_attempt_at > now() + interval '1 day')`,
  `update login_failures set locked_until = now() + (locked_until - last_at), last_at = now()
   where last_at > now() + ${TOLERANCE}`,
];

/**
 * Puts back schedules and jobs; if one was ahead, or if `scope` is `all`, also deliveries of webhooks,
 * retries of messages and lock-outs, which takes longer in a large school.
 */
export async function putBackInstants(
  db: Pick<pg.Pool, 'query'>,
  scope: 'schedules' | 'all',
): Promise<PutBack> {
  const { rows } = await db.query<PutBack>(SCHEDULES_AND_JOBS);
  const putBack = rows[0] ?? { aheadSeconds: 0, schedules: 0, jobs: 0 };
  if (scope === 'all' || putBack.schedules + putBack.jobs > 0) {
    for (const statement of DELIVERIES_AND_LOCKOUTS) await db.query(statement);
  }
  return putBack;
}
