/** Shared parts of writing a batch from its staging table, `import_staged`. */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import type { EffectiveAccess } from '../access/access.js';
import type { Database } from '../database/database.js';
import type { OwnTransaction, Transaction } from '../database/queryable.js';
import type { RecordsPlace } from '../database/shards/shard-statements.js';
import { nameLiteral } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';
import { COPY_STAGED, listStagedCells } from './check-record.js';
import type { RecordEnvironment } from './record-environment.js';
import type { UniqueKey } from './unique-key.js';

export interface StagedBatch {
  readonly key: UniqueKey;
  /** The lines printed by `printStagedLine`. */
  readonly lines: Uint8Array;
  readonly count: number;
  /** The top-level fields that occur in any of the records. */
  readonly fields: readonly string[];
  /** `try`: the caller rolls the write back, so nothing is announced, and the old values are reported. */
  readonly mode: 'write' | 'try';
  readonly now: Date;
}

export interface StagedUpdate {
  readonly number: number;
  readonly id: string;
  /** The top-level fields that differ. */
  readonly fields: readonly string[];
  /** The old and the new value of each, in a trial; of fields that the caller may not read, neither. */
  readonly changes?: readonly StagedFieldChange[];
}

export interface StagedFieldChange {
  readonly field: string;
  /** `undefined`: the record had no value, or the caller may not read it. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

export interface StagedRefusal {
  readonly number: number;
  readonly errors: readonly ErrorDetail[];
}

/** A batch in progress, with the rights of its caller. */
export interface StagedWork {
  readonly environment: RecordEnvironment;
  readonly transaction: OwnTransaction;
  /** Where the staging table is; in the transaction too. */
  readonly place: StagingPlace;
  readonly scope: Scope;
  readonly collection: Collection;
  readonly batch: StagedBatch;
  readonly readable: EffectiveAccess;
  readonly creatable: EffectiveAccess;
  readonly writable: EffectiveAccess;
}

/** The conditions over `r` for the existing records that rows may update, and may not. */
export function reachOf({ environment, scope, collection, readable, writable }: StagedWork): readonly Sql[] {
  return [readable, writable].flatMap((access) => environment.rowsOf(scope, collection, access) ?? []);
}

/** The record `r` after applying the staged row `s`. */
export const BECAME = sql`case
        when s.members is null and s.removed = '{}' then r.data || (s.data - s.withheld)
        when s.members is null then (r.data - s.removed) || (s.data - s.withheld)
        else with_members((r.data - s.removed) || (s.data - s.withheld), s.members)
      end`;

/** Rows of `inputOf` as records, for a condition over `r`. */
export function asRecords(scope: Scope, collection: Collection, input: Sql): Sql {
  return sql`
    select ${scope.domain.id}::text as domain, ${nameLiteral(collection.name)}::text as collection,
      i.id, i.data, i.position, null::timestamptz as deleted_at
    from (${input}) as i`;
}

/** Deletes rows from the staging table that are finished. */
export async function forgetStaged(place: StagingPlace, numbers: readonly number[]): Promise<void> {
  await place.run(sql`
    delete from import_staged where number = any(${[...numbers]}::bigint[])`);
}

export function errorsOfFault(fault: ServiceError): readonly ErrorDetail[] {
  return fault.errors ?? [{ detail: fault.message }];
}

export function stagedRecord(text: string | undefined): JsonObject {
  const record = parseExactJson(text ?? '{}');
  if (!isJsonObject(record)) throw new Error('what is staged is no object');
  return record;
}

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
