/** Options for running a statement. */

import type { EndSignal } from '../../base/model/end-signal.js';
import type { StatementCaller } from '../../base/model/statement-caller.js';
import type { Sql } from '../sql.js';
import type { RowPunctuation } from './gathered-rows.js';

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
  /** The caller for whom it runs; the scope of a request is one. */
  readonly caller?: StatementCaller | undefined;
  /**
   * For a statement on a single domain, outside transactions: on a spread database, the server of the domain
   * runs it entirely (home-statements.ts).
   */
  readonly home?: Home | undefined;
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
  readonly told?: Sql | undefined;
}

export interface Home {
  readonly domain: string;
  /** The columns of the rows with their types, as SQL. */
  readonly columns: string;
}

export interface StreamOptions extends QueryOptions {
  /** Default 500. */
  readonly batchRows?: number | undefined;
}

export interface JoinedStreamOptions extends Omit<StreamOptions, 'name' | 'home'> {
  readonly punctuation: RowPunctuation;
  /** The domain that all of it is about. */
  readonly home?: Pick<Home, 'domain'> | undefined;
}

export interface NamedStatement {
  readonly sql: Sql;
  /** The name, as `QueryOptions.name`. */
  readonly name: string | undefined;
}
