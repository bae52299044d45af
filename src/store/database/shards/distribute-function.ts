/** Functions of ours that are needed only where the database is spread over several servers by Citus. */
import pg from 'pg';

export interface DistributedFunction {
  /** Its name, and its parameters with their names and types. */
  readonly signature: string;
  readonly returns: string;
  /** In PL/pgSQL: one in SQL that reads a table would be read and planned anew by each statement. */
  readonly body: string;
  /** The parameter with the domain on whose server each call is run. Default: it runs where it is called. */
  readonly domain?: string;
}

/** Makes the function on all servers, unless it is there as it should be. */
export async function distributeFunction(client: pg.ClientBase, made: DistributedFunction): Promise<void> {
  const { signature, returns, body, domain } = made;
  const name = signature.replace(/\(.*/, '');
  const found = `
    select p.oid::regprocedure::text as function
      from pg_proc p left join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
     where p.proname = $1 and p.pronamespace = current_schema()::regnamespace`;
  const isMade = `p.prosrc = $2 and o.objid is not null
    and (o.distribution_argument_index is not null) = $3 and coalesce(o.force_delegation, false) = $3`;
  const { rows } = await client.query(`${found} and ${isMade}`, [name, body, domain !== undefined]);
  if (rows.length > 0) return;
  await client.query(
    `create or replace function ${signature} returns ${returns} language plpgsql
     as ${pg.escapeLiteral(body)}`,
  );
  const { rows: functions } = await client.query<{ function: string }>(found, [name]);
  for (const { function: called } of functions) {
    if (domain === undefined) {
      await client.query('select create_distributed_function($1::regprocedure)', [called]);
    } else {
      // It is forced, for within a transaction it would run where it is called otherwise.
      const spread = `select create_distributed_function($1::regprocedure, $2, colocate_with => 'records',
        force_delegation => true)`;
      await client.query(spread, [called, domain]);
    }
  }
}
