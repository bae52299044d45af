import { RETRY_SOON_SECONDS, ServiceError } from '../../errors.js';
import type { Stage } from '../../languages/mongo/mongo-pipeline.js';
import { type StageLimits, StageProcess } from './stage-process.js';

/** The most processes at once: each takes a processor and some memory. */
const MOST_PROCESSES = 8;

/** The processes of a gateway that run stages. A process counts from its start until its exit. */
export class StageProcesses {
  readonly #limits: StageLimits;
  #count = 0;

  constructor(limits: StageLimits) {
    this.#limits = limits;
  }

  /** The caller must end the process. @throws UNAVAILABLE if the limit is reached */
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
