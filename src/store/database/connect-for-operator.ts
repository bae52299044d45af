/** The first connection of a start or a command: what prevents it is said in one line. */
import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { unlessAborted } from '../../base/process/unless-aborted.js';
import { setSession } from './session-settings.js';

/** @throws UNAVAILABLE whose message is one line for the operator; the reason of the signal */
export async function connectForOperator(
  url: string,
  applicationName: string,
  signal?: AbortSignal,
): Promise<pg.Client> {
  const client = createClient(url, applicationName);
  client.on('error', () => {});
  try {
    await unlessAborted(client.connect(), signal);
    await unlessAborted(setSession(client), signal);
    return client;
  } catch (error) {
    // The server would keep a connection that failed, and with it this process, for a minute.
    client.connection.stream.destroy();
    if (signal?.aborted) throw signal.reason;
    throw new ServiceError(
      'UNAVAILABLE',
      `The database ${client.database ?? ''} at ${client.host}:${client.port} cannot be reached: ` +
        reasonOf(error, client),
      { cause: error },
    );
  }
}

function reasonOf(error: unknown, { user, password }: pg.Client): string {
  const [reason = error] =
    isNativeError(error) && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const detail = isNativeError(reason) ? reason.message : String(reason);
  const isUnanswered = !password && (/^SASL: .* password must be/.test(detail) || hasCode(reason, '28P01'));
  return isUnanswered
    ? `it requires a password for the user "${user}", and the address has none ` +
        '(postgresql://user:password@host:port/database)'
    : detail;
}

function hasCode(error: unknown, code: string): boolean {
  return isNativeError(error) && 'code' in error && error.code === code;
}

/** node-postgres reads the files that an address names as soon as it has the address. */
function createClient(url: string, applicationName: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 10_000,
    });
  } catch (error) {
    // The file system's refusals alone have a path.
    if (!(isNativeError(error) && 'path' in error)) throw error;
    throw new ServiceError(
      'UNAVAILABLE',
      `A file of sslrootcert, sslcert or sslkey in the address of the database: ${error.message}`,
      { cause: error },
    );
  }
}
