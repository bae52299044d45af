/** Access to `/metrics`: open to all, by token, or on a port of its own. */
import { hash, timingSafeEqual } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { ServiceError } from '../../../base/errors.js';
import { parseBearer } from '../../../services/auth/service-secret.js';
import type { Config } from '../../config/config.js';
import { type AuthenticationOptions, countRequest } from '../admission/authentication.js';
import { useBodyAdmission } from '../admission/body-admission.js';
import { SerialRequests } from '../admission/serial-requests.js';
import { RequestsInFlight, useLifecycle } from '../request-lifecycle.js';
import { useUnroutedAnswers } from '../routes/unrouted.js';
import { useErrorAnswers } from '../sending/error-answers.js';
import { API_HEADERS } from '../sending/security-headers.js';
import { shareFor } from './health.js';
import type { FigureList, Metrics } from './metrics.js';
import type { Observe } from './observation.js';

/** Adds up the metrics of all processes that serve as one gateway. */
export interface SharedFigures {
  /** Reports the metrics of this process to the one that adds them up, from now on. */
  reportBy(own: () => Promise<FigureList>): void;
  /** The metrics of all processes, in the Prometheus text format. */
  print(): Promise<string>;
}

interface MetricsOptions {
  readonly metrics: Metrics;
  /** The token that is required, if any. */
  readonly config: Pick<Config, 'metricsToken'>;
  /** Absent: there is one process. */
  readonly sharedFigures: SharedFigures | undefined;
  /** Counts requests by address, unless there is a token. Absent: they are not counted. */
  readonly rateLimits?: AuthenticationOptions['rateLimits'];
}

/** Printing the metrics costs more than most requests. */
const PRINT_SHARED_MS = 1000;

export function useMetrics(app: FastifyInstance, options: MetricsOptions): void {
  const { metrics, sharedFigures, rateLimits } = options;
  const { metricsToken: token } = options.config;
  const { registry } = metrics;
  sharedFigures?.reportBy(() => registry.getMetricsAsJSON());
  const print = shareFor(PRINT_SHARED_MS, async () =>
    Buffer.from(await (sharedFigures ? sharedFigures.print() : registry.metrics())),
  );
  app.route({
    method: ['GET', 'HEAD'],
    config: { isVital: true },
    url: '/metrics',
    onRequest: async ({ headers, lifecycle }, reply) => {
      if (token !== undefined) assertToken(token, headers.authorization);
      else if (rateLimits) countRequest(reply, rateLimits.take(`metrics:${lifecycle.address}`));
    },
    handler: async ({ lifecycle }, reply) => {
      lifecycle.releasePermit();
      return reply.type(registry.contentType).send(await print());
    },
  });
}

/** A server only for the metrics. The caller opens its port, and closes it. */
export function createMetricsServer(
  options: MetricsOptions & { readonly observe: Observe },
): FastifyInstance {
  const requests = new SerialRequests();
  const app = fastify({ logger: false, http: { IncomingMessage: requests.IncomingMessage } });
  requests.listen(app.server);
  useLifecycle(app, { inFlight: new RequestsInFlight(), observe: options.observe, headers: API_HEADERS });
  useErrorAnswers(app, options.observe);
  const none = { bodyLimitBytes: 0, anonymousBodyLimitBytes: 0, bodyMaxMembers: 0, bodyRoomBytes: 0 };
  const noBodies = { ...none, mayWrite: () => false };
  useBodyAdmission(app, noBodies, { streamStallMs: 30_000, streamMinBytesPerSecond: 0 });
  useUnroutedAnswers(app);
  useMetrics(app, options);
  return app;
}

/** @throws UNAUTHENTICATED (401) */
function assertToken(token: string, authorization: string | undefined): void {
  const sent = parseBearer(authorization) ?? '';
  // Compares hashes, which have one length, in constant time.
  if (timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', token, 'buffer'))) return;
  throw new ServiceError(
    'UNAUTHENTICATED',
    'The figures ask for the token of METRICS_TOKEN: Authorization: Bearer <token>.',
  );
}
