import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';

/** The server was asked and said nothing in time. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
  /** The table of database-errors.ts knows it as one of those of a network. */
  readonly code = 'ETIMEDOUT';
}

/** The steps in which a time limit is counted. */
const STEP_MS = 100;

/**
 * Does work on a connection. Takes it longer than it may, the connection is closed, and what waits on it
 * fails with a SilenceError.
 *
 * Only time in which this process could have read an answer counts: a step that was late counts as one step,
 * however late it was, or a process that was busy, or on a machine that is, would take its own slowness for
 * the silence of the server.
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
    // What came while this process was busy, or suspended, is read first.
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

const END_TIMEOUT_MS = 2_000;

/** Ends a connection in good order where the server takes part in it, else at once. It never fails. */
export async function endClient(client: pg.Client): Promise<void> {
  // What fails here is what was to end.
  await withDeadline(client, END_TIMEOUT_MS, () => client.end()).catch(() => {});
}
