/**
 * Limits how many lists the scripts of a gateway read at once: each holds one of the connections that all
 * streamed answers share.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import { printLimit, type ScriptLimits } from './script-limits.js';

export class OpenStreams {
  readonly #limits: ScriptLimits;
  #count = 0;

  constructor(limits: ScriptLimits) {
    this.#limits = limits;
  }

  /** How many a single run may have open. */
  get perRun(): number {
    return Math.ceil(this.#limits.streams / 2);
  }

  /**
   * Call the returned function when the stream is closed. @throws UNAVAILABLE at once: a run that waited
   * would hold its other streams open
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
