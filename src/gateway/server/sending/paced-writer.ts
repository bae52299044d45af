/** Writes to a reader that must keep a minimum pace. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/config.js';

/**
 * The longest a reader may take nothing, which is also the span over which its rate is measured; and the rate
 * it must keep while the writer waits for it.
 */
export type Pace = Pick<Config, 'streamStallMs' | 'streamMinBytesPerSecond'>;

/**
 * Writes one chunk after the other and waits for a slow reader, but not for one below the minimum pace: a
 * byte now and then would hold up everything behind the answer for ever. Only the time spent waiting counts.
 */
export class PacedWriter {
  readonly #response: Writable;
  readonly #pace: Pace;
  /** The time spent waiting in the current span, which begins with a wait. */
  #waitedMs = 0;
  #takenBytes = 0;

  constructor(response: Writable, pace: Pace) {
    this.#response = response;
    this.#pace = pace;
  }

  /** Resolves when the next chunk may be written. @throws when the reader has gone, or is too slow */
  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#response.write(chunk)) await this.#waitForReader();
    if (this.#waitedMs > 0) this.#takenBytes += chunk.length;
  }

  async #waitForReader(): Promise<void> {
    const { streamStallMs: stallMs, streamMinBytesPerSecond: minBytesPerSecond } = this.#pace;
    for (;;) {
      const startedAt = performance.now();
      const outcome = await drained(this.#response, stallMs - this.#waitedMs);
      if (outcome === 'gone') throw new Error('the caller has gone');
      if (outcome === 'drained') {
        this.#waitedMs += performance.now() - startedAt;
        return;
      }
      if (this.#takenBytes === 0 || this.#takenBytes * 1000 < minBytesPerSecond * stallMs) {
        throw new ReaderTooSlow(
          `the reader took ${this.#takenBytes} bytes in ${stallMs} ms (STREAM_STALL_MS), less than ` +
            `${minBytesPerSecond} a second (STREAM_MIN_BYTES_PER_SECOND)`,
        );
      }
      this.#waitedMs = 0;
      this.#takenBytes = 0;
    }
  }
}

/** The caller's connection is too slow, or deliberately kept slow; not a fault of ours. */
export class ReaderTooSlow extends Error {
  override readonly name = 'ReaderTooSlow';
}

/** Waits until the buffer drains, the caller goes away, or the time is over; returns what happened first. */
async function drained(response: Writable, timeoutMs: number): Promise<'drained' | 'gone' | 'late'> {
  if (response.destroyed) return 'gone';
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([
      once(response, 'drain', { signal }).then(() => 'drained' as const),
      once(response, 'close', { signal }).then(() => 'gone' as const),
      sleep(Math.max(0, timeoutMs), 'late' as const, { signal }),
    ]);
  } finally {
    settled.abort();
  }
}
