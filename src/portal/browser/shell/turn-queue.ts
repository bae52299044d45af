/**
 * Tasks that can wait until the browser has nothing else to do. Each has a moment of its own, so that the
 * page answers touches between two of them.
 */
export class TurnQueue {
  readonly #whenIdle: (then: () => void) => void;
  readonly #waiting = new Set<() => void>();
  #isAsked = false;

  constructor(whenIdle: (then: () => void) => void) {
    this.#whenIdle = whenIdle;
  }

  /** Returns a function that removes the task from the queue. */
  wait(task: () => void): () => void {
    this.#waiting.add(task);
    this.#askForMoment();
    return () => this.#waiting.delete(task);
  }

  #askForMoment(): void {
    if (this.#isAsked || this.#waiting.size === 0) return;
    this.#isAsked = true;
    this.#whenIdle(() => {
      this.#isAsked = false;
      const [task] = this.#waiting;
      if (task !== undefined) this.#waiting.delete(task);
      // Before the task, which may fail.
      this.#askForMoment();
      task?.();
    });
  }
}
