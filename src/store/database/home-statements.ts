/**
 * Statements that a server does whole, where the database is spread over several by Citus. Citus has no plan
 * for an insert that is a part of a statement: it would bring what the one part gives to the coordinator,
 * send it to all servers, and commit on all of them. So the server that has the domain is asked itself, and
 * of the tables of that domain alone, as one PostgreSQL would be. Where it cannot be reached from here, the
 * statement goes as a text to a function of ours, which Citus runs on that server and which does the same.
 *
 * What only the coordinator can do is not for such a statement: notifications, and the tables that it alone
 * has.
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
import { ShardTables } from './shard-tables.js';
import { spreadFunction } from './spread-function.js';
import type { SlowStatementWatch } from './statement-watch.js';

export interface HomeStatementsOptions {
  readonly coordinator: ServerStatements;
  readonly openServer: (host: string, port: number) => HomeServer;
}

/** The name of statements that are prepared for once. */
const UNNAMED = 'unnamed';
/** What a server says that does not have the domain any more. */
const MOVED = 'the domain has moved to another server';
/**
 * A call that is all of a statement is planned anew each time by Citus, which looks whether another server is
 * to do it; beside a second column it is planned once.
 */
const ASIDE = Prisma.sql`true`;
/** After so long it is asked again where a domain is. */
const KNOWN_MS = 10_000;
const MOST_KNOWN = 10_000;

export class HomeStatements {
  readonly #coordinator: ServerStatements;
  readonly #openServer: HomeStatementsOptions['openServer'];
  readonly #servers = new Map<string, HomeServer>();
  /** By the numbers of the shards: none has another's. */
  readonly #tables = new Map<string, ShardTables>();
  readonly #shardByDomain = new LRUCache<string, Promise<Shard>>({ max: MOST_KNOWN, ttl: KNOWN_MS });

  readonly #partsByTable = new LRUCache<string, Promise<readonly TablePart[]>>({
    max: MOST_KNOWN,
    ttl: KNOWN_MS,
  });

  #slow: SlowStatementWatch | undefined;

  constructor({ coordinator, openServer }: HomeStatementsOptions) {
    this.#coordinator = coordinator;
    this.#openServer = openServer;
  }

  /**
   * Runs the statement where the domain is; with a name it is prepared there. Should the domain have moved
   * since it was last looked for, it is looked for again.
   *
   * @throws as `Queryable.query`
   */
  async query<Row extends object>(
    sql: Prisma.Sql,
    home: Home,
    options: Omit<QueryOptions, 'home'> = {},
  ): Promise<Row[]> {
    try {
      return await this.#query<Row>(sql, home, options);
    } catch (error) {
      if (!hasMoved(error)) throw error;
      this.#shardByDomain.delete(home.domain);
      return await this.#query<Row>(sql, home, options);
    }
  }

  /**
   * Runs the statement where the domain is, as a part of a transaction that the coordinator leads: Citus asks
   * that server alone, and ends the transaction there with its own. Should the domain have moved, the whole
   * transaction has to be done again, as after waiting in a circle.
   *
   * @throws as `Queryable.query`
   */
  async queryWithin<Row extends object>(
    transaction: Pick<ServerStatements, 'query'>,
    sql: Prisma.Sql,
    home: Home,
    { name, ...options }: Omit<QueryOptions, 'home'> = {},
  ): Promise<Row[]> {
    return await transaction.query<Row>(callOf(sql, home, name), {
      ...options,
      name: nameOfCall(home.columns),
      told: sql,
    });
  }

  async #query<Row extends object>(
    sql: Prisma.Sql,
    { domain, columns }: Home,
    { name, ...options }: Omit<QueryOptions, 'home'>,
  ): Promise<Row[]> {
    const shard = await this.#findShard(domain);
    if (!shard.server.wasReached) {
      const call = callOf(sql, { domain, columns }, name);
      return await this.#coordinator.query<Row>(call, { ...options, name: nameOfCall(columns), told: sql });
    }
    try {
      return await shard.server.statements.query<Row>(shard.tables.statement(sql, name), {
        ...options,
        name: name && `${name}_${shard.id}`,
        first: { sql: Prisma.sql`select keep_at_home(${shard.id}::bigint), ${ASIDE}`, name: 'keep_at_home' },
        told: sql,
      });
    } catch (error) {
      nameConstraintOfTable(error);
      throw error;
    }
  }

  /** Which servers have which shards of a spread table. */
  async listParts(table: string): Promise<readonly TablePart[]> {
    const known = this.#partsByTable.get(table);
    if (known !== undefined) return await known;
    const finding = this.#queryParts(table);
    this.#partsByTable.set(table, finding);
    finding.catch(() => this.#partsByTable.delete(table));
    return await finding;
  }

  /** Tells `watch` from now on of every statement that took long on another server than the coordinator. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#slow = watch;
    for (const { statements } of this.#servers.values()) statements.watchSlow(watch);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  async #queryParts(table: string): Promise<readonly TablePart[]> {
    const rows = await this.#coordinator.query<{ host: string; port: number; tables: string[] }>(Prisma.sql`
      select n.nodename as host, n.nodeport as port,
        array_agg(shard_name(s.logicalrelid, s.shardid) order by s.shardid) as tables
      from pg_dist_shard s
      join pg_dist_placement p on p.shardid = s.shardid
      join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
      where s.logicalrelid = ${table}::regclass
      group by n.nodename, n.nodeport
      order by n.nodename, n.nodeport`);
    return rows.map(({ host, port, tables }) => {
      const server = this.#serverAt(host, port);
      return {
        name: `${host}:${port}`,
        tables,
        get server() {
          return server.wasReached ? server.statements : undefined;
        },
      };
    });
  }

  async #findShard(domain: string): Promise<Shard> {
    const known = this.#shardByDomain.get(domain);
    if (known !== undefined) return await known;
    const finding = this.#queryShard(domain);
    this.#shardByDomain.set(domain, finding);
    finding.catch(() => this.#shardByDomain.delete(domain));
    return await finding;
  }

  async #queryShard(domain: string): Promise<Shard> {
    const [row] = await this.#coordinator.query<ShardRow>(
      Prisma.sql`
        select p.shardid::text as id, n.nodename as host, n.nodeport as port, t.tables
          from pg_dist_placement p
          join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
         cross join (
           select json_object_agg(
               c.relname,
               shard_name(
                 s.logicalrelid,
                 get_shard_id_for_distribution_column(s.logicalrelid, ${domain}::text)
               )
             ) as tables
             from pg_dist_partition s join pg_class c on c.oid = s.logicalrelid
            where c.relnamespace = current_schema()::regnamespace and not c.relispartition
         ) t
         where p.shardid = get_shard_id_for_distribution_column('records', ${domain}::text)`,
      { name: 'find shard' },
    );
    invariant(row, 'every domain is somewhere');
    const { id, host, port } = row;
    const tables = this.#tables.get(id) ?? new ShardTables(row.tables);
    this.#tables.set(id, tables);
    return { id, server: this.#serverAt(host, port), tables };
  }

  #serverAt(host: string, port: number): HomeServer {
    const key = `${host}:${port}`;
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const server = this.#openServer(host, port);
    if (this.#slow !== undefined) server.statements.watchSlow(this.#slow);
    this.#servers.set(key, server);
    return server;
  }
}

/** What one server has of a spread table. */
export interface TablePart {
  /** Of the server, for messages. */
  readonly name: string;
  /** `undefined`: it was never reached from here. */
  readonly server: ServerStatements | undefined;
  /** The names of the shards. */
  readonly tables: readonly string[];
}

/** The part of the spread tables that some domains share, and where it is. */
interface Shard {
  readonly id: string;
  readonly server: HomeServer;
  readonly tables: ShardTables;
}

interface ShardRow {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** The names of its tables by those of the spread ones. */
  readonly tables: Readonly<Record<string, string>>;
}

/** Whether nothing was done because the domain is elsewhere. */
function hasMoved(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly message?: unknown } };
  return cause?.message === MOVED;
}

/** An index of a shard is named after that of the spread table, with a number. */
function nameConstraintOfTable(error: unknown): void {
  const { cause } = error as { readonly cause?: { constraint?: string } };
  if (cause?.constraint !== undefined) cause.constraint = cause.constraint.replace(/_\d+$/, '');
}

/** The call of `run_at_home` by which Citus has the server of the domain run the statement. */
function callOf({ text, values }: Prisma.Sql, { domain, columns }: Home, name = UNNAMED): Prisma.Sql {
  return Prisma.sql`
    select *
    from run_at_home(${domain}, ${name}, ${text}, ${values.map(toParameterText)}::text[])
      as row (${Prisma.raw(columns)})`;
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

/** Makes the functions of statements at home, the second to be run where the domain is. */
export async function spreadHomeStatements(client: pg.ClientBase): Promise<void> {
  await spreadFunction(client, {
    signature: 'keep_at_home(home bigint)',
    returns: 'setof void',
    body: KEEPING,
  });
  await spreadFunction(client, {
    signature: 'run_at_home(domain text, name text, statement text, parameters text[])',
    returns: 'setof record',
    body: RUNNING,
    domain: 'domain',
  });
}
