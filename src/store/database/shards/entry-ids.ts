/**
 * Ids of audit entries in a database spread by Citus. Sequences of different servers are not comparable, and
 * asking the coordinator for a number would prevent a write from running on one server, and would fix its
 * number before it waits for another write to the record. The statement therefore derives the id from the
 * time; it is larger than any earlier sequence number.
 */
import type pg from 'pg';
import { distributeFunction } from './distribute-function.js';

/**
 * Microseconds since 2025, which fit a JavaScript number until 2042. Entries of the same moment are in the
 * order of their sequence, and the numbers of a server never equal the coordinator's.
 */
const NEXT = `
declare
  n bigint := nextval('audit_entries_id_seq');
begin
  return ((extract(epoch from clock_timestamp()) * 1000000)::bigint - 1735689600000000) * 16
    + (n & 7) * 2 + (n >> 48 <> 0)::int;
end
`;

/** Makes all entries get their id from `next_entry_id`; `audit_entries` must already be spread. */
export async function distributeEntryIds(client: pg.ClientBase): Promise<void> {
  await distributeFunction(client, {
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
