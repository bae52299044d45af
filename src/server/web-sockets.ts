/**
 * WebSockets at `/graphql`, on the main port. The upgrade request passes the hooks of every request
 * (maintenance, credential, rate) and is refused like any other; once accepted, its socket belongs to
 * `LiveServer`.
 */
import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';
import type { LiveConnection, LiveSocket } from '../graphql/live/live-connection.js';
import type { LiveServer } from '../graphql/live/live-server.js';
import type { Observe } from './observation.js';
import type { SerialRequests } from './serial-requests.js';

export interface WebSocketsOptions {
  readonly live: LiveServer;
  readonly maxConnections: number;
  /** The maximum size of an incoming message. */
  readonly maxMessageBytes: number;
  readonly observe: Observe;
}

const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;
/** A peer that has vanished is noticed by an unanswered ping. */
const PING_MS = 15_000;
/** How long a peer may take to accept the close frame. */
const CLOSE_TIMEOUT_MS = 2_000;

interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
  readonly response: ServerResponse;
}

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #server: WebSocketServer;
  readonly #upgrades = new WeakMap<IncomingMessage, Upgrade>();
  readonly #timer: NodeJS.Timeout;
  readonly #silent = new WeakSet<WebSocket>();
  #onEmpty: (() => void) | undefined;

  constructor(options: WebSocketsOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      // Compression would take more memory per socket than everything else.
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      handleProtocols,
    });
    this.#timer = setInterval(() => this.#ping(), PING_MS);
    this.#timer.unref();
  }

  /**
   * Passes upgrade requests through the hooks of the application; `accept` handles those that are not
   * refused.
   */
  listen(app: FastifyInstance, requests: SerialRequests): void {
    requests.listen(app.server, (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.destroySoon());
      this.#upgrades.set(request, { socket, head, response });
      app.routing(request, response);
    });
  }

  /** Registers the last hook before the routes, which accepts WebSockets. */
  accept(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const upgrade = this.#upgrades.get(request.raw);
      if (!upgrade) return done();
      if (this.#server.clients.size >= this.#options.maxConnections) {
        return done(
          new ServiceError('UNAVAILABLE', 'This gateway has as many WebSockets as it takes; try again.', {
            retryAfterSeconds: RETRY_AFTER_SECONDS,
          }),
        );
      }
      reply.hijack();
      this.#open(request, upgrade);
    });
  }

  /**
   * Closes every socket with a code for "try elsewhere"; clients that do not answer within `graceMs` are cut
   * off.
   */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#options.live.closeAll(GOING_AWAY, 'This gateway is shutting down');
    if (this.#server.clients.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#onEmpty = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const socket of this.#server.clients) socket.terminate();
  }

  #open(request: FastifyRequest, { socket, head, response }: Upgrade): void {
    response.detachSocket(socket);
    // For the hooks, the request ends here with an answer.
    response.statusCode = 101;
    response.emit('close');
    this.#server.handleUpgrade(request.raw, socket, head, (webSocket) => this.#serve(webSocket, request));
  }

  #serve(webSocket: WebSocket, { arrival, headers }: FastifyRequest): void {
    const { live, observe } = this.#options;
    const startedAt = performance.now();
    const { requestId, address, askedDomain } = arrival;
    const { connection, closed } = live.open(this.#toLiveSocket(webSocket, requestId), {
      requestId,
      address,
      askedDomain,
      authorization: headers.authorization,
    });
    webSocket.on('pong', () => this.#silent.delete(webSocket));
    // Malformed frames: `ws` closes the socket with the right code.
    webSocket.on('error', () => {});
    webSocket.once('close', (code: number, reason: Buffer) => {
      observeEnd(observe, { connection, code, reason: reason.toString(), startedAt });
      closed(code, reason.toString()).catch((error: unknown) =>
        observe({ kind: 'requestFailed', requestId, error }),
      );
      if (this.#server.clients.size === 0) this.#onEmpty?.();
    });
  }

  #toLiveSocket(webSocket: WebSocket, requestId: string): LiveSocket {
    const { observe, live } = this.#options;
    const { maxMessagesAtWork } = live;
    return {
      protocol: webSocket.protocol,
      get bufferedBytes() {
        return webSocket.bufferedAmount;
      },
      send: (message) =>
        new Promise((resolve) => {
          // A closing socket sends nothing more, and its subscriptions are ending.
          if (webSocket.readyState !== webSocket.OPEN) return resolve();
          webSocket.send(message, () => resolve());
        }),
      close: (code, reason) => {
        webSocket.close(code, reason);
        setTimeout(() => webSocket.terminate(), CLOSE_TIMEOUT_MS).unref();
      },
      onMessage: (listener) => {
        let atWork = 0;
        webSocket.on('message', async (message) => {
          atWork += 1;
          // Stops reading, so that back-pressure reaches the sender.
          if (atWork >= maxMessagesAtWork) webSocket.pause();
          try {
            await listener(String(message));
          } catch (error) {
            observe({ kind: 'requestFailed', requestId, error });
            webSocket.close(INTERNAL_ERROR, 'Internal server error');
          }
          atWork -= 1;
          if (atWork < maxMessagesAtWork && webSocket.isPaused) webSocket.resume();
        });
      },
    };
  }

  #ping(): void {
    for (const socket of this.#server.clients) {
      if (this.#silent.has(socket)) {
        socket.terminate();
        continue;
      }
      this.#silent.add(socket);
      socket.ping();
    }
  }
}

function observeEnd(
  observe: Observe,
  end: {
    readonly connection: LiveConnection;
    readonly code: number;
    readonly reason: string;
    readonly startedAt: number;
  },
): void {
  const { connection, code, startedAt } = end;
  observe({
    kind: 'liveConnectionEnded',
    requestId: connection.arrival.requestId,
    address: connection.arrival.address,
    principal: connection.principal,
    durationMs: Math.round(performance.now() - startedAt),
    events: connection.eventsSent,
    code,
    // The reason that we sent, if we closed it; an unanswered close has none.
    reason: connection.closeReason ?? end.reason,
  });
}
