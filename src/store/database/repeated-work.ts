export interface RepeatedWorkOptions {
  /** `isWanted`: whether it has not been closed meanwhile. */
  readonly work: (isWanted: () => boolean) => Promise<void>;
  /** Default: it is done only when it is woken. */
  readonly everyMs?: number;
  /** The shortest rest, for one who wakes it all the time. */
  readonly leastRestMs?: number;
  /** Receives the first of failures in a row. */
  readonly onFault: (error: unknown) => void;
}

const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 2_000;

/**
 * Does work again and again, never twice at once: at intervals, when it is woken, or both. Work that failed
 * is repeated until it succeeds: a renewal that failed and was forgotten would leave this process with what
 * is no longer true. If it is woken during the work, the work is done once more.
 */
export class RepeatedWork {
  /** Resolves with the first success, or the end. */
  readonly ready: Promise<void>;
  readonly #options: RepeatedWorkOptions;
  #running: Promise<void> | undefined;
  #isWoken = false;
  #isClosed = false;
  #wakeUp: () => void = () => {};
  #setReady: () => void = () => {};

  constructor(options: RepeatedWorkOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
    if (options.everyMs !== undefined) this.wake();
  }

  wake(): void {
    this.#isWoken = true;
    if (this.#isClosed) return;
    this.#running ??= this.#run();
    this.#wakeUp();
  }

  /** Waits for the work in progress; none is done afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#setReady();
    this.#wakeUp();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { work, everyMs = Number.POSITIVE_INFINITY, leastRestMs = 10, onFault } = this.#options;
    let retryMs = FIRST_RETRY_MS;
    while (!this.#isClosed) {
      this.#isWoken = false;
      try {
        await work(() => !this.#isClosed);
        this.#setReady();
        retryMs = FIRST_RETRY_MS;
        await this.#rest(everyMs, leastRestMs);
      } catch (error) {
        if (retryMs === FIRST_RETRY_MS && !this.#isClosed) onFault(error);
        await this.#rest(retryMs, FIRST_RETRY_MS);
        retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
      }
    }
  }

  /** The least rest counts if it is woken: after a failure, the database may be back. */
  #rest(ms: number, leastMs: number): Promise<void> {
    const startedAt = performance.now();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const endAfter = (wholeMs: number) => {
        clearTimeout(timer);
        if (wholeMs === Number.POSITIVE_INFINITY) return;
        timer = setTimeout(resolve, Math.max(0, startedAt + wholeMs - performance.now())).unref();
      };
      this.#wakeUp = () => endAfter(this.#isClosed ? 0 : Math.min(ms, leastMs));
      if (this.#isClosed || this.#isWoken) this.#wakeUp();
      else endAfter(ms);
    });
  }
}

const EVERY_MS = 2_000;

/** Writes data collected in memory every two seconds and on request; one write at a time. */
export class RegularWrites {
  readonly #write: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;

  /** `write` never throws. */
  constructor(write: () => Promise<void>) {
    this.#write = write;
    this.#timer = setInterval(() => void this.flush(), EVERY_MS);
    this.#timer.unref();
  }

  /** Waits for the write in progress, or for a new one. */
  async flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.flush();
  }
}
