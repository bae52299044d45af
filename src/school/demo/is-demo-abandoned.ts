import type pg from 'pg';
import { DEMO_DOMAIN } from './demo-options.js';

/**
 * Whether the demo school is one that an earlier version, which set the passwords after the records, was
 * stopped at: nobody can log in to it, nobody ever could, and nothing was written in it.
 */
export async function isDemoAbandoned(database: Pick<pg.ClientBase, 'query'>): Promise<boolean> {
  const { rows } = await database.query<{ isAbandoned: boolean }>(
    `select exists (select 1 from records where domain = $1)
       and not exists (select 1 from credentials)
       and not exists (select 1 from audit_entries) as "isAbandoned"
      from domains
     where id = $1 and parent_id is null`,
    [DEMO_DOMAIN],
  );
  return rows[0]?.isAbandoned === true;
}
