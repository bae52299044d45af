import pg from 'pg';
import { WatchedClient } from './watched-client.js';

/** How long the server may take over the order: it does no more than send a signal. */
const ORDER_TIMEOUT_MS = 3_000;

/** Ends queries of other connections. Postgres takes such an order only from a second connection. */
export class Cancellation {
  readonly #pool: pg.Pool;

  /** Connects when first needed, and keeps at most one connection. */
  constructor(url: string, applicationName: string) {
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: `${applicationName} cancellation`,
      max: 1,
      connectionTimeoutMillis: ORDER_TIMEOUT_MS,
      query_timeout: ORDER_TIMEOUT_MS,
      keepAlive: true,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    this.#pool.on('error', () => {});
  }

  /**
   * Ends what the connection runs now. When this returns, the order has been delivered: it can no longer hit
   * a later query. It never fails: where the order cannot be delivered, the connection is ended, and the
   * query with it.
   */
  async cancel(client: pg.Client): Promise<void> {
    const { processID } = client as pg.Client & { readonly processID: number | null };
    // A pooler tells its clients numbers of its own; the server was asked for its number at the beginning.
    const backendId = (client instanceof WatchedClient ? client.backendId : undefined) ?? processID;
    await this.#pool.query('select pg_cancel_backend($1)', [backendId]).catch((error: Error) => {
      client.connection.stream.destroy(error);
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
