import pg from 'pg';

/** Ends queries of other connections. Postgres takes such an order only from a second connection. */
export class Cancellation {
  readonly #pool: pg.Pool;

  /** Connects when first needed, and keeps at most one connection. */
  constructor(url: string, applicationName: string) {
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: `${applicationName} cancellation`,
      max: 1,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
    });
    this.#pool.on('error', () => {});
  }

  /**
   * Ends what the connection runs now. When this returns, the order has been delivered: it can no longer hit a later query.
   * It never fails: a database out of reach has ended the query itself.
   */
  async cancel(client: pg.ClientBase): Promise<void> {
    const { processID } = client as pg.ClientBase & { readonly processID: number | null };
    await this.#pool.query('select pg_cancel_backend($1)', [processID]).catch(() => {});
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
