import type pg from 'pg';

const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;

/** A connection to the embedded server that remembers when it has ended. */
export class Presence {
  readonly lost: Promise<void>;

  constructor(readonly client: pg.Client) {
    this.lost = new Promise((resolve) => client.once('end', () => resolve()));
  }
}

export interface KeptPresenceOptions {
  readonly presence: Presence;
  /** Restarts the server, or finds it restarted by another gateway, and connects to it. */
  readonly revive: () => Promise<Presence>;
  readonly log: (line: string) => void;
}

/**
 * The connection by which a gateway declares that it uses the embedded server. It is re-established when it
 * is lost, with or without the server, for as long as necessary: nobody else would restart a server that has
 * died.
 */
export class KeptPresence {
  readonly #options: KeptPresenceOptions;
  #presence: Presence;
  #reviving: Promise<void> = Promise.resolve();
  #isEnded = false;
  #wakeUp: () => void = () => {};

  constructor(options: KeptPresenceOptions) {
    this.#options = options;
    this.#presence = options.presence;
    this.#watch();
  }

  /** Returns the present connection, which is no longer maintained. */
  async end(): Promise<Presence> {
    this.#isEnded = true;
    this.#wakeUp();
    await this.#reviving;
    return this.#presence;
  }

  #watch(): void {
    void this.#presence.lost.then(() => {
      if (!this.#isEnded) this.#reviving = this.#revive();
    });
  }

  async #revive(): Promise<void> {
    const { log, revive } = this.#options;
    let told: string | undefined;
    for (let retryMs = FIRST_RETRY_MS; !this.#isEnded; retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)) {
      try {
        this.#presence = await revive();
        log('The embedded PostgreSQL was lost, and runs again');
        this.#watch();
        return;
      } catch (error) {
        // Reported once per reason: the first attempts may still see the old server ending.
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== told && retryMs > FIRST_RETRY_MS) log(`The embedded PostgreSQL was lost: ${reason}`);
        told = reason;
      }
      await this.#sleep(retryMs);
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      setTimeout(resolve, ms).unref();
      this.#wakeUp = resolve;
      if (this.#isEnded) resolve();
    });
  }
}
