import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { succeeds } from '../../base/process/succeeds.js';
import type { Database } from './database.js';
import { connectForOperator } from './inspect-server.js';
import { endClient } from './lone-client.js';
import { RepeatedWork } from './repeated-work.js';
import { connectTo } from './server-statements.js';

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
  const client = await connectTo(database.lockPool);
  try {
    await lockUntilDisconnected(client, key);
    return await work();
  } finally {
    const isUnlocked = await succeeds(client.query('select pg_advisory_unlock($1)', [key]));
    // A connection that could not release the lock is closed, and the lock with it.
    client.release(!isUnlocked);
  }
}

/** Takes the lock until the connection ends. */
export async function lockUntilDisconnected(client: pg.ClientBase, key: number): Promise<void> {
  while (!(await takes(client, 'pg_try_advisory_lock', key))) await sleep(RETRY_MS);
}

/**
 * Takes the lock until the transaction of the connection ends. The signal aborts the wait with its reason.
 */
export async function lockUntilCommit(
  client: pg.ClientBase,
  key: number,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  while (!(await takes(client, 'pg_try_advisory_xact_lock', key))) {
    await sleep(RETRY_MS);
    signal?.throwIfAborted();
  }
}

async function takes(client: pg.ClientBase, attempt: string, key: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${attempt}($1) as taken`, [key]);
  return rows[0]?.taken === true;
}

const LOOK_MS = 2_000;

/**
 * Reports once for each transaction of somebody else that keeps this start or command waiting for a lock,
 * e.g. one that was forgotten in a terminal. Only connections that were opened since the call are looked at.
 * Returns a function that ends the watch.
 */
export function watchLockWaits(url: string, onWait: (line: string) => void): () => Promise<void> {
  const startedAt = performance.now();
  const reported = new Set<number>();
  const look = async () => {
    const client = await connectForOperator(url, 'campus lock waits');
    try {
      const { rows } = await client.query<Blocker>(BLOCKERS, [(performance.now() - startedAt) / 1000]);
      for (const blocker of rows) {
        if (!reported.has(blocker.pid)) onWait(describe(blocker));
        reported.add(blocker.pid);
      }
    } finally {
      await endClient(client);
    }
  };
  // A fault here also prevents the start, which reports it.
  const looks = new RepeatedWork({ work: look, everyMs: LOOK_MS, onFault: () => {} });
  return () => looks.close();
}

interface Blocker {
  readonly pid: number;
  readonly program: string;
  readonly state: string;
  readonly seconds: number;
}

function describe({ pid, program, state, seconds }: Blocker): string {
  return (
    `waiting for a lock that the process ${pid} of the database holds (${program || 'an unnamed program'}, ` +
    `${state}, for ${seconds} s); end its transaction there, or by: select pg_terminate_backend(${pid})`
  );
}

const BLOCKERS = `
select distinct
  blocker.pid,
  blocker.application_name as program,
  coalesce(blocker.state, 'running') as state,
  coalesce(extract(epoch from clock_timestamp() - blocker.xact_start), 0)::int as seconds
from pg_stat_activity waiter
cross join lateral unnest(pg_blocking_pids(waiter.pid)) as held (pid)
join pg_stat_activity blocker on blocker.pid = held.pid
where waiter.datname = current_database()
  and waiter.wait_event_type = 'Lock'
  and waiter.application_name like 'campus%'
  and waiter.backend_start > clock_timestamp() - make_interval(secs => $1)`;
