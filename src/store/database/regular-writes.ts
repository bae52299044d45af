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
