/** The first connection of a start or a command: what prevents it is said in one line. */
import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { ServiceError } from '../../errors.js';

/** @throws UNAVAILABLE whose message is one line for the operator */
export async function connectForOperator(url: string, applicationName: string): Promise<pg.Client> {
  const client = createClient(url, applicationName);
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    const [reason = error] =
      isNativeError(error) && 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
    const detail = isNativeError(reason) ? reason.message : String(reason);
    throw new ServiceError(
      'UNAVAILABLE',
      `The database ${client.database ?? ''} at ${client.host}:${client.port} cannot be reached: ${detail}`,
      { cause: error },
    );
  }
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
