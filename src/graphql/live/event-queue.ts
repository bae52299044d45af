/** What a subscription has to send: filled by what happens, emptied as fast as the socket takes it. */

import { PrintedResult } from './printed-result.js';

/** How much waits for a connection, in bytes, over all of its subscriptions. */
export interface QueueBudget {
  /** Counts in what has come to wait; the connection ends where it is too much. */
  waits(bytes: number): void;
  /** Counts out an event that is on its way. */
  sent(bytes: number): void;
  /** Counts out what will not be sent. */
  dropped(bytes: number): void;
}

/** What an event costs beside its text. */
const OVERHEAD_BYTES = 200;

export class EventQueue implements AsyncIterableIterator<PrintedResult> {
  readonly #budget: QueueBudget;
  readonly #key: string;
  readonly #stops: (() => void)[] = [];
  #events: string[] = [];
  #state: 'open' | { readonly error: unknown } | 'ended' = 'open';
  #wake: (() => void) | undefined;

  /** `key`: under which the document wants the events. */
  constructor(budget: QueueBudget, key: string) {
    this.#budget = budget;
    this.#key = JSON.stringify(key);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** The queue calls this when the subscription ends, whoever ends it; at once where it has ended. */
  onEnd(stop: () => void): void {
    if (this.isOpen) this.#stops.push(stop);
    else stop();
  }

  push(event: string): void {
    if (!this.isOpen) return;
    this.#events.push(event);
    this.#budget.waits(costOf(event));
    this.#wake?.();
  }

  /** Ends the subscription with an error, after what waits was sent. */
  fail(error: unknown): void {
    if (!this.isOpen) return;
    this.#state = { error };
    this.#stop();
    this.#wake?.();
  }

  /** Ends the subscription, after what waits was sent. */
  end(): void {
    if (!this.isOpen) return;
    this.#state = 'ended';
    this.#stop();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<PrintedResult, undefined>> {
    while (this.#events.length === 0 && this.isOpen) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const event = this.#events.shift();
    if (event !== undefined) {
      this.#budget.sent(costOf(event));
      return { done: false, value: new PrintedResult(`{"data":{${this.#key}:${event}}}`) };
    }
    if (typeof this.#state === 'object') {
      const { error } = this.#state;
      this.#state = 'ended';
      throw error;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<PrintedResult, undefined>> {
    const wasOpen = this.isOpen;
    this.#state = 'ended';
    for (const event of this.#events) this.#budget.dropped(costOf(event));
    this.#events = [];
    if (wasOpen) this.#stop();
    this.#wake?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}

function costOf(event: string): number {
  return Buffer.byteLength(event) + OVERHEAD_BYTES;
}
