/** Access to `/metrics`: open to all, by token, or on a port of its own. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { parseBearer } from '../auth/parse-bearer.js';
import { ServiceError } from '../errors.js';
import { RequestsInFlight, useArrival } from './arrival.js';
import { useBodyAdmission } from './body-admission.js';
import { useProblemAnswers } from './error-answers.js';
import type { FigureList, Metrics } from './metrics.js';
import type { Observe } from './observation.js';
import { addAllMethods, addOtherMethods } from './rest.js';
import { API_HEADERS } from './security-headers.js';

export interface MetricsAccess {
  /** The required token; `undefined`: none. */
  readonly token: string | undefined;
  /** The separate port of the metrics; `undefined`: the main port. */
  readonly port: number | undefined;
  /** Adds up the metrics of all processes, if several serve as one gateway. Absent: there is one process. */
  readonly sharedFigures?: SharedFigures | undefined;
}

export interface SharedFigures {
  /** Reports the metrics of this process to the one that adds them up, from now on. */
  reportBy(own: () => Promise<FigureList>): void;
  /** The metrics of all processes, in the Prometheus text format. */
  print(): Promise<string>;
}

interface MetricsOptions extends Pick<MetricsAccess, 'token' | 'sharedFigures'> {
  readonly metrics: Metrics;
}

export function useMetrics(app: FastifyInstance, { metrics, token, sharedFigures }: MetricsOptions): void {
  const { registry } = metrics;
  sharedFigures?.reportBy(() => registry.getMetricsAsJSON());
  app.route({
    method: ['GET', 'HEAD'],
    config: { isVital: true },
    url: '/metrics',
    onRequest: async ({ headers }) => assertToken(token, headers.authorization),
    handler: async (_request, reply) =>
      reply
        .type(registry.contentType)
        .send(await (sharedFigures ? sharedFigures.print() : registry.metrics())),
  });
  addOtherMethods(app, '/metrics', ['GET', 'HEAD']);
}

/** A server for the metrics alone. The caller opens its port, and closes it. */
export function createMetricsServer(
  options: MetricsOptions & { readonly observe: Observe },
): FastifyInstance {
  const app = fastify({ logger: false });
  addAllMethods(app);
  useArrival(app, { inFlight: new RequestsInFlight(), observe: options.observe, headers: API_HEADERS });
  useProblemAnswers(app, options.observe);
  useBodyAdmission(app, { limitBytes: 0, anonymousLimitBytes: 0, maxMembers: 0, roomBytes: 0 });
  useMetrics(app, options);
  return app;
}

/** @throws UNAUTHENTICATED (401) */
function assertToken(token: string | undefined, authorization: string | undefined): void {
  if (token === undefined) return;
  const sent = parseBearer(authorization) ?? '';
  // Compares hashes, which have one length, in constant time.
  if (timingSafeEqual(hashOf(sent), hashOf(token))) return;
  throw new ServiceError(
    'UNAUTHENTICATED',
    'The figures ask for the token of METRICS_TOKEN: Authorization: Bearer <token>.',
  );
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
