/** Checks a server before anything is written: its version, its encoding, and whether it keeps sessions. */

import { isNativeError } from 'node:util/types';
import type pg from 'pg';
import { ServiceError, unavailable } from '../../base/errors.js';
import { succeeds } from '../../base/process/succeeds.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import { cancelOnAbort } from './cancellation.js';
import { firstError, sqlStateOf } from './database-errors.js';
import { createLoneClient, endClient } from './lone-client.js';
import { setSession } from './pool.js';

const OLDEST_VERSION = 150_000;

export interface ServerFacts {
  readonly isByteOrdered: boolean;
  readonly announcesByOutbox: boolean;
  readonly isSharded: boolean;
  /** Whether the server can notice a disconnected client while it works; not on every system. */
  readonly canCheckConnection: boolean;
}

/**
 * @throws UNAVAILABLE for an unreachable or too old server, for a database that is not in UTF-8, and for a
 *   pooler that does not keep sessions
 */
export async function inspectServer(
  url: string,
  applicationName: string,
  signal?: AbortSignal,
): Promise<ServerFacts> {
  const connect = () => connectForOperator(url, applicationName, signal);
  const client = await connect();
  try {
    return await cancelOnAbort(client, signal, () => inspect(client, connect));
  } finally {
    await endClient(client);
  }
}

async function inspect(client: pg.Client, connect: () => Promise<pg.Client>): Promise<ServerFacts> {
  const version = await client.query(
    `select current_setting('server_version_num')::int as number, ` +
      `current_setting('server_version') as name, current_setting('server_encoding') as encoding`,
  );
  if (version.rows[0].number < OLDEST_VERSION) {
    throw unavailable(
      `The database at ${client.host}:${client.port} is PostgreSQL ${version.rows[0].name}; 15 or ` +
        'newer is needed.',
    );
  }
  if (version.rows[0].encoding !== 'UTF8') {
    throw unavailable(
      `The database ${client.database} at ${client.host}:${client.port} has the encoding ` +
        `${version.rows[0].encoding}, which cannot store every text; make one with UTF8: ` +
        "create database … encoding 'UTF8' template template0",
    );
  }
  await assertSessionsAreKept(client, connect);
  const { rows } = await client.query(
    `select datlocprovider = 'b' or (datlocprovider = 'c'
      and datcollate in ('C', 'POSIX')) as "isByteOrdered",
      e.oid is not null as "isSharded",
      e.oid is not null
        or coalesce(current_setting('campus.changes', true) = 'outbox', false) as "announcesByOutbox"
       from pg_database left join pg_extension e on e.extname = 'citus'
      where datname = current_database()`,
  );
  const canCheckConnection = await succeeds(client.query(`set client_connection_check_interval = '2s'`));
  return { ...rows[0], canCheckConnection };
}

/** The settings of every session in a request pool. */
export function settingsOf({ canCheckConnection }: ServerFacts): Readonly<Record<string, string>> {
  return {
    jit: 'off',
    ...(canCheckConnection ? { client_connection_check_interval: '2s' } : {}),
  };
}

/** @throws UNAVAILABLE whose message is one line for the operator; the reason of the signal */
export async function connectForOperator(
  url: string,
  applicationName: string,
  signal?: AbortSignal,
): Promise<pg.Client> {
  const client = createOperatorClient(url, applicationName);
  try {
    await unlessAborted(client.connect(), signal);
    await unlessAborted(setSession(client), signal);
    return client;
  } catch (error) {
    // The server would keep a connection that failed, and with it this process, for a minute.
    client.connection.stream.destroy();
    if (signal?.aborted) throw signal.reason;
    throw unavailable(
      `The database ${client.database ?? ''} at ${client.host}:${client.port} cannot be reached: ` +
        reasonOf(error, client),
      error,
    );
  }
}

function reasonOf(error: unknown, { user, password }: pg.Client): string {
  const reason = firstError(error);
  const detail = isNativeError(reason) ? reason.message : String(reason);
  const isUnanswered =
    !password && (/^SASL: .* password must be/.test(detail) || sqlStateOf(reason) === '28P01');
  return isUnanswered
    ? `it requires a password for the user "${user}", and the address has none ` +
        '(postgresql://user:password@host:port/database)'
    : detail;
}

/** node-postgres reads the files that an address names as soon as it has the address. */
function createOperatorClient(url: string, applicationName: string): pg.Client {
  try {
    return createLoneClient(url, applicationName, 10_000);
  } catch (error) {
    // The file system's refusals alone have a path.
    if (!(isNativeError(error) && 'path' in error)) throw error;
    throw unavailable(
      `A file of sslrootcert, sslcert or sslkey in the address of the database: ${error.message}`,
      error,
    );
  }
}

/** A pooler has many server connections, and two checks may hit the same one by chance. */
const ROUNDS = 5;
const ASK_BACKEND = 'select pg_backend_pid() as id';

/**
 * Refuses a pooler that assigns a server connection only per transaction or statement, as PgBouncer does with
 * `pool_mode = transaction`. Costs nothing on a direct connection, which is recognized by its backend number:
 * a pooler gives its clients other numbers.
 *
 * @param client connected, and not used by anybody else meanwhile
 * @throws UNAVAILABLE whose message is one line for the operator
 */
async function assertSessionsAreKept(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  const { processID } = client as pg.Client & { readonly processID: number | null };
  if ((await backendOf(client)) === processID) return;
  const other = await connect();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const mine = await backendOf(client);
      // A transaction holds whatever server connection it was assigned: ours, if ours was free.
      await other.query('begin');
      const its = await backendOf(other).finally(() => other.query('rollback'));
      if (its === mine || (await backendOf(client)) !== mine) throw refusal(client);
    }
  } catch (error) {
    // PgBouncer refuses transactions with `pool_mode = statement`.
    if (isNativeError(error) && /transaction blocks not allowed/.test(error.message)) throw refusal(client);
    throw error;
  } finally {
    await endClient(other);
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ id: number }>(ASK_BACKEND);
  return rows[0]?.id;
}

function refusal({ host, port }: pg.Client): ServiceError {
  return unavailable(
    `At ${host}:${port} a pooler answers that keeps no session between two statements ` +
      '(pool_mode = transaction or statement); name the database itself, or a pool with pool_mode = session.',
  );
}
