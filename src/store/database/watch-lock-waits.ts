import { connectForOperator } from './connect-for-operator.js';
import { endClient } from './deadline.js';

const LOOK_MS = 2_000;

/**
 * Reports once for each transaction of somebody else that keeps this start or command waiting for a lock,
 * e.g. one that was forgotten in a terminal. Only connections that were opened since the call are looked at.
 * Returns a function that ends the watch.
 */
export function watchLockWaits(url: string, onWait: (line: string) => void): () => Promise<void> {
  const startedAt = performance.now();
  const reported = new Set<number>();
  let looking: Promise<void> = Promise.resolve();
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
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    // A fault here also prevents the start, which reports it.
    looking = look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, LOOK_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await looking;
  };
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
