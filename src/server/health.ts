/** Whether this gateway lives (`/healthz`), whether it can answer (`/readyz`), and its figures (`/metrics`). */
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../errors.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Database } from '../store/database/database.js';
import type { Metrics } from './metrics.js';

const VITAL = { config: { isVital: true } } as const;
/** A database that takes longer to say "1" is not ready. */
const READINESS_TIMEOUT_MS = 2000;

export interface HealthOptions {
  readonly database: Pick<Database, 'query'>;
  readonly metrics: Metrics;
  /** What keeps the gateway from taking requests, in words; `undefined`: nothing. */
  readonly findObstacle: () => string | undefined;
}

export function useHealth(app: FastifyInstance, o: HealthOptions): void {
  app.get('/healthz', VITAL, async () => ({ status: 'ok' }));

  app.get('/readyz', VITAL, async () => {
    const obstacle = o.findObstacle();
    if (obstacle !== undefined) throw new ServiceError('UNAVAILABLE', obstacle, { retryAfterSeconds: 5 });
    await o.database.query(Prisma.sql`select 1`, { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
    return { status: 'ready' };
  });

  app.get('/metrics', VITAL, async (_request, reply) =>
    reply.type(o.metrics.registry.contentType).send(await o.metrics.registry.metrics()),
  );
}
