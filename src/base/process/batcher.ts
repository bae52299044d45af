export interface BatcherOptions<Item> {
  /** Removes the next batch from the waiting items, at least one of them. */
  readonly takeNext: (waiting: Item[]) => readonly Item[];
  /** Works on a batch. It must not throw. */
  readonly work: (batch: readonly Item[]) => Promise<void>;
  /** How many batches run at once. With two, one is sent while PostgreSQL works on the other. */
  readonly concurrency: 1 | 2;
  /** How many items may wait; absent: any number. */
  readonly maxWaiting?: number;
  /** Called when more items would wait than may; all waiting items have been dropped. */
  readonly onOverflow?: () => void;
  /** Called when no item waits and no batch runs. */
  readonly onIdle?: () => void;
}

/**
 * Collects items and works on them in batches. A single item does not wait; while batches are under way, new
 * items gather for the next one.
 */
export class Batcher<Item> {
  readonly #options: BatcherOptions<Item>;
  readonly #waiting: Item[] = [];
  #underWay = 0;
  /** A batch is about to begin, at the end of this turn of the event loop. */
  #isScheduled = false;

  constructor(options: BatcherOptions<Item>) {
    this.#options = options;
  }

  /** Whether an item waits or is being worked on. */
  get isBusy(): boolean {
    return this.#underWay > 0 || this.#waiting.length > 0;
  }

  add(item: Item): void {
    const { maxWaiting = Number.POSITIVE_INFINITY, onOverflow } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      this.clear();
      onOverflow?.();
      return;
    }
    this.#waiting.push(item);
    this.#schedule();
  }

  /** Drops the waiting items. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** Begins at the end of the turn of the event loop, when all items of the turn have arrived. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#options.concurrency) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#workOnNext();
    });
  }

  async #workOnNext(): Promise<void> {
    if (this.#waiting.length > 0) {
      const batch = this.#options.takeNext(this.#waiting);
      this.#underWay += 1;
      if (this.#waiting.length > 0) this.#schedule();
      try {
        await this.#options.work(batch);
      } finally {
        // Even if `work` throws after all, later items must not wait for ever.
        this.#underWay -= 1;
      }
    }
    if (this.#waiting.length > 0) this.#schedule();
    else if (this.#underWay === 0 && !this.#isScheduled) this.#options.onIdle?.();
  }
}
