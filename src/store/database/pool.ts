import pg from 'pg';

export interface PoolOptions {
  readonly url: string;
  readonly size: number;
  readonly applicationName: string;
  /** Settings of every session of the pool, by their PostgreSQL names. */
  readonly settings: Readonly<Record<string, string>>;
}

/** How long a caller waits for a connection, new or given back, before it is told the database is out of reach. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Long, because a connection carries its prepared statements. */
const IDLE_TIMEOUT_MS = 5 * 60_000;

/** A pool whose connections have the settings, and whose lost connections end nothing but the query they carried. */
export function createPool(options: PoolOptions): pg.Pool {
  const names = Object.keys(options.settings);
  const assignments = names.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, false)`);
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    // Awaited by the pool before it lends the connection. Not by startup options: poolers refuse those.
    onConnect: async (client) => {
      await client.query(`select ${assignments.join(', ')}`, Object.entries(options.settings).flat());
    },
  });
  // Without a listener Node takes a lost connection for an uncaught error and ends the process. Whoever was using
  // the connection gets the error from its query; an idle one is replaced.
  const ignore = () => {};
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}
