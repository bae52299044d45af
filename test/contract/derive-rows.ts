import type pg from 'pg';
import { isTestedOnCitus } from '../spread-databases.js';

/**
 * Adds up anew what follows from records (fees owed, attendance), of all domains, after a test wrote records
 * past the gateway. On one PostgreSQL triggers do that at once, and there is nothing to do.
 */
export async function deriveRows(sql: pg.Pool): Promise<void> {
  if (isTestedOnCitus()) await sql.query('select derive_rows_anew(null)');
}
