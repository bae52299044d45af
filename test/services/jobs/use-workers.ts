/**
 * Workers of as many gateways as a test needs, on its database; what they observed, and what their tasks were
 * asked for.
 */
import { afterEach } from '@jest/globals';
import type { CronItem, JobObservation, JobTask } from '../../../src/services/jobs/job-queue.js';
import { JobWorkers } from '../../../src/services/jobs/job-workers.js';
import type { Database } from '../../../src/store/database/database.js';

export interface TestWorkers {
  /** In the order they happened, of all gateways. */
  readonly observed: readonly JobObservation[];
  start(options: {
    readonly tasks: readonly JobTask[];
    readonly cronItems?: readonly CronItem[];
    readonly concurrency?: number;
    readonly shutdownGraceMs?: number;
    readonly pollMs?: number;
    readonly sweepMs?: number;
  }): Promise<JobWorkers>;
}

/** All are stopped after each test. */
export function useWorkers(test: { readonly database: Database }): TestWorkers {
  const observed: JobObservation[] = [];
  const started: JobWorkers[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((workers) => workers.stop()));
    observed.length = 0;
  });
  return {
    observed,
    async start(options) {
      const workers = new JobWorkers({
        database: test.database,
        cronItems: [],
        concurrency: 2,
        shutdownGraceMs: 5000,
        pollMs: 50,
        sweepMs: 200,
        observe: (event) => observed.push(event),
        ...options,
      });
      started.push(workers);
      await workers.start();
      return workers;
    },
  };
}
