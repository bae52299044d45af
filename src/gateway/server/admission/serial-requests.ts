/**
 * Serves the requests of a connection one at a time. Node parses all requests of a chunk in one turn of the
 * event loop: a client that pipelines could have thousands of requests and answers in memory, and no other
 * client would be served meanwhile. Here a request that arrives before the previous one is answered stays
 * unparsed, and the connection is not read until then. For the same reason, a body that arrives in tiny
 * chunks is read slowly.
 */
import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The headers of an offer to change the protocol. */
const OFFERS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);
const NONE: ReadonlySet<string> = new Set();
/** The parts of a body that are read without a pause. Ordinary bodies have fewer parts in a turn. */
const MOST_PARTS = 128;
/** How long no such body is read for each part; a part costs some 0.0015 ms of processor time. */
const PAUSE_MS_PER_PART = 0.05;

/** A connection of the operating system, as Node's own HTTP server pauses it. */
interface Handle {
  reading: boolean;
  readStop(): void;
}

/** Handles the upgrade of a connection to a WebSocket. */
export type OnWebSocket = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export class SerialRequests {
  /** The class of the server's requests, an option of `http.createServer`. */
  readonly IncomingMessage: typeof IncomingMessage;
  /** The connections with an unanswered request. */
  readonly #busy = new WeakSet<Socket>();
  /** The busy connections whose next request has arrived. */
  readonly #held = new WeakSet<Socket>();
  /** Requests that were parsed too early. */
  readonly #early = new WeakSet<IncomingMessage>();

  constructor() {
    this.IncomingMessage = createRequestClass(this.#busy, this.#early);
  }

  /** Without `onWebSocket`, offers of WebSockets are ignored like those of other protocols. */
  listen(server: Server, onWebSocket?: OnWebSocket): void {
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      response.once('close', () => this.#answered(server, socket));
    });
    // By default Node answers without the event that is followed here.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (this.#early.has(request)) this.#hold(request, socket, head);
      else if (onWebSocket && isWebSocket(request)) onWebSocket(request, socket, head);
      else {
        // Java's HTTP client offers HTTP/2 with every first request, bodies included. An upgrade is an offer,
        // which a server may ignore (RFC 9110, 7.8).
        putBack(request, { socket, head, without: OFFERS });
        this.#readOn(server, socket);
      }
    });
  }

  #hold(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', destroyOnError);
    putBack(request, { socket, head, without: NONE });
    if (socket.readableLength >= socket.readableHighWaterMark) stopReading(socket);
    this.#held.add(socket);
  }

  #answered(server: Server, socket: Socket): void {
    this.#busy.delete(socket);
    if (!this.#held.delete(socket)) return;
    setImmediate(() => {
      socket.off('error', destroyOnError);
      // The answer may have closed the connection.
      if (socket.writable) this.#readOn(server, socket);
    });
  }

  #readOn(server: Server, socket: Socket): void {
    this.#busy.delete(socket);
    // Node has set the timeout of an idle connection.
    socket.setTimeout(0);
    server.emit('connection', socket);
  }
}

/**
 * Node stops parsing at a request with `upgrade`, and hands over the socket and the rest of the chunk. So
 * `upgrade` is also true for a request that must wait.
 */
function createRequestClass(busy: WeakSet<Socket>, early: WeakSet<IncomingMessage>): typeof IncomingMessage {
  const offering = new WeakSet<IncomingMessage>();
  /** When the bodies in tiny chunks may be read again: they share the processor time of one. */
  let pausedUntil = 0;
  return class extends IncomingMessage {
    /** Since the connection was last read. */
    #parts = 0;

    constructor(socket: Socket) {
      super(socket);
      if (busy.has(socket)) early.add(this);
      else busy.add(socket);
    }

    get upgrade(): boolean {
      return early.has(this) || offering.has(this);
    }

    /** Called by Node: null at first, then whether the headers have an offer. */
    set upgrade(isOffered: boolean | null) {
      if (isOffered) offering.add(this);
    }

    /** Called by Node for every part of the body; false: the connection is not read until `_read`. */
    override push(part: unknown, encoding?: BufferEncoding): boolean {
      this.#parts += 1;
      return super.push(part, encoding) && this.#parts < MOST_PARTS;
    }

    override _read(size: number): void {
      const parts = this.#parts;
      this.#parts = 0;
      if (parts < MOST_PARTS) {
        super._read(size);
        return;
      }
      const now = performance.now();
      pausedUntil = Math.max(now, pausedUntil) + parts * PAUSE_MS_PER_PART;
      setTimeout(() => super._read(size), pausedUntil - now).unref();
    }
  };
}

/**
 * Puts a request back to the unread bytes of its connection, except some headers. The rest of the chunk stays
 * where it is: a chunk holds hundreds of requests, and a copy for each would be megabytes a request.
 */
function putBack(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  rest: { readonly socket: Socket; readonly head: Buffer; readonly without: ReadonlySet<string> },
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!rest.without.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  if (rest.head.length > 0) rest.socket.unshift(rest.head);
  rest.socket.unshift(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
}

/**
 * Node begins to read a connection again with each request, whatever is still unread, so that each request of
 * a client that pipelines would add a chunk.
 */
function stopReading(socket: Socket & { readonly _handle?: Handle | null }): void {
  const { _handle: handle } = socket;
  if (!handle?.reading) return;
  handle.reading = false;
  handle.readStop();
}

function isWebSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

function destroyOnError(this: Socket): void {
  this.destroy();
}
