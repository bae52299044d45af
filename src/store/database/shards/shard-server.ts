/** A server of a spread database that holds some of the domains, with the connections to it. */
import { Cancellation } from '../cancellation.js';
import { ConnectionWatch } from '../connection-watch.js';
import { createPool } from '../pool.js';
import { PrimaryFinder } from '../replicas/primary-finder.js';
import { ServerStatements } from '../server-statements.js';
import { ShardLeases } from './shard-leases.js';

export interface ShardServerOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** A lease waits no longer for a shard that is being moved. */
const LEASE_LOCK_TIMEOUT_MS = 100;
/** After this time the server ends a lease whose gateway stands still or has vanished. */
const LEASE_IDLE_TIMEOUT_MS = 2_000;

export class ShardServer {
  readonly statements: ServerStatements;
  /** For regular work in the background, on a connection that requests do not use. */
  readonly background: Pick<ServerStatements, 'query'>;
  readonly leases: ShardLeases;
  /**
   * Whether it has ever answered: perhaps only the coordinator can reach it. Once it has, statements fail at
   * once while it is down.
   */
  wasReached = false;
  readonly #close: () => Promise<void>;

  constructor({ url, applicationName, poolSize, statementTimeoutMs, settings }: ShardServerOptions) {
    const finder = new PrimaryFinder({ url, applicationName });
    const watch = new ConnectionWatch({ finder, applicationName });
    watch.onAnswer(() => {
      this.wasReached = true;
    });
    void watch.check();
    const shared = { url: () => finder.url, size: poolSize, settings, watch };
    const pool = createPool({
      ...shared,
      applicationName,
      statementTimeoutMs,
      places: 'connections to the server of the school (POOL_SIZE)',
    });
    const streamPool = createPool({
      ...shared,
      applicationName: `${applicationName} stream`,
      statementTimeoutMs: 0,
      places: 'connections for streamed answers to the server of the school (POOL_SIZE)',
    });
    const backgroundPool = createPool({
      ...shared,
      size: 1,
      applicationName: `${applicationName} background`,
      statementTimeoutMs,
    });
    const leasePool = createPool({
      ...shared,
      size: 2,
      settings: {
        ...settings,
        lock_timeout: String(LEASE_LOCK_TIMEOUT_MS),
        idle_in_transaction_session_timeout: String(LEASE_IDLE_TIMEOUT_MS),
      },
      applicationName: `${applicationName} lease`,
      statementTimeoutMs,
    });
    this.leases = new ShardLeases(leasePool);
    const cancellation = new Cancellation(() => finder.url, applicationName);
    this.statements = new ServerStatements({
      pool,
      streamPool,
      cancellation,
      batchTimeoutMs: statementTimeoutMs,
    });
    this.background = {
      query: (sql, options) => this.statements.queryBy(backgroundPool, sql, options),
    };
    this.#close = async () => {
      await this.leases.close();
      await Promise.all([pool, streamPool, backgroundPool, leasePool].map((each) => each.end()));
      await Promise.all([cancellation.close(), watch.close()]);
    };
  }

  async close(): Promise<void> {
    await this.#close();
  }
}
