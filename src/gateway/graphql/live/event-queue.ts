/**
 * The queue of events of one subscription, filled by changes and emptied as fast as the socket takes them.
 */
import { randomUUID } from 'node:crypto';
import { createSourceEventStream, type ExecutionArgs } from 'graphql';

/** Tracks the bytes queued for a connection, over all its subscriptions. */
export interface QueueBudget {
  /** Adds a queued event; ends the connection if its limit is exceeded. */
  waits(bytes: number): void;
  /** Subtracts an event that is being sent. */
  sent(bytes: number): void;
  /** Subtracts what will not be sent. */
  dropped(bytes: number): void;
}

/** The cost of an event in addition to its text. */
const OVERHEAD_BYTES = 200;

export class EventQueue implements AsyncIterableIterator<PrintedResult> {
  readonly #budget: QueueBudget;
  readonly #key: string;
  readonly #stops: (() => void)[] = [];
  readonly #events: string[] = [];
  #state: 'open' | { readonly error: unknown } | 'ended' = 'open';
  #wake: (() => void) | undefined;

  /** `key` is the response key of the field in the document. */
  constructor(budget: QueueBudget, key: string) {
    this.#budget = budget;
    this.#key = JSON.stringify(key);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Calls `stop` when the subscription ends, for whatever reason; at once if it has ended. */
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

  /** Ends the subscription with an error, after the queued events were sent. */
  fail(error: unknown): void {
    this.#close({ error });
  }

  /** Ends the subscription, after the queued events were sent. */
  end(): void {
    this.#close('ended');
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
    for (const event of this.#events.splice(0)) this.#budget.dropped(costOf(event));
    this.#close('ended');
    this.#state = 'ended';
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #close(state: { readonly error: unknown } | 'ended'): void {
    if (!this.isOpen) return;
    this.#state = state;
    for (const stop of this.#stops.splice(0)) stop();
    this.#wake?.();
  }
}

function costOf(event: string): number {
  return Buffer.byteLength(event) + OVERHEAD_BYTES;
}

/** A result that is already text. graphql-ws takes it for an object; `MessagePrinter` puts in the text. */
export class PrintedResult {
  /** Makes it look like an execution result to graphql-ws. */
  readonly data = null;

  constructor(readonly text: string) {}
}

/** Random, so that no stored text can be mistaken for it. */
const MARK = `printed-result:${randomUUID()}`;

/**
 * graphql-ws prints a message and hands it to the socket in one step: the results that `replace` met are the
 * ones that `print` inserts.
 */
export class MessagePrinter {
  #text: string | undefined;

  /** The replacer for `JSON.stringify`. */
  readonly replace = (_key: string, value: unknown): unknown => {
    if (!(value instanceof PrintedResult)) return value;
    this.#text = value.text;
    return MARK;
  };

  print(message: string): string {
    const text = this.#text;
    if (text === undefined) return message;
    this.#text = undefined;
    return message.replace(`"${MARK}"`, () => text);
  }
}

/** For graphql-ws: graphql-js coerces the arguments and calls `subscribe`; its events are results already. */
export async function openSourceStream(args: ExecutionArgs): Promise<AsyncIterable<PrintedResult>> {
  const stream = await createSourceEventStream(args);
  if (stream instanceof EventQueue) return stream;
  const [error] = 'errors' in stream ? (stream.errors ?? []) : [];
  return failed(error ?? new Error('a subscription gave no events'));
}

/** Makes graphql-ws send an error message; a result with errors would look like an event. */
function failed(error: Error): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}
