import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from './database.js';
import { translateDatabaseError } from './database-errors.js';

const RETRY_MS = 50;

/*
 * All ask again and again instead of waiting inside a statement: a session that waits there holds a snapshot,
 * and CREATE INDEX CONCURRENTLY waits for every older snapshot. Each would wait for the other, and Postgres
 * does not see it as a deadlock, because the lock's owner waits outside the database.
 */

/**
 * Does the work while nobody else, of this gateway or another, does work under the same key. The lock is held
 * by a connection that is in no transaction: in one, the last statement keeps its snapshot until the next,
 * and an index that is built meanwhile would wait for it for good. Nor is it a connection of the pool, which
 * the work itself needs.
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
    // A connection that could not give the lock back ends, and the lock with it.
    client.release(!isUnlocked);
  }
}

/** Takes the lock until the connection ends, when it is free. */
export async function lockUntilDisconnected(client: pg.ClientBase, key: number): Promise<void> {
  await lockOn(client, 'select pg_try_advisory_lock($1) as taken', { key });
}

/**
 * Takes the lock until the transaction of the connection ends, when it is free. The signal ends the waiting
 * with its reason.
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
