/**
 * A graceful stop: balancers are notified first, then requests in progress finish and new ones are sent
 * elsewhere.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import type { Observe } from './observation/observation.js';
import type { RequestsInFlight } from './request-lifecycle.js';
import type { WebSockets } from './routes/web-sockets.js';

export interface Stopping {
  /** Whether this gateway has announced its stop. */
  isAnnounced: boolean;
  /** Whether new requests are refused. */
  isOn: boolean;
}

/**
 * Once the stop is announced, every answer closes its connection, so that the next request goes to another
 * gateway. Once the stop has begun, new requests get 503 on old and new connections; the port stays open
 * until the last answer.
 */
export function useStopping(app: FastifyInstance, stopping: Stopping): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!stopping.isAnnounced) return done();
    reply.header('connection', 'close');
    if (!stopping.isOn || request.routeOptions.config.isVital) return done();
    done(
      new ServiceError('UNAVAILABLE', 'This gateway is shutting down; try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      }),
    );
  });
}

/**
 * Makes `/readyz` report the stop while requests are still answered: a balancer that polls every second or
 * two keeps sending until it has noticed. Returns at once if no port is open.
 */
export async function announceStop(
  app: FastifyInstance,
  options: { readonly stopping: Stopping; readonly delayMs: number; readonly observe: Observe },
): Promise<void> {
  const { stopping, delayMs, observe } = options;
  if (stopping.isAnnounced || delayMs === 0 || !app.server.listening) return;
  stopping.isAnnounced = true;
  observe({ kind: 'stopAnnounced', delayMs });
  await sleep(delayMs);
}

/** Stops the server: waits up to `graceMs` for requests in progress, then cuts them off. */
export async function stopServer(
  app: FastifyInstance,
  options: {
    readonly stopping: Stopping;
    readonly inFlight: RequestsInFlight;
    readonly webSockets: WebSockets | undefined;
    readonly graceMs: number;
    readonly observe: Observe;
  },
): Promise<void> {
  options.observe({ kind: 'stopping', inFlight: options.inFlight.count });
  Object.assign(options.stopping, { isAnnounced: true, isOn: true });
  const [abandoned] = await Promise.all([
    options.inFlight.drain(options.graceMs),
    options.webSockets?.stop(options.graceMs),
  ]);
  options.inFlight.cut();
  const closing = app.close();
  app.server.closeAllConnections();
  await closing;
  options.observe({ kind: 'stopped', abandoned });
}
