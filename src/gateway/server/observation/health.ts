/** Liveness (`/healthz`) and readiness (`/readyz`). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import type { Database } from '../../../store/database/database.js';
import { sql } from '../../../store/sql.js';

const VITAL = { method: ['GET', 'HEAD'], config: { isVital: true } };
/** A database that takes longer to answer `select 1` is not ready. */
const READINESS_TIMEOUT_MS = 1800;
const READINESS_SHARED_MS = 1000;

export interface HealthOptions {
  readonly database: Pick<Database, 'background' | 'isReadOnly' | 'isDiskFull'>;
  /** Why the gateway cannot take requests, in words; `undefined` if it can. */
  readonly findObstacle: () => string | undefined;
}

export function useHealth(app: FastifyInstance, options: HealthOptions): void {
  const assertReady = createReadiness(options.database);
  app.route({ ...VITAL, url: '/healthz', handler: async () => ({ status: 'ok' }) });

  app.route({
    ...VITAL,
    url: '/readyz',
    handler: async ({ lifecycle }) => {
      const obstacle = options.findObstacle();
      if (obstacle !== undefined)
        throw new ServiceError('UNAVAILABLE', obstacle, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      // The wait for the database has a limit of its own.
      lifecycle.releasePermit();
      await assertReady();
      const { isReadOnly, isDiskFull } = options.database;
      return {
        status: 'ready',
        ...(isReadOnly && { database: 'read-only' }),
        ...(isDiskFull && { disk: 'full' }),
      };
    },
  });
}

/**
 * Asks the database at most once a second for all callers, and never waits longer than the timeout.
 *
 * @throws UNAVAILABLE (503), from the returned function
 */
function createReadiness({ background }: HealthOptions['database']): () => Promise<void> {
  // Not on a connection of the request pool: those may all be busy while the gateway is ready. A query that
  // hangs is not repeated.
  const ask = shareFor(0, () => background.query(sql`select 1`));
  return shareFor(READINESS_SHARED_MS, async () => {
    const late = sleep(READINESS_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      throw doesNotAnswer();
    });
    await Promise.race([ask(), late]).catch((cause: unknown) => {
      throw cause instanceof ServiceError ? cause : doesNotAnswer(cause);
    });
  });
}

function doesNotAnswer(cause?: unknown): ServiceError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new ServiceError('UNAVAILABLE', 'The database does not answer.', { cause, retryAfterSeconds });
}

/**
 * Returns a function that calls `compute` at most once in `forMs`, and gives all callers the same result or
 * failure.
 */
export function shareFor<T>(forMs: number, compute: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (shared !== undefined && performance.now() < until) return shared;
    const startedAt = performance.now();
    // A running computation is shared however long it takes.
    until = Number.POSITIVE_INFINITY;
    shared = compute().finally(() => {
      until = startedAt + forMs;
    });
    return shared;
  };
}
