import type pg from 'pg';
import type { ConnectionWatch } from './connection-watch.js';
import { createPool, type PoolOptions } from './pool.js';
import { WatchedClient } from './watched-client.js';

/** How long the server may take over the cancel request, which only sends a signal. */
const ORDER_TIMEOUT_MS = 3_000;

/** Cancels queries of other connections. Postgres accepts a cancel request only on a second connection. */
export class Cancellation {
  readonly #watch: ConnectionWatch;
  readonly #pool: pg.Pool;

  /** Connects when first needed, and keeps at most one connection. */
  constructor(options: Omit<PoolOptions, 'size' | 'statementTimeoutMs' | 'isRare'>) {
    const applicationName = `${options.applicationName} cancellation`;
    this.#watch = options.watch;
    const order = { applicationName, size: 1, statementTimeoutMs: ORDER_TIMEOUT_MS, isRare: true };
    this.#pool = createPool({ ...options, ...order });
  }

  /**
   * Cancels the connection's current query. When it returns, the request has been delivered and can no longer
   * hit a later query. It never fails: if the request cannot be delivered, the connection is closed, and the
   * query with it.
   */
  async cancel(client: pg.Client): Promise<void> {
    const { processID } = client as pg.Client & { readonly processID: number | null };
    // A pooler reports numbers of its own, so the server reported its backend number on connecting.
    const backendId = (client instanceof WatchedClient ? client.backendId : undefined) ?? processID;
    // On another server, the number belongs to somebody else's backend.
    if (client instanceof WatchedClient && client.url !== this.#watch.url) {
      client.lose('The database has moved to another server.');
      return;
    }
    await this.#pool.query('select pg_cancel_backend($1::int)', [backendId]).catch((error: Error) => {
      client.connection.stream.destroy(error);
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

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
