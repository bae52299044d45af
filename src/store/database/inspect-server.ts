/** What a server says of itself before anything is written: whether it will do, and how to speak with it. */
import { ServiceError } from '../../errors.js';
import { assertSessionsAreKept } from './assert-sessions-are-kept.js';
import { connectForOperator } from './connect-for-operator.js';

const OLDEST_VERSION = 150_000;

export interface ServerFacts {
  readonly isByteOrdered: boolean;
  readonly announcesByOutbox: boolean;
  readonly isSpread: boolean;
  /** Whether the server can notice a disconnected client while it works; not on every system. */
  readonly canCheckConnection: boolean;
}

/** @throws UNAVAILABLE for an unreachable or too old server, and for a pooler that does not keep sessions */
export async function inspectServer(url: string, applicationName: string): Promise<ServerFacts> {
  const connect = () => connectForOperator(url, applicationName);
  const client = await connect();
  try {
    const version = await client.query(
      `select current_setting('server_version_num')::int as number, ` +
        `current_setting('server_version') as name`,
    );
    if (version.rows[0].number < OLDEST_VERSION) {
      throw new ServiceError(
        'UNAVAILABLE',
        `The database at ${client.host}:${client.port} is PostgreSQL ${version.rows[0].name}; 15 or ` +
          'newer is needed.',
      );
    }
    await assertSessionsAreKept(client, connect);
    const { rows } = await client.query(
      `select datlocprovider = 'b' or (datlocprovider = 'c'
        and datcollate in ('C', 'POSIX')) as "isByteOrdered",
        e.oid is not null as "isSpread",
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
  } finally {
    await client.end();
  }
}

/** The settings of every session in a request pool. */
export function settingsOf({ canCheckConnection }: ServerFacts): Readonly<Record<string, string>> {
  return {
    // Prisma's adapter writes instants without an offset.
    TimeZone: 'UTC',
    jit: 'off',
    ...(canCheckConnection ? { client_connection_check_interval: '2s' } : {}),
  };
}
