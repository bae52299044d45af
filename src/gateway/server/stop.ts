/**
 * A graceful stop: balancers are notified first, then requests in progress finish and new ones are sent
 * elsewhere.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import type { Config } from '../config/config.js';
import type { Observe } from './observation/observation.js';
import type { RequestsInFlight } from './request-lifecycle.js';
import type { WebSockets } from './routes/web-sockets.js';

export interface StopOptions {
  readonly config: Pick<Config, 'shutdownDelayMs' | 'shutdownGraceMs'>;
  readonly inFlight: RequestsInFlight;
  readonly observe: Observe;
}

export class Stop {
  readonly #app: FastifyInstance;
  readonly #options: StopOptions;
  #isAnnounced = false;
  #isOn = false;

  /**
   * Once the stop is announced, every answer closes its connection, so that the next request goes to another
   * gateway. Once the stop has begun, new requests get 503 on old and new connections; the port stays open
   * until the last answer.
   */
  constructor(app: FastifyInstance, options: StopOptions) {
    this.#app = app;
    this.#options = options;
    app.addHook('onRequest', (request, reply, done) => {
      if (!this.#isAnnounced) return done();
      reply.header('connection', 'close');
      if (!this.#isOn || request.routeOptions.config.isVital) return done();
      done(
        new ServiceError('UNAVAILABLE', 'This gateway is shutting down; try again.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        }),
      );
    });
  }

  get isAnnounced(): boolean {
    return this.#isAnnounced;
  }

  /**
   * Makes `/readyz` report the stop while requests are still answered: a balancer that polls every second or
   * two keeps sending until it has noticed. Returns at once if no port is open.
   */
  async announce(): Promise<void> {
    const { config, observe } = this.#options;
    if (this.#isAnnounced || config.shutdownDelayMs === 0 || !this.#app.server.listening) return;
    this.#isAnnounced = true;
    observe({ kind: 'stopAnnounced', delayMs: config.shutdownDelayMs });
    await sleep(config.shutdownDelayMs);
  }

  /** Waits up to the grace period for requests in progress, then cuts them off and closes the server. */
  async finish(webSockets: WebSockets): Promise<void> {
    const { config, inFlight, observe } = this.#options;
    observe({ kind: 'stopping', inFlight: inFlight.count });
    this.#isAnnounced = true;
    this.#isOn = true;
    const graceMs = config.shutdownGraceMs;
    const [abandoned] = await Promise.all([inFlight.drain(graceMs), webSockets.stop(graceMs)]);
    inFlight.cut();
    const closing = this.#app.close();
    this.#app.server.closeAllConnections();
    await closing;
    observe({ kind: 'stopped', abandoned });
  }
}
