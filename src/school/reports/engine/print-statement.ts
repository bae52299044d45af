/**
 * The SQL of a report as text for `psql`, with every parameter as a literal. For people to read, never to be
 * run by the gateway.
 */
import type { Sql } from '../../../store/sql.js';

export function printStatement(sql: Sql): string {
  return sql.text
    .replaceAll(/\$(\d+)/g, (_, position: string) => printLiteral(sql.values[Number(position) - 1]))
    .trim();
}

function printLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return `'${String(value).replaceAll("'", "''")}'`;
}
