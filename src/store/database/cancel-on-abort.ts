import type pg from 'pg';

/**
 * Runs work on a connection and closes it when the signal is aborted. The server notices that within seconds,
 * and ends the statement.
 *
 * @throws what the work throws; after an abort, the signal's reason
 */
export async function cancelOnAbort<T>(
  client: pg.ClientBase,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const stop = () => (client as pg.Client).connection.stream.destroy();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
