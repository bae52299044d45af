const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;

/**
 * Reads again what is remembered, whenever it is asked to, and for as long as it takes: a renewal that failed
 * and was forgotten would leave this process with what is no longer true, for good. What is asked for while
 * one is under way is done once after it.
 */
export class Renewal {
  readonly #renew: () => Promise<void>;
  readonly #onFault: (error: unknown) => void;
  #isWanted = false;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #wakeUp: () => void = () => {};

  /** `onFault` is told of the first of failures in a row. */
  constructor(options: {
    readonly renew: () => Promise<void>;
    readonly onFault: (error: unknown) => void;
  }) {
    this.#renew = options.renew;
    this.#onFault = options.onFault;
  }

  ask(): void {
    this.#isWanted = true;
    if (this.#isClosed) return;
    this.#running ??= this.#run();
    this.#wakeUp();
  }

  /** Waits for what is under way; nothing is renewed afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeUp();
    await this.#running;
  }

  async #run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        await this.#renew();
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        this.#isWanted = true;
        if (retryMs === FIRST_RETRY_MS && !this.#isClosed) this.#onFault(error);
        await this.#sleep(retryMs);
        retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
      }
    }
    this.#running = undefined;
  }

  /** Shorter when it is asked for meanwhile: the database may be back. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wakeUp = () => {
        clearTimeout(timer);
        if (this.#isClosed) resolve();
        else setTimeout(resolve, FIRST_RETRY_MS).unref();
      };
      if (this.#isClosed) resolve();
    });
  }
}
