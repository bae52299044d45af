import type pg from 'pg';

const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5_000;

/** A connection to the embedded server. That it ended is known, whoever asks for it later. */
export class Presence {
  readonly lost: Promise<void>;

  constructor(readonly client: pg.Client) {
    this.lost = new Promise((resolve) => client.once('end', () => resolve()));
  }
}

export interface KeptPresenceOptions {
  readonly presence: Presence;
  /** Starts the server again, or finds it started by another gateway, and connects to it. */
  readonly revive: () => Promise<Presence>;
  readonly log: (line: string) => void;
}

/**
 * The connection that says a gateway uses the embedded server. It is lost with the server, or alone; either
 * way it is made anew, for as long as it takes: nobody else would start a server that has died.
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

  /** The connection as it is now, which is left alone from now on. */
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
        // Told once as long as it is the same: the first tries may find the end of the last server under way.
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
