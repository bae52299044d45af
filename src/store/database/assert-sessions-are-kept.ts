/**
 * Whether a connection keeps its session from one statement to the next. What the gateway does rests on it:
 * settings of a session, LISTEN, locks held outside a transaction, prepared statements, cancelling.
 */
import { isNativeError } from 'node:util/types';
import pg from 'pg';
import { ServiceError } from '../../errors.js';
import { endClient } from './deadline.js';

/** A pooler has many connections to the server: one session may be the same twice by chance. */
const ROUNDS = 5;
const ASK_BACKEND = 'select pg_backend_pid() as id';

/**
 * Refuses a pooler that lends a connection of the server for a transaction or a statement alone, as PgBouncer
 * does with `pool_mode = transaction`. Costs nothing where the server itself answers, which is known by the
 * number of the backend: a pooler gives its clients numbers of its own.
 *
 * @param client connected, and used by nobody else meanwhile
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
      // In a transaction it holds whatever connection of the server it was given: ours, if ours was free.
      const its = await lendFor(other, () => backendOf(other));
      if (its === mine || (await backendOf(client)) !== mine) throw refusal(client);
    }
  } catch (error) {
    // PgBouncer refuses transactions where it lends for one statement (`pool_mode = statement`).
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
