/**
 * Gives the jobs of a gateway that died back to the others within seconds; the library alone would wait four
 * hours.
 *
 * A gateway holds an advisory lock for each of its pools of workers, on a connection of its own: Postgres
 * lets go of it when the process, the machine or the network between is gone. Every gateway looks now and
 * then for jobs whose pool nobody holds a lock for; whoever is found missing twice in a row (once may be a
 * connection that is being made again) loses its jobs.
 *
 * So does this gateway lose a job of its own that it knows nothing of: the answer that gave it the job was
 * lost with its connection.
 */
import type pg from 'pg';
import { JOB_SCHEMA } from './job-queue.js';

/** First half of the advisory lock's key; the second is the hash of the pool's id. */
const LIVENESS_LOCKS = 0x6a6f6266;

export interface WorkerLivenessOptions {
  readonly pool: pg.Pool;
  readonly sweepMs: number;
  /** The ids of the jobs that the workers of this gateway are at. */
  readonly runningJobs: () => readonly string[];
  readonly onRecovered: (workers: number) => void;
  readonly onFault: (error: unknown) => void;
}

export class WorkerLiveness {
  readonly #options: WorkerLivenessOptions;
  readonly #timer: NodeJS.Timeout;
  #client: pg.PoolClient | undefined;
  #poolId: string | undefined;
  #missing: ReadonlySet<string> = new Set();
  /** Jobs taken in our name that we were not at, at the last look. */
  #strays: ReadonlySet<string> = new Set();
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: WorkerLivenessOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweepAfterThis(), options.sweepMs);
    this.#timer.unref();
  }

  /** Says from now on that the workers of this id live, instead of those before. */
  hold(poolId: string): void {
    this.#poolId = poolId;
    // A lock is of a connection: the old one goes with it.
    this.#letGo();
    this.#sweepAfterThis();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#work;
    this.#letGo();
  }

  #sweepAfterThis(): void {
    this.#work = this.#work.then(() => this.#sweep()).catch(this.#options.onFault);
  }

  async #sweep(): Promise<void> {
    if (this.#isClosed || this.#poolId === undefined) return;
    try {
      this.#client ??= await this.#lock(this.#poolId);
      const missing = await findMissing(this.#client);
      const dead = missing.filter((id) => this.#missing.has(id));
      this.#missing = new Set(missing);
      if (dead.length > 0) {
        await this.#client.query(`select ${JOB_SCHEMA}.force_unlock_workers($1)`, [dead]);
        this.#options.onRecovered(dead.length);
      }
      await this.#freeStrays(this.#client, this.#poolId);
    } catch (error) {
      this.#letGo();
      throw error;
    }
  }

  /** One look may see a job that is being taken, or whose end is being noted. */
  async #freeStrays(client: pg.PoolClient, poolId: string): Promise<void> {
    const found = await findStrays(client, poolId, this.#options.runningJobs());
    const strays = found.filter((id) => this.#strays.has(id));
    this.#strays = new Set(found);
    if (strays.length > 0) await freeJobs(client, poolId, strays);
  }

  async #lock(poolId: string): Promise<pg.PoolClient> {
    const client = await this.#options.pool.connect();
    try {
      // Shared: an id whose hash is that of another's must not wait for it.
      await client.query('select pg_advisory_lock_shared($1, hashtext($2))', [LIVENESS_LOCKS, poolId]);
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  #letGo(): void {
    this.#client?.release(true);
    this.#client = undefined;
  }
}

async function findMissing(client: pg.PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select distinct jobs.locked_by as id
       from ${JOB_SCHEMA}.jobs
      where jobs.locked_by is not null
        and not exists (
          select
            from pg_locks held
           where held.locktype = 'advisory'
             and held.database = (select oid from pg_database where datname = current_database())
             and held.classid = $1::int::oid
             and held.objid = hashtext(jobs.locked_by)::oid
             and held.granted
        )`,
    [LIVENESS_LOCKS],
  );
  return rows.map((row) => row.id);
}

async function findStrays(
  client: pg.PoolClient,
  poolId: string,
  running: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id::text
       from ${JOB_SCHEMA}._private_jobs
      where locked_by = $1
        and id <> all($2::bigint[])`,
    [poolId, running],
  );
  return rows.map((row) => row.id);
}

/** Frees jobs as the library gives back what it has taken and not begun: the attempt does not count. */
async function freeJobs(client: pg.PoolClient, poolId: string, ids: readonly string[]): Promise<void> {
  await client.query(
    `with freed as (
       update ${JOB_SCHEMA}._private_jobs
       set locked_by = null, locked_at = null, attempts = greatest(0, attempts - 1)
       where id = any($2::bigint[])
         and locked_by = $1
       returning job_queue_id
     )
     update ${JOB_SCHEMA}._private_job_queues as queues
     set locked_by = null, locked_at = null
     from freed
     where queues.id = freed.job_queue_id
       and queues.locked_by = $1`,
    [poolId, ids],
  );
}
