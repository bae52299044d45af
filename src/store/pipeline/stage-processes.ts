import { RETRY_SOON_SECONDS, ServiceError } from '../../errors.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import { type StageLimits, StageProcess } from './stage-process.js';

/** The most at once: each takes a processor and some memory. */
const MOST_PROCESSES = 8;

/** The processes in which a gateway runs stages, counted from their start until they are gone. */
export class StageProcesses {
  readonly #limits: StageLimits;
  #count = 0;

  constructor(limits: StageLimits) {
    this.#limits = limits;
  }

  /** The caller ends the process. @throws UNAVAILABLE when there are as many as may be */
  start(stages: readonly Stage[]): StageProcess {
    if (this.#count >= MOST_PROCESSES) {
      throw new ServiceError(
        'UNAVAILABLE',
        'Too many pipelines are computed outside the database; try again.',
        { retryAfterSeconds: RETRY_SOON_SECONDS },
      );
    }
    const started = new StageProcess(stages, this.#limits, () => {
      this.#count -= 1;
    });
    this.#count += 1;
    return started;
  }
}
