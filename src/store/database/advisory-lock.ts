import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { Transaction } from './database.js';

const RETRY_MS = 50;

/*
 * All ask again and again instead of waiting inside a statement: a session that waits there holds a snapshot, and CREATE
 * INDEX CONCURRENTLY waits for every older snapshot. Each would wait for the other, and Postgres does not see it as a
 * deadlock, because the lock's owner waits outside the database.
 */

/** Takes the lock until the transaction ends, when it is free. */
export async function lockUntilEnd(transaction: Transaction, key: number): Promise<void> {
  for (;;) {
    const [row] = await transaction.query<{ taken: boolean }>(
      Prisma.sql`select pg_try_advisory_xact_lock(${key}::bigint) as taken`,
    );
    if (row?.taken) return;
    await sleep(RETRY_MS);
  }
}

/** Takes the lock until the connection ends, when it is free. */
export async function lockUntilDisconnected(client: pg.ClientBase, key: number): Promise<void> {
  await lockOn(client, 'select pg_try_advisory_lock($1) as taken', key);
}

/** Takes the lock until the transaction of the connection ends, when it is free. */
export async function lockUntilCommit(client: pg.ClientBase, key: number): Promise<void> {
  await lockOn(client, 'select pg_try_advisory_xact_lock($1) as taken', key);
}

async function lockOn(client: pg.ClientBase, attempt: string, key: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query(attempt, [key]);
    if (rows[0]?.taken === true) return;
    await sleep(RETRY_MS);
  }
}
