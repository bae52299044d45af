/** Runs statements: the database, a transaction, or a single connection. */

import type { Call } from '../../base/model/call.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import { type Sql, sql } from '../sql.js';
import type { RowPunctuation } from './row-stream.js';

/** Options for running a statement. */
export interface QueryOptions {
  /** Prepares the statement under this name, once per connection. A name must always have the same text. */
  readonly name?: string | undefined;
  /** Cancels the query in Postgres; the call then throws the signal's reason. */
  readonly signal?: EndSignal | undefined;
  /**
   * `bytes`: text columns are returned as `Buffer`, in the UTF-8 that Postgres sent. For answers that are
   * passed on: reading 20 KB as a string and writing it again costs more than everything else in a request.
   */
  readonly texts?: 'strings' | 'bytes' | undefined;
  /** The call for which it runs. */
  readonly call?: Call | undefined;
  /**
   * For a statement on a single domain, outside transactions: on a sharded database, the server of the domain
   * runs it entirely (shards/shard-statements.ts).
   */
  readonly shardLocal?: ShardLocal | undefined;
  /**
   * A statement to run before it, in the same transaction and round trip. It returns no rows and only reads
   * and locks: on a new connection it runs once more, to be prepared.
   */
  readonly first?: { readonly sql: Sql; readonly name: string } | undefined;
  /**
   * How many rows it goes through because no index finds those that it returns. Default: few. Statements that
   * go through many share a part of the connections, so that the others are left to short ones.
   */
  readonly rows?: number | undefined;
  /** The statement to report to listeners; default: the statement itself. */
  readonly reported?: Sql | undefined;
}

export interface ShardLocal {
  readonly domain: string;
  /** The columns of the rows with their types, as SQL. */
  readonly columns: string;
}

export interface StreamOptions extends QueryOptions {
  /** Default 500. */
  readonly batchRows?: number | undefined;
}

export interface JoinedStreamOptions extends Omit<StreamOptions, 'name' | 'shardLocal'> {
  readonly punctuation: RowPunctuation;
  /** The domain that all of it is about. */
  readonly shardLocal?: Pick<ShardLocal, 'domain'> | undefined;
}

export interface NamedStatement {
  readonly sql: Sql;
  /** The name, as `QueryOptions.name`. */
  readonly name: string | undefined;
}

/** The database, or a transaction. */
export interface Queryable {
  /**
   * Runs one statement in one round trip. Values are as node-postgres reads them, except: `bigint` is a
   * number, and `date` stays the text `YYYY-MM-DD`. `jsonb` is parsed by `JSON.parse`, and thereby through
   * floats: select `::text` where digits matter.
   *
   * @throws ServiceError for errors of the caller or the environment (see database-errors.ts)
   */
  query<Row extends object>(sql: Sql, options?: QueryOptions): Promise<Row[]>;
}

/**
 * Its statements are committed all or none. Must not be used after the callback it was passed to has ended.
 */
export interface Transaction extends Queryable {
  /**
   * The place for `before` scripts, taken before the connection: `WriteTriggers.reserve`. A wrapper of a
   * transaction must pass it on.
   */
  readonly reserved?: { readonly waitedMs: number };
}

/** A transaction on a dedicated connection. */
export interface OwnTransaction extends Transaction {
  /** Sends the lines of a `copy … from stdin`. @throws as `query` does */
  copyIn(statement: string, lines: Uint8Array): Promise<void>;
}

/** A connection for long work, closed afterwards. */
export interface OwnConnection extends Queryable {
  /** Tries to take a lock that is held until the connection ends; returns whether it was free. */
  tryLock(name: string): Promise<boolean>;
  /** Read committed; one transaction at a time. Rolled back if `work` throws. */
  transaction<T>(work: (transaction: OwnTransaction) => Promise<T>): Promise<T>;
}

/** A row as the driver returns it, with the names of the value: `null` where the value is `undefined`. */
export type RowOf<Value> = {
  readonly [Name in keyof Value]: undefined extends Value[Name]
    ? Exclude<Value[Name], undefined> | null
    : Value[Name];
};

export function fromRow<Value extends object>(row: RowOf<Value>): Value {
  const members = Object.entries(row).map(([name, value]) => [name, value ?? undefined]);
  return Object.fromEntries(members) as Value;
}

/** How many rows there are in `from`: tables with their conditions. */
export async function countIn(
  db: Pick<Queryable, 'query'>,
  from: Sql,
  options?: QueryOptions,
): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`select count(*)::int as count from ${from}`, options);
  return row?.count ?? 0;
}

/** The time by the clock of the database, which all gateways share. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(sql`select now() as now`);
  return row?.now ?? new Date();
}
