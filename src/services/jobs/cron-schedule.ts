/**
 * Adds the jobs of scheduled items, by the clock of the database: the clocks of gateways may differ. Used
 * in place of the library's own scheduler, which goes by the clock of the process, and adds a job for
 * every missed tick.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import type pg from 'pg';
import { type PutBack, putBackInstants } from '../../store/database/put-back-instants.js';
import { type CronItem, JOB_SCHEMA } from './job-queue.js';

export interface CronScheduleOptions {
  readonly pool: pg.Pool;
  readonly items: readonly CronItem[];
  readonly onPutBack: (putBack: PutBack) => void;
  readonly onFault: (error: unknown) => void;
}

const MINUTE_MS = 60_000;
/** A day, plus the hour that a day may be longer. */
const LOOK_BACK_MS = 25 * 60 * MINUTE_MS;
/** A look comes so long after the minute begins, because timers are not exact. */
const MARGIN_MS = 20;
const RETRY_MS = 5_000;

export class CronSchedule {
  readonly #options: CronScheduleOptions;
  readonly #items: readonly (CronItem & { readonly cron: Cron })[];
  #hasLooked = false;

  constructor(options: CronScheduleOptions) {
    this.#options = options;
    this.#items = options.items.map((item) => ({ ...item, cron: parseSchedule(item.schedule, 'UTC') }));
  }

  /** Looks now, and then whenever a minute begins, until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = RETRY_MS;
      try {
        const now = await this.look();
        waitMs = MINUTE_MS - (now.getTime() % MINUTE_MS) + MARGIN_MS;
      } catch (error) {
        if (!signal.aborted) this.#options.onFault(error);
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /**
   * Adds a job for the last tick of each item since its last run, if there was one within a day. Of several
   * gateways that look at once, only one does. Returns the time of the database.
   */
  async look(): Promise<Date> {
    const { pool, onPutBack } = this.#options;
    const putBack = await putBackInstants(pool, this.#hasLooked ? 'schedules' : 'all');
    if (putBack.schedules + putBack.jobs > 0) onPutBack(putBack);
    const { rows } = await pool.query<{ now: Date; lastByName: Record<string, string> | null }>(
      `select now() as now,
         (select json_object_agg(identifier, coalesce(last_execution, known_since))
          from ${JOB_SCHEMA}._private_known_crontabs) as "lastByName"`,
    );
    const { now = new Date(), lastByName } = rows[0] ?? {};
    const lookBack = now.getTime() - LOOK_BACK_MS;
    const due = this.#items.map(({ name, task, maxAttempts, cron }) => {
      const last = lastByName?.[name];
      const after = new Date(Math.max(lookBack, Date.parse(last ?? '')));
      return {
        ...{ identifier: name, task, queue: `cron ${name}`, maxAttempts },
        tick: last === undefined ? undefined : lastDue(cron, { after, until: now }),
      };
    });
    // A new item has missed nothing. The tick is recorded by the statement that adds its job.
    await pool.query(
      `with items as (
         select * from json_to_recordset($1)
           as (identifier text, task text, queue text, "maxAttempts" int, tick timestamptz)
       ), new as (
         insert into ${JOB_SCHEMA}._private_known_crontabs (identifier, known_since)
         select identifier, now() from items
         on conflict do nothing
       ), taken as (
         update ${JOB_SCHEMA}._private_known_crontabs known
         set last_execution = items.tick
         from items
         where known.identifier = items.identifier
           and coalesce(known.last_execution, known.known_since) < items.tick
         returning items.*
       )
       select ${JOB_SCHEMA}.add_job(
         task, json_build_object('_cron', json_build_object('ts', tick)),
         queue_name => queue, job_key => queue, max_attempts => "maxAttempts"
       )
       from taken`,
      [JSON.stringify(due)],
    );
    this.#hasLooked = true;
    return now;
  }
}

/**
 * Parses a schedule: minute, hour, day, month, weekday, in a time zone. A run in an hour that the clocks skip
 * happens after the change; one in an hour that occurs twice happens once. @throws for a malformed one
 */
export function parseSchedule(schedule: string, timeZone: string): Cron {
  return new Cron(schedule, { paused: true, timezone: timeZone });
}

/** The last instant of a schedule, `after < instant <= until`. */
export function lastDue(
  cron: Cron,
  { after, until }: { readonly after: Date; readonly until: Date },
): Date | undefined {
  const minute = until.getTime() - (until.getTime() % MINUTE_MS);
  // The runs before an instant, without the one at it.
  const [last] = cron.previousRuns(1, new Date(minute + 1_000));
  return last !== undefined && last > after ? last : undefined;
}
