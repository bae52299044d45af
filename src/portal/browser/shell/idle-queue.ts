/**
 * Tasks that can wait until the browser has nothing else to do. Each has a moment of its own, so that the
 * page answers touches between two of them.
 */
export class IdleQueue {
  readonly #whenIdle: (then: () => void) => void;
  readonly #waiting = new Set<() => void>();
  #isRequested = false;

  constructor(whenIdle: (then: () => void) => void) {
    this.#whenIdle = whenIdle;
  }

  /** Returns a function that removes the task from the queue. */
  wait(task: () => void): () => void {
    this.#waiting.add(task);
    this.#requestIdleTime();
    return () => this.#waiting.delete(task);
  }

  #requestIdleTime(): void {
    if (this.#isRequested || this.#waiting.size === 0) return;
    this.#isRequested = true;
    this.#whenIdle(() => {
      this.#isRequested = false;
      const [task] = this.#waiting;
      if (task !== undefined) this.#waiting.delete(task);
      // Before the task, which may fail.
      this.#requestIdleTime();
      task?.();
    });
  }
}

/** A slow report does not hold up the rest of the page for longer. */
const LONGEST_WAIT_MS = 3_000;

/** The operations of the page, some of which wait for their answers. */
export interface Answering {
  isWaiting(): boolean;
  /** Calls the listener after every change. Returns a function that ends this. */
  subscribe(listener: () => void): () => void;
}

/** Calls `then` once no operation waits for its answer, at the latest after `longestWaitMs`. */
export function whenAnswered(operations: Answering, then: () => void, longestWaitMs = LONGEST_WAIT_MS): void {
  if (!operations.isWaiting()) {
    then();
    return;
  }
  const timer = setTimeout(finish, longestWaitMs);
  const unsubscribe = operations.subscribe(() => {
    if (!operations.isWaiting()) finish();
  });

  function finish(): void {
    clearTimeout(timer);
    unsubscribe();
    then();
  }
}
