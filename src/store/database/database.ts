/**
 * The one way to the database. Relational tables are reached through Prisma's models; what Prisma cannot say
 * (records as the text Postgres printed, streams, one round trip for a prepared statement) through `query`
 * and `stream`, which take SQL composed with `Prisma.sql`, whose every substitution is a parameter, and run
 * on the connections Prisma uses too.
 */
import { pipeline } from 'node:stream/promises';
import { isNativeError } from 'node:util/types';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { invariant, ServiceError } from '../../errors.js';
import { Prisma, PrismaClient } from '../../generated/prisma/client.js';
import type { Scope } from '../../model/scope.js';
import { assertSessionsAreKept } from './assert-sessions-are-kept.js';
import { Cancellation } from './cancellation.js';
import { ConnectionWatch, type DatabaseNewsListener } from './connection-watch.js';
import { translateDatabaseError } from './database-errors.js';
import type { JoinedBatch, RowPunctuation } from './gathered-rows.js';
import { HomeServer } from './home-server.js';
import { HomeStatements } from './home-statements.js';
import { Listener } from './listener.js';
import { type OpenedReplicas, openReplicas } from './open-replicas.js';
import { createPool, type PoolOptions } from './pool.js';
import { PrimaryFinder } from './primary-finder.js';
import type { NamedStatement, QueryOptions, StreamOptions } from './query-options.js';
import { Renewal } from './renewal.js';
import type { ReadSource, ReplicatedReads } from './replicated-reads.js';
import { connectTo, ServerStatements } from './server-statements.js';
import type { SlowStatementWatch } from './statement-watch.js';
import { assertStorableArguments } from './storable-parameters.js';
import { Turns } from './turns.js';

const OLDEST_VERSION = 150_000;
const DEFAULT_REPLICA_LAG_MS = 5_000;
/** Short statements alone go there: two are enough for all of a gateway. */
const APART_CONNECTIONS = 2;

/** What the connections of a gateway are called in `pg_stat_activity`, with what each is for. */
export const APPLICATION_NAME = 'campus-gateway';

export interface DatabaseOptions {
  /** Of one host, or of several of which one is the primary. */
  readonly url: string;
  /**
   * Connections for queries; streams, which keep theirs for as long as their readers take, have as many of
   * their own.
   */
  readonly poolSize: number;
  /** The limit of one statement, and of one batch of a stream. */
  readonly statementTimeoutMs: number;
  /** Shown in pg_stat_activity. Default `campus-gateway`. */
  readonly applicationName?: string;
  /** The addresses of servers that follow the primary, to read from. Default: none. */
  readonly replicaUrls?: readonly string[];
  /** A replica that lags more is left alone. Default 5 s. */
  readonly replicaMaxLagMs?: number;
}

/** A database, or a transaction of it. */
export interface Queryable {
  /**
   * Runs one statement in one round trip. Values come as node-postgres reads them, except: `bigint` is a
   * number, `date` stays the text `YYYY-MM-DD`. `jsonb` goes through `JSON.parse` and thereby through floats:
   * select `::text` where digits count.
   *
   * @throws ServiceError for what the caller or the environment is to blame for (see database-errors.ts)
   */
  query<Row extends object>(sql: Prisma.Sql, options?: QueryOptions): Promise<Row[]>;
}

/**
 * What is done here is kept as a whole or not at all. Not to be used after the work it was lent to has ended.
 */
export interface Transaction extends Queryable {
  /**
   * What its writes ask has a place already, taken before the connection was: `WriteTriggers.reserve`. Who
   * wraps a transaction hands it on.
   */
  readonly reserved?: { readonly waitedMs: number };
}

/** A transaction on a connection of one's own. */
export interface OwnTransaction extends Transaction {
  /** Sends the lines of a `copy … from stdin`. @throws as `query` does */
  copyIn(statement: string, lines: Uint8Array): Promise<void>;
}

/** A connection that is lent for long work, and is ended behind it. */
export interface OwnConnection extends Queryable {
  /** Takes a lock that is held until the connection ends. Whether it was free. */
  tryLock(name: string): Promise<boolean>;
  /** Read committed, one at a time. Rolled back when `work` throws. */
  transaction<T>(work: (transaction: OwnTransaction) => Promise<T>): Promise<T>;
}

export interface Database extends Queryable {
  /**
   * The models of schema.prisma, with `$query` and `$stream` as a Prisma Client extension; its errors are
   * translated too.
   */
  readonly prisma: GatewayPrisma;
  readonly pool: pg.Pool;
  /**
   * Statements that belong to no transaction though one is open around them, e.g. what a script logs in a
   * write that may be taken back. They have connections of their own: whoever holds a connection of the pool
   * and waits for a second one waits for others who do the same.
   */
  readonly apart: Queryable;
  /**
   * One connection for locks that are held outside a transaction; a second lock of this gateway waits for the
   * first.
   */
  readonly lockPool: pg.Pool;
  /** Text compares byte by byte: the range of a prefix may be read from an ordinary b-tree. */
  readonly isByteOrdered: boolean;
  /**
   * Changes are told by the outbox, not by the numbers of their transactions: the database is spread over
   * several servers, or `campus.changes` is set to `outbox` in it.
   */
  readonly tellsByOutbox: boolean;
  /** For statements that the server of a domain does whole; `undefined`: there is one server for all. */
  readonly home: HomeStatements | undefined;
  /**
   * The rows of ONE text column in batches. Postgres works at most one batch ahead of the reader. Leaving the
   * loop or the signal ends the query within a second; a failure throws in mid-stream.
   */
  stream(sql: Prisma.Sql, options?: StreamOptions): AsyncIterable<readonly string[]>;
  /**
   * The same of several statements, whose rows follow each other; all of them see the database as it is at
   * one moment.
   */
  streamInTurn(
    statements: readonly NamedStatement[],
    options?: Omit<StreamOptions, 'name'>,
  ): AsyncIterable<readonly string[]>;
  /** The same rows as bytes that are ready to be passed on, each batch in one piece. */
  streamJoined(
    statements: readonly NamedStatement[],
    options: Omit<StreamOptions, 'name'> & { readonly punctuation: RowPunctuation },
  ): AsyncIterable<JoinedBatch>;
  /** The turns of writes that may be made again when they waited for each other. */
  readonly turns: Turns;
  /** Read committed. Rolled back when `work` throws. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Lends a connection beside those of the pools. What it has locked is free again when it ends, also by the
   * end of the gateway.
   */
  withConnection<T>(purpose: string, work: (connection: OwnConnection) => Promise<T>): Promise<T>;
  /**
   * Hears `pg_notify(channel, payload)` of every gateway, this one included, once it is committed. `onGap`:
   * the connection was lost, or is back after that: messages may have been missed. The answer ends it.
   */
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onGap: () => void,
  ): Promise<() => Promise<void>>;
  /**
   * Calls `renew` whenever something is announced on the channel, and when something may have been missed,
   * one call at a time. One that fails is made again until it succeeds. The answer ends it.
   */
  keepCurrent(channel: string, renew: () => Promise<void>): Promise<() => Promise<void>>;
  /**
   * Tells `watch` from now on of every statement that took long, also of those in transactions; streams are
   * as slow as their readers and left out.
   */
  watchSlow(watch: SlowStatementWatch): void;
  /** Tells from now on of the database being lost, found again, or read-only. */
  onNews(listener: DatabaseNewsListener): void;
  /** False while the database is known to be out of reach: whatever is asked of it fails at once. */
  readonly isReachable: boolean;
  /** Whether it lets nobody write at present: it is a replica, or was set so. */
  readonly isReadOnly: boolean;
  /**
   * What this caller reads lists, streams, aggregates and reports from: a replica that is near enough and has
   * what the caller wrote, or else the primary. Never for a statement that writes, a feed or a counter.
   */
  reading(caller: Pick<Scope, 'principal'>): ReadSource;
  /** Those who are read from beside the primary; `undefined`: there are none. */
  readonly replicas: ReplicatedReads | undefined;
  /** The address of the server that is primary now: one host, whatever the settings name. */
  readonly url: string;
  /**
   * A pool of its own for work in the background, which may wait for a database that is away. Whoever opens
   * it ends it.
   */
  openPool(options: BackgroundPoolOptions): pg.Pool;
  /**
   * False while the connection that hears is lost: what is remembered until it is announced otherwise is not
   * to be trusted then.
   */
  readonly isHearing: boolean;
  /** Waits for what is running. */
  close(): Promise<void>;
}

interface BackgroundPoolOptions extends Pick<PoolOptions, 'size' | 'applicationName' | 'statementTimeoutMs'> {
  readonly settings?: PoolOptions['settings'];
  /** The work comes to its end: from now on it is refused instead of waiting. Absent: it never waits. */
  readonly waitUntil?: AbortSignal;
}

/**
 * Connects, and makes sure of the server's version. Connections lost later come back by themselves: until
 * then calls throw UNAVAILABLE. The caller closes it.
 *
 * @throws UNAVAILABLE whose message is one line for the operator
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const applicationName = options.applicationName ?? APPLICATION_NAME;
  const finder = new PrimaryFinder({ url: options.url, applicationName });
  if (finder.hasSeveral && (await finder.find()) !== 'found') {
    throw new ServiceError('UNAVAILABLE', `None of ${finder.serverNames.join(', ')} takes writes.`);
  }
  const facts = { finder, ...(await inspectServer(finder.url, applicationName)) };
  const { replicaUrls = [], replicaMaxLagMs = DEFAULT_REPLICA_LAG_MS, ...rest } = options;
  const database = new PostgresDatabase({ ...rest, applicationName, ...facts });
  if (replicaUrls.length > 0) await database.openReplicas(replicaUrls, replicaMaxLagMs);
  return database;
}

type PostgresDatabaseOptions = Required<Omit<DatabaseOptions, 'replicaUrls' | 'replicaMaxLagMs'>> &
  ServerFacts & { readonly finder: PrimaryFinder };

class PostgresDatabase implements Database {
  readonly #options: PostgresDatabaseOptions;
  #replicas: OpenedReplicas | undefined;
  readonly prisma: GatewayPrisma;
  readonly pool: pg.Pool;
  readonly apart: Queryable;
  readonly lockPool: pg.Pool;
  readonly isByteOrdered: boolean;
  readonly tellsByOutbox: boolean;
  readonly home: HomeStatements | undefined;
  readonly turns = new Turns();
  readonly #streamPool: pg.Pool;
  readonly #apartPool: pg.Pool;
  readonly #cancellation: Cancellation;
  readonly #statements: ServerStatements;
  readonly #statementTimeoutMs: number;
  readonly #listener: Listener;
  readonly #watch: ConnectionWatch;
  readonly #finder: PrimaryFinder;

  constructor(options: PostgresDatabaseOptions) {
    this.#options = options;
    const { finder, applicationName, poolSize } = options;
    const settings = settingsOf(options);
    this.isByteOrdered = options.isByteOrdered;
    this.tellsByOutbox = options.tellsByOutbox;
    this.#finder = finder;
    this.#watch = new ConnectionWatch({ finder, applicationName });
    const url = () => finder.url;
    const shared = { url, size: poolSize, settings, watch: this.#watch };
    this.pool = createPool({
      ...shared,
      applicationName,
      statementTimeoutMs: options.statementTimeoutMs,
      places: 'connections to the database (POOL_SIZE)',
    });
    // A long export is no fault: each batch has its own limit instead.
    this.#streamPool = createPool({
      ...shared,
      applicationName: `${applicationName} stream`,
      statementTimeoutMs: 0,
      places: 'connections for streamed answers (POOL_SIZE)',
    });
    const aside = { ...shared, statementTimeoutMs: options.statementTimeoutMs };
    this.#apartPool = createPool({
      ...aside,
      size: APART_CONNECTIONS,
      applicationName: `${applicationName} apart`,
    });
    this.lockPool = createPool({ ...aside, size: 1, applicationName: `${applicationName} lock` });
    this.#cancellation = new Cancellation(url, applicationName);
    this.#statementTimeoutMs = options.statementTimeoutMs;
    this.#statements = new ServerStatements({
      pool: this.pool,
      streamPool: this.#streamPool,
      cancellation: this.#cancellation,
      batchTimeoutMs: options.statementTimeoutMs,
    });
    this.home = options.isSpread ? this.#openHome() : undefined;
    this.apart = {
      query: (sql, queryOptions) => this.#statements.queryBy(this.#apartPool, sql, queryOptions),
    };
    this.#listener = new Listener(url, applicationName);
    this.#watch.onNews(({ kind }) => {
      // Whoever is primary now announces what others change.
      if (kind === 'databaseRole' || kind === 'databaseMoved') void this.#listener.renew();
    });
    this.prisma = createPrisma(this);
  }

  async openReplicas(urls: readonly string[], maxLagMs: number): Promise<void> {
    const { applicationName, poolSize, statementTimeoutMs } = this.#options;
    const pool = this.openPool({
      size: 1,
      applicationName: `${applicationName} positions`,
      statementTimeoutMs,
      settings: { synchronous_commit: 'off' },
    });
    this.#replicas = await openReplicas({
      urls,
      maxLagMs,
      applicationName,
      poolSize,
      statementTimeoutMs,
      settings: settingsOf(this.#options),
      tell: (news) => this.#watch.tell(news),
      primary: {
        reads: this,
        watch: this.#watch,
        pool,
        isHearing: () => this.isHearing,
        listen: (...listening) => this.listen(...listening),
      },
    });
  }

  get replicas(): ReplicatedReads | undefined {
    return this.#replicas?.reads;
  }

  reading(caller: Pick<Scope, 'principal'>): ReadSource {
    return this.#replicas?.reads.sourceFor(caller) ?? this;
  }

  #openHome(): HomeStatements {
    const { applicationName, poolSize, statementTimeoutMs } = this.#options;
    const settings = settingsOf(this.#options);
    return new HomeStatements({
      coordinator: this.#statements,
      openServer: (hostname, port) => {
        const url = Object.assign(new URL(this.url), { hostname, port: String(port) }).href;
        return new HomeServer({ url, applicationName, poolSize, statementTimeoutMs, settings });
      },
    });
  }

  async query<Row extends object>(sql: Prisma.Sql, { home, ...options }: QueryOptions = {}): Promise<Row[]> {
    if (home !== undefined && this.home !== undefined) {
      return await this.home.query<Row>(sql, home, options);
    }
    return await this.#statements.query<Row>(sql, options);
  }

  stream(sql: Prisma.Sql, options?: StreamOptions): AsyncGenerator<readonly string[], void> {
    return this.#statements.stream(sql, options);
  }

  streamInTurn(
    statements: readonly NamedStatement[],
    options?: Omit<StreamOptions, 'name'>,
  ): AsyncGenerator<readonly string[], void> {
    return this.#statements.streamInTurn(statements, options);
  }

  streamJoined(
    statements: readonly NamedStatement[],
    options: Omit<StreamOptions, 'name'> & { readonly punctuation: RowPunctuation },
  ): AsyncGenerator<JoinedBatch, void> {
    return this.#statements.streamJoined(statements, options);
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await connectTo(this.pool);
    let isUsable = true;
    try {
      return await this.#transactionOn(client, work, () => {
        isUsable = false;
      });
    } finally {
      // A connection that cannot even roll back is not given back to others; closing it rolls back.
      client.release(!isUsable);
    }
  }

  async #transactionOn<T>(
    client: pg.PoolClient,
    work: (transaction: OwnTransaction) => Promise<T>,
    onUnusable: () => void,
  ): Promise<T> {
    let isOpen = true;
    const transaction: OwnTransaction = {
      query: async (sql, options = {}) => {
        invariant(isOpen, 'a transaction was used after its end');
        return await this.#statements.queryOn(client, sql, options);
      },
      copyIn: async (statement, lines) => {
        invariant(isOpen, 'a transaction was used after its end');
        await pipeline([lines], client.query(copyFrom(statement)));
      },
    };
    try {
      await client.query('begin isolation level read committed');
      const result = await work(transaction);
      isOpen = false;
      await client.query('commit');
      return result;
    } catch (error) {
      isOpen = false;
      await client.query('rollback').catch(onUnusable);
      throw translateDatabaseError(error);
    }
  }

  async withConnection<T>(purpose: string, work: (connection: OwnConnection) => Promise<T>): Promise<T> {
    const pool = this.openPool({
      size: 1,
      applicationName: `campus-gateway ${purpose}`,
      statementTimeoutMs: this.#statementTimeoutMs,
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
          transaction: (inside) => this.#transactionOn(client, inside, () => {}),
        });
      } finally {
        // The server notices the end of a connection a moment later than whoever asks for the locks next.
        await client.query('select pg_advisory_unlock_all()').catch(() => {});
        client.release(true);
      }
    } finally {
      await pool.end();
    }
  }

  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onGap: () => void,
  ): Promise<() => Promise<void>> {
    return this.#listener.listen(channel, onMessage, onGap);
  }

  async keepCurrent(channel: string, renew: () => Promise<void>): Promise<() => Promise<void>> {
    const onFault = (error: unknown) => this.#watch.tell({ kind: 'renewalFailed', channel, error });
    const renewal = new Renewal({ renew, onFault });
    const ask = () => renewal.ask();
    const stop = await this.listen(channel, ask, ask);
    return async () => {
      await stop();
      await renewal.close();
    };
  }

  watchSlow(watch: SlowStatementWatch): void {
    this.#statements.watchSlow(watch);
    this.home?.watchSlow(watch);
    this.#replicas?.watchSlow(watch);
  }

  onNews(listener: DatabaseNewsListener): void {
    this.#watch.onNews(listener);
  }

  get isReachable(): boolean {
    return this.#watch.obstacle === undefined;
  }

  get isReadOnly(): boolean {
    return this.#watch.isReadOnly;
  }

  openPool(options: BackgroundPoolOptions): pg.Pool {
    return createPool({
      ...options,
      url: () => this.#finder.url,
      settings: { TimeZone: 'UTC', ...options.settings },
      watch: this.#watch,
    });
  }

  get url(): string {
    return this.#finder.url;
  }

  get isHearing(): boolean {
    return this.#listener.isHearing;
  }

  async close(): Promise<void> {
    await this.#replicas?.close();
    await this.home?.close();
    await this.prisma.$disconnect();
    const pools = [this.pool, this.#streamPool, this.#apartPool, this.lockPool];
    await Promise.all([this.#listener.close(), ...pools.map((pool) => pool.end())]);
    await Promise.all([this.#cancellation.close(), this.#watch.close()]);
  }
}

type GatewayPrisma = ReturnType<typeof createPrisma>;

function createPrisma(database: Pick<Database, 'pool' | 'query' | 'stream'>) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) });
  return prisma.$extends(
    Prisma.defineExtension({
      name: 'campus-records',
      client: {
        $query: <Row extends object>(sql: Prisma.Sql, options?: QueryOptions) =>
          database.query<Row>(sql, options),
        $stream: (sql: Prisma.Sql, options?: StreamOptions) => database.stream(sql, options),
      },
      query: {
        async $allOperations({ args, query }) {
          try {
            assertStorableArguments(args);
            return await query(args);
          } catch (error) {
            throw translateDatabaseError(error);
          }
        },
      },
    }),
  );
}

/** Of every session of a pool of requests. */
function settingsOf({ canCheckConnection }: ServerFacts): Readonly<Record<string, string>> {
  return {
    // Prisma's adapter writes instants without an offset.
    TimeZone: 'UTC',
    jit: 'off',
    ...(canCheckConnection ? { client_connection_check_interval: '2s' } : {}),
  };
}

interface ServerFacts {
  readonly isByteOrdered: boolean;
  readonly tellsByOutbox: boolean;
  readonly isSpread: boolean;
  /** The server can notice that its client has gone while it works; not on every system. */
  readonly canCheckConnection: boolean;
}

async function inspectServer(url: string, applicationName: string): Promise<ServerFacts> {
  const connect = () => connectForOperator(url, applicationName);
  const client = await connect();
  try {
    const version = await client.query(
      `select current_setting('server_version_num')::int as number, ` +
        `current_setting('server_version') as name`,
    );
    if (version.rows[0].number < OLDEST_VERSION) {
      throw new ServiceError(
        'UNAVAILABLE',
        `The database at ${client.host}:${client.port} is PostgreSQL ${version.rows[0].name}; 15 or ` +
          'newer is needed.',
      );
    }
    await assertSessionsAreKept(client, connect);
    const { rows } = await client.query(
      `select datlocprovider = 'b' or (datlocprovider = 'c'
        and datcollate in ('C', 'POSIX')) as "isByteOrdered",
        e.oid is not null as "isSpread",
        e.oid is not null
          or coalesce(current_setting('campus.changes', true) = 'outbox', false) as "tellsByOutbox"
         from pg_database left join pg_extension e on e.extname = 'citus'
        where datname = current_database()`,
    );
    const canCheckConnection = await client.query(`set client_connection_check_interval = '2s'`).then(
      () => true,
      () => false,
    );
    return { ...rows[0], canCheckConnection };
  } finally {
    await client.end();
  }
}

/** @throws UNAVAILABLE whose message is one line for the operator */
async function connectForOperator(url: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    const [reason = error] =
      isNativeError(error) && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
    const detail = isNativeError(reason) ? reason.message : String(reason);
    throw new ServiceError(
      'UNAVAILABLE',
      `The database ${client.database ?? ''} at ${client.host}:${client.port} cannot be reached: ${detail}`,
      { cause: error },
    );
  }
}
