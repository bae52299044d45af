/**
 * How many lists the scripts of a gateway read at once: each holds a connection of those that all streamed
 * answers share.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';
import { printLimit, type ScriptLimits } from './script-limits.js';

export class OpenStreams {
  readonly #limits: ScriptLimits;
  #count = 0;

  constructor(limits: ScriptLimits) {
    this.#limits = limits;
  }

  /** How many one run may have open. */
  get perRun(): number {
    return Math.ceil(this.#limits.streams / 2);
  }

  /**
   * The answer is to be called once the stream is closed. @throws UNAVAILABLE, at once: who waited would wait
   * with others open
   */
  open(): () => void {
    if (this.#count >= this.#limits.streams) {
      throw new ServiceError(
        'UNAVAILABLE',
        `the scripts of this gateway read ${printLimit(this.#limits, 'streams')} lists at once, and ` +
          'all are open; try again',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
    this.#count += 1;
    return () => {
      this.#count -= 1;
    };
  }
}
