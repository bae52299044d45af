/** The statements of one server: on connections of its pools, and ended by its own cancellation. */

import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { invalidAt, invariant, type ServiceError } from '../../base/errors.js';
import type { Call, EndedStatement } from '../../base/model/call.js';
import { replaceUnstorableText } from '../../base/model/unstorable-text.js';
import { guarded } from '../../base/process/guarded.js';
import { isTraced, noteSpan, type Traced } from '../../base/process/traced.js';
import type { Sql } from '../sql.js';
import { Cancellation } from './cancellation.js';
import { translateDatabaseError } from './database-errors.js';
import { createPool, type PoolOptions } from './pool.js';
import type {
  JoinedStreamOptions,
  NamedStatement,
  OwnTransaction,
  QueryOptions,
  StreamOptions,
} from './queryable.js';
import { queryRows } from './row-query.js';
import { type GatheredRows, type JoinedBatch, JoinedRows, ListedRows, streamRows } from './row-stream.js';

const DEFAULT_BATCH_ROWS = 500;

export interface ServerStatementsOptions extends Omit<PoolOptions, 'waitUntil' | 'places'> {
  /** Shown in pg_stat_activity for the connections of queries. Default: the application's name. */
  readonly poolName?: string;
  /** The names of the connections of queries and of streams in messages. */
  readonly places: { readonly pool: string; readonly stream: string };
}

export class ServerStatements {
  readonly pool: pg.Pool;
  readonly #streamPool: pg.Pool;
  readonly #cancellation: Cancellation;
  /** The limit of one batch of a stream. */
  readonly #batchTimeoutMs: number;
  #slow: SlowStatementWatch | undefined;

  constructor({ poolName, places, ...options }: ServerStatementsOptions) {
    const { applicationName, statementTimeoutMs } = options;
    this.pool = createPool({
      ...options,
      applicationName: poolName ?? applicationName,
      places: places.pool,
    });
    // A long export is legitimate, so each batch has the limit instead.
    this.#streamPool = createPool({
      ...options,
      applicationName: `${applicationName} stream`,
      statementTimeoutMs: 0,
      places: places.stream,
    });
    this.#cancellation = new Cancellation(options);
    this.#batchTimeoutMs = statementTimeoutMs;
  }

  /** How many connections are at work. */
  get load(): number {
    return [this.pool, this.#streamPool].reduce(
      (sum, pool) => sum + pool.totalCount - pool.idleCount + pool.waitingCount,
      0,
    );
  }

  /** Waits for running statements. */
  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.#streamPool.end()]);
    await this.#cancellation.close();
  }

  /** Tells `watch` from now on of every statement that took long. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#slow = watch;
  }

  async query<Row extends object>(sql: Sql, options: QueryOptions = {}): Promise<Row[]> {
    return await this.queryBy<Row>(this.pool, sql, options);
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
    return await watched(options.reported ?? sql, { call: options.call, slow: this.#slow }, () =>
      runQuery<Row>(client, sql, options, this.#cancellation),
    );
  }

  stream(sql: Sql, options: StreamOptions = {}): AsyncGenerator<readonly string[], void> {
    return this.#stream([{ sql, name: options.name }], new ListedRows(), options);
  }

  streamJoined(
    statements: readonly NamedStatement[],
    { punctuation, ...options }: Omit<JoinedStreamOptions, 'shardLocal'>,
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
    const client = await connectTo(this.#streamPool);
    yield* streamRows(
      client,
      {
        queries: statements.map(({ sql, name }) => ({ text: sql.text, values: sql.values, name })),
        batchRows: options.batchRows ?? DEFAULT_BATCH_ROWS,
        rows,
        batchTimeoutMs: this.#batchTimeoutMs,
        signal: options.signal,
      },
      this.#cancellation,
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

/**
 * Runs `work` in a transaction of this connection, and rolls it back if `work` throws. `onUnusable` is called
 * if that fails: the connection must then be closed.
 */
export async function runTransaction<T>(
  { client, statements }: { readonly client: pg.PoolClient; readonly statements: ServerStatements },
  work: (transaction: OwnTransaction) => Promise<T>,
  onUnusable: () => void = () => {},
): Promise<T> {
  let isOpen = true;
  const transaction: OwnTransaction = {
    query: async (sql, options = {}) => {
      invariant(isOpen, 'a transaction was used after its end');
      return await statements.queryOn(client, sql, options);
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

/** Receives slow statements of all callers. */
export interface SlowStatementWatch {
  readonly thresholdMs: number;
  readonly onSlow: (statement: EndedStatement, call: Call | undefined) => void;
}

/** Runs a statement and reports it to the listeners. */
async function watched<Row>(
  sql: Sql,
  watch: { readonly call: Call | undefined; readonly slow: SlowStatementWatch | undefined },
  run: () => Promise<Row[]>,
): Promise<Row[]> {
  const { call, slow } = watch;
  const { onStatement, onDuration } = call ?? {};
  const isPartOfTrace = isTraced();
  const isHeard = onStatement !== undefined || onDuration !== undefined;
  if (!isHeard && slow === undefined && !isPartOfTrace) return await run();
  const startedAt = performance.now();
  let rowCount = 0;
  let failure: unknown;
  try {
    const rows = await run();
    rowCount = rows.length;
    return rows;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    if (isPartOfTrace) noteSpan(spanOf(sql, rowCount), { startedAt, error: failure });
    const ended = { sql, durationMs: performance.now() - startedAt, rowCount };
    // Thrown from here, an error would take the place of the statement's own answer.
    if (onStatement !== undefined) guarded(onStatement)(ended);
    if (onDuration !== undefined) guarded(onDuration)(ended.durationMs);
    if (slow !== undefined && ended.durationMs >= slow.thresholdMs) guarded(slow.onSlow)(ended, call);
  }
}

/** Enough to distinguish statements: copying and sending more would be most of the cost of tracing. */
const MAX_TRACED_TEXT = 500;

/** Contains only the text: the values of callers are in parameters, which are never traced. */
function spanOf({ text }: Sql, rowCount: number): Traced {
  const operation = /[a-z]+/i.exec(text)?.[0]?.toLowerCase() ?? 'statement';
  return {
    name: `postgresql ${operation}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': text.slice(0, MAX_TRACED_TEXT).replace(/\s+/g, ' ').trim(),
      'db.response.returned_rows': rowCount,
    },
  };
}

/**
 * No text of a caller reaches a statement that would fail on it: PostgreSQL stores no U+0000, and JSON cast
 * to `jsonb` no escape of it or of half a surrogate pair. Readers of requests report the position of such a
 * character; this check covers everything that they do not look at.
 */
const JSON_CAST = /^::json/;

/** @throws INVALID_VALUE (400) */
export function assertStorableParameters({ strings, values }: Sql): void {
  values.forEach((value, index) => {
    if (Array.isArray(value)) {
      if (value.some(hasNul)) throw unstorable();
    } else if (hasNul(value)) throw unstorable();
    else if (
      typeof value === 'string' &&
      JSON_CAST.test(strings[index + 1] ?? '') &&
      value.includes('\\u') &&
      replaceUnstorableText(value) !== value
    ) {
      throw unstorable();
    }
  });
}

/** The same for the arguments of an operation of Prisma. @throws INVALID_VALUE (400) */
export function assertStorableArguments(value: unknown): void {
  if (hasNul(value)) throw unstorable();
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (hasNul(name)) throw unstorable();
    assertStorableArguments(member);
  }
}

function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

function unstorable(): ServiceError {
  const detail = 'A text holds a character that cannot be stored (U+0000, or half of a surrogate pair).';
  return invalidAt(detail, { expected: 'text without U+0000 and lone surrogates' });
}
