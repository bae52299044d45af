/**
 * Decides who may read long streamed answers at once. Each holds a database connection until it is read
 * nearly to its end, so a few slow readers could keep all other callers from reading.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import { FairQueue } from '../../../store/database/fair-queue.js';
import type { Config } from '../../config/config.js';
import type { Pace } from '../sending/paced-writer.js';

export type StreamLimitsOptions = Pace & Pick<Config, 'poolSize' | 'maxStreamsPerCredential'>;

/** A long answer, from its second write until its source has ended. */
export interface StreamPermit {
  /** Reports that its connection waits for the reader, or has resumed. */
  heldBack(isHeldBack: boolean): void;
  release(): void;
}

/** Beyond this share of the connections, a user who reads one long answer gets no second one. */
const SHARED_PART = 1 / 2;
/**
 * The share of the connections that may wait for slow readers. The rest serves short answers, and readers
 * that keep up.
 */
const HELD_BACK_PART = 3 / 4;

/** How long a workbook waits for the one before it of the same user. */
const PRINTING_WAIT_MS = 60_000;

export class StreamLimits {
  /**
   * The files that the gateway itself prints and compresses, a workbook for 4 s of processor: one at a time
   * for each user.
   */
  readonly printing = new FairQueue({
    perCaller: 1,
    waitingPerCaller: 100,
    waitMs: PRINTING_WAIT_MS,
    refusal: 'Another file of this user is being printed',
  });
  readonly pace: Pace;
  readonly #options: StreamLimitsOptions;
  readonly #countByUser = new Map<string, number>();
  #count = 0;
  #heldBack = 0;

  constructor(options: StreamLimitsOptions) {
    this.#options = options;
    this.pace = options;
  }

  /**
   * Admits a long answer; the returned permit must be released.
   *
   * @throws TOO_MANY_REQUESTS (429) for a user with too many streams, UNAVAILABLE (503) when too many
   *   connections wait for slow readers
   */
  acquire(user: string): StreamPermit {
    const count = this.#countByUser.get(user) ?? 0;
    this.#assertOwnShare(count);
    this.#assertNotFull();
    this.#countByUser.set(user, count + 1);
    this.#count += 1;
    return this.#createPermit(user);
  }

  #createPermit(user: string): StreamPermit {
    let isHeldBack = false;
    let isOver = false;
    const heldBack = (now: boolean) => {
      if (now === isHeldBack || isOver) return;
      isHeldBack = now;
      this.#heldBack += now ? 1 : -1;
    };
    return {
      heldBack,
      release: () => {
        heldBack(false);
        if (isOver) return;
        isOver = true;
        this.#count -= 1;
        const left = (this.#countByUser.get(user) ?? 1) - 1;
        if (left === 0) this.#countByUser.delete(user);
        else this.#countByUser.set(user, left);
      },
    };
  }

  #assertOwnShare(count: number): void {
    const { maxStreamsPerCredential: mostOfUser, poolSize: connections } = this.#options;
    if (count >= mostOfUser) {
      throw new ServiceError(
        'TOO_MANY_REQUESTS',
        `You are reading ${count} streams, which is as many as one user may at once ` +
          '(MAX_STREAMS_PER_CREDENTIAL); end one first, or ask with a limit.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
    if (count > 0 && this.#count >= connections * SHARED_PART) {
      throw new ServiceError(
        'TOO_MANY_REQUESTS',
        `Half of the ${connections} connections for streams (POOL_SIZE) are in use, and the rest is ` +
          'kept for callers who read none; end the stream you are reading first, or ask with a limit.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
  }

  #assertNotFull(): void {
    const places = Math.max(1, Math.floor(this.#options.poolSize * HELD_BACK_PART));
    if (this.#heldBack < places) return;
    throw new ServiceError(
      'UNAVAILABLE',
      `All ${places} places for long answers are held by slow readers (three quarters of POOL_SIZE); ` +
        'try again, or ask with a limit.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }
}
