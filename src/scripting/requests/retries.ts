/** Trying a request again: which outcomes are worth it, and when. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.js';
import type { OutboundAnswer } from './outbound-client.js';

const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

/**
 * Sends, and sends again up to `retries` times while there is no answer or one that asks for patience. Waits
 * a quarter of a second, then twice as long each time, or as long as the answer says; never more than ten
 * seconds. The last outcome is the result.
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
  // Many scripts that wait for the same server do not come back all at once.
  const own = FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
  return Math.min(LONGEST_WAIT_MS, Number.isFinite(asked) ? Math.max(asked, own) : own);
}
