/** How many streamed answers a credential reads at once: each holds a connection of the database for as long as its reader takes. */
import { ServiceError } from '../errors.js';

export interface StreamLimitsOptions {
  readonly maxPerCredential: number;
  /** How long a reader may take nothing before its answer is cut. */
  readonly stallMs: number;
}

const RETRY_AFTER_SECONDS = 5;

export class StreamLimits {
  readonly stallMs: number;
  readonly #maxPerCredential: number;
  readonly #countByCredential = new Map<string, number>();

  constructor(options: StreamLimitsOptions) {
    this.stallMs = options.stallMs;
    this.#maxPerCredential = options.maxPerCredential;
  }

  /** Counts a stream in; the answer counts it out again. @throws TOO_MANY_REQUESTS (429) */
  enter(credential: string): () => void {
    const count = this.#countByCredential.get(credential) ?? 0;
    if (count >= this.#maxPerCredential) {
      throw new ServiceError(
        'TOO_MANY_REQUESTS',
        `You are reading ${count} streams, which is as many as one credential may at once; end one first, or ask with a limit.`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
    this.#countByCredential.set(credential, count + 1);
    return () => {
      const left = (this.#countByCredential.get(credential) ?? 1) - 1;
      if (left === 0) this.#countByCredential.delete(credential);
      else this.#countByCredential.set(credential, left);
    };
  }
}
