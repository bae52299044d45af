import { sql } from '../sql.js';
import type { Queryable } from './queryable.js';

/** The time by the clock of the database, which all gateways share. */
export async function databaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.query<{ now: Date }>(sql`select now() as now`);
  return row?.now ?? new Date();
}
