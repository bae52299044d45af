/**
 * WebSockets at `/graphql`, on the main port. The upgrade request passes the hooks of every request
 * (maintenance, credential, rate) and is refused like any other; once accepted, its socket belongs to
 * `LiveServer`. Messages and control frames are admitted like requests, one at a time: while one
 * waits, the socket is not read.
 */
import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import { Batcher } from '../../../base/process/batcher.js';
import type { Config } from '../../config/config.js';
import { CLOSE, type LiveConnection, type LiveSocket } from '../../graphql/live/live-connection.js';
import type { LiveServer } from '../../graphql/live/live-server.js';
import type { AdmissionControl } from '../admission/admission-control.js';
import { keyOfAddress, keyOfUser } from '../admission/request-admission.js';
import type { SerialRequests } from '../admission/serial-requests.js';
import type { Observe } from '../observation/observation.js';

export interface WebSocketsOptions {
  readonly live: LiveServer;
  /** A message may be as large as a body. */
  readonly config: Pick<Config, 'liveConnections' | 'bodyLimitBytes'>;
  readonly admission: AdmissionControl;
  readonly observe: Observe;
}

const GOING_AWAY = 1001;
const INTERNAL_ERROR = 1011;
/** A peer that has vanished is noticed by an unanswered ping. */
const PING_MS = 15_000;
/** How long a peer may take to accept the close frame. */
const CLOSE_TIMEOUT_MS = 2_000;
/** A message needs few fragments. */
const MOST_FRAGMENTS = 1024;
/** The most messages of a peer before it is authenticated: `connection_init`, and perhaps a ping. */
const MOST_EARLY_MESSAGES = 5;
/** The headers of these messages. */
const EARLY_HEADER_BYTES = 1024;
/** The bytes that are parsed at once: at most 85 frames. */
const PIECE_BYTES = 512;
/** The most bytes of a peer after we closed the connection: messages under way, and its close frame. */
const MOST_LATE_BYTES = 16_384;
const NO_BYTES = Buffer.alloc(0);
/** The share of all connections that may have no caller yet, and the number of one address. */
const PART_OF_UNKNOWN = 1 / 2;
const MOST_UNKNOWN_OF_ADDRESS = 64;

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
  /** The connections that have no caller yet, oldest first. */
  readonly #unknown = new Map<LiveConnection, WebSocket>();
  #onEmpty: (() => void) | undefined;

  constructor(options: WebSocketsOptions) {
    this.#options = options;
    this.#server = new WebSocketServer({
      noServer: true,
      // Compression would take more memory per socket than everything else.
      perMessageDeflate: false,
      maxPayload: options.config.bodyLimitBytes,
      maxFragments: MOST_FRAGMENTS,
      autoPong: false,
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
      if (!this.#makeRoom(request.lifecycle.address)) {
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
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    if (this.#server.clients.size > 0) await Promise.race([empty, sleep(graceMs, undefined, { ref: false })]);
    for (const socket of this.#server.clients) socket.terminate();
  }

  #open(request: FastifyRequest, { socket, head, response }: Upgrade): void {
    response.detachSocket(socket);
    // For the hooks, the request ends here with an answer.
    response.statusCode = 101;
    response.emit('close');
    this.#server.handleUpgrade(request.raw, socket, head, (webSocket) =>
      this.#serve(webSocket, request, socket),
    );
  }

  #serve(webSocket: WebSocket, { lifecycle, headers }: FastifyRequest, socket: Socket): void {
    const { live, observe } = this.#options;
    const startedAt = performance.now();
    const { requestId, address, askedDomain } = lifecycle;
    const { connection, receive, closed } = live.open(toLiveSocket(webSocket), {
      requestId,
      address,
      askedDomain,
      authorization: headers.authorization,
    });
    this.#unknown.set(connection, webSocket);
    const goOn = this.#parseInPieces(webSocket, connection, socket);
    const enqueue = this.#queueMessages(webSocket, connection, goOn);
    webSocket.on('message', (message) => enqueue(() => receive(String(message))));
    webSocket.on('ping', (data) =>
      enqueue(() => connection.caller && live.isWithinRate(connection) && webSocket.pong(data)),
    );
    webSocket.on('pong', () =>
      enqueue(() => live.isWithinRate(connection) && this.#silent.delete(webSocket)),
    );
    // Malformed frames: `ws` closes the socket with the right code.
    webSocket.on('error', () => {});
    webSocket.once('close', (code: number, reason: Buffer) => {
      this.#unknown.delete(connection);
      observe({
        kind: 'liveConnectionEnded',
        requestId,
        address,
        principal: connection.principal,
        durationMs: Math.round(performance.now() - startedAt),
        events: connection.eventsSent,
        code,
        // The reason that we sent, if we closed it; an unanswered close has none.
        reason: connection.closeReason ?? reason.toString(),
      });
      void closed(code, reason.toString());
      if (this.#server.clients.size === 0) this.#onEmpty?.();
    });
  }

  /**
   * Passes received bytes to `ws` in pieces, and none while the WebSocket is paused. By itself `ws` would
   * parse all frames of a chunk at once, even after its peer has gone. Returns a function that continues.
   */
  #parseInPieces(webSocket: WebSocket, connection: LiveConnection, socket: Socket): () => void {
    const { firstMessageBytes } = this.#options.live;
    const most = socket.bytesRead + firstMessageBytes + EARLY_HEADER_BYTES;
    const tooLarge = `Before connection_init, messages have at most ${firstMessageBytes} bytes`;
    const [parse] = socket.listeners('data');
    let rest: Buffer = NO_BYTES;
    let lateBytes = 0;
    const goOn = () => {
      while (rest.length > 0 && !webSocket.isPaused) {
        const piece = rest.subarray(0, PIECE_BYTES);
        rest = rest.subarray(PIECE_BYTES);
        if (!connection.isOpen) lateBytes += piece.length;
        if (lateBytes > MOST_LATE_BYTES) webSocket.pause();
        else parse?.call(socket, piece);
      }
    };
    socket.removeAllListeners('data').on('data', (chunk) => {
      rest = chunk;
      // `ws` collects a message of any caller up to `bodyLimitBytes`.
      if (connection.caller === undefined && socket.bytesRead > most)
        closeUnread(webSocket, connection, CLOSE.tooLarge, tooLarge);
      goOn();
    });
    // Without this, `ws` would parse the unread bytes.
    socket.prependListener('close', () => {
      rest = NO_BYTES;
      socket.read();
    });
    return goOn;
  }

  /** Returns a function that calls a handler of a message, or of a control frame, once it is admitted. */
  #queueMessages(
    webSocket: WebSocket,
    connection: LiveConnection,
    goOn: () => void,
  ): (handle: () => unknown) => void {
    const { admission, observe } = this.#options;
    const { requestId, address } = connection.origin;
    const messages: Batcher<() => unknown> = new Batcher({
      takeNext: (waiting) => waiting.splice(0, 1),
      concurrency: 1,
      work: async ([handle]) => {
        try {
          const key = connection.user ? keyOfUser(connection.user) : keyOfAddress(address);
          const permit = await admission.acquire(key);
          try {
            await handle?.();
          } finally {
            permit.release();
          }
        } catch (error) {
          messages.clear();
          if (error instanceof ServiceError) connection.close(CLOSE.tryAgainLater, error.message);
          else {
            observe({ kind: 'requestFailed', requestId, error });
            connection.close(INTERNAL_ERROR, 'Internal server error');
          }
        }
      },
      onIdle: () => {
        webSocket.resume();
        goOn();
      },
    });
    let early = 0;
    return (handle) => {
      if (!connection.isOpen) return;
      if (connection.caller === undefined) early += 1;
      if (connection.caller === undefined && early > MOST_EARLY_MESSAGES)
        closeUnread(webSocket, connection, CLOSE.tooMany, TOO_MANY_EARLY);
      else {
        if (messages.isBusy) webSocket.pause();
        messages.add(handle);
      }
    };
  }

  /**
   * Whether one more connection may open. The oldest without a caller is closed if there are too many of
   * them: clients authenticate at once, so the oldest is probably silent.
   */
  #makeRoom(address: string): boolean {
    for (const connection of this.#unknown.keys()) {
      if (connection.caller) this.#unknown.delete(connection);
    }
    const { liveConnections: maxConnections } = this.#options.config;
    const unknown = [...this.#unknown.keys()];
    const ofAddress = unknown.filter(({ origin }) => origin.address === address);
    const isFull = this.#server.clients.size >= maxConnections;
    let oldest: LiveConnection | undefined;
    if (ofAddress.length >= MOST_UNKNOWN_OF_ADDRESS) [oldest] = ofAddress;
    else if (isFull || unknown.length >= maxConnections * PART_OF_UNKNOWN) [oldest] = unknown;
    if (oldest === undefined) return !isFull;
    oldest.close(CLOSE.tryAgainLater, 'Too many connections have not sent connection_init');
    this.#unknown.get(oldest)?.terminate();
    this.#unknown.delete(oldest);
    return true;
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

const TOO_MANY_EARLY = 'Too many messages before connection_ack';

/** Closes a connection without reading what its peer still sends. */
function closeUnread(webSocket: WebSocket, connection: LiveConnection, code: number, reason: string): void {
  connection.close(code, reason);
  webSocket.pause();
}

function toLiveSocket(webSocket: WebSocket): LiveSocket {
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
  };
}
