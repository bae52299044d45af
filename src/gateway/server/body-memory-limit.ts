/**
 * Limits the total bytes of large request bodies in memory at the same time, from their arrival until their
 * requests are answered. Otherwise many large bodies at once could exhaust the memory of the process. A body
 * reserves what has arrived of it, not what it announces. Without memory, a body waits half read, and is
 * refused after a while.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import { FairQueue } from '../../store/database/fair-queue.js';

/** The share of the memory that one caller may use, so that a few callers do not lock out all others. */
const PART_OF_CALLER = 1 / 2;
/** The share that is left to callers that use no memory. */
const KEPT_PART = 1 / 4;

/**
 * A body larger than all of the memory is admitted when nothing else is there, and one larger than a caller's
 * share when the caller has no other.
 */
export function createBodyMemoryLimit({ bytes, waitMs }: { bytes: number; waitMs: number }): FairQueue {
  return new FairQueue({
    mayHold: ({ total, ofTenant, own }, more) => {
      const hasOthers = ofTenant > own;
      if (hasOthers && ofTenant + more > bytes * PART_OF_CALLER) return false;
      if (total === own) return true;
      return total + more <= (hasOthers ? bytes * (1 - KEPT_PART) : bytes);
    },
    waitMs,
    refusal: noMemoryForBody,
  });
}

export function noMemoryForBody(): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'Too many large bodies are being read at the same time (BODY_ROOM_BYTES); send them one after the other.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
