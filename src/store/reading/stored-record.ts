import { type Sql, sql } from '../sql.js';

/** A stored record, as far as the caller may see it. */
export interface StoredRecord {
  readonly id: string;
  /** Starts at 1 and increases with every write; the ETag of the record. */
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** JSON text of the visible fields and `_id`, as Postgres printed it. */
  readonly json: string;
}

/** The `json` of a whole record, from its id and the fields that PostgreSQL printed without it. */
export function printStored(id: string, fields: string): string {
  const start = `{"_id": ${JSON.stringify(id)}`;
  return fields === '{}' ? `${start}}` : `${start}, ${fields.slice(1)}`;
}

/** A row of `storedColumns`. */
export interface StoredRow {
  readonly id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly json: string;
}

/**
 * The select list over the alias `r` for `StoredRecord`s. `projection` is the text of `compileProjection`.
 */
export function storedColumns(projection: Sql): Sql {
  return sql`r.id, r.version, r.created_at, r.updated_at, ${projection} as json`;
}

/** The columns of `StoredRow` with their types. */
export const STORED_COLUMNS =
  'id text, version int, created_at timestamptz, updated_at timestamptz, json text';

/** The same, with a column for whether the caller may write the record. */
export const JUDGED_COLUMNS = `${STORED_COLUMNS}, is_in_rows boolean`;

export interface JudgedRow extends StoredRow {
  readonly is_in_rows: boolean;
}

export function toStoredRecord(row: StoredRow): StoredRecord {
  return {
    id: row.id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    json: row.json,
  };
}
