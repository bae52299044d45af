/**
 * Statements that run entirely on one server of a database sharded by Citus. Citus cannot plan an insert
 * within a larger statement: it would bring the partial result to the coordinator, send it to all servers,
 * and commit on all of them. The statement is therefore sent directly to the server of the domain, with the
 * table names of that domain's shards, as to a single PostgreSQL. If that server cannot be reached from here,
 * the statement is passed as text to a function of ours, which Citus runs on the server with the same effect.
 *
 * Such a statement cannot use what only the coordinator has: notifications and undistributed tables.
 */

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { invariant } from '../../../base/errors.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { Sql, sql } from '../../sql.js';
import { ConnectionWatch } from '../connection-watch.js';
import { createPool, type PoolOptions } from '../pool.js';
import type { JoinedStreamOptions, NamedStatement, QueryOptions, ShardLocal } from '../queryable.js';
import { PrimaryFinder } from '../replicas/primary-finder.js';
import { toParameterText } from '../row-query.js';
import type { JoinedBatch } from '../row-stream.js';
import { ServerStatements, type SlowStatementWatch } from '../server-statements.js';
import { MOVED, UNNAMED } from './table-places.js';

interface ShardStatementsOptions {
  readonly coordinator: ServerStatements;
  /** The coordinator, for work in the background. */
  readonly background: Pick<ServerStatements, 'query'>;
  readonly openServer: (host: string, port: number) => ShardServer;
}

/** A server of a sharded database that holds some of the domains, with the connections to it. */
interface ShardServer {
  readonly statements: ServerStatements;
  /** For regular work in the background, on a connection that requests do not use. */
  readonly background: Pick<ServerStatements, 'query'>;
  /** Whether it has ever answered: some are reached from the coordinator alone. Else it is down. */
  readonly wasReached: boolean;
  close(): Promise<void>;
}

export function openShardServer(
  address: string,
  options: Pick<PoolOptions, 'applicationName' | 'size' | 'statementTimeoutMs' | 'settings'>,
): ShardServer {
  const { applicationName } = options;
  const finder = new PrimaryFinder({ url: address, applicationName });
  const watch = new ConnectionWatch({ finder, applicationName });
  let wasReached = false;
  watch.onAnswer(() => {
    wasReached = true;
  });
  void watch.check();
  const shared = { ...options, watch };
  const statements = new ServerStatements({
    ...shared,
    places: {
      pool: 'connections to the server of the school (POOL_SIZE)',
      stream: 'connections for streamed answers to the server of the school (POOL_SIZE)',
    },
  });
  const pool = createPool({ ...shared, size: 1, applicationName: `${applicationName} background` });
  return {
    statements,
    background: { query: (sql, queryOptions) => statements.queryBy(pool, sql, queryOptions) },
    get wasReached() {
      return wasReached;
    },
    async close() {
      await Promise.all([statements.close(), pool.end()]);
      await watch.close();
    },
  };
}

/** After this time the location of a domain is looked up again. */
const KNOWN_MS = 10_000;
const MOST_KNOWN = 10_000;

export class ShardStatements {
  readonly #options: ShardStatementsOptions;
  readonly #servers = new Map<string, ShardServer>();
  /** By shard number, which is unique. */
  readonly #tables = new Map<string, ShardTables>();
  readonly #shardByDomain = new LRUCache<string, Shard>({
    ...{ max: MOST_KNOWN, ttl: KNOWN_MS },
    ignoreFetchAbort: true,
    fetchMethod: (domain) => this.#queryShard(domain),
  });
  readonly #partsByTable = new LRUCache<string, readonly TablePart[]>({
    ...{ max: MOST_KNOWN, ttl: KNOWN_MS },
    fetchMethod: (table) => this.#queryParts(table),
  });

  #slow: SlowStatementWatch | undefined;

  constructor(options: ShardStatementsOptions) {
    this.#options = options;
  }

  /**
   * Runs the statement on the server of the domain; with a name, it is prepared there. If the domain has
   * moved since it was last looked up, it is looked up again.
   *
   * @throws as `Queryable.query`
   */
  async query<Row extends object>(
    sql: Sql,
    shardLocal: ShardLocal,
    options: Omit<QueryOptions, 'shardLocal'> = {},
  ): Promise<Row[]> {
    try {
      return await this.#query<Row>(sql, shardLocal, options);
    } catch (error) {
      if (!hasMoved(error)) throw error;
      this.#shardByDomain.delete(shardLocal.domain);
      return await this.#query<Row>(sql, shardLocal, options);
    }
  }

  /**
   * The rows of the statements as bytes, from the server of the domain. Unlike the coordinator, which gathers
   * all that a server sends before it passes any of it on, that gives the first of them at once. A
   * long stream does not delay the move of the domain to another server: it only checks at its start that the
   * domain is still there, and sees the domain as it was then.
   *
   * @throws as `Database.streamJoined`
   */
  async *streamJoined(
    statements: readonly NamedStatement[],
    {
      shardLocal: { domain },
      ...options
    }: JoinedStreamOptions & { readonly shardLocal: Pick<ShardLocal, 'domain'> },
  ): AsyncGenerator<JoinedBatch, void> {
    for (let attempt = 1; ; attempt++) {
      const shard = await this.#shardByDomain.forceFetch(domain);
      if (!shard.server.wasReached) {
        yield* this.#options.coordinator.streamJoined(statements, options);
        return;
      }
      const placed = statements.map(({ sql, name }) => ({
        sql: shard.tables.statement(sql, name),
        name: name && `${name}_${shard.id}`,
      }));
      const batches = shard.server.statements.streamJoined(placed, options);
      try {
        const begun = batches.next();
        await begun.catch(() => {});
        await shard.server.statements.query(stayOnShard(shard).sql);
        const first = await begun;
        if (first.done === true) return;
        yield first.value;
        yield* batches;
        return;
      } catch (error) {
        if (attempt > 1 || !hasMoved(error)) throw error;
        this.#shardByDomain.delete(domain);
      } finally {
        await batches.return();
      }
    }
  }

  /**
   * Runs the statement on the server of the domain as part of a transaction led by the coordinator: Citus
   * involves only that server, and ends its transaction together with the outer one. If the domain has moved,
   * the whole transaction must be retried, as after a deadlock.
   *
   * @throws as `Queryable.query`
   */
  async queryWithin<Row extends object>(
    transaction: Pick<ServerStatements, 'query'>,
    sql: Sql,
    shardLocal: ShardLocal,
    { name, ...options }: Omit<QueryOptions, 'shardLocal'> = {},
  ): Promise<Row[]> {
    return await transaction.query<Row>(callOf(sql, shardLocal, name), {
      ...options,
      name: nameOfCall(shardLocal.columns),
      reported: sql,
    });
  }

  /**
   * The same for long work of a transaction, which has tables of its own on that server: rows of any columns,
   * as JSON has them.
   *
   * @throws as `Queryable.query`
   */
  session(transaction: Pick<ServerStatements, 'query'>, domain: string): RecordsPlace {
    const ask = async <Row>(statement: Sql, givesRows: boolean): Promise<Row[]> => {
      const { text, values } = statement;
      const call = sql`
        select given
        from ask_at_home(
          ${domain}, ${text}, ${values.map(toParameterText)}::text[], ${givesRows}::boolean
        ) as given`;
      const rows = await transaction.query<{ given: Row }>(call, {
        name: 'ask_at_home',
        reported: statement,
      });
      return rows.map(({ given }) => given);
    };
    return {
      query: (sql) => ask(sql, true),
      run: async (sql) => {
        await ask(sql, false);
      },
      tableName: async (table) => {
        const rows = await transaction.query<{ name: string }>(sql`
          select shard_name(t, get_shard_id_for_distribution_column(t, ${domain}::text)) as name
          from to_regclass(${table}) as t`);
        return rows[0]?.name ?? table;
      },
    };
  }

  async #query<Row extends object>(
    sql: Sql,
    { domain, columns }: ShardLocal,
    { name, ...options }: Omit<QueryOptions, 'shardLocal'>,
  ): Promise<Row[]> {
    const shard = await this.#shardByDomain.forceFetch(domain);
    if (!shard.server.wasReached) {
      const call = callOf(sql, { domain, columns }, name);
      return await this.#options.coordinator.query<Row>(call, {
        ...options,
        name: nameOfCall(columns),
        reported: sql,
      });
    }
    try {
      return await shard.server.statements.query<Row>(shard.tables.statement(sql, name), {
        ...options,
        name: name && `${name}_${shard.id}`,
        first: stayOnShard(shard),
        reported: sql,
      });
    } catch (error) {
      // The index of a shard has the name of the distributed table's index with a number appended.
      const { cause } = error as { readonly cause?: { constraint?: string } };
      if (cause?.constraint !== undefined) cause.constraint = cause.constraint.replace(/_\d+$/, '');
      throw error;
    }
  }

  /** The servers and their shards of a distributed table, for work in the background. */
  async listParts(table: string): Promise<readonly TablePart[]> {
    return await this.#partsByTable.forceFetch(table);
  }

  /** From now on calls `watch` for every slow statement on a server other than the coordinator. */
  watchSlow(watch: SlowStatementWatch): void {
    this.#slow = watch;
    for (const { statements } of this.#servers.values()) statements.watchSlow(watch);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  async #queryParts(table: string): Promise<readonly TablePart[]> {
    const rows = await this.#options.background.query<{ host: string; port: number; tables: string[] }>(sql`
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
          return server.wasReached ? server.background : undefined;
        },
      };
    });
  }

  async #queryShard(domain: string): Promise<Shard> {
    const [row] = await this.#options.coordinator.query<{
      id: string;
      group: number;
      host: string;
      port: number;
    }>(
      sql`
        select p.shardid::text as id, p.groupid as group, n.nodename as host, n.nodeport as port
          from pg_dist_placement p
          join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
         where p.shardid = (select get_shard_id_for_distribution_column('records', ${domain}::text))`,
      { name: 'find shard' },
    );
    invariant(row, 'every domain is somewhere');
    const { id, group, host, port } = row;
    const tables = this.#tables.get(id) ?? (await this.#queryTables(domain));
    this.#tables.set(id, tables);
    return { id, group, server: this.#serverAt(host, port), tables };
  }

  /** Looks up the names of tables, which takes long and is done once for a shard. */
  async #queryTables(domain: string): Promise<ShardTables> {
    const [row] = await this.#options.coordinator.query<{ names: Readonly<Record<string, string>> }>(
      sql`
        select json_object_agg(
            c.relname,
            shard_name(s.logicalrelid, get_shard_id_for_distribution_column(s.logicalrelid, ${domain}::text))
          ) as names
          from pg_dist_partition s join pg_class c on c.oid = s.logicalrelid
         where c.relnamespace = current_schema()::regnamespace and not c.relispartition`,
      { name: 'name tables of shard' },
    );
    return new ShardTables(row?.names ?? {});
  }

  #serverAt(host: string, port: number): ShardServer {
    return getOrMake(this.#servers, `${host}:${port}`, () => {
      const server = this.#options.openServer(host, port);
      if (this.#slow !== undefined) server.statements.watchSlow(this.#slow);
      return server;
    });
  }
}

/** The server that has the records of a domain, used within a transaction. */
export interface RecordsPlace {
  query<Row extends object>(sql: Sql): Promise<Row[]>;
  /** Runs a statement that returns no rows; it may create a temporary table. */
  run(sql: Sql): Promise<void>;
  /** The name on that server of the domain's part of a distributed table. Both names are quoted. */
  tableName(table: string): Promise<string>;
}

/** The part of a distributed table on one server. */
export interface TablePart {
  /** The name of the server, for messages. */
  readonly name: string;
  /** For work in the background. `undefined` if it was never reached from here. */
  readonly server: Pick<ServerStatements, 'query'> | undefined;
  /** The names of the shards. */
  readonly tables: readonly string[];
}

/** The part of the distributed tables that some domains share, and its location. */
interface Shard {
  readonly id: string;
  /** The number of the server in Citus. */
  readonly group: number;
  readonly server: ShardServer;
  readonly tables: ShardTables;
}

/** Has a server refuse what is not for it any more, to the end of its transaction. */
function stayOnShard({ id, group }: Shard): { readonly sql: Sql; readonly name: string } {
  // A condition, which gives no row: Citus would plan a call that is the whole statement anew each time, to
  // decide where to run it.
  const statement = sql`select where not stay_at_home(${id}::bigint, ${group}::integer)`;
  return { sql: statement, name: 'stay_at_home' };
}

/** Whether nothing was done because the domain is elsewhere. */
function hasMoved(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly message?: unknown } };
  return cause?.message === MOVED;
}

/** The call of `run_at_home`, by which Citus runs the statement on the server of the domain. */
function callOf({ text, values }: Sql, { domain, columns }: ShardLocal, name = UNNAMED): Sql {
  return sql`
    select *
    from run_at_home(${domain}, ${name}, ${text}, ${values.map(toParameterText)}::text[])
      as row (${sql.raw(columns)})`;
}

/** PostgreSQL limits names to 63 characters. There are as many names as kinds of rows. */
function nameOfCall(columns: string): string {
  return `at_home_${createHash('sha256').update(columns).digest('hex').slice(0, 24)}`;
}

/** A statement has some kilobytes of text. */
const MOST_REMEMBERED = 500;

export class ShardTables {
  readonly #names: Readonly<Record<string, string>>;
  readonly #mention: RegExp;
  readonly #partsByName = new LRUCache<string, readonly string[]>({ max: MOST_REMEMBERED });

  /** @param names of the tables of the shard, by those of the distributed tables */
  constructor(names: Readonly<Record<string, string>>) {
    this.#names = names;
    this.#mention = new RegExp(
      `(?=\\w)(?<=\\b(?:from|join|into|update)\\s+)(?:${Object.keys(names).join('|')})\\b`,
      'g',
    );
  }

  /** The statement about the shard. With a name, which always means the same text, it is remembered. */
  statement(sql: Sql, name: string | undefined): Sql {
    const placed = () =>
      sql.strings.map((part) => part.replace(this.#mention, (table) => this.#names[table] ?? table));
    const parts =
      name === undefined ? placed() : getOrMake<string, readonly string[]>(this.#partsByName, name, placed);
    return new Sql(parts, sql.values);
  }
}
