/** Checks a server before anything is written: its version, its encoding, and whether it keeps sessions. */
import type pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { assertSessionsAreKept } from './assert-sessions-are-kept.js';
import { cancelOnAbort } from './cancel-on-abort.js';
import { connectForOperator } from './connect-for-operator.js';
import { endClient } from './deadline.js';

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
    throw new ServiceError(
      'UNAVAILABLE',
      `The database at ${client.host}:${client.port} is PostgreSQL ${version.rows[0].name}; 15 or ` +
        'newer is needed.',
    );
  }
  if (version.rows[0].encoding !== 'UTF8') {
    throw new ServiceError(
      'UNAVAILABLE',
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
  const canCheckConnection = await client.query(`set client_connection_check_interval = '2s'`).then(
    () => true,
    () => false,
  );
  return { ...rows[0], canCheckConnection };
}

/** The settings of every session in a request pool. */
export function settingsOf({ canCheckConnection }: ServerFacts): Readonly<Record<string, string>> {
  return {
    jit: 'off',
    ...(canCheckConnection ? { client_connection_check_interval: '2s' } : {}),
  };
}
