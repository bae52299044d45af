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
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { invariant } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { HomeServer } from './home-server.js';
import type { Home, QueryOptions } from './query-options.js';
import { toParameterText } from './row-query.js';
import type { ServerStatements } from './server-statements.js';
import type { SlowStatementWatch } from './statement-watch.js';

export interface HomeStatementsOptions {
  readonly coordinator: ServerStatements;
  readonly openServer: (host: string, port: number) => HomeServer;
}

/** The name of statements that are prepared for once. */
const UNNAMED = 'unnamed';
/** After so long it is asked again where a domain is: if it has moved, its statements take a way round. */
const KNOWN_MS = 10_000;
const MOST_KNOWN = 10_000;

export class HomeStatements {
  readonly #coordinator: ServerStatements;
  readonly #openServer: HomeStatementsOptions['openServer'];
  readonly #servers = new Map<string, HomeServer>();
  readonly #serverByDomain = new LRUCache<string, Promise<HomeServer>>({ max: MOST_KNOWN, ttl: KNOWN_MS });

  #slow: SlowStatementWatch | undefined;

  constructor({ coordinator, openServer }: HomeStatementsOptions) {
    this.#coordinator = coordinator;
    this.#openServer = openServer;
  }

  /**
   * Runs the statement where the domain is; with a name it is prepared there. It is asked of that server, or
   * of the coordinator where that server was never reached from here; either finds the right one, should the
   * domain have moved since.
   *
   * @throws as `Queryable.query`
   */
  async query<Row extends object>(
    sql: Prisma.Sql,
    { domain, columns }: Home,
    { name, ...options }: Omit<QueryOptions, 'home'> = {},
  ): Promise<Row[]> {
    const { text, values } = sql;
    const call = Prisma.sql`
      select *
      from run_at_home(${domain}, ${name ?? UNNAMED}, ${text}, ${values.map(toParameterText)}::text[])
        as row (${Prisma.raw(columns)})`;
    const statements = await this.#statementsFor(domain);
    return await statements.query<Row>(call, { ...options, name: nameOfCall(columns), told: sql });
  }

  /** Tells `watch` from now on of every statement that took long on another server than the coordinator. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#slow = watch;
    for (const { statements } of this.#servers.values()) statements.watchSlow(watch);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  async #statementsFor(domain: string): Promise<ServerStatements> {
    let finding = this.#serverByDomain.get(domain);
    if (finding === undefined) {
      finding = this.#findServer(domain);
      this.#serverByDomain.set(domain, finding);
      finding.catch(() => this.#serverByDomain.delete(domain));
    }
    const server = await finding;
    return server.wasReached ? server.statements : this.#coordinator;
  }

  async #findServer(domain: string): Promise<HomeServer> {
    const [row] = await this.#coordinator.query<{ host: string; port: number }>(Prisma.sql`
      select n.nodename as host, n.nodeport as port
        from pg_dist_placement p
        join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
       where p.shardid = get_shard_id_for_distribution_column('records', ${domain}::text)`);
    invariant(row, 'every domain is somewhere');
    const key = `${row.host}:${row.port}`;
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = this.#openServer(row.host, row.port);
    if (this.#slow !== undefined) server.statements.watchSlow(this.#slow);
    this.#servers.set(key, server);
    return server;
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

const namesOfCalls = new Map<string, string>();

/** PostgreSQL knows 63 characters of a name. There are as many as there are kinds of rows. */
function nameOfCall(columns: string): string {
  const known = namesOfCalls.get(columns);
  if (known !== undefined) return known;
  const name = `at_home_${createHash('sha256').update(columns).digest('hex').slice(0, 24)}`;
  namesOfCalls.set(columns, name);
  return name;
}

/**
 * What `run_at_home` does. The lock is the one by which Citus keeps writers away from a shard at the end of
 * its move: whoever waited for it finds that the shard is elsewhere now, and asks again.
 *
 * A prepared statement holds the names of the shard, so each shard has one of its own. What is prepared is
 * noted in a setting, for the list of prepared statements takes long to read.
 */
const BODY = `
declare
  home bigint := get_shard_id_for_distribution_column('records', domain);
  prepared text := name || '_' || home;
  mark text := 'campus.at_home_' || prepared;
  spread record;
  parameter text;
  literals text := '';
begin
  perform lock_shard_metadata(5, array[home]);
  if not exists (
    select
      from pg_dist_placement p join pg_dist_local_group g on g.groupid = p.groupid
     where p.shardid = home
  ) then
    raise exception 'the domain has moved to another server' using errcode = 'serialization_failure';
  end if;
  if name = '${UNNAMED}' or current_setting(mark, true) is distinct from 'prepared' then
    if exists (select from pg_prepared_statements s where s.name = prepared) then
      execute format('deallocate %I', prepared);
    end if;
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
    perform set_config(mark, 'prepared', false);
  end if;
  foreach parameter in array parameters loop
    literals := literals || ', ' || quote_nullable(parameter);
  end loop;
  return query execute 'execute ' || quote_ident(prepared)
    || case when literals = '' then '' else '(' || substr(literals, 3) || ')' end;
end
`;

/** Has Citus run `run_at_home` where the domain is; `records` is spread already. */
export async function spreadHomeStatements(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(
    `select
       from pg_proc p join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
      where p.oid = to_regprocedure('run_at_home(text, text, text, text[])')
        and p.prosrc = $1
        and o.distribution_argument_index is not null`,
    [BODY],
  );
  if (rows.length > 0) return;
  await client.query(
    `create or replace function run_at_home(domain text, name text, statement text, parameters text[])
     returns setof record
     language plpgsql
     as ${pg.escapeLiteral(BODY)}`,
  );
  await client.query(
    `select create_distributed_function(
      'run_at_home(text, text, text, text[])', 'domain', colocate_with => 'records'
    )`,
  );
}
