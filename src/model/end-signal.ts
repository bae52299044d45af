import { setMaxListeners } from 'node:events';

/**
 * Tells those who work for a caller that nobody waits for it any more: as much of an `AbortSignal` as
 * statements need. Every `AbortSignal` is one.
 */
export interface EndSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * Is one, and says when: every list that is read listens to it, and an `AbortSignal` with its controller and
 * events is a twentieth of what a short one costs.
 */
export class Ending implements EndSignal {
  readonly #listeners = new Set<() => void>();
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
    if (this.#reason === undefined) this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** It ends once, and each listener hears of it once. */
  end(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    // Whoever is taken out by one before is not told.
    for (const listener of this.#listeners) {
      this.#listeners.delete(listener);
      listener();
    }
  }
}

/**
 * Has Node take any number of listeners for what they are: statements and jobs that end when this does. Of
 * more than ten it would warn as of a leak.
 */
export function shareWithAll(signal: AbortSignal): AbortSignal {
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  return signal;
}

/** The same for those who take nothing but an `AbortSignal`. */
export function toAbortSignal(signal: EndSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return shareWithAll(controller.signal);
}
