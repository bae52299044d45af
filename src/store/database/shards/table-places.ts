/**
 * The place of each table when Citus spreads the database over several servers: all rows of a domain are on
 * one of them. A single PostgreSQL has no such places, and does not use this file.
 */
import pg from 'pg';
import { inTransaction } from '../lone-client.js';

/**
 * - `column`: a row is on the server of the domain that the column names, beside all others of that domain.
 * - `coordinator`: the rows are looked through for all domains, locked there by whoever works, or found
 *   before a domain is known.
 *
 * None is on every server: it could be written only while all of them are there.
 */
export type TablePlace = DistributedPlace | 'coordinator';

interface DistributedPlace {
  readonly column: string;
}

const BY_DOMAIN: TablePlace = { column: 'domain' };
const BY_DOMAIN_ID: TablePlace = { column: 'domain_id' };

/** Every table, as a test checks. `records` comes before the tables that are placed beside it. */
export const TABLE_PLACES: ReadonlyMap<string, TablePlace> = new Map<string, TablePlace>([
  ['records', BY_DOMAIN],
  ['audit_entries', BY_DOMAIN],
  ['change_outbox', BY_DOMAIN],
  ['fee_months', BY_DOMAIN],
  ['attendance_months', BY_DOMAIN],
  ['collected_receipts', BY_DOMAIN],
  ['receipt_series', BY_DOMAIN],
  ['idempotency_keys', BY_DOMAIN_ID],
  ['files', BY_DOMAIN],
  ['file_chunks', BY_DOMAIN],
  ['import_seen', BY_DOMAIN],
  ['script_runs', BY_DOMAIN_ID],
  ['script_log', BY_DOMAIN_ID],
  // Credentials are found by a secret before their domain is known; the end of a session is announced there.
  ['account_links', 'coordinator'],
  ['api_keys', 'coordinator'],
  ['credentials', 'coordinator'],
  ['key_requests', 'coordinator'],
  ['key_usage', 'coordinator'],
  ['login_failures', 'coordinator'],
  ['rate_counters', 'coordinator'],
  ['recovery_codes', 'coordinator'],
  ['refresh_tokens', 'coordinator'],
  ['second_factors', 'coordinator'],
  ['sessions', 'coordinator'],
  // Queues: whoever works takes the next of all domains.
  ['erasures', 'coordinator'],
  ['import_errors', 'coordinator'],
  ['import_mappings', 'coordinator'],
  ['import_outcomes', 'coordinator'],
  ['imports', 'coordinator'],
  ['message_attachments', 'coordinator'],
  ['messages', 'coordinator'],
  ['told_changes', 'coordinator'],
  ['topic_messages', 'coordinator'],
  ['webhook_deliveries', 'coordinator'],
  ['webhook_position', 'coordinator'],
  ['webhooks', 'coordinator'],
  // Small, and of the whole instance.
  ['_prisma_migrations', 'coordinator'],
  ['collections', 'coordinator'],
  ['domains', 'coordinator'],
  ['field_uses', 'coordinator'],
  ['properties', 'coordinator'],
  ['script_versions', 'coordinator'],
  ['scripts', 'coordinator'],
  ['settings', 'coordinator'],
]);

/**
 * Has a transaction use one connection to each server of Citus: on several, one would wait for what another
 * does in this transaction.
 */
export const IN_TURN = `set local citus.multi_shard_modify_mode = 'sequential'`;

/** Has a transaction define things on the coordinator alone, and again on all servers of Citus. */
export const DEFINE_HERE = 'set local citus.enable_ddl_propagation = off';
export const DEFINE_EVERYWHERE = 'set local citus.enable_ddl_propagation = on';

/** Whether the database that `client` is connected to is sharded by Citus. */
export async function isSharded(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`select 1 from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/**
 * Distributes the tables that are not distributed yet, each in a transaction of its own; an interrupted call
 * is continued by the next. Does nothing without Citus. Returns the names of the distributed tables.
 */
export async function distributeTables(client: pg.ClientBase): Promise<readonly string[]> {
  if (!(await isSharded(client))) return [];
  const spread = await listDistributedTables(client);
  // Versions before had tables on all servers that are on the coordinator now.
  const takeBack = 'select undistribute_table($1::regclass, cascade_via_foreign_keys => true)';
  for (const [name, place] of TABLE_PLACES)
    if (place === 'coordinator' && spread.has(name))
      await client.query(takeBack, [pg.escapeIdentifier(name)]);
  const missing = [...TABLE_PLACES].flatMap(([name, place]) =>
    place === 'coordinator' || spread.has(name) ? [] : [[name, place] as const],
  );
  for (const [name, place] of missing) {
    await inTransaction(client, 0, async () => {
      await makeFit(client, name, place);
      await client.query(distributedStatement(name, place));
    });
  }
  await removeLocalCopies(client);
  await distributeFunctions(client);
  await distributeEntryIds(client);
  await distributeShardStatements(client);
  // A server that is down or refuses is left alone until the next start.
  await client.query('select run_command_on_all_nodes($1)', [SWITCHING_OFF_JIT]);
  return missing.map(([name]) => name);
}

/**
 * Removes the rows that a table had before it was distributed: they were copied to the servers, and still
 * take up room on the coordinator, where no statement sees them.
 */
async function removeLocalCopies(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `select c.oid::regclass::text as table
       from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind = 'r'
        and pg_relation_size(c.oid) > 0
      order by 1`,
  );
  for (const { table } of rows) {
    await client.query('select truncate_local_data_after_distributing_table($1::regclass)', [table]);
  }
}

/**
 * Has a server run statements without compiling them, unless the operator has set it either way. The
 * gateway sets that for its own connections only, and not for those between the servers, where a report was
 * compiled for ten seconds and more. Citus would pass it on, and refuse it on a worker.
 */
const SWITCHING_OFF_JIT = `do $do$
begin
  if not exists (
    select
      from pg_db_role_setting s
      join pg_database d on d.oid = s.setdatabase
     cross join unnest(s.setconfig) as setting
     where d.datname = current_database() and s.setrole = 0 and setting like 'jit=%'
  ) then
    set local citus.enable_ddl_propagation = off;
    execute format('alter database %I set jit = off', current_database());
  end if;
end
$do$`;

/** The statement by which a table goes to its place, or a new partition of the records to that of theirs. */
export function distributedStatement(name: string, place: DistributedPlace): string {
  const table = pg.escapeLiteral(pg.escapeIdentifier(name));
  const beside = name === 'records' ? '' : `, colocate_with => 'records'`;
  return `select create_distributed_table(${table}, ${pg.escapeLiteral(place.column)}${beside})`;
}

async function listDistributedTables(client: pg.ClientBase): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name
       from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = current_schema()::regnamespace`,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Removes what a distributed table cannot have and only a single PostgreSQL needs: triggers, foreign keys to
 * the coordinator, and keys without the domain, each of which has a counterpart with the domain.
 */
async function makeFit(client: pg.ClientBase, name: string, place: DistributedPlace): Promise<void> {
  const table = pg.escapeIdentifier(name);
  const { rows: triggers } = await client.query<{ name: string }>(
    'select tgname as name from pg_trigger where tgrelid = to_regclass($1) and not tgisinternal',
    [table],
  );
  for (const trigger of triggers) {
    await client.query(`drop trigger ${pg.escapeIdentifier(trigger.name)} on ${table}`);
  }
  const { rows: constraints } = await client.query<{ name: string }>(
    `select k.conname as name
       from pg_constraint k
      where k.conrelid = to_regclass($1)
        and k.contype in ('p', 'u', 'f')
        and not exists (
          select
            from pg_attribute a
           where a.attrelid = k.conrelid and a.attnum = any (k.conkey) and a.attname = $2
        )`,
    [table, place.column],
  );
  for (const constraint of constraints) {
    await client.query(`alter table ${table} drop constraint ${pg.escapeIdentifier(constraint.name)}`);
  }
}

/** Statements that go to a server call functions of ours there; those of extensions are there with them. */
async function distributeFunctions(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature
       from pg_proc p
      where p.pronamespace = current_schema()::regnamespace
        and p.prokind in ('f', 'a')
        and p.prorettype <> 'trigger'::regtype
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
        and not exists (
          select
            from pg_dist_object o
           where o.classid = 'pg_proc'::regclass and o.objid = p.oid
        )
      order by p.oid`,
  );
  for (const { signature } of rows) {
    await client.query('select create_distributed_function($1::regprocedure)', [signature]);
  }
}

/** The error of a server that no longer has the domain. */
export const MOVED = 'the domain has moved to another server';
/** The name of statements that are prepared for once. */
export const UNNAMED = 'unnamed';
/**
 * The body of `keep_at_home`. Its lock is the one by which Citus keeps writers from a shard at the end of its
 * move: a caller that waited for it finds that the shard is elsewhere now, and tries again.
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
 * The body of `stay_at_home`: the same as `keep_at_home` for a caller that knows the number of the server. It
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

/** Names the tables of the shard in `statement` instead of the distributed ones. */
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
 * The body of `run_at_home`. A prepared statement contains the names of the shard, so each shard has one of
 * its own. A setting notes what is prepared, because the list of prepared statements takes long to read.
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

/** The body of `ask_at_home`. A statement without parameters need not be one that can be prepared. */
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
async function distributeShardStatements(client: pg.ClientBase): Promise<void> {
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

/** Functions of ours that are needed only where the database is sharded over several servers by Citus. */
interface DistributedFunction {
  /** Its name, and its parameters with their names and types. */
  readonly signature: string;
  readonly returns: string;
  /** In PL/pgSQL: one in SQL that reads a table would be read and planned anew by each statement. */
  readonly body: string;
  /** The parameter with the domain on whose server each call is run. Default: it runs where it is called. */
  readonly domain?: string;
}

/** Makes the function on all servers, unless it is there as it should be. */
async function distributeFunction(client: pg.ClientBase, made: DistributedFunction): Promise<void> {
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

/** Makes all entries get their id from `next_entry_id`; `audit_entries` must already be distributed. */
async function distributeEntryIds(client: pg.ClientBase): Promise<void> {
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
