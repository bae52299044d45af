/** Work that comes faster than it is done waits here, up to a bound. */

export interface BoundedWorkOptions<Item> {
  /** Does a batch; the next one starts after it. Must not throw. */
  readonly work: (batch: readonly Item[]) => Promise<void>;
  readonly batchSize: number;
  readonly maxWaiting: number;
  /** More is waiting than may: all of it was thrown away. */
  readonly onOverflow: () => void;
}

export class BoundedWork<Item> {
  readonly #options: BoundedWorkOptions<Item>;
  #waiting: Item[] = [];
  #isWorking = false;

  constructor(options: BoundedWorkOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    if (this.#waiting.length >= this.#options.maxWaiting) {
      this.#waiting = [];
      this.#options.onOverflow();
      return;
    }
    this.#waiting.push(item);
    if (!this.#isWorking) void this.#run();
  }

  clear(): void {
    this.#waiting = [];
  }

  async #run(): Promise<void> {
    this.#isWorking = true;
    // What is added in this turn of the event loop belongs together.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        await this.#options.work(this.#waiting.splice(0, this.#options.batchSize));
      }
    } finally {
      // Work that failed against its word must not keep what comes later waiting for good.
      this.#isWorking = false;
    }
  }
}
