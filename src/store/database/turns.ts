import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import { RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';

const MAX_ATTEMPTS = 12;
/** How long a write that is tried again waits at most for those under way, each time. */
const COURTESY_MS = 2_000;
/** How long a write waits for its turn and is tried again, in all. */
const PATIENCE_MS = 10_000;
const WAITED_IN_A_CIRCLE: ReadonlySet<unknown> = new Set(['40P01', '40001']);

/**
 * Writes that wait for each other in a circle: Postgres ends one of them, and it is tried again from its
 * beginning. Not at once, which would close the next circle with those that are still waiting, but after they
 * have ended, and one after the other.
 */
export class Turns {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #patienceMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {}) {
    this.#patienceMs = patienceMs;
  }

  /**
   * Makes the attempt, and makes it again when it failed by waiting in a circle. It has to undo what it did
   * when it fails.
   *
   * @throws what the attempt threw last; UNAVAILABLE if it waited too long for its turn
   */
  async take<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await this.#track(attempt);
    } catch (error) {
      if (!waitedInACircle(error)) throw error;
    }
    const until = performance.now() + this.#patienceMs;
    const turn = this.#last.then(() => this.#tryAgain(attempt, until));
    this.#last = turn.catch(() => {});
    return await turn;
  }

  async #tryAgain<T>(attempt: () => Promise<T>, until: number): Promise<T> {
    for (let attempts = 2; ; attempts += 1) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw refused();
      await this.#letOthersEnd(Math.min(COURTESY_MS, leftMs));
      try {
        return await this.#track(attempt);
      } catch (error) {
        if (attempts === MAX_ATTEMPTS || !waitedInACircle(error)) throw error;
        // Another gateway may be trying the same again.
        await sleep(Math.random() * 20 * attempts);
      }
    }
  }

  async #letOthersEnd(longestMs: number): Promise<void> {
    const patience = new AbortController();
    const others = Promise.allSettled(this.#underWay);
    await Promise.race([others, sleep(longestMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
  }

  async #track<T>(attempt: () => Promise<T>): Promise<T> {
    const running = attempt();
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }
}

function refused(): ServiceError {
  const detail = 'Too many writes of the same records wait for each other at the moment; try again later.';
  return new ServiceError('UNAVAILABLE', detail, { retryAfterSeconds: RETRY_SOON_SECONDS });
}

/**
 * Whether it is, or was caused by, the error of Postgres for a deadlock or for a write that cannot be put in
 * order with others.
 */
function waitedInACircle(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  if ('code' in error && WAITED_IN_A_CIRCLE.has(error.code)) return true;
  return waitedInACircle(error.cause);
}
