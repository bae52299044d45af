/** Retries requests: for which results, and after what delay. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import type { OutboundAnswer } from './outbound-client.js';

const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/**
 * Sends a request, and repeats it up to `retries` times if there is no answer or one that asks to wait. Waits
 * a quarter of a second, doubling each time, or as long as the answer says; at most ten seconds. Returns the
 * last result.
 */
export async function withRetries(
  retries: number,
  signal: AbortSignal,
  send: () => Promise<OutboundAnswer>,
): Promise<OutboundAnswer> {
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= retries;
    let answer: OutboundAnswer | undefined;
    try {
      answer = await send();
      if (isLast || !WORTH_ANOTHER_TRY.has(answer.status)) return answer;
    } catch (error) {
      const isWorthIt = error instanceof ServiceError && error.code === 'UNAVAILABLE';
      if (isLast || !isWorthIt || signal.aborted) throw error;
    }
    await sleep(waitMs(attempt, answer?.headers['retry-after']), undefined, { signal });
  }
}

function waitMs(attempt: number, retryAfter: string | undefined): number {
  const asked = Number(retryAfter) * 1000;
  // Random, so that scripts waiting for the same server do not return all at once.
  const own = FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
  return Math.min(LONGEST_WAIT_MS, Number.isFinite(asked) ? Math.max(asked, own) : own);
}
