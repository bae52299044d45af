/**
 * Queues work in Postgres (graphile-worker, in a schema of its own). A job added within a transaction exists
 * once it commits, and is run by any free gateway, at least once: if a gateway dies during a job, another one
 * runs it again, so tasks must tolerate that.
 *
 * Any process may add jobs, including the command line; only gateways run them (`JobWorkers`).
 */
import { isNativeError } from 'node:util/types';
import { Logger, runMigrations } from 'graphile-worker';
import pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { type JsonObject, printExactJson } from '../../base/json/json.js';
import { traceHeaders } from '../../base/process/traced.js';
import { lockUntilDisconnected } from '../../store/database/advisory-lock.js';
import type { Database } from '../../store/database/database.js';
import { setSession } from '../../store/database/pool.js';
import type { PutBack } from '../../store/database/put-back-instants.js';
import type { Transaction } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';

/**
 * The library's tables are in this schema, separate from ours, which the migrations of prisma/ describe
 * completely.
 */
export const JOB_SCHEMA = 'campus_jobs';
/** Held while that schema is created or migrated; other gateways wait. */
const JOB_MIGRATION_LOCK = 0x6a6f6273;
/** The library waits e^attempt seconds, so the last attempt is some four hours after the first. */
const DEFAULT_MAX_ATTEMPTS = 10;

export interface JobOptions {
  /**
   * Only one job with a key waits at a time: adding another replaces it. A running one is finished but not
   * retried, and the new one runs beside or after it.
   */
  readonly key?: string | undefined;
  /** How long it waits before it is due, by the clock of the database. Default: not at all. */
  readonly delayMs?: number | undefined;
  /** Jobs of one queue run one after the other, over all gateways. Default: beside all others. */
  readonly queue?: string | undefined;
  /** Default 10. */
  readonly maxAttempts?: number | undefined;
}

/** The number of jobs, over all gateways. */
export interface JobCounts {
  /** Waiting for a worker, or for their time. */
  readonly queued: number;
  readonly running: number;
  /** Jobs abandoned after their last attempt, until they are purged. */
  readonly failed: number;
}

export interface JobFailure {
  readonly at: Date;
  readonly error: string;
}

export class JobQueue {
  readonly #database: Pick<Database, 'query'>;

  constructor(services: { readonly database: Pick<Database, 'query'> }) {
    this.#database = services.database;
  }

  /**
   * Adds a job for the named task (`src/gateway/compose/jobs.ts` lists them) in the transaction `within`. An
   * unknown name is not an error: a newer gateway beside this one may know it.
   */
  async add(
    task: string,
    payload: JsonObject,
    options: JobOptions = {},
    within?: Transaction,
  ): Promise<void> {
    await (within ?? this.#database).query(sql`
      select id
      from campus_jobs.add_job(
        ${task},
        ${printExactJson({ ...payload, ...traceHeaders() })}::json,
        run_at => now() + ${options.delayMs ?? 0}::float8 * interval '1 millisecond',
        max_attempts => ${options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS}::int,
        job_key => ${options.key ?? null}::text,
        queue_name => ${options.queue ?? null}::text
      )`);
  }

  /** Whether a job of the queue is running or queued. */
  async isBusy(queue: string): Promise<boolean> {
    const found = await this.#database.query(sql`
      select 1 from campus_jobs.jobs
      where queue_name = ${queue} and (locked_at is not null or attempts < max_attempts) limit 1`);
    return found.length > 0;
  }

  /** The newest failure of a task whose job has not succeeded since; failed jobs are kept for some days. */
  async lastFailure(task: string): Promise<JobFailure | undefined> {
    const [newest] = await this.#database.query<JobFailure>(sql`
      select updated_at as at, last_error as error from campus_jobs.jobs
      where task_identifier = ${task} and last_error is not null order by updated_at desc limit 1`);
    return newest;
  }

  /**
   * Adds a job `{ id }` for each id that `ids` selects and that has none waiting or running under the key
   * `keyPrefix` + id, in the order of `ids`, up to `most` jobs of the task. Returns their number.
   */
  async addMissing(
    task: string,
    ids: Sql,
    options: { readonly keyPrefix: string; readonly most: number; readonly maxAttempts: number },
    within?: Transaction,
  ): Promise<number> {
    const isAlive = sql`(j.locked_at is not null or j.attempts < j.max_attempts)`;
    const key = sql`${options.keyPrefix}::text || missing.id`;
    const added = await (within ?? this.#database).query(sql`
      select job.id
      from (
        select missing.id
        from (${ids}) as missing (id)
        where not exists (select from campus_jobs.jobs j where j.key = ${key} and ${isAlive})
        limit greatest(0, ${options.most}::int - (
          select count(*)::int from campus_jobs.jobs j where j.task_identifier = ${task} and ${isAlive}
        ))
      ) as missing
      cross join lateral campus_jobs.add_job(
        ${task}, json_build_object('id', missing.id),
        max_attempts => ${options.maxAttempts}::int, job_key => ${key}
      ) as job`);
    return added.length;
  }

  async counts(): Promise<JobCounts> {
    const [counts] = await this.#database.query<JobCounts>(sql`
      select
        count(*) filter (where locked_at is null and attempts < max_attempts)::int as queued,
        count(*) filter (where locked_at is not null)::int as running,
        count(*) filter (where locked_at is null and attempts >= max_attempts)::int as failed
      from campus_jobs.jobs`);
    return counts ?? { queued: 0, running: 0, failed: 0 };
  }

  /** How long the job that is due longest has waited for somebody to do it; 0 where none is due. */
  async longestWaitSeconds(): Promise<number> {
    const [wait] = await this.#database.query<{ seconds: number }>(sql`
      select coalesce(max(extract(epoch from now() - run_at)), 0)::float8 as seconds
      from campus_jobs.jobs
      where locked_at is null and attempts < max_attempts and run_at <= now()`);
    return wait?.seconds ?? 0;
  }

  /** Deletes jobs abandoned before an instant; returns their number. */
  async purge(failedBefore: Date): Promise<number> {
    const gone = await this.#database.query(sql`
      delete from campus_jobs._private_jobs
      where locked_at is null
        and attempts >= max_attempts
        and updated_at < ${failedBefore.toISOString()}::timestamptz
      returning id`);
    return gone.length;
  }
}

/**
 * Creates or migrates the schema of the jobs. Any number of gateways may call it at once.
 *
 * @throws UNAVAILABLE if the database user may not create a schema
 */
export async function migrateJobQueue(url: string): Promise<void> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    application_name: 'campus migrations',
    onConnect: setSession,
  });
  const ignore = () => {};
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  try {
    const client = await pool.connect();
    try {
      await lockUntilDisconnected(client, JOB_MIGRATION_LOCK);
      await runMigrations({ pgPool: pool, schema: JOB_SCHEMA, logger: new Logger(() => ignore) });
    } finally {
      client.release(true);
    }
  } catch (error) {
    throw toMigrationError(error);
  } finally {
    await pool.end();
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

function toMigrationError(error: unknown): unknown {
  if (!isNativeError(error) || !('code' in error) || error.code !== INSUFFICIENT_PRIVILEGE) return error;
  return new ServiceError(
    'UNAVAILABLE',
    `The user in DATABASE_URL may not make the schema ${JOB_SCHEMA} (${error.message}); make it the ` +
      'owner of the database.',
    { cause: error },
  );
}

export interface JobContext {
  readonly jobId: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborted when the gateway stops and the grace period is over: another gateway will run the job again. */
  readonly signal: AbortSignal;
}

export interface JobTask {
  /**
   * The name for `JobQueue.add`, e.g. `messages.send`. It must not change while jobs of it may be waiting.
   */
  readonly name: string;
  /**
   * Does one job. The same job may run twice, because a gateway may die after the work and before it records
   * the result. A job that throws is retried e^attempt seconds later, until its attempts are used up.
   */
  run(payload: unknown, context: JobContext): Promise<unknown>;
}

/** Runs that were due while no gateway was up, within the last day, are made up for by one. */
export interface CronItem {
  /**
   * The name under which the last run is recorded. Each item needs its own; an item with a changed name
   * counts as new.
   */
  readonly name: string;
  readonly task: string;
  /** Minute, hour, day, month, weekday, in UTC: `15 2 * * *`. */
  readonly schedule: string;
  readonly maxAttempts?: number | undefined;
}

/** The events of jobs that are reported to the operator. */
export type JobObservation =
  | {
      readonly kind: 'jobEnded';
      readonly task: string;
      readonly jobId: string;
      readonly outcome: 'done' | 'retried' | 'failed';
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly durationMs: number;
      /** `undefined` if the job is done. */
      readonly error: unknown;
    }
  /** Jobs of a gateway that died; other gateways may take them now. */
  | { readonly kind: 'jobsRecovered'; readonly workers: number }
  /** Schedules and jobs that a clock that was ahead had put into the future. */
  | ({ readonly kind: 'instantsPutBack' } & PutBack)
  | { readonly kind: 'backgroundFault'; readonly task: string; readonly error: unknown };
