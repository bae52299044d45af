import { RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';

export interface WaitingLineOptions {
  /** How many of a key work at the same time. */
  readonly atOnce: number;
  /** How many of a key wait at most; who comes then is refused at once. */
  readonly mostWaiting: number;
  /** How long one waits before it is refused. */
  readonly patienceMs: number;
  /** What is refused, to a caller, e.g. `Too many receipts are being written`. */
  readonly refusal: string;
}

interface Place {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Work that would wait for each other in the database waits here instead, first come first served, before it
 * takes a connection: who waits holds nothing that others need.
 */
export class WaitingLine {
  readonly #options: WaitingLineOptions;
  readonly #places = new Map<string, Place>();

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  /**
   * Does the work when it is the turn of its key; who has to wait for it hears so.
   *
   * @throws UNAVAILABLE with Retry-After when too many wait, or for too long
   */
  async run<T>(key: string, work: () => Promise<T>, caller?: Pick<Scope, 'onWait'>): Promise<T> {
    const place = this.#places.get(key) ?? { running: 0, waiting: [] };
    this.#places.set(key, place);
    if (place.running < this.#options.atOnce) place.running += 1;
    else {
      caller?.onWait?.();
      await this.#wait(place);
    }
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      if (next === undefined) place.running -= 1;
      // The place is handed on and stays counted.
      else next();
      if (place.running === 0) this.#places.delete(key);
    }
  }

  async #wait({ waiting }: Place): Promise<void> {
    const { mostWaiting, patienceMs } = this.#options;
    if (waiting.length >= mostWaiting) throw this.#refused();
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(this.#refused());
      }, patienceMs);
      waiting.push(go);
    });
  }

  #refused(): ServiceError {
    return new ServiceError('UNAVAILABLE', `${this.#options.refusal} at the moment; try again later.`, {
      retryAfterSeconds: RETRY_SOON_SECONDS,
    });
  }
}
