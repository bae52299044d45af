/** Several connections that see the database at the same moment, without blocking writers. */
import pg from 'pg';
import { translateDatabaseError } from '../../store/database/database-errors.js';
import { setSession } from '../../store/database/pool.js';
import { isSharded } from '../../store/database/shards/table-places.js';
import { KEPT_TABLES } from './kept-tables.js';

export interface Snapshot {
  readonly clients: readonly pg.Client[];
  /** Ends the connections and whatever still runs on them. */
  close(): Promise<void>;
}

/** A connection to be opened by the caller. The query that meets a lost connection throws. */
export function newConnection(url: string, name: 'campus backup' | 'campus restore'): pg.Client {
  const client = new pg.Client({ connectionString: url, application_name: name });
  // Without a listener Node would end the process.
  client.on('error', () => {});
  return client;
}

/** A graceful end would wait for a running COPY. */
export function endConnection(client: pg.Client): void {
  if ('connection' in client && client.connection instanceof pg.Connection)
    client.connection.stream.destroy();
}

/** For COPY: a backup may take as long as it takes. The rest is set on every connection of the gateway. */
export async function prepareForCopy(client: pg.ClientBase): Promise<void> {
  await setSession(client);
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
}

/**
 * Opens a snapshot with that many connections, or with one on Citus. Tables cannot change their columns while
 * it is open: a gateway of a newer version waits with its migrations. The caller closes it.
 */
export async function openSnapshot(url: string, connections: number): Promise<Snapshot> {
  const clients: pg.Client[] = [];
  const close = async () => clients.forEach(endConnection);
  try {
    const first = await connect(url, clients);
    const tables = await listTables(first);
    const isOfSeveralServers = await isSharded(first);
    if (isOfSeveralServers) await first.query('set citus.max_adaptive_executor_pool_size = 1');
    await first.query('begin isolation level repeatable read read only');
    // Partitions are not locked, because registering a collection attaches one. The lock comes before the
    // snapshot, because a table rewritten after the snapshot would look empty in it.
    await first.query(`lock table ${tables} in access share mode`);
    if (isOfSeveralServers) {
      await beginOnEveryServer(first);
      return { clients, close };
    }
    const { rows } = await first.query<{ id: string }>('select pg_export_snapshot() as id');
    const id = pg.escapeLiteral(rows[0]?.id ?? '');
    while (clients.length < connections) {
      const client = await connect(url, clients);
      await client.query('begin isolation level repeatable read read only');
      await client.query(`set transaction snapshot ${id}`);
    }
    return { clients, close };
  } catch (error) {
    await close();
    throw translateDatabaseError(error);
  }
}

/**
 * A snapshot over several servers cannot be exported to another connection. A single connection, with one to
 * each server behind it, sees every domain at one moment; the moments of two servers differ by as long as
 * they take to begin this statement.
 */
async function beginOnEveryServer(client: pg.Client): Promise<void> {
  await client.query('select count(*) from (select 1 from records limit 1) as begun');
}

async function connect(url: string, clients: pg.Client[]): Promise<pg.Client> {
  const client = newConnection(url, 'campus backup');
  clients.push(client);
  await client.connect();
  await prepareForCopy(client);
  return client;
}

/** The tables of the list that exist: a database of an older version lacks some. */
async function listTables(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null',
    [KEPT_TABLES.map(({ name }) => name)],
  );
  return rows.map(({ name }) => `only ${pg.escapeIdentifier(name)}`).join(', ');
}
