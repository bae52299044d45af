/**
 * Statistics on the expressions of a collection's indexes.
 *
 * Postgres gathers statistics for an expression index but does not use them if the index is partial, as ours
 * are: it then estimates one record in 200 for every equality. A day of a class was read through the index of
 * the class, in 290 ms of 300,000 records; with statistics, through that of the day, in 0.6.
 *
 * @see https://www.postgresql.org/docs/current/sql-createstatistics.html
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Collection } from '../../base/model/collection.js';

export interface StatisticsDescription {
  /** Derived from collection and expression. At most 63 characters. */
  readonly name: string;
  /** The text between `on` and `from`. */
  readonly expression: string;
}

/** One for every declared field with an index, because each adds to the cost of ANALYZE and of planning. */
export function listDeclaredStatistics(
  collection: Pick<Collection, 'name' | 'fields' | 'indexes'>,
): StatisticsDescription[] {
  const together = new Set(collection.indexes.flat().map(([name]) => name));
  return collection.fields
    .filter((field) => field.isIndexed || field.isUnique || together.has(field.name))
    .filter((field) => !field.isList && field.type !== 'object')
    .map((field) => {
      const steps = field.type === 'reference' ? [field.name, 'value'] : [field.name];
      const expression = `(data${steps.map((step) => `->${pg.escapeLiteral(step)}`).join('')})`;
      const hash = createHash('sha256').update(`${collection.name} ${expression}`).digest('hex').slice(0, 8);
      return { name: `${collection.name.slice(0, 24)}_${field.name.slice(0, 22)}_stat_${hash}`, expression };
    });
}

/** Creates missing statistics, and analyzes the table once if it has records. `table` is a quoted name. */
export async function ensureStatistics(
  client: pg.ClientBase,
  table: string,
  wanted: readonly StatisticsDescription[],
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select stxname as name from pg_statistic_ext where stxrelid = to_regclass($1)',
    [table],
  );
  const existing = new Set(rows.map((row) => row.name));
  const missing = wanted.filter((statistics) => !existing.has(statistics.name));
  if (missing.length === 0) return;
  for (const { name, expression } of missing) {
    await client.query(
      `create statistics if not exists ${pg.escapeIdentifier(name)} on ${expression} from ${table}`,
    );
  }
  const { rowCount } = await client.query(`select 1 from ${table} limit 1`);
  if (rowCount !== 0) await client.query(`analyze ${table}`);
}
