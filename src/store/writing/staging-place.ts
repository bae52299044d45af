/**
 * The server that has the records of a domain and, beside them, the staging table of a transaction:
 * `import_staged`. Where the database is spread over several servers, that is not the one that leads the
 * transaction.
 */

import { type JsonValue, printExactJson } from '../../base/json/json.js';
import type { Database } from '../database/database.js';
import type { OwnTransaction, Transaction } from '../database/queryable.js';
import type { RecordsPlace } from '../database/shards/shard-statements.js';
import { type Sql, sql } from '../sql.js';
import { COPY_STAGED, listStagedCells } from './check-record.js';

export interface StagingPlace extends RecordsPlace {
  /** Fills the staging table with the lines that `printStagedLine` printed. */
  load(lines: Uint8Array): Promise<void>;
}

export function stagingPlaceOf(
  { home }: Pick<Database, 'home'>,
  transaction: OwnTransaction,
  domain: string,
): StagingPlace {
  const place = recordsPlaceOf({ home }, transaction, domain);
  const load = (lines: Uint8Array) =>
    home === undefined ? transaction.copyIn(COPY_STAGED, lines) : place.run(insertStaged(lines));
  return { ...place, load };
}

/** The server that has the records of a domain, within a transaction. */
export function recordsPlaceOf(
  { home }: Pick<Database, 'home'>,
  transaction: Transaction,
  domain: string,
): RecordsPlace {
  if (home !== undefined) return home.session(transaction, domain);
  return {
    query: (sql) => transaction.query(sql),
    run: async (sql) => {
      await transaction.query(sql);
    },
    tableName: async (table) => table,
  };
}

function insertStaged(lines: Uint8Array): Sql {
  const rows = printExactJson(listStagedCells(lines) as JsonValue);
  return sql`
    insert into import_staged (number, id, is_id_sent, data, withheld, removed, members, keys, missing)
    select (s->>0)::bigint, s->>1, (s->>2)::boolean, (s->>3)::jsonb, (s->>4)::text[], (s->>5)::text[],
      (s->>6)::jsonb, (s->>7)::jsonb, (s->>8)::jsonb
    from json_array_elements(${rows}::json) as s`;
}
