import pg from 'pg';
import { WatchedClient } from './watched-client.js';

/** How long the server may take over the cancel request, which only sends a signal. */
const ORDER_TIMEOUT_MS = 3_000;

/** Cancels queries of other connections. Postgres accepts a cancel request only on a second connection. */
export class Cancellation {
  readonly #url: () => string;
  readonly #applicationName: string;
  #pool: { readonly url: string; readonly pool: pg.Pool } | undefined;

  /** Connects when first needed, and keeps at most one connection. */
  constructor(url: () => string, applicationName: string) {
    this.#url = url;
    this.#applicationName = applicationName;
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
    const url = this.#url();
    // On another server, the number belongs to somebody else's backend.
    if (client instanceof WatchedClient && client.url !== url) {
      client.lose('The database has moved to another server.');
      return;
    }
    const pool = this.#poolOf(url);
    await pool.query('select pg_cancel_backend($1::int)', [backendId]).catch((error: Error) => {
      client.connection.stream.destroy(error);
    });
  }

  async close(): Promise<void> {
    await this.#pool?.pool.end();
  }

  #poolOf(url: string): pg.Pool {
    if (this.#pool?.url === url) return this.#pool.pool;
    const before = this.#pool;
    const pool = new pg.Pool({
      connectionString: url,
      application_name: `${this.#applicationName} cancellation`,
      max: 1,
      connectionTimeoutMillis: ORDER_TIMEOUT_MS,
      query_timeout: ORDER_TIMEOUT_MS,
      keepAlive: true,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    pool.on('error', () => {});
    this.#pool = { url, pool };
    // Its server may never answer.
    void before?.pool.end();
    return pool;
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
