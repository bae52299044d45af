/** Runs the jobs of the queue, and adds scheduled ones. One per gateway; the command line has none. */
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type Runner, run, type TaskList, type WorkerPool } from 'graphile-worker';
import type pg from 'pg';
import { shareWithAll } from '../../base/model/end-signal.js';
import { inTraceOf, type TraceHeaders } from '../../base/process/traced.js';
import type { Database } from '../../store/database/database.js';
import { RepeatedWork } from '../../store/database/repeated-work.js';
import { CronSchedule } from './cron-schedule.js';
import { type CronItem, JOB_SCHEMA, type JobObservation, type JobTask } from './job-queue.js';

export interface JobWorkersOptions {
  readonly database: Pick<Database, 'openPool' | 'listen'>;
  readonly tasks: readonly JobTask[];
  readonly cronItems: readonly CronItem[];
  /** Jobs run at once by this gateway; 0: none, they are left to others. */
  readonly concurrency: number;
  /** How long running jobs may continue after a stop was requested. */
  readonly shutdownGraceMs: number;
  readonly observe: (event: JobObservation) => void;
  /** How often to look for jobs that became due; new ones are announced at once. Default 2 s. */
  readonly pollMs?: number;
  /** How often to look for gateways that died; their jobs are released after two looks. Default 10 s. */
  readonly sweepMs?: number;
}

const DEFAULT_POLL_MS = 2_000;
const DEFAULT_SWEEP_MS = 10_000;
/** One connection reports that this gateway is alive, and these take jobs and record their results. */
const MAX_QUERYING_CONNECTIONS = 2;
/** The channel of the library's functions that add jobs. */
const NEW_JOBS_CHANNEL = 'jobs:insert';
const STATEMENT_TIMEOUT_MS = 30_000;
const RESTART_MS = 200;
const MAX_NOTE_LOOKS = 50;
const NOTE_LOOK_MS = 20;
/** After the grace period, the time for releasing unfinished jobs and closing connections. */
const LAST_WAIT_MS = 1_000;
/** The share of the grace period after which the signal of tasks ends them. */
const ABORT_AFTER = 0.8;

export class JobWorkers {
  readonly #options: JobWorkersOptions;
  readonly #stopping = new AbortController();
  /** The ids of the running jobs. */
  readonly #running = new Set<string>();
  #pool: pg.Pool | undefined;
  #liveness: WorkerLiveness | undefined;
  #runner: Runner | undefined;
  #workerPool: WorkerPool | undefined;
  /** The jobs that were announced since the workers were woken. */
  #announced = 0;
  #stopHearing: () => Promise<void> = async () => {};
  #supervising: RepeatedWork | undefined;
  #scheduling: Promise<void> = Promise.resolve();

  constructor(options: JobWorkersOptions) {
    this.#options = options;
  }

  /** Returns when the first jobs may run. If the database is lost later, it waits. */
  async start(): Promise<void> {
    const { database, concurrency, sweepMs = DEFAULT_SWEEP_MS, observe } = this.#options;
    if (concurrency === 0 || this.#pool !== undefined || this.#stopping.signal.aborted) return;
    const pool = database.openPool({
      size: 1 + Math.min(concurrency, MAX_QUERYING_CONNECTIONS),
      applicationName: 'campus-gateway jobs',
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      waitUntil: this.#stopping.signal,
    });
    this.#pool = pool;
    const waking = new RepeatedWork({ work: () => this.#wake(), onFault: () => {} });
    const announced = (count: number) => {
      this.#announced = Math.min(concurrency, this.#announced + count);
      if (count > 0) waking.wake();
    };
    this.#stopHearing = await database.listen(
      NEW_JOBS_CHANNEL,
      (payload) => announced(Number(/"count":(-?\d+)/.exec(payload)?.[1] ?? 1)),
      () => announced(concurrency),
    );
    this.#liveness = new WorkerLiveness({
      pool,
      sweepMs,
      runningJobs: () => [...this.#running],
      onRecovered: (workers) => observe({ kind: 'jobsRecovered', workers }),
      onFault: (error) => observe({ kind: 'backgroundFault', task: 'job recovery', error }),
    });
    await new Promise<void>((started) => {
      // They end when the result of a job could not be recorded, e.g. while Postgres was down.
      this.#supervising = new RepeatedWork({
        everyMs: RESTART_MS,
        work: async () => {
          this.#runner = await this.#run(pool);
          started();
          await this.#runner.promise;
        },
        onFault: (error) => {
          started();
          observe({ kind: 'backgroundFault', task: 'jobs', error });
        },
      });
    });
    const schedule = new CronSchedule({
      pool,
      items: this.#options.cronItems,
      onPutBack: (putBack) => observe({ kind: 'instantsPutBack', ...putBack }),
      onFault: (error) => observe({ kind: 'backgroundFault', task: 'schedules', error }),
    });
    this.#scheduling = schedule.run(this.#stopping.signal);
  }

  /**
   * Takes no more jobs and waits for running ones; those that exceed the grace period are left to another
   * gateway.
   */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    await withinLastWait(this.#stopHearing());
    await Promise.race([this.#runner?.stop().catch(() => {}), this.#interruptAfterGrace()]);
    await this.#untilNoted();
    await this.#liveness?.close();
    await withinLastWait(this.#scheduling);
    // A statement that waits for a lock may keep its connection, and the pool, for long.
    await withinLastWait(this.#pool?.end());
  }

  /** Lets idle workers look for jobs; with rests between, as every role of the database may announce some. */
  async #wake(): Promise<void> {
    this.#workerPool?.nudge(this.#announced);
    this.#announced = 0;
  }

  async #run(pool: pg.Pool): Promise<Runner> {
    const { concurrency, pollMs = DEFAULT_POLL_MS, shutdownGraceMs } = this.#options;
    const events = new EventEmitter();
    events.on('pool:create', ({ workerPool }: { workerPool: WorkerPool }) => {
      this.#workerPool = workerPool;
      this.#liveness?.hold(workerPool.id);
    });
    return await run({
      pgPool: withoutListening(pool),
      schema: JOB_SCHEMA,
      concurrency,
      pollInterval: pollMs,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: Math.floor(shutdownGraceMs * ABORT_AFTER),
      taskList: this.#taskList(),
      // Without this, the library reads a file `crontab` in the working directory.
      parsedCronItems: [],
      logger: this.#logger(),
      events,
      preset: NOTED_IN_BATCHES,
    });
  }

  #taskList(): TaskList {
    return Object.fromEntries(
      this.#options.tasks.map((task) => [
        task.name,
        async (payload: unknown, { job, abortSignal }) => {
          const startedAt = performance.now();
          const end = {
            kind: 'jobEnded',
            task: task.name,
            jobId: String(job.id),
            attempt: job.attempts,
            maxAttempts: job.max_attempts,
          } as const;
          const context = { ...end, signal: shareWithAll(abortSignal ?? this.#stopping.signal) };
          const observe = (outcome: 'done' | 'retried' | 'failed', error?: unknown) =>
            this.#options.observe({ ...end, outcome, durationMs: performance.now() - startedAt, error });
          this.#running.add(context.jobId);
          try {
            const attributes = { 'campus.job': task.name, 'campus.attempt': job.attempts };
            const traced = { name: `job ${task.name}`, kind: 'consumer', attributes } as const;
            await inTraceOf(sentWith(payload), traced, () => task.run(payload, context));
          } catch (error) {
            observe(job.attempts < job.max_attempts ? 'retried' : 'failed', error);
            throw error;
          } finally {
            this.#running.delete(context.jobId);
          }
          observe('done');
        },
      ]),
    ) as TaskList;
  }

  /** The library's own messages: we report the ends of jobs ourselves, so only errors are passed on. */
  #logger(): Logger {
    const { observe } = this.#options;
    return new Logger(() => (level, message, meta) => {
      if (level !== 'error' || meta?.failure === true || this.#stopping.signal.aborted) return;
      observe({ kind: 'backgroundFault', task: 'jobs', error: meta?.error ?? new Error(message) });
    });
  }

  /**
   * The library reports the end of its workers before it has recorded their last results; without the record
   * those jobs would run twice.
   */
  async #untilNoted(): Promise<void> {
    const [pool, id] = [this.#pool, this.#workerPool?.id];
    if (pool === undefined || id === undefined) return;
    for (let attempt = 1; attempt <= MAX_NOTE_LOOKS; attempt++) {
      const { rows } = await pool
        .query(`select 1 from ${JOB_SCHEMA}.jobs where locked_by = $1 limit 1`, [id])
        .catch(() => ({ rows: [] }));
      if (rows.length === 0) return;
      await sleep(NOTE_LOOK_MS);
    }
  }

  async #interruptAfterGrace(): Promise<void> {
    const pool = this.#workerPool;
    const isOver = Promise.resolve(this.#supervising?.close()).then(() => true);
    const isLate = sleep(this.#options.shutdownGraceMs, false, { ref: false });
    if (await Promise.race([isOver, isLate])) return;
    // While the database is down, the library tries for minutes to record results. Jobs without a record run
    // again, on another gateway.
    await withinLastWait(pool?.forcefulShutdown('the gateway stopped before the job was done'));
  }
}

/** Waits for something that must not delay a stop for long. */
async function withinLastWait(work: unknown): Promise<void> {
  await Promise.race([Promise.resolve(work).catch(() => {}), sleep(LAST_WAIT_MS, undefined, { ref: false })]);
}

/**
 * The library listens by a connection that it requests with a callback. It would stop its workers for a
 * message that every role of the database may send.
 */
function withoutListening(pool: pg.Pool): pg.Pool {
  return new Proxy(pool, {
    get(target, name) {
      if (name === 'connect')
        return (callback?: unknown) => (callback === undefined ? target.connect() : undefined);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/**
 * The library records the end of a job while the worker goes on. Only in batch mode (here with batches of
 * one) does it handle a failed record, by ending its workers; otherwise the unhandled rejection would end the
 * process.
 */
const NOTED_IN_BATCHES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } } as const;

/** The trace headers stored with a job, so that it continues the trace of whoever added it. */
function sentWith(payload: unknown): TraceHeaders {
  const { traceparent } = Object(payload);
  return typeof traceparent === 'string' ? { traceparent } : {};
}

/** First half of the advisory lock's key; the second is the hash of the pool's id. */
const LIVENESS_LOCKS = 0x6a6f6266;

interface WorkerLivenessOptions {
  readonly pool: pg.Pool;
  readonly sweepMs: number;
  /** The ids of the jobs that the workers of this gateway are at. */
  readonly runningJobs: () => readonly string[];
  readonly onRecovered: (workers: number) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * Gives the jobs of a gateway that died back to the others within seconds; the library alone would wait four
 * hours.
 *
 * A gateway holds an advisory lock for each of its pools of workers, on a connection of its own: Postgres
 * lets go of it when the process, the machine or the network between is gone. Every gateway looks now and
 * then for jobs whose pool nobody holds a lock for; whoever is found missing twice in a row (once may be a
 * connection that is being made again) loses its jobs.
 *
 * So does this gateway lose a job of its own that it knows nothing of: the answer that gave it the job was
 * lost with its connection.
 */
class WorkerLiveness {
  readonly #options: WorkerLivenessOptions;
  readonly #sweeps: RepeatedWork;
  #client: pg.PoolClient | undefined;
  #poolId: string | undefined;
  #missing: ReadonlySet<string> = new Set();
  /** Jobs taken in our name that we were not at, at the last look. */
  #strays: ReadonlySet<string> = new Set();

  constructor(options: WorkerLivenessOptions) {
    this.#options = options;
    const { sweepMs: everyMs, onFault } = options;
    this.#sweeps = new RepeatedWork({ everyMs, onFault, work: () => this.#sweep() });
  }

  /** Says from now on that the workers of this id live, instead of those before. */
  hold(poolId: string): void {
    this.#poolId = poolId;
    // A lock is of a connection: the old one goes with it.
    this.#letGo();
    this.#sweeps.wake();
  }

  async close(): Promise<void> {
    await this.#sweeps.close();
    this.#letGo();
  }

  async #sweep(): Promise<void> {
    if (this.#poolId === undefined) return;
    try {
      this.#client ??= await this.#lock(this.#poolId);
      const missing = await findMissing(this.#client);
      const dead = missing.filter((id) => this.#missing.has(id));
      this.#missing = new Set(missing);
      if (dead.length > 0) {
        await this.#client.query(`select ${JOB_SCHEMA}.force_unlock_workers($1)`, [dead]);
        this.#options.onRecovered(dead.length);
      }
      await this.#freeStrays(this.#client, this.#poolId);
    } catch (error) {
      this.#letGo();
      throw error;
    }
  }

  /** One look may see a job that is being taken, or whose end is being noted. */
  async #freeStrays(client: pg.PoolClient, poolId: string): Promise<void> {
    const found = await findStrays(client, poolId, this.#options.runningJobs());
    const strays = found.filter((id) => this.#strays.has(id));
    this.#strays = new Set(found);
    if (strays.length > 0) await freeJobs(client, poolId, strays);
  }

  async #lock(poolId: string): Promise<pg.PoolClient> {
    const client = await this.#options.pool.connect();
    try {
      // Shared: an id whose hash is that of another's must not wait for it.
      await client.query('select pg_advisory_lock_shared($1, hashtext($2))', [LIVENESS_LOCKS, poolId]);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** The next sweep comes soon: it must not be the second that finds a worker missing. */
  #letGo(): void {
    this.#client?.release(true);
    this.#client = undefined;
    this.#missing = new Set();
    this.#strays = new Set();
  }
}

async function findMissing(client: pg.PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select distinct jobs.locked_by as id
       from ${JOB_SCHEMA}.jobs
      where jobs.locked_by is not null
        and not exists (
          select
            from pg_locks held
           where held.locktype = 'advisory'
             and held.database = (select oid from pg_database where datname = current_database())
             and held.classid = $1::int::oid
             and held.objid = hashtext(jobs.locked_by)::oid
             and held.granted
        )`,
    [LIVENESS_LOCKS],
  );
  return rows.map((row) => row.id);
}

async function findStrays(
  client: pg.PoolClient,
  poolId: string,
  running: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id::text
       from ${JOB_SCHEMA}._private_jobs
      where locked_by = $1
        and id <> all($2::bigint[])`,
    [poolId, running],
  );
  return rows.map((row) => row.id);
}

/** Frees jobs as the library gives back what it has taken and not begun: the attempt does not count. */
async function freeJobs(client: pg.PoolClient, poolId: string, ids: readonly string[]): Promise<void> {
  await client.query(
    `with freed as (
       update ${JOB_SCHEMA}._private_jobs
       set locked_by = null, locked_at = null, attempts = greatest(0, attempts - 1)
       where id = any($2::bigint[])
         and locked_by = $1
       returning job_queue_id
     )
     update ${JOB_SCHEMA}._private_job_queues as queues
     set locked_by = null, locked_at = null
     from freed
     where queues.id = freed.job_queue_id
       and queues.locked_by = $1`,
    [poolId, ids],
  );
}
