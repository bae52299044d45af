/**
 * A stop without losing an answer: balancers are told first, then what is under way finishes and what is new
 * is sent elsewhere.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';
import type { RequestsInFlight } from './arrival.js';
import type { Observe } from './observation.js';
import type { WebSockets } from './web-sockets.js';

export class Stopping {
  #isAnnounced = false;
  #isOn = false;

  /** Whether this gateway is to be left, and says so. */
  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /** Whether new requests are refused. */
  get isOn(): boolean {
    return this.#isOn;
  }

  announce(): void {
    this.#isAnnounced = true;
  }

  begin(): void {
    this.#isAnnounced = true;
    this.#isOn = true;
  }
}

/**
 * Once the stop is announced, every answer ends its connection, so that the next request looks for another
 * gateway. Once it has begun, new requests get 503, on old connections and on new ones: the port stays open
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
 * Lets `/readyz` say that this gateway is to be left, and goes on answering for so long: a balancer that asks
 * every second or two sends requests until it has heard. Nothing is waited for where no port is open.
 */
export async function announceStop(
  app: FastifyInstance,
  options: { readonly stopping: Stopping; readonly delayMs: number; readonly observe: Observe },
): Promise<void> {
  const { stopping, delayMs, observe } = options;
  if (stopping.isAnnounced || delayMs === 0 || !app.server.listening) return;
  stopping.announce();
  observe({ kind: 'stopAnnounced', delayMs });
  await sleep(delayMs);
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
