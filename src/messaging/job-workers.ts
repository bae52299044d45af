/**
 * Does the jobs of the queue, and adds those that are due by the clock. One per gateway; the command line has
 * none.
 */

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CronItem as LibraryCronItem,
  Logger,
  parseCronItems,
  type Runner,
  run,
  type TaskList,
  type WorkerPool,
} from 'graphile-worker';
import type pg from 'pg';
import { shareWithAll } from '../model/end-signal.js';
import type { Database } from '../store/database/database.js';
import { inTraceOf, type TraceHeaders } from '../traced.js';
import { catchUpCron, cronQueueOf } from './catch-up-cron.js';
import type { CronItem, JobObservation, JobTask } from './job.js';
import { JOB_SCHEMA } from './job-queue.js';
import { WorkerLiveness } from './worker-liveness.js';

export interface JobWorkersOptions {
  readonly database: Pick<Database, 'openPool'>;
  readonly tasks: readonly JobTask[];
  readonly cronItems: readonly CronItem[];
  /** Jobs done at once by this gateway; 0: none, they are left to others. */
  readonly concurrency: number;
  /** How long jobs under way may go on after a stop was asked for. */
  readonly shutdownGraceMs: number;
  readonly observe: (event: JobObservation) => void;
  /** How often to look for jobs whose time has come; new ones are heard of at once. Default 2 s. */
  readonly pollMs?: number;
  /** How often to look for gateways that died; their jobs are free after two looks. Default 10 s. */
  readonly sweepMs?: number;
}

const DEFAULT_POLL_MS = 2_000;
const DEFAULT_SWEEP_MS = 10_000;
/**
 * One that hears of new jobs, one that says we live, and these for taking jobs and noting what became of
 * them.
 */
const MAX_QUERYING_CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 30_000;
const MAX_RESTART_MS = 30_000;
const MAX_NOTE_LOOKS = 50;
const NOTE_LOOK_MS = 20;
/** After the grace, for giving back the jobs that were not done, and for closing connections. */
const LAST_WAIT_MS = 1_000;
/** The part of the grace after which tasks are told to come to an end by their signal. */
const ABORT_AFTER = 0.8;

export class JobWorkers {
  readonly #options: JobWorkersOptions;
  readonly #stopping = new AbortController();
  /** The ids of the jobs that run. */
  readonly #running = new Set<string>();
  #pool: pg.Pool | undefined;
  #liveness: WorkerLiveness | undefined;
  #runner: Runner | undefined;
  #workerPool: WorkerPool | undefined;
  #supervising: Promise<void> = Promise.resolve();

  constructor(options: JobWorkersOptions) {
    this.#options = options;
  }

  /** Returns when the first jobs may run. A database that is lost later is waited for. */
  async start(): Promise<void> {
    const { database, concurrency, sweepMs = DEFAULT_SWEEP_MS, observe } = this.#options;
    if (concurrency === 0 || this.#pool !== undefined || this.#stopping.signal.aborted) return;
    const pool = database.openPool({
      size: 2 + Math.min(concurrency, MAX_QUERYING_CONNECTIONS),
      applicationName: 'campus-gateway jobs',
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      waitUntil: this.#stopping.signal,
    });
    this.#pool = pool;
    this.#liveness = new WorkerLiveness({
      pool,
      sweepMs,
      runningJobs: () => [...this.#running],
      onRecovered: (workers) => observe({ kind: 'jobsRecovered', workers }),
      onFault: (error) => observe({ kind: 'backgroundFault', task: 'job recovery', error }),
    });
    await new Promise<void>((resolve) => {
      this.#supervising = this.#supervise(pool, resolve);
    });
  }

  /**
   * Takes no more jobs and waits for those under way; what takes longer than the grace is left to another
   * gateway.
   */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    await Promise.race([this.#runner?.stop().catch(() => {}), this.#interruptAfterGrace()]);
    await this.#untilNoted();
    await this.#liveness?.close();
    // A statement that waits for a lock keeps its connection, and the pool, for as long as it may take.
    await withinLastWait(this.#pool?.end());
  }

  /**
   * The library ends its workers when a job's end could not be noted, e.g. while Postgres was away: they are
   * started again.
   */
  async #supervise(pool: pg.Pool, onStarted: () => void): Promise<void> {
    const { observe } = this.#options;
    for (let restartMs = 200; !this.#stopping.signal.aborted; restartMs = nextRestart(restartMs)) {
      try {
        this.#runner = await this.#run(pool);
        onStarted();
        await this.#runner.promise;
      } catch (error) {
        if (!this.#stopping.signal.aborted) observe({ kind: 'backgroundFault', task: 'jobs', error });
      }
      onStarted();
      await sleep(restartMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
    }
  }

  async #run(pool: pg.Pool): Promise<Runner> {
    await catchUpCron(pool, this.#options.cronItems, new Date());
    const { concurrency, cronItems, pollMs = DEFAULT_POLL_MS, shutdownGraceMs } = this.#options;
    const events = new EventEmitter();
    events.on('pool:create', ({ workerPool }: { workerPool: WorkerPool }) => {
      this.#workerPool = workerPool;
      this.#liveness?.hold(workerPool.id);
    });
    return await run({
      pgPool: pool,
      schema: JOB_SCHEMA,
      concurrency,
      pollInterval: pollMs,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: Math.floor(shutdownGraceMs * ABORT_AFTER),
      taskList: this.#taskList(),
      parsedCronItems: parseCronItems(cronItems.map(toLibraryItem)),
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
          const tell = (outcome: 'done' | 'retried' | 'failed', error?: unknown) =>
            this.#options.observe({ ...end, outcome, durationMs: performance.now() - startedAt, error });
          this.#running.add(context.jobId);
          try {
            const attributes = { 'campus.job': task.name, 'campus.attempt': job.attempts };
            const traced = { name: `job ${task.name}`, kind: 'consumer', attributes } as const;
            await inTraceOf(sentWith(payload), traced, () => task.run(payload, context));
          } catch (error) {
            tell(job.attempts < job.max_attempts ? 'retried' : 'failed', error);
            throw error;
          } finally {
            this.#running.delete(context.jobId);
          }
          tell('done');
        },
      ]),
    ) as TaskList;
  }

  /** The library's own words: of a job's end we tell ourselves, of the rest only what went wrong. */
  #logger(): Logger {
    const { observe } = this.#options;
    return new Logger(() => (level, message, meta) => {
      if (level !== 'error' || meta?.failure === true || this.#stopping.signal.aborted) return;
      observe({ kind: 'backgroundFault', task: 'jobs', error: meta?.error ?? new Error(message) });
    });
  }

  /**
   * The library says its workers have ended before it has noted how their last jobs did; without the note
   * they would be done twice.
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
    const isOver = this.#supervising.then(() => true);
    const isLate = sleep(this.#options.shutdownGraceMs, false, { ref: false });
    if (await Promise.race([isOver, isLate])) return;
    // Where the database is away, the library tries to note how jobs ended for minutes. What is not noted is
    // done again, by another gateway.
    await withinLastWait(pool?.forcefulShutdown('the gateway stopped before the job was done'));
  }
}

/** Waits for what must not keep a stop from its end. */
async function withinLastWait(work: unknown): Promise<void> {
  await Promise.race([Promise.resolve(work).catch(() => {}), sleep(LAST_WAIT_MS, undefined, { ref: false })]);
}

/**
 * How a job ended is noted by the library beside the worker, which goes on. Only in batches, if of one job
 * each, does it handle a note that cannot be written, by ending its workers; else the rejection is nobody's,
 * and Node ends the process.
 */
const NOTED_IN_BATCHES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } } as const;

function nextRestart(restartMs: number): number {
  return Math.min(2 * restartMs, MAX_RESTART_MS);
}

/** One run a tick on all gateways together: the tick is noted in the statement that adds the job. */
function toLibraryItem(item: CronItem): LibraryCronItem {
  const { name, task, schedule, maxAttempts } = item;
  const queue = cronQueueOf(item);
  return {
    identifier: name,
    task,
    match: schedule,
    options: { queueName: queue, jobKey: queue, ...(maxAttempts !== undefined && { maxAttempts }) },
  };
}

/** What a job was added with: it goes on with the trace of whoever added it. */
function sentWith(payload: unknown): TraceHeaders {
  const { traceparent } = Object(payload);
  return typeof traceparent === 'string' ? { traceparent } : {};
}
