/** A server of a spread database that holds some of the domains, with the connections to it. */
import type pg from 'pg';
import { ConnectionWatch } from '../connection-watch.js';
import { createPool } from '../pool.js';
import { PrimaryFinder } from '../replicas/primary-finder.js';
import { ServerStatements } from '../server-statements.js';

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
    this.statements = new ServerStatements({
      ...shared,
      applicationName,
      statementTimeoutMs,
      places: {
        pool: 'connections to the server of the school (POOL_SIZE)',
        stream: 'connections for streamed answers to the server of the school (POOL_SIZE)',
      },
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
    this.background = {
      query: (sql, options) => this.statements.queryBy(backgroundPool, sql, options),
    };
    this.#close = async () => {
      await this.leases.close();
      await Promise.all([this.statements.close(), backgroundPool.end(), leasePool.end()]);
      await watch.close();
    };
  }

  async close(): Promise<void> {
    await this.#close();
  }
}

/** A shard, and the number of the server in Citus that has it. */
export interface LeasedShard {
  readonly id: string;
  readonly group: number;
}

/** How long a lease is given to reads before the next one follows it. */
const LEASE_MS = 250;
/** Fewer reads in the time of a lease are guarded one by one, which costs less. */
const WORTHWHILE_READS = 8;
/** A shard is in the next lease if it was read in this time. */
const REMEMBERED_MS = 5_000;
/** After a failure, e.g. while a shard is being moved, reads are guarded one by one for this time. */
const RETRY_MS = 1_000;

export class ShardLeases {
  readonly #pool: pg.Pool;
  /** When the shards were last read. */
  readonly #readAt = new Map<string, { readonly group: number; readonly at: number }>();
  #lease: ShardLease | undefined;
  #taking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #countedSince = Number.NEGATIVE_INFINITY;
  #unleased = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  /** @param pool has two connections, as a lease is taken before the last one ends */
  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The lease of the shard for a read that begins now; `undefined`: the read must guard itself. */
  enter({ id, group }: LeasedShard): ShardLease | undefined {
    const now = performance.now();
    this.#readAt.set(id, { group, at: now });
    if (this.#lease?.enter({ id, group }, now)) return this.#lease;
    if (now - this.#countedSince > LEASE_MS) {
      this.#countedSince = now;
      this.#unleased = 0;
    }
    this.#unleased += 1;
    if (this.#lease === undefined && this.#unleased >= WORTHWHILE_READS) this.#renew(now);
    return undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#taking;
    await this.#lease?.end();
  }

  #renew(now: number): void {
    if (this.#isClosed || this.#taking !== undefined || now - this.#failedAt < RETRY_MS) return;
    this.#taking = this.#take(now).finally(() => {
      this.#taking = undefined;
    });
  }

  /** Never throws. Replaces the lease by a new one, or by none if there cannot be one now. */
  async #take(now: number): Promise<void> {
    for (const [id, { at }] of this.#readAt) if (now - at > REMEMBERED_MS) this.#readAt.delete(id);
    const shards = new Map([...this.#readAt].map(([id, { group }]) => [id, group]));
    const next = await ShardLease.take(this.#pool, shards).catch(() => {
      // The reads that guard themselves find out why.
      this.#failedAt = performance.now();
      this.#readAt.clear();
      return undefined;
    });
    void this.#lease?.retire();
    this.#lease = next;
    if (next !== undefined) this.#timer = setTimeout(() => this.#follow(), LEASE_MS).unref();
  }

  /** Takes the next lease if there are still many reads. */
  #follow(): void {
    if (this.#lease !== undefined && this.#lease.served >= WORTHWHILE_READS) {
      this.#renew(performance.now());
      return;
    }
    void this.#lease?.retire();
    this.#lease = undefined;
  }
}

/** A transaction on a server that keeps shards there. */
export class ShardLease {
  readonly #client: pg.PoolClient;
  readonly #shards: ReadonlyMap<string, number>;
  readonly #takenAt: number;
  /** How many reads it has let in. */
  served = 0;
  #reads = 0;
  #isRetired = false;
  #ending: Promise<void> | undefined;

  private constructor(client: pg.PoolClient, shards: ReadonlyMap<string, number>) {
    this.#client = client;
    this.#shards = shards;
    this.#takenAt = performance.now();
    client.once('end', this.#lose);
  }

  /** @throws Error if a shard is elsewhere, or is being moved */
  static async take(pool: pg.Pool, shards: ReadonlyMap<string, number>): Promise<ShardLease> {
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query({
        name: 'lease',
        text: `select from unnest($1::bigint[], $2::integer[]) as s (id, server)
          where not stay_at_home(s.id, s.server)`,
        values: [[...shards.keys()], [...shards.values()]],
      });
      return new ShardLease(client, shards);
    } catch (error) {
      await end(client, 'rollback');
      throw error;
    }
  }

  /**
   * Whether all shards have been on the server until now. The clock tells after this process has stood still:
   * the server ends a lease by itself then.
   */
  get isHeld(): boolean {
    return this.#ending === undefined && performance.now() - this.#takenAt < 3 * LEASE_MS;
  }

  /** Whether a read of the shard may begin. It must `leave`. */
  enter({ id, group }: LeasedShard, now: number): boolean {
    if (this.#isRetired || this.#ending !== undefined || this.#shards.get(id) !== group) return false;
    if (now - this.#takenAt > 2 * LEASE_MS) return false;
    this.#reads += 1;
    this.served += 1;
    return true;
  }

  leave(): void {
    this.#reads -= 1;
    if (this.#isRetired && this.#reads === 0) void this.end();
  }

  /** Lets no further reads in, and ends when the last one has left, or soon. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#reads === 0) await this.end();
    else setTimeout(() => void this.end(), LEASE_MS).unref();
  }

  /** Never throws. */
  async end(): Promise<void> {
    this.#ending ??= end(this.#client, 'commit').finally(() => this.#client.off('end', this.#lose));
    await this.#ending;
  }

  readonly #lose = () => {
    void this.end();
  };
}

/** Never throws: a connection that was lost has ended its transaction as well. */
async function end(client: pg.PoolClient, statement: 'commit' | 'rollback'): Promise<void> {
  const fault = await client.query(statement).then(
    () => undefined,
    (error: Error) => error,
  );
  client.release(fault);
}
