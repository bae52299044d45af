import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from './database.js';
import { translateDatabaseError } from './database-errors.js';

const RETRY_MS = 50;

/*
 * All functions here poll instead of waiting within a statement. A session that waits holds a snapshot, and
 * CREATE INDEX CONCURRENTLY waits for every older snapshot: the two would wait for each other, which Postgres
 * does not detect as a deadlock, because the owner of the lock waits outside the database.
 */

/**
 * Runs the work while no other work runs under the same key, on this gateway or another. The lock is held by
 * a connection outside a transaction: within one, the last statement would keep its snapshot until the next,
 * and a concurrent index build would wait for ever. It does not use the pool, whose connections the work
 * itself needs.
 */
export async function withAdvisoryLock<T>(
  database: Pick<Database, 'lockPool'>,
  key: number,
  work: () => Promise<T>,
): Promise<T> {
  const client = await database.lockPool.connect().catch((error: unknown) => {
    throw translateDatabaseError(error);
  });
  try {
    await lockUntilDisconnected(client, key);
    return await work();
  } finally {
    const isUnlocked = await client.query('select pg_advisory_unlock($1)', [key]).then(
      () => true,
      () => false,
    );
    // A connection that could not release the lock is closed, and the lock with it.
    client.release(!isUnlocked);
  }
}

/** Takes the lock until the connection ends. */
export async function lockUntilDisconnected(client: pg.ClientBase, key: number): Promise<void> {
  await lockOn(client, 'select pg_try_advisory_lock($1) as taken', { key });
}

/**
 * Takes the lock until the transaction of the connection ends. The signal aborts the wait with its reason.
 */
export async function lockUntilCommit(
  client: pg.ClientBase,
  key: number,
  signal?: AbortSignal,
): Promise<void> {
  await lockOn(client, 'select pg_try_advisory_xact_lock($1) as taken', { key, signal });
}

async function lockOn(
  client: pg.ClientBase,
  attempt: string,
  { key, signal }: { readonly key: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const { rows } = await client.query(attempt, [key]);
    if (rows[0]?.taken === true) return;
    await sleep(RETRY_MS);
  }
}
