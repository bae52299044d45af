/**
 * Ids of audit entries where the database is spread over several servers by Citus. The numbers that each
 * server counts for itself do not compare, and to ask the coordinator for one before a write would keep the
 * write from being done by one server, and give it its number before it waited for another of that record. So
 * an id is made by the statement, out of the time; it is larger than any that was counted before.
 */
import type pg from 'pg';
import { spreadFunction } from './spread-function.js';

/**
 * Microseconds since 2025, which fit into a number of JavaScript until 2042; of entries of one moment, as
 * they were counted; and what a server counted is another number than what the coordinator did.
 */
const NEXT = `
declare
  n bigint := nextval('audit_entries_id_seq');
begin
  return ((extract(epoch from clock_timestamp()) * 1000000)::bigint - 1735689600000000) * 16
    + (n & 7) * 2 + (n >> 48 <> 0)::int;
end
`;

/** Has all entries get ids of `next_entry_id`; `audit_entries` is spread already. */
export async function spreadEntryIds(client: pg.ClientBase): Promise<void> {
  await spreadFunction(client, {
    signature: 'next_entry_id()',
    returns: 'bigint',
    body: NEXT,
  });
  const { rows } = await client.query(
    `select
       from pg_attrdef
      where adrelid = 'audit_entries'::regclass and pg_get_expr(adbin, adrelid) = 'next_entry_id()'`,
  );
  if (rows.length > 0) return;
  await client.query('alter table audit_entries alter column id set default next_entry_id()');
}
