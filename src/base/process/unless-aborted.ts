import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the result of the work, or throws the reason of the signal at most `graceMs` after it is aborted:
 * work that waits for a database that is down may never end. The result of abandoned work is lost, so it must
 * leave nothing half done when the process ends.
 *
 * @throws what the work throws, or the reason of the signal
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  graceMs = 0,
): Promise<T> {
  if (signal === undefined) return await work;
  const isOver = new AbortController();
  try {
    return await Promise.race([work, rejectAfterAbort(signal, graceMs, isOver.signal)]);
  } finally {
    isOver.abort();
  }
}

async function rejectAfterAbort(signal: AbortSignal, graceMs: number, isOver: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort', { signal: isOver });
  if (graceMs > 0) await sleep(graceMs, undefined, { signal: isOver });
  throw signal.reason;
}
