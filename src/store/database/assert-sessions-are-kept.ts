/**
 * Checks that a connection keeps its session between statements. The gateway depends on it for session
 * settings, LISTEN, locks outside transactions, prepared statements and cancelling.
 */
import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { ServiceError } from '../../base/errors.js';
import { endClient } from './deadline.js';

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
export async function assertSessionsAreKept(
  client: pg.Client,
  connect: () => Promise<pg.Client>,
): Promise<void> {
  const { processID } = client as pg.Client & { readonly processID: number | null };
  if ((await backendOf(client)) === processID) return;
  const other = await connect();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const mine = await backendOf(client);
      // A transaction holds whatever server connection it was assigned: ours, if ours was free.
      const its = await lendFor(other, () => backendOf(other));
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

async function lendFor<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    return await work();
  } finally {
    await client.query('rollback');
  }
}

function refusal({ host, port }: pg.Client): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    `At ${host}:${port} a pooler answers that keeps no session between two statements ` +
      '(pool_mode = transaction or statement); name the database itself, or a pool with pool_mode = session.',
  );
}
