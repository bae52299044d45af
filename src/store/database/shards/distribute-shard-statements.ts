/**
 * The functions by which each server of a database that is spread by Citus runs whole statements of its own
 * domains (home-statements.ts).
 */
import type pg from 'pg';
import { distributeFunction } from './distribute-function.js';

/** The error of a server that no longer has the domain. */
export const MOVED = 'the domain has moved to another server';
/** The name of statements that are prepared for once. */
export const UNNAMED = 'unnamed';
/**
 * What `keep_at_home` does. The lock is the one by which Citus keeps writers away from a shard at the end of
 * its move: whoever waited for it finds that the shard is elsewhere now, and asks again.
 */
const KEEPING = `
begin
  perform lock_shard_metadata(5, array[home]);
  if not exists (
    select
      from pg_dist_placement p join pg_dist_local_group g on g.groupid = p.groupid
     where p.shardid = home
  ) then
    raise exception '${MOVED}' using errcode = 'serialization_failure';
  end if;
end
`;

/**
 * What `stay_at_home` does: the same as `keep_at_home` for a caller that knows the number of the server. It
 * precedes each statement that the gateway sends to a server itself, so it does as little as it can: it joins
 * nothing, gives no set, and takes the lock in an expression, for which PL/pgSQL runs no statement.
 */
const STAYING = `
begin
  if lock_shard_metadata(5, array[home]) is null then
  end if;
  if (select p.groupid from pg_dist_placement p where p.shardid = home) is distinct from here then
    raise exception '${MOVED}' using errcode = 'serialization_failure';
  end if;
  return true;
end
`;

/** Names the tables of the shard in `statement` instead of the spread ones. */
const NAMING_SHARD = `for spread in
      select p.logicalrelid as id, c.relname as name
        from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
       where c.relnamespace = current_schema()::regnamespace
         and not c.relispartition
    loop
      statement := regexp_replace(
        statement,
        '(\\m(?:from|join|into|update)\\s+)' || spread.name || '\\M',
        '\\1' || shard_name(spread.id, get_shard_id_for_distribution_column(spread.id, domain)),
        'g'
      );
    end loop;`;

const LISTING_LITERALS = `foreach parameter in array parameters loop
    literals := literals || ', ' || quote_nullable(parameter);
  end loop;`;

/**
 * What `run_at_home` does. A prepared statement holds the names of the shard, so each shard has one of its
 * own. What is prepared is noted in a setting, for the list of prepared statements takes long to read.
 */
const RUNNING = `
declare
  home bigint := get_shard_id_for_distribution_column('records', domain);
  prepared text := name || '_' || home;
  mark text := 'campus.at_home_' || prepared;
  spread record;
  parameter text;
  literals text := '';
begin
  perform keep_at_home(home);
  if name = '${UNNAMED}' or current_setting(mark, true) is distinct from 'prepared' then
    if exists (select from pg_prepared_statements s where s.name = prepared) then
      execute format('deallocate %I', prepared);
    end if;
    ${NAMING_SHARD}
    execute format('prepare %I as %s', prepared, statement);
    perform set_config(mark, 'prepared', false);
  end if;
  ${LISTING_LITERALS}
  return query execute 'execute ' || quote_ident(prepared)
    || case when literals = '' then '' else '(' || substr(literals, 3) || ')' end;
end
`;

/** What `ask_at_home` does. What has no parameters need not be one of the statements that can be prepared. */
const ASKING = `
declare
  home bigint := get_shard_id_for_distribution_column('records', domain);
  spread record;
  parameter text;
  literals text := '';
  given record;
begin
  perform keep_at_home(home);
  ${NAMING_SHARD}
  if cardinality(parameters) > 0 then
    if exists (select from pg_prepared_statements s where s.name = 'asked') then
      deallocate asked;
    end if;
    execute 'prepare asked as ' || statement;
    ${LISTING_LITERALS}
    statement := 'execute asked(' || substr(literals, 3) || ')';
  end if;
  if gives_rows then
    for given in execute statement loop
      return next to_json(given);
    end loop;
  else
    execute statement;
  end if;
end
`;

/** Makes the functions of statements at home, those with a domain to be run where it is. */
export async function distributeShardStatements(client: pg.ClientBase): Promise<void> {
  await distributeFunction(client, {
    signature: 'keep_at_home(home bigint)',
    returns: 'setof void',
    body: KEEPING,
  });
  await distributeFunction(client, {
    signature: 'stay_at_home(home bigint, here integer)',
    returns: 'boolean',
    body: STAYING,
  });
  await distributeFunction(client, {
    signature: 'run_at_home(domain text, name text, statement text, parameters text[])',
    returns: 'setof record',
    body: RUNNING,
    domain: 'domain',
  });
  await distributeFunction(client, {
    signature: 'ask_at_home(domain text, statement text, parameters text[], gives_rows boolean)',
    returns: 'setof json',
    body: ASKING,
    domain: 'domain',
  });
}
