/** Whether this gateway lives (`/healthz`), whether it can answer (`/readyz`), and its figures (`/metrics`). */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Database } from '../store/database/database.js';
import type { Metrics } from './metrics.js';

const VITAL = { method: ['GET', 'HEAD'], config: { isVital: true } };
/** A database that takes longer to say "1" is not ready. */
const READINESS_TIMEOUT_MS = 2000;

export interface HealthOptions {
  readonly database: Pick<Database, 'query'>;
  readonly metrics: Metrics;
  /** What keeps the gateway from taking requests, in words; `undefined`: nothing. */
  readonly findObstacle: () => string | undefined;
}

export function useHealth(app: FastifyInstance, o: HealthOptions): void {
  app.route({ ...VITAL, url: '/healthz', handler: async () => ({ status: 'ok' }) });

  app.route({
    ...VITAL,
    url: '/readyz',
    handler: async () => {
      const obstacle = o.findObstacle();
      if (obstacle !== undefined) throw new ServiceError('UNAVAILABLE', obstacle, { retryAfterSeconds: 5 });
      await assertAnswers(o.database);
      return { status: 'ready' };
    },
  });

  app.route({
    ...VITAL,
    url: '/metrics',
    handler: async (_request, reply) =>
      reply.type(o.metrics.registry.contentType).send(await o.metrics.registry.metrics()),
  });
}

/** @throws UNAVAILABLE (503) */
async function assertAnswers(database: HealthOptions['database']): Promise<void> {
  try {
    await database.query(Prisma.sql`select 1`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
  } catch (cause) {
    throw new ServiceError('UNAVAILABLE', 'The database does not answer.', { cause, retryAfterSeconds: 5 });
  }
}
