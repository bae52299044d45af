/**
 * Handles the messages of one WebSocket one at a time, each in its turn among all requests. While messages
 * wait, the socket is not read; a peer that has sent far more than is handled must be closed.
 */
import type { Passage } from './turnstile.js';

export interface MessageTurnsOptions {
  /** How many messages may wait. */
  readonly most: number;
  /** Waits for a turn. @throws UNAVAILABLE (503) */
  readonly enter: () => Passage | Promise<Passage>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called when more messages have arrived than may wait. */
  readonly onOverflow: () => void;
  /** Called when a message got no turn, or its handler failed. No further message is handled. */
  readonly onFault: (error: unknown) => void;
}

export class MessageTurns {
  readonly #options: MessageTurnsOptions;
  readonly #waiting: (() => unknown)[] = [];
  #isAtWork = false;

  constructor(options: MessageTurnsOptions) {
    this.#options = options;
  }

  /** Calls `handle` in its turn. What was read from the socket before it was paused still arrives here. */
  add(handle: () => unknown): void {
    if (this.#waiting.length >= this.#options.most) {
      this.#waiting.length = 0;
      this.#options.onOverflow();
      return;
    }
    this.#waiting.push(handle);
    if (this.#isAtWork) this.#options.pause();
    else void this.#work();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    try {
      for (let handle = this.#waiting.shift(); handle; handle = this.#waiting.shift()) {
        const passage = await this.#options.enter();
        try {
          await handle();
        } finally {
          passage.leave();
        }
      }
      this.#options.resume();
    } catch (error) {
      this.#waiting.length = 0;
      this.#options.onFault(error);
    }
    this.#isAtWork = false;
  }
}
