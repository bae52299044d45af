/** The types of tasks and scheduled items: the entries of the lists in `src/gateway/compose/jobs.ts`. */
import type { PutBack } from '../../store/database/put-back-instants.js';

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
