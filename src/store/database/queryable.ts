/** Runs statements: the database, a transaction, or a single connection. */
import type { Sql } from '../sql.js';
import type { QueryOptions } from './query-options.js';

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
