/** How statements are run, beside what they say. */

import type { Prisma } from '../../generated/prisma/client.js';
import type { EndSignal } from '../../model/end-signal.js';
import type { StatementCaller } from '../../model/statement-caller.js';

export interface QueryOptions {
  /**
   * Prepares the statement under this name, once a connection. The same name must always mean the same text.
   */
  readonly name?: string | undefined;
  /** Ends the query in Postgres; the call then throws the signal's reason. */
  readonly signal?: EndSignal | undefined;
  /**
   * `bytes`: columns of type text come as `Buffer`, the UTF-8 that Postgres sent. For answers that are passed
   * on: reading 20 KB as a string and writing it again costs more than all else of a request.
   */
  readonly texts?: 'strings' | 'bytes' | undefined;
  /** The caller on whose behalf it runs; the scope of a request is one. */
  readonly caller?: StatementCaller | undefined;
  /**
   * For a statement about one domain, outside transactions: where the database is spread over several
   * servers, that of the domain does it whole (home-statements.ts).
   */
  readonly home?: Home | undefined;
  /**
   * A statement that comes before it, in one transaction with it and one round trip. It gives no rows, and
   * does no more than look and lock: on a new connection it is run once more, to be prepared.
   */
  readonly first?: { readonly sql: Prisma.Sql; readonly name: string } | undefined;
  /** What those who hear of statements are told ran; default: the statement itself. */
  readonly told?: Prisma.Sql | undefined;
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

export interface NamedStatement {
  readonly sql: Prisma.Sql;
  /** The name, as `QueryOptions.name`. */
  readonly name: string | undefined;
}
