import { setMaxListeners } from 'node:events';

/**
 * Signals that nobody waits for a result any more: the part of `AbortSignal` that statements need. Every
 * `AbortSignal` is one.
 */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A lightweight implementation: every list read listens to one, and an `AbortSignal` with its controller and
 * events would be a twentieth of the cost of a short list.
 */
export class Ending implements EndSignal {
  /** Made for the first listener: most requests have none. */
  #listeners: Set<() => void> | undefined;
  #reason: { readonly value: unknown } | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason?.value;
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason.value;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#reason !== undefined) return;
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  /** Aborts once, and calls each listener once. */
  end(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    // A listener removed by an earlier one is not called.
    for (const listener of this.#listeners ?? []) {
      this.#listeners?.delete(listener);
      listener();
    }
  }
}

/**
 * Allows any number of listeners: each is a statement or job that ends with the signal. Node would warn of a
 * leak beyond ten.
 */
export function shareWithAll(signal: AbortSignal): AbortSignal {
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  return signal;
}

/** Converts to an `AbortSignal`, for code that accepts nothing else. */
export function toAbortSignal(signal: EndSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return shareWithAll(controller.signal);
}
