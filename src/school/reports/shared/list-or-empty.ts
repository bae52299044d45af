import { type Sql, sql } from '../../../store/sql.js';

/**
 * A list in a record; empty if it is missing or not a list, because one faulty record must not fail a report.
 */
export function listOrEmpty(value: Sql): Sql {
  return sql`case when jsonb_typeof(${value}) = 'array' then ${value} else '[]' end`;
}
