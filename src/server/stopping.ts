/** A stop without losing an answer: what is under way finishes, what is new is sent elsewhere. */
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';
import type { RequestsInFlight } from './arrival.js';
import type { Observe } from './observation.js';
import type { WebSockets } from './web-sockets.js';

export class Stopping {
  #isOn = false;

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): void {
    this.#isOn = true;
  }
}

/**
 * New requests get 503 and `Connection: close`, on old connections and on new ones: the port stays open until
 * the last answer.
 */
export function useStopping(app: FastifyInstance, stopping: Stopping): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!stopping.isOn || request.routeOptions.config.isVital) return done();
    reply.header('connection', 'close');
    done(
      new ServiceError('UNAVAILABLE', 'This gateway is shutting down; try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      }),
    );
  });
}

/** Ends the server: waits for requests in flight up to `graceMs`, then cuts what is left. */
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
  options.stopping.begin();
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
