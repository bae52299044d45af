/** The types of tasks and scheduled items: the entries of the lists in `src/compose/jobs.ts`. */

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
   * Does one job. It may be run twice for the same job: a gateway may die after the work and before the note
   * of it. A throw has it run again e^attempt seconds later, until its attempts are used up.
   */
  run(payload: unknown, context: JobContext): Promise<void>;
}

export interface CronItem {
  /** What is remembered of it: two items have two names, and a changed name is a new item. */
  readonly name: string;
  readonly task: string;
  /** Minute, hour, day, month, weekday, in UTC: `15 2 * * *`. */
  readonly schedule: string;
  /**
   * What becomes of runs that were due while no gateway ran: `once` makes up for all of the last day by a
   * single run at the next start, `never` forgets them.
   */
  readonly catchUp: 'once' | 'never';
  readonly maxAttempts?: number | undefined;
}

/** What the operator is told of jobs. */
export type JobObservation =
  | {
      readonly kind: 'jobEnded';
      readonly task: string;
      readonly jobId: string;
      readonly outcome: 'done' | 'retried' | 'failed';
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly durationMs: number;
      /** Unless it is done. */
      readonly error: unknown;
    }
  /** Jobs of a gateway that died, now free for others. */
  | { readonly kind: 'jobsRecovered'; readonly workers: number }
  | { readonly kind: 'backgroundFault'; readonly task: string; readonly error: unknown };
