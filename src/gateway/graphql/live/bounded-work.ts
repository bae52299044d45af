/** A bounded queue of work that is done in batches. */

export interface BoundedWorkOptions<Item> {
  /** Processes a batch; the next one starts afterwards. Must not throw. */
  readonly work: (batch: readonly Item[]) => Promise<void>;
  readonly batchSize: number;
  readonly maxWaiting: number;
  /** Called when more would be waiting than allowed; everything waiting has been dropped. */
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
    // Items added in the same turn of the event loop form one batch.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        await this.#options.work(this.#waiting.splice(0, this.#options.batchSize));
      }
    } finally {
      // Even if `work` throws after all, later items must not wait for ever.
      this.#isWorking = false;
    }
  }
}
