import { setTimeout as sleep } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import { succeeds } from '../../base/process/succeeds.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import { sqlStateOf } from './database-errors.js';
import { FairQueue } from './fair-queue.js';

const MAX_ATTEMPTS = 12;
/** How long a retry waits at most for the writes under way, each time. */
const BACKOFF_MS = 2_000;
/** How long a write waits and is tried again, in all. */
const WAIT_MS = 10_000;
const DEADLOCK_CODES: ReadonlySet<unknown> = new Set(['40P01', '40001']);

/**
 * Retries writes that PostgreSQL ended because of a deadlock. A retry at once would meet the same writes
 * again, so retries wait until the others have ended, and run one after the other.
 */
export class DeadlockRetry {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #waitMs: number;
  readonly #retries: FairQueue;

  constructor({ waitMs = WAIT_MS }: { readonly waitMs?: number } = {}) {
    this.#waitMs = waitMs;
    const refusal = 'Too many writes of the same records wait for each other';
    this.#retries = new FairQueue({ total: 1, waitMs, refusal });
  }

  /**
   * Makes the attempt, and makes it again after a deadlock. An attempt that fails must undo what it did.
   *
   * @throws what the attempt threw last; UNAVAILABLE if it waited too long for its retry
   */
  async run<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await this.#track(attempt);
    } catch (error) {
      if (!isDeadlock(error)) throw error;
    }
    const until = performance.now() + this.#waitMs;
    return await this.#retries.run('', () => this.#tryAgain(attempt, until));
  }

  async #tryAgain<T>(attempt: () => Promise<T>, until: number): Promise<T> {
    for (let attempts = 2; ; attempts += 1) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw this.#retries.refused('late');
      const longest = AbortSignal.timeout(Math.ceil(Math.min(BACKOFF_MS, leftMs)));
      await succeeds(unlessAborted(Promise.allSettled(this.#underWay), longest));
      try {
        return await this.#track(attempt);
      } catch (error) {
        if (attempts === MAX_ATTEMPTS || !isDeadlock(error)) throw error;
        // Another gateway may be trying the same again.
        await sleep(Math.random() * 20 * attempts);
      }
    }
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

/** Whether it is, or was caused by, an error of PostgreSQL for a deadlock or a failed serialization. */
function isDeadlock(error: unknown): boolean {
  if (!isNativeError(error)) return false;
  return DEADLOCK_CODES.has(sqlStateOf(error)) || isDeadlock(error.cause);
}
