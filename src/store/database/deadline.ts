import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';

/** The server did not answer in time. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
  /** A network error, for the table of database-errors.ts. */
  readonly code = 'ETIMEDOUT';
}

/** The resolution of a time limit. */
const STEP_MS = 100;

/**
 * Runs work on a connection. If it exceeds the limit, the connection is closed, and pending statements fail
 * with a SilenceError.
 *
 * Only time in which this process could have read an answer counts: a late timer counts as a single step,
 * however late it was. Otherwise a busy process or machine would mistake its own slowness for the silence of
 * the server.
 */
export async function withDeadline<T>(
  client: pg.Client,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let isDone = false;
  let listenedMs = 0;
  const timer = setInterval(async () => {
    listenedMs += STEP_MS;
    if (listenedMs < timeoutMs) return;
    clearInterval(timer);
    // Reads first what arrived while this process was busy or suspended.
    await nextTurn();
    if (!isDone) client.connection.stream.destroy(new SilenceError(`silent for ${timeoutMs} ms`));
  }, STEP_MS);
  try {
    return await work();
  } finally {
    isDone = true;
    clearInterval(timer);
  }
}
