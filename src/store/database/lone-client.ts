/** Connections that belong to no pool. */
import pg from 'pg';
import { withDeadline } from './deadline.js';

/** A connection to make. Its statements report a fault; an event without a listener would end the process. */
export function createLoneClient(
  url: string,
  applicationName: string,
  connectionTimeoutMillis = 0,
): pg.Client {
  const client = new pg.Client({
    ...{ connectionString: url, application_name: applicationName },
    ...{ keepAlive: true, connectionTimeoutMillis },
  });
  client.on('error', () => {});
  return client;
}

const END_TIMEOUT_MS = 2_000;

/** Closes a connection gracefully if the server cooperates, else at once. It never fails. */
export async function endClient(client: pg.Client): Promise<void> {
  // A failure here means that the connection has ended.
  await withDeadline(client, END_TIMEOUT_MS, () => client.end()).catch(() => {});
}

/**
 * Works in a transaction without a limit for its statements, but for each wait for a lock; 0: none. Rolled
 * back if `work` throws, with that error: a connection that cannot roll back has ended, and its transaction.
 */
export async function inTransaction<T>(
  client: pg.ClientBase,
  lockTimeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('begin');
  try {
    await client.query(`set local statement_timeout = 0; set local lock_timeout = ${lockTimeoutMs}`);
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
