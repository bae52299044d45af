import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ConnectionWatch } from './connection-watch.js';
import { FullPoolError, isOutOfReach } from './database-errors.js';
import { WatchedClient, type WatchedClientConfig } from './watched-client.js';

export interface PoolOptions {
  /** The address to connect to now; it may be another one for the next connection. */
  readonly url: () => string;
  readonly size: number;
  readonly applicationName: string;
  /** The limit of one statement, kept by the server; 0: no limit. */
  readonly statementTimeoutMs: number;
  /** Settings of every session of the pool, by their PostgreSQL names. */
  readonly settings: Readonly<Record<string, string>>;
  readonly watch: ConnectionWatch;
  /**
   * A caller who asks while the database is away waits until it is back, or this is aborted. Default: it is
   * refused at once.
   */
  readonly waitUntil?: AbortSignal | undefined;
  /**
   * What its connections are, to a caller, e.g. `connections to the database (POOL_SIZE)`: when all of them
   * are held by long work, who wants one is refused soon. Absent: who wants one is as patient as with a new
   * connection.
   */
  readonly places?: string | undefined;
  /** Its server is a replica: that it takes no writes is as it should be. */
  readonly isReplica?: boolean | undefined;
}

/**
 * How long a new connection may take to be made, and the longest a caller waits for one that others give
 * back.
 */
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * All connections lent and none given back for so long: what holds them is long, and who waits for one waits
 * for nothing.
 */
const STANDSTILL_MS = 2_000;
/** How often it is looked whether those who wait may go on waiting. */
const LOOK_MS = 250;
/** Long, because a connection carries its prepared statements. */
const IDLE_TIMEOUT_MS = 5 * 60_000;
/** The systems on both sides begin to ask after this silence whether the other is still there. */
const KEEPALIVE_DELAY_MS = 10_000;
/**
 * How much later than the server this side gives a statement up: the server says what was wrong, a dead
 * connection does not.
 */
const SILENCE_GRACE_MS = 5_000;
const RETRY_MS = 200;

/**
 * A pool whose connections have the settings, and whose lost connections end nothing but the statement they
 * carried.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const { statementTimeoutMs } = options;
  const settings = Object.entries({
    statement_timeout: String(statementTimeoutMs),
    // A gateway that vanished must not hold its locks for the two hours that are the default.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    ...options.settings,
  });
  const assignments = settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, false)`);
  const question = `select pg_backend_pid() as id,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    ${assignments.join(', ')}`;
  const config: pg.PoolConfig & WatchedClientConfig = {
    connectTo: options.url,
    application_name: options.applicationName,
    max: options.size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    Client: WatchedClient as unknown as NonNullable<pg.PoolConfig['Client']>,
    watcher: options.watch,
    silenceLimitMs: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + SILENCE_GRACE_MS,
    // Awaited by the pool before it lends the connection. Not by startup options: poolers refuse those.
    onConnect: async (client) => {
      const { rows } = await client.query<{ id: number; isReadOnly: boolean }>(question, settings.flat());
      if (!(client instanceof WatchedClient)) return;
      client.isBornReadOnly = rows[0]?.isReadOnly === true && options.isReplica !== true;
      client.backendId = rows[0]?.id;
    },
  };
  const pool = new GatewayPool(config, options);
  // An idle connection that is lost is replaced: there is nobody to tell. A connection that is lent tells its
  // user.
  const ignore = () => {};
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

type Lend = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (isUnfit?: unknown) => void,
) => void;

interface Waiter {
  readonly since: number;
  readonly lend: Lend;
}

/**
 * Lends no connection while the database is away: who asks need not find out in seconds what is known. Who
 * has to wait because all are lent waits in a line of this pool, and is told so when it is in vain.
 */
class GatewayPool extends pg.Pool {
  readonly #watch: ConnectionWatch;
  readonly #waitUntil: AbortSignal | undefined;
  readonly #size: number;
  readonly #places: string | undefined;
  readonly #line: Waiter[] = [];
  readonly #lent = new Set<pg.PoolClient>();
  /** Connections that are on their way to be lent. */
  #coming = 0;
  /** The time when one was last lent or given back. */
  #movedAt = performance.now();
  #look: NodeJS.Timeout | undefined;

  constructor(config: pg.PoolConfig, options: Pick<PoolOptions, 'watch' | 'waitUntil' | 'size' | 'places'>) {
    super(config);
    this.#watch = options.watch;
    this.#waitUntil = options.waitUntil;
    this.#size = options.size;
    this.#places = options.places;
    // It is among the idle ones, or closed, a moment after this is told.
    this.on('release', (_error, client) => {
      if (this.#lent.delete(client)) process.nextTick(() => this.#serveNext());
    });
    // A getter of the base class that its type declarations show as a property: who waits there waits for a
    // moment.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#line.length });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Lend): void;
  override connect(callback?: Lend): Promise<pg.PoolClient> | undefined {
    const { obstacle } = this.#watch;
    const isPatient = this.#waitUntil?.aborted === false;
    if (!isPatient && obstacle === undefined) {
      if (callback === undefined) return this.#connectNow();
      this.#join(callback);
      return undefined;
    }
    const lending = isPatient ? this.#connectWhenBack(this.#waitUntil) : this.#connectIfBack();
    if (callback === undefined) return lending;
    lending.then(
      (client) => callback(undefined, client, (isUnfit) => client.release(Boolean(isUnfit))),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  async #connectIfBack(): Promise<pg.PoolClient> {
    await this.#watch.lookAgain();
    if (this.#watch.obstacle !== undefined) throw this.#watch.obstacle;
    return await this.#connectNow();
  }

  async #connectWhenBack(waitUntil: AbortSignal): Promise<pg.PoolClient> {
    for (;;) {
      await this.#watch.untilBack(waitUntil);
      try {
        if (this.#watch.obstacle !== undefined) throw this.#watch.obstacle;
        return await this.#connectNow();
      } catch (error) {
        if (waitUntil.aborted || this.ending || !isOutOfReach(error)) throw error;
      }
      await this.#watch.check();
      await sleep(RETRY_MS);
    }
  }

  #connectNow(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      this.#join((error, client) => {
        if (client === undefined) reject(error);
        else resolve(client);
      });
    });
  }

  /**
   * Lends a connection that is free or may be made, or else lets the caller wait, unless that is known to be
   * in vain.
   */
  #join(lend: Lend): void {
    if (this.#lent.size + this.#coming < this.#size || this.ending) {
      this.#lend(lend);
      return;
    }
    const refusal = this.#findRefusal(performance.now());
    if (refusal !== undefined) {
      lend(refusal, undefined, () => {});
      return;
    }
    this.#line.push({ since: performance.now(), lend });
    this.#look ??= setInterval(() => this.#refuseInVain(), LOOK_MS).unref();
  }

  #lend(lend: Lend): void {
    this.#coming += 1;
    this.#movedAt = performance.now();
    super.connect((error, client, release) => {
      this.#coming -= 1;
      if (client === undefined) this.#serveNext();
      else this.#lent.add(client);
      lend(error, client, release);
    });
  }

  #serveNext(): void {
    this.#movedAt = performance.now();
    const next = this.#line.shift();
    if (next === undefined) return;
    this.#stopLooking();
    const { obstacle } = this.#watch;
    if (obstacle === undefined) this.#lend(next.lend);
    else this.#refuse([next, ...this.#line.splice(0)], obstacle);
  }

  #refuseInVain(): void {
    const now = performance.now();
    const refusal = this.#watch.obstacle ?? this.#findRefusal(now);
    if (refusal !== undefined) {
      this.#refuse(this.#line.splice(0), refusal);
      return;
    }
    const late = this.#line.findIndex(({ since }) => now - since < CONNECT_TIMEOUT_MS);
    this.#refuse(this.#line.splice(0, late === -1 ? this.#line.length : late), this.#fullError());
  }

  #refuse(waiters: readonly Waiter[], error: Error): void {
    this.#stopLooking();
    for (const { lend } of waiters) lend(error, undefined, () => {});
  }

  #stopLooking(): void {
    if (this.#line.length > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }

  /**
   * Why waiting is in vain. A server that has not been heard meanwhile may have gone, and then it is not the
   * places that are missing.
   */
  #findRefusal(now: number): Error | undefined {
    if (this.#places === undefined || now - this.#movedAt < STANDSTILL_MS) return undefined;
    return this.#watch.hasHeardSince(this.#movedAt) && !this.#watch.isSuspicious
      ? this.#fullError()
      : undefined;
  }

  #fullError(): Error {
    if (this.#places === undefined || !this.#watch.hasHeardSince(performance.now() - CONNECT_TIMEOUT_MS))
      // The error is worded as node-postgres words it, and as the table of database-errors.ts knows it.
      return new Error('timeout exceeded when trying to connect');
    return new FullPoolError(`${this.#size} ${this.#places}`);
  }
}
