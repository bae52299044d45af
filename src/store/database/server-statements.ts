/** The statements of one server: on connections of its pools, and ended by its own cancellation. */
import type pg from 'pg';
import type { Sql } from '../sql.js';
import type { Cancellation } from './cancellation.js';
import { translateDatabaseError } from './database-errors.js';
import { type GatheredRows, type JoinedBatch, JoinedRows, ListedRows } from './gathered-rows.js';
import type { JoinedStreamOptions, NamedStatement, QueryOptions, StreamOptions } from './query-options.js';
import { queryRows } from './row-query.js';
import { streamRows } from './row-stream.js';
import { type SlowStatementWatch, watched } from './statement-watch.js';
import { assertStorableParameters } from './storable-parameters.js';

const DEFAULT_BATCH_ROWS = 500;

export interface ServerStatementsOptions {
  readonly pool: pg.Pool;
  readonly streamPool: pg.Pool;
  readonly cancellation: Cancellation;
  /** The limit of one batch of a stream. */
  readonly batchTimeoutMs: number;
}

export class ServerStatements {
  readonly #options: ServerStatementsOptions;
  #slow: SlowStatementWatch | undefined;

  constructor(options: ServerStatementsOptions) {
    this.#options = options;
  }

  /** Tells `watch` from now on of every statement that took long. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#slow = watch;
  }

  async query<Row extends object>(sql: Sql, options: QueryOptions = {}): Promise<Row[]> {
    return await this.queryBy<Row>(this.#options.pool, sql, options);
  }

  /** A query on a connection of another pool. */
  async queryBy<Row extends object>(pool: pg.Pool, sql: Sql, options: QueryOptions = {}): Promise<Row[]> {
    options.signal?.throwIfAborted();
    const client = await connectTo(pool);
    try {
      return await this.queryOn<Row>(client, sql, options);
    } finally {
      // A connection that was lost is not taken back by the pool; an error of Postgres leaves it fit for use.
      client.release();
    }
  }

  /** A query on a connection that is lent already, e.g. to a transaction. */
  async queryOn<Row extends object>(
    client: pg.PoolClient,
    sql: Sql,
    options: QueryOptions = {},
  ): Promise<Row[]> {
    return await watched(options.told ?? sql, { caller: options.caller, slow: this.#slow }, () =>
      runQuery<Row>(client, sql, options, this.#options.cancellation),
    );
  }

  stream(sql: Sql, options: StreamOptions = {}): AsyncGenerator<readonly string[], void> {
    return this.streamInTurn([{ sql, name: options.name }], options);
  }

  streamInTurn(
    statements: readonly NamedStatement[],
    options: Omit<StreamOptions, 'name'> = {},
  ): AsyncGenerator<readonly string[], void> {
    return this.#stream(statements, new ListedRows(), options);
  }

  streamJoined(
    statements: readonly NamedStatement[],
    { punctuation, ...options }: Omit<JoinedStreamOptions, 'home'>,
  ): AsyncGenerator<JoinedBatch, void> {
    return this.#stream(statements, new JoinedRows(punctuation), options);
  }

  async *#stream<Batch>(
    statements: readonly NamedStatement[],
    rows: GatheredRows<Batch>,
    options: Omit<StreamOptions, 'name'>,
  ): AsyncGenerator<Batch, void> {
    options.signal?.throwIfAborted();
    for (const { sql } of statements) assertStorableParameters(sql);
    const client = await connectTo(this.#options.streamPool);
    yield* streamRows(
      client,
      {
        queries: statements.map(({ sql, name }) => ({ text: sql.text, values: sql.values, name })),
        batchRows: options.batchRows ?? DEFAULT_BATCH_ROWS,
        rows,
        batchTimeoutMs: this.#options.batchTimeoutMs,
        signal: options.signal,
      },
      this.#options.cancellation,
    );
  }
}

/** A connection of the pool. @throws UNAVAILABLE */
export async function connectTo(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw translateDatabaseError(error);
  }
}

async function runQuery<Row extends object>(
  client: pg.PoolClient,
  sql: Sql,
  { name, signal, texts, first }: QueryOptions,
  cancellation: Cancellation,
): Promise<Row[]> {
  assertStorableParameters(sql);
  const statement = {
    text: sql.text,
    values: sql.values,
    name,
    texts: texts ?? 'strings',
    first: first && { text: first.sql.text, values: first.sql.values, name: first.name },
  } as const;
  let cancelled: Promise<void> | undefined;
  const abort = () => {
    cancelled = cancellation.cancel(client);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await queryRows<Row>(client, statement);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    // Its own leads to the socket alone.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw translateDatabaseError(error);
  } finally {
    signal?.removeEventListener('abort', abort);
    // This comes before the connection serves somebody else, whom a late cancellation would hit.
    await cancelled;
  }
}
