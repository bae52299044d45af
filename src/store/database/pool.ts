import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ConnectionWatch } from './connection-watch.js';
import { FullPoolError, isOutOfReach } from './database-errors.js';
import { INSTANCE_SQL, type InstanceGuard } from './instance-guard.js';
import { WatchedClient, type WatchedClientConfig } from './watched-client.js';

/**
 * The settings that the driver relies on: a database or role may have other defaults. They are
 * set by a statement, because poolers refuse them as startup options.
 */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  // Prisma's adapter writes instants without an offset.
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '3',
  standard_conforming_strings: 'on',
};

/** Sets them on a connection that belongs to none of the gateway's pools. */
export async function setSession(client: pg.ClientBase): Promise<void> {
  const settings = Object.entries(SESSION_SETTINGS);
  await client.query(`select ${assignments(settings)}`, settings.flat());
}

/** Expressions that assign the settings, whose names and values are the parameters from $1 on. */
function assignments(settings: readonly unknown[]): string {
  return settings.map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, false)`).join(', ');
}

export interface PoolOptions {
  readonly size: number;
  readonly applicationName: string;
  /** The limit for a statement, enforced by the server; 0: no limit. */
  readonly statementTimeoutMs: number;
  /** Further settings of every session in the pool, by their PostgreSQL names. */
  readonly settings: Readonly<Record<string, string>>;
  readonly watch: ConnectionWatch;
  /** Callers wait while the database is down, until this is aborted. Default: they fail at once. */
  readonly waitUntil?: AbortSignal | undefined;
  /**
   * The name of its connections in messages, e.g. `connections to the database (POOL_SIZE)`. With a name, a
   * caller is refused soon when long work holds all connections; without one, a caller waits as long as for a
   * new connection.
   */
  readonly places?: string | undefined;
  /** Checks that a new connection reaches the instance that the gateway was started on. */
  readonly instance?: InstanceGuard | undefined;
  /** The server is a replica, and need not accept writes. */
  readonly isReplica?: boolean | undefined;
  /** Rarely used: an idle connection closes soon, and keeps no process from its end. */
  readonly isRare?: boolean | undefined;
}

/** The limit for establishing a connection, and for waiting for one in use. */
const CONNECT_TIMEOUT_MS = 10_000;
/** If no connection was released for so long, long work holds all of them, and waiting is futile. */
const STANDSTILL_MS = 2_000;
/** How often waiting callers are checked. */
const LOOK_MS = 250;
/** Long, because a connection keeps its prepared statements. */
const IDLE_TIMEOUT_MS = 5 * 60_000;
const RARE_IDLE_TIMEOUT_MS = 30_000;
/** After this silence, both operating systems probe the connection. */
const KEEPALIVE_DELAY_MS = 10_000;
/** How much longer than the server this side waits: the server reports an error, a dead connection none. */
const SILENCE_GRACE_MS = 5_000;
const RETRY_MS = 200;

/** Creates a pool with these session settings. A lost connection fails only the statement it was running. */
export function createPool(options: PoolOptions): pg.Pool {
  const { statementTimeoutMs } = options;
  const settings = Object.entries({
    ...SESSION_SETTINGS,
    statement_timeout: String(statementTimeoutMs),
    // The locks of a vanished gateway must not be held for the default of two hours.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    ...options.settings,
  });
  const question = `select pg_backend_pid() as id,
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    ${INSTANCE_SQL} as instance,
    ${assignments(settings)}`;
  const config: pg.PoolConfig & WatchedClientConfig = {
    connectTo: () => options.watch.url,
    application_name: options.applicationName,
    max: options.size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: options.isRare ? RARE_IDLE_TIMEOUT_MS : IDLE_TIMEOUT_MS,
    allowExitOnIdle: options.isRare ?? false,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    Client: WatchedClient as unknown as NonNullable<pg.PoolConfig['Client']>,
    watcher: options.watch,
    silenceLimitMs: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + SILENCE_GRACE_MS,
    // The pool awaits it before lending a connection. Not set by startup options, which poolers refuse.
    onConnect: async (client) => {
      const { rows } = await client.query<{ id: number; isReadOnly: boolean; instance: string }>(
        question,
        settings.flat(),
      );
      options.instance?.check(rows[0]?.instance ?? '');
      if (!(client instanceof WatchedClient)) return;
      client.isBornReadOnly = rows[0]?.isReadOnly === true && options.isReplica !== true;
      client.backendId = rows[0]?.id;
    },
  };
  const pool = new GatewayPool(config, options);
  // A lost idle connection is simply replaced; one in use reports the error to its user.
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
 * Lends no connection while the database is known to be down, so that callers fail at once instead of after
 * seconds. Callers wait for a busy connection in a queue of this pool, and are refused when waiting is
 * futile.
 */
class GatewayPool extends pg.Pool {
  readonly #watch: ConnectionWatch;
  readonly #limits: Pick<PoolOptions, 'waitUntil' | 'size' | 'places'>;
  readonly #line: Waiter[] = [];
  readonly #lent = new Set<pg.PoolClient>();
  /** Connections that are about to be lent. */
  #coming = 0;
  /** When a connection was last lent or released. */
  #movedAt = performance.now();
  #look: NodeJS.Timeout | undefined;

  constructor(config: pg.PoolConfig, options: Pick<PoolOptions, 'watch' | 'waitUntil' | 'size' | 'places'>) {
    super(config);
    this.#watch = options.watch;
    this.#limits = options;
    // The connection is idle, or closed, only a moment after this event.
    this.on('release', (_error, client) => {
      if (this.#lent.delete(client)) process.nextTick(() => this.#serveNext());
    });
    // A getter of the base class, which its types declare as a property; those who wait there wait only for a
    // moment.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#line.length });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Lend): void;
  override connect(callback?: Lend): Promise<pg.PoolClient> | undefined {
    const { obstacle } = this.#watch;
    const { waitUntil } = this.#limits;
    const isPatient = waitUntil?.aborted === false;
    if (!isPatient && obstacle === undefined) {
      if (callback === undefined) return this.#connectNow();
      this.#join(callback);
      return undefined;
    }
    const lending = isPatient ? this.#connectWhenBack(waitUntil) : this.#connectIfBack();
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

  /** Lends a free or new connection, or else queues the caller, unless waiting is known to be futile. */
  #join(lend: Lend): void {
    if (this.#lent.size + this.#coming < this.#limits.size || this.ending) {
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

  /** Why waiting is futile. A server that was not heard meanwhile may be down; then places do not matter. */
  #findRefusal(now: number): Error | undefined {
    if (this.#limits.places === undefined || now - this.#movedAt < STANDSTILL_MS) return undefined;
    return this.#watch.hasHeardSince(this.#movedAt) && !this.#watch.isSuspicious
      ? this.#fullError()
      : undefined;
  }

  #fullError(): Error {
    const { size, places } = this.#limits;
    if (places === undefined || !this.#watch.hasHeardSince(performance.now() - CONNECT_TIMEOUT_MS))
      // Worded like node-postgres's own error, which the table of database-errors.ts recognizes.
      return new Error('timeout exceeded when trying to connect');
    return new FullPoolError(`${size} ${places}`);
  }
}
