/**
 * Statements that a server does whole, where the database is spread over several by Citus. Citus has no plan
 * for an insert that is a part of a statement: it would bring what the one part gives to the coordinator,
 * send it to all servers, and commit on all of them. So the statement goes as a text to a function of ours,
 * which Citus runs on the server that has the domain, and which runs it there on the tables of that domain
 * alone, as one PostgreSQL would.
 *
 * What only the coordinator can do is not for such a statement: numbers of sequences, notifications, and the
 * tables that it alone has.
 */
import pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { QueryOptions } from './query-options.js';
import { toParameterText } from './row-query.js';
import type { ServerStatements } from './server-statements.js';

export interface HomeStatementOptions extends QueryOptions {
  readonly domain: string;
  /** The columns of its rows with their types, as SQL. */
  readonly columns: string;
}

/** The name of statements that are prepared for once. */
const UNNAMED = 'unnamed';

export class HomeStatements {
  readonly #coordinator: ServerStatements;

  constructor(coordinator: ServerStatements) {
    this.#coordinator = coordinator;
  }

  /**
   * Runs the statement where the domain is. With a name it is prepared there.
   *
   * @throws as `Queryable.query`
   */
  async query<Row extends object>(
    { text, values }: Prisma.Sql,
    { domain, columns, name, ...options }: HomeStatementOptions,
  ): Promise<Row[]> {
    const call = Prisma.sql`
      select *
      from run_at_home(${domain}, ${name ?? UNNAMED}, ${text}, ${values.map(toParameterText)}::text[])
        as row (${Prisma.raw(columns)})`;
    return await this.#coordinator.query<Row>(call, { ...options, name: `at home: ${columns}` });
  }

  /** Ids for entries of the audit trail, in their order: those that servers would count do not compare. */
  async takeEntryIds(count: number): Promise<readonly string[]> {
    const rows = await this.#coordinator.query<{ id: string }>(
      Prisma.sql`
        select nextval('audit_entries_id_seq')::text as id from generate_series(1, ${count}::int)`,
      { name: 'take entry ids' },
    );
    return rows.map(({ id }) => id);
  }
}

/**
 * Makes the function. The lock is the one by which Citus keeps writers away from a shard at the end of its
 * move: whoever waited for it finds that the shard is elsewhere now, and asks again.
 *
 * A prepared statement holds the names of the shard, so each shard has one of its own.
 */
const RUN_AT_HOME = `
create or replace function run_at_home(domain text, name text, statement text, parameters text[])
returns setof record
language plpgsql
as $function$
declare
  home bigint := get_shard_id_for_distribution_column('records', domain);
  prepared text := name || '_' || home;
  spread record;
begin
  perform lock_shard_metadata(5, array[home]);
  if not exists (
    select
      from pg_dist_placement p join pg_dist_local_group g on g.groupid = p.groupid
     where p.shardid = home
  ) then
    raise exception 'the domain has moved to another server' using errcode = 'serialization_failure';
  end if;
  if name = '${UNNAMED}' and exists (select from pg_prepared_statements s where s.name = prepared) then
    execute format('deallocate %I', prepared);
  end if;
  if not exists (select from pg_prepared_statements s where s.name = prepared) then
    for spread in
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
    end loop;
    execute format('prepare %I as %s', prepared, statement);
  end if;
  return query execute format(
    'execute %I(%s)',
    prepared,
    (
      select string_agg(quote_nullable(p.value), ', ' order by p.place)
        from unnest(parameters) with ordinality as p (value, place)
    )
  );
end
$function$`;

/** Has Citus run `run_at_home` where the domain is; `records` is spread already. */
export async function spreadHomeStatements(client: pg.ClientBase): Promise<void> {
  await client.query(RUN_AT_HOME);
  await client.query(
    `select create_distributed_function(
      'run_at_home(text, text, text, text[])', 'domain', colocate_with => 'records'
    )`,
  );
}
