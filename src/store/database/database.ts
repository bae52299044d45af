/**
 * The only access to the database. Relational tables use Prisma's models. What Prisma cannot do (records as
 * the text Postgres printed, streams, one round trip for a prepared statement) uses `query` and `stream`,
 * which take SQL composed with `sql`, whose every substitution is a parameter, and run on the same
 * connections.
 */
import pg from 'pg';
import { unavailable } from '../../base/errors.js';
import type { Call } from '../../base/model/call.js';
import { callerName, type Scope } from '../../base/model/scope.js';
import { closeInTurn } from '../../base/process/close-in-turn.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import type { Sql } from '../sql.js';
import { ConnectionWatch, type DatabaseNewsListener } from './connection-watch.js';
import { DeadlockRetry } from './deadlock-retry.js';
import { FairQueue } from './fair-queue.js';
import { createPrisma, type GatewayPrisma } from './gateway-prisma.js';
import { inspectServer, type ServerFacts, settingsOf } from './inspect-server.js';
import { INSTANCE_SQL, InstanceGuard } from './instance-guard.js';
import { Listener } from './listener.js';
import { createPool, type PoolOptions } from './pool.js';
import type {
  JoinedStreamOptions,
  NamedStatement,
  OwnConnection,
  Queryable,
  QueryOptions,
  Transaction,
} from './queryable.js';
import { RepeatedWork } from './repeated-work.js';
import { PrimaryFinder } from './replicas/primary-finder.js';
import { openReplicas, type ReadSource, type ReplicatedReads } from './replicas/replicated-reads.js';
import type { JoinedBatch } from './row-stream.js';
import type { SlowStatementWatch } from './server-statements.js';
import { connectTo, runTransaction, ServerStatements } from './server-statements.js';
import { openShardServer, ShardStatements } from './shards/shard-statements.js';

const DEFAULT_REPLICA_LAG_MS = 5_000;
/** They run only short statements, so three are enough for a gateway. */
const APART_CONNECTIONS = 3;

/** The share of the connections that the lists, counts and reports of one user use at the same moment. */
const READS_OF_USER_PART = 1 / 8;
const LEAST_READS_OF_USER = 2;
/** Each request has some 15 at most, and the requests of a user wait for places before. */
const MOST_WAITING_READS = 2_000;
const READ_WAIT_MS = 10_000;
/** A statement that goes through more rows takes some milliseconds or longer. */
const ROWS_OF_LONG = 10_000;
/** The share of the connections for long reads and writes by filter, of all users together. */
const LONG_PART = 3 / 8;
/** Passed as `rows` by statements whose rows are not known beforehand and may be many. */
export const MANY_ROWS = ROWS_OF_LONG;

/** The name of the gateway's connections in `pg_stat_activity`, followed by the purpose of each. */
export const APPLICATION_NAME = 'campus-gateway';

export interface DatabaseOptions {
  /** A single host, or several of which one is the primary. */
  readonly url: string;
  /** Connections for queries. Streams, which hold theirs for as long as they are read, have as many more. */
  readonly poolSize: number;
  /** The limit for a statement, and for one batch of a stream. */
  readonly statementTimeoutMs: number;
  /** Shown in pg_stat_activity. Default `campus-gateway`. */
  readonly applicationName?: string;
  /** The addresses of replicas to read from. Default: none. */
  readonly replicaUrls?: readonly string[];
  /** A replica with a larger lag is not used. Default 5 s. */
  readonly replicaMaxLagMs?: number;
  /** Ends the opening, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Short statements and transactions beside those of requests. */
export interface BackgroundConnections extends Queryable {
  readonly deadlocks: DeadlockRetry;
  /** @see Database.transaction */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

interface BackgroundPoolOptions extends Pick<PoolOptions, 'size' | 'applicationName' | 'statementTimeoutMs'> {
  readonly settings?: PoolOptions['settings'];
  /** When aborted, requests fail instead of waiting. Absent: they never wait. */
  readonly waitUntil?: AbortSignal;
}

/**
 * Connects and checks the server's version. Connections lost later are replaced; until then calls throw
 * UNAVAILABLE. The caller closes it.
 *
 * @throws UNAVAILABLE whose message is one line for the operator
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const applicationName = options.applicationName ?? APPLICATION_NAME;
  const { signal } = options;
  const finder = new PrimaryFinder({ url: options.url, applicationName });
  if (finder.hasSeveral && (await unlessAborted(finder.find(), signal)) !== 'found') {
    throw unavailable(`None of ${finder.serverNames.join(', ')} takes writes.`);
  }
  const facts = { finder, ...(await inspectServer(finder.url, applicationName, signal)) };
  const { replicaUrls = [], replicaMaxLagMs = DEFAULT_REPLICA_LAG_MS, ...rest } = options;
  const database = new Database({ ...rest, applicationName, ...facts });
  try {
    if (replicaUrls.length > 0) {
      await unlessAborted(database.openReplicas(replicaUrls, replicaMaxLagMs), signal);
    }
  } catch (fault) {
    await database.close().catch(() => {});
    throw fault;
  }
  return database;
}

type OpenedOptions = Required<Omit<DatabaseOptions, 'replicaUrls' | 'replicaMaxLagMs' | 'signal'>> &
  ServerFacts & { readonly finder: PrimaryFinder };

function isLong(rows = 0): boolean {
  return rows >= ROWS_OF_LONG;
}

/** @see openDatabase */
export class Database implements Queryable {
  readonly #options: OpenedOptions;
  /** `undefined` if there are none. */
  replicas: ReplicatedReads | undefined;
  /** The models of schema.prisma; its errors are translated too. */
  readonly prisma: GatewayPrisma;
  readonly pool: pg.Pool;
  /**
   * For statements outside a surrounding transaction, e.g. the log of a script in a write that may be rolled
   * back, and for regular work in the background. They have connections of their own, because a caller that
   * holds a pooled connection and waits for a second one could wait for others who do the same, and because
   * long requests must not hold up work in the background.
   */
  readonly background: BackgroundConnections;
  /**
   * A single connection for locks outside transactions; a second lock of this gateway waits for the first.
   */
  readonly lockPool: pg.Pool;
  /** Texts compare byte by byte, so an ordinary b-tree serves the range of a prefix. */
  readonly isByteOrdered: boolean;
  /**
   * Changes are announced by the outbox instead of transaction numbers, because the database is sharded over
   * several servers, or because `campus.changes` is set to `outbox`.
   */
  readonly announcesByOutbox: boolean;
  /** Runs statements entirely on the server of a domain; `undefined` if there is only one server. */
  readonly shards: ShardStatements | undefined;
  /** The queue of writes that are retried after a deadlock. */
  readonly deadlocks = new DeadlockRetry();
  /**
   * The rows of ONE text column in batches. Postgres works at most one batch ahead of the reader. Leaving the
   * loop or aborting the signal ends the query within a second; a failure throws midway.
   */
  readonly stream: ServerStatements['stream'];
  /**
   * Subscribes to `pg_notify(channel, payload)` of every gateway, including this one, after the commit.
   * `onGap` is called when the connection is lost, and when it is back: notifications may have been missed.
   * The returned function unsubscribes.
   */
  readonly listen: Listener['listen'];
  readonly #backgroundPool: pg.Pool;
  readonly #statements: ServerStatements;
  readonly #readTurns: FairQueue;
  readonly #longTurnsOfUser: FairQueue;
  readonly #longTurns: FairQueue;
  readonly #listener: Listener;
  readonly #watch: ConnectionWatch;
  /** Notices when the tables are made anew under a running gateway. */
  readonly instance = new InstanceGuard();

  constructor(options: OpenedOptions) {
    this.#options = options;
    const { finder, applicationName, poolSize, statementTimeoutMs } = options;
    const settings = settingsOf(options);
    this.isByteOrdered = options.isByteOrdered;
    this.announcesByOutbox = options.announcesByOutbox;
    this.#watch = new ConnectionWatch({ finder, applicationName });
    const { instance } = this;
    const shared = { size: poolSize, statementTimeoutMs, settings, watch: this.#watch, instance };
    this.#statements = new ServerStatements({
      ...shared,
      applicationName,
      places: {
        pool: 'connections to the database (POOL_SIZE)',
        stream: 'connections for streamed answers (POOL_SIZE)',
      },
    });
    this.pool = this.#statements.pool;
    this.#backgroundPool = createPool({
      ...shared,
      size: APART_CONNECTIONS,
      applicationName: `${applicationName} background`,
    });
    this.lockPool = createPool({ ...shared, size: 1, applicationName: `${applicationName} lock` });
    const turns = { waitingPerCaller: MOST_WAITING_READS, waitMs: READ_WAIT_MS };
    const ofUser = {
      ...turns,
      perCaller: Math.max(LEAST_READS_OF_USER, Math.floor(poolSize * READS_OF_USER_PART)),
    };
    this.#readTurns = new FairQueue({ ...ofUser, refusal: 'Too many reads of this user are waiting' });
    this.#longTurnsOfUser = new FairQueue({
      ...ofUser,
      refusal: 'Too many reads and writes of this user are waiting that go through many records',
    });
    this.#longTurns = new FairQueue({
      ...turns,
      perCaller: Math.max(1, Math.floor(poolSize * LONG_PART)),
      refusal: 'Too many reads and writes are waiting that go through many records',
    });
    this.background = {
      deadlocks: this.deadlocks,
      query: (sql, queryOptions) => this.#statements.queryBy(this.#backgroundPool, sql, queryOptions),
      transaction: (work) => this.#transactionBy(this.#backgroundPool, work),
    };
    this.shards = options.isSharded ? this.#openShards() : undefined;
    this.#listener = new Listener(() => finder.url, applicationName);
    this.listen = this.#listener.listen.bind(this.#listener);
    this.stream = this.#statements.stream.bind(this.#statements);
    this.#watch.onNews(({ kind }) => {
      // From now on, changes are announced by the new primary.
      if (kind === 'databaseRole' || kind === 'databaseMoved') void this.#listener.renew();
    });
    this.prisma = createPrisma(this.pool);
  }

  async openReplicas(urls: readonly string[], maxLagMs: number): Promise<void> {
    const { applicationName, poolSize, statementTimeoutMs } = this.#options;
    const pool = this.openPool({
      size: 1,
      applicationName: `${applicationName} positions`,
      statementTimeoutMs,
      settings: { synchronous_commit: 'off' },
    });
    this.replicas = await openReplicas({
      urls,
      maxLagMs,
      applicationName,
      poolSize,
      statementTimeoutMs,
      settings: settingsOf(this.#options),
      report: (news) => this.#watch.report(news),
      primary: {
        reads: this,
        watch: this.#watch,
        pool,
        isHearing: () => this.isHearing,
        listen: this.listen,
      },
    });
  }

  /**
   * The server for this caller's lists, streams, aggregates and reports: a replica that is current enough and
   * has the caller's writes, or else the primary. Never use it for a write, a feed or a counter. An eighth of
   * the connections serves the statements of one user at the same moment, however many requests, root fields
   * or keys send them, and three eighths the long statements (`QueryOptions.rows`) of all users; streams
   * have limits of their own.
   */
  reading(caller: Pick<Scope, 'principal'>): ReadSource {
    const source = this.replicas?.sourceFor(caller) ?? this;
    const name = callerName(caller.principal);
    return {
      query: <Row extends object>(sql: Sql, options?: QueryOptions) => {
        const read = () => source.query<Row>(sql, options);
        return isLong(options?.rows) ? this.#inLongTurn(name, read) : this.#readTurns.run(name, read);
      },
      stream: (sql, options) => source.stream(sql, options),
      streamJoined: (statements, options) => source.streamJoined(statements, options),
    };
  }

  /**
   * Runs a write that goes through so many rows, in turn with the long reads if they are many. Not within a
   * transaction, which has its connection already.
   */
  async writingInTurn<T>(
    { principal, call }: Pick<Scope, 'principal' | 'call'>,
    rows: number,
    write: () => Promise<T>,
  ): Promise<T> {
    return isLong(rows) ? await this.#inLongTurn(callerName(principal), write, call) : await write();
  }

  /** First in turn with the user's other long statements, then with those of all users. */
  #inLongTurn<T>(user: string, work: () => Promise<T>, call?: Pick<Call, 'onWait'>): Promise<T> {
    return this.#longTurnsOfUser.run(user, () => this.#longTurns.run('', work), call);
  }

  #openShards(): ShardStatements {
    const { applicationName, poolSize: size, statementTimeoutMs } = this.#options;
    const settings = settingsOf(this.#options);
    return new ShardStatements({
      coordinator: this.#statements,
      background: this.background,
      openServer: (hostname, port) => {
        const url = Object.assign(new URL(this.url), { hostname, port: String(port) }).href;
        return openShardServer(url, { applicationName, size, statementTimeoutMs, settings });
      },
    });
  }

  async query<Row extends object>(sql: Sql, { shardLocal, ...options }: QueryOptions = {}): Promise<Row[]> {
    if (shardLocal !== undefined && this.shards !== undefined) {
      return await this.shards.query<Row>(sql, shardLocal, options);
    }
    return await this.#statements.query<Row>(sql, options);
  }

  /**
   * The rows of statements as bytes to pass on, one chunk per batch, as `stream` reads them. Several
   * statements run in sequence, and all see the database at the same moment.
   */
  streamJoined(
    statements: readonly NamedStatement[],
    { shardLocal, ...options }: JoinedStreamOptions,
  ): AsyncGenerator<JoinedBatch, void> {
    if (shardLocal !== undefined && this.shards !== undefined) {
      return this.shards.streamJoined(statements, { ...options, shardLocal });
    }
    return this.#statements.streamJoined(statements, options);
  }

  /** Read committed. Rolled back if `work` throws. */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return await this.#transactionBy(this.pool, work);
  }

  async #transactionBy<T>(pool: pg.Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await connectTo(pool);
    let isUsable = true;
    try {
      return await runTransaction({ client, statements: this.#statements }, work, () => {
        isUsable = false;
      });
    } finally {
      // A connection that cannot even roll back is closed, which rolls back.
      client.release(!isUsable);
    }
  }

  /** Lends a connection outside the pools. Its locks are released when it ends, even if the gateway dies. */
  async withConnection<T>(purpose: string, work: (connection: OwnConnection) => Promise<T>): Promise<T> {
    const pool = this.openPool({
      size: 1,
      applicationName: `campus-gateway ${purpose}`,
      statementTimeoutMs: this.#options.statementTimeoutMs,
    });
    try {
      const client = await connectTo(pool);
      try {
        return await work({
          query: (sql, options) => this.#statements.queryOn(client, sql, options),
          tryLock: async (name) => {
            const lock = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as taken';
            const { rows } = await client.query<{ taken: boolean }>(lock, [name]);
            return rows[0]?.taken === true;
          },
          transaction: (inside) => runTransaction({ client, statements: this.#statements }, inside),
        });
      } finally {
        // The server would notice the end of the connection a moment after the next request for the locks.
        await client.query('select pg_advisory_unlock_all()').catch(() => {});
        client.release(true);
      }
    } finally {
      await pool.end();
    }
  }

  /**
   * Calls `renew` for every notification on the channel, and when one may have been missed; one call at a
   * time, retried until it succeeds. The returned function unsubscribes.
   */
  async keepCurrent(channel: string, renew: () => Promise<void>): Promise<() => Promise<void>> {
    const onFault = (error: unknown) => this.#watch.report({ kind: 'renewalFailed', channel, error });
    const renewal = new RepeatedWork({ work: renew, onFault });
    const ask = () => renewal.wake();
    const stop = await this.listen(channel, ask, ask);
    return async () => {
      await stop();
      await renewal.close();
    };
  }

  /** Calls `watch` for every slow statement; not for streams, which are as slow as their readers. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#statements.watchSlow(watch);
    this.shards?.watchSlow(watch);
    this.replicas?.watchSlow(watch);
  }

  /** From now on reports when the database is lost, found again, or read-only. */
  onNews(listener: DatabaseNewsListener): void {
    this.#watch.onNews(listener);
  }

  /** False while the database is known to be unreachable; statements then fail at once. */
  get isReachable(): boolean {
    return this.#watch.obstacle === undefined;
  }

  /** Whether the database currently accepts no writes: it is a replica, or set to read-only. */
  get isReadOnly(): boolean {
    return this.#watch.isReadOnly;
  }

  /** Whether its disk is full, or was in the last minute: reads continue, changes are refused. */
  get isDiskFull(): boolean {
    return this.#watch.isDiskFull;
  }

  /** A pool for background work, which may wait for a database that is down. The caller closes it. */
  openPool(options: BackgroundPoolOptions): pg.Pool {
    return createPool({
      ...options,
      settings: { ...settingsOf(this.#options), ...options.settings },
      watch: this.#watch,
      instance: this.instance,
    });
  }

  /** From now on, connections to other tables than the present ones are refused. */
  async pinInstance(): Promise<void> {
    const { rows } = await this.pool.query<{ instance: string }>(`select ${INSTANCE_SQL} as instance`);
    this.instance.pin(rows[0]?.instance ?? '');
  }

  /** The address of the current primary: one host, whatever the setting names. */
  get url(): string {
    return this.#options.finder.url;
  }

  /**
   * False while the listening connection is lost; caches that rely on notifications must not be trusted then.
   */
  get isHearing(): boolean {
    return this.#listener.isHearing;
  }

  /** Ends the running statements, for a start that is stopped: their results are of no use to anybody. */
  abandon(): void {
    this.#watch.loseAll('The start was stopped.');
  }

  /** Waits for running statements. */
  async close(): Promise<void> {
    const pools = [this.#backgroundPool, this.lockPool];
    await closeInTurn([
      () => this.#watch.close(),
      () =>
        Promise.all([this.#listener.close(), this.#statements.close(), ...pools.map((pool) => pool.end())]),
      () => this.prisma.$disconnect(),
      async () => await this.shards?.close(),
      async () => await this.replicas?.close(),
    ]);
  }
}
