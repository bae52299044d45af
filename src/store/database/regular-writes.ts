const EVERY_MS = 2_000;

/** Writes what came together in memory, every two seconds and when asked to; one write after the other. */
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

  /** Waits for the write that is under way, or for a new one. */
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
