/**
 * Decides whether a body is read, and how much of it. It is not read if the answer is known without it, and
 * anonymous callers may send only a little, because reading costs and they can be anybody. A client that
 * waits for `100 Continue` is told to send its body only when it will be read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BodyShape, bodyShape } from '../body-shape.js';
import { ServiceError } from '../errors.js';
import { callerName } from '../model/scope.js';
import { BodyRoom } from './body-room.js';
import { sendNoticePage } from './notice-page.js';
import { prefersPage } from './send-page.js';

/** The settings that limit bodies. */
export interface BodyLimits {
  readonly limitBytes: number;
  /** The limit for callers without a credential, and for paths that need none. */
  readonly anonymousLimitBytes: number;
  readonly maxMembers: number;
  /** The total bytes of large bodies in memory at the same time. */
  readonly roomBytes: number;
}

/** Smaller bodies need no room: their requests take more memory than they do. */
const LARGE_BYTES = 65_536;
/** As long as a request waits for a busy connection to the database. */
const ROOM_WAIT_MS = 5000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `small`: parameters that need no credential. `streamed`: the route reads the body itself, within its
     * own limit.
     */
    readonly body?: 'small' | 'parameters' | 'streamed';
  }
}

/**
 * Refuses bodies before they are read. Register it after the hook that authenticates; refusals by route
 * hooks, such as a missing credential, come before it.
 */
export function useBodyAdmission(app: FastifyInstance, limits: BodyLimits): void {
  const room = new BodyRoom({ bytes: limits.roomBytes, waitMs: ROOM_WAIT_MS });
  const waiting = new WeakSet<IncomingMessage>();
  // By default Node would ask for the body before we have seen the request.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    if (asksForPage(request)) {
      request.arrival.notes.noteError('NOT_FOUND');
      return sendNoticePage(reply, 'missing');
    }
    const [path] = request.url.split('?', 1);
    throw new ServiceError('NOT_FOUND', `There is nothing at ${path}. GET / lists every path.`);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
    const admit = () => {
      if (waiting.delete(request.raw)) reply.raw.writeContinue();
    };
    if (!hasBody) return done();
    const encoded = request.headers['content-encoding'];
    if (encoded !== undefined && !/^(?:identity)?$/i.test(encoded.trim())) return done(compressed(encoded));
    if (request.routeOptions.config.body === 'streamed') {
      admit();
      return done();
    }
    const isSmall = takesLittle(request);
    const { limitBytes } = limits;
    const maxBytes = isSmall ? Math.min(limits.anonymousLimitBytes, limitBytes) : limitBytes;
    const refusal = () =>
      tooLarge(maxBytes, maxBytes < limitBytes ? 'ANONYMOUS_BODY_LIMIT_BYTES' : 'BODY_LIMIT_BYTES');
    if (length !== undefined && Number(length) > maxBytes) return done(refusal());
    const read = () => {
      admit();
      // The HTTP parser enforces an announced length; a chunked body has none.
      if (encoding === undefined) return done();
      done(null, payload.pipe(bounded(maxBytes, refusal)));
    };
    const bytes = encoding === undefined ? Number(length) : maxBytes;
    if (bytes <= LARGE_BYTES) return read();
    findRoom(room, request, reply, bytes).then(read, done);
  });
}

/** Whether a person opened the address: programs send a credential, or do not prefer HTML. */
function asksForPage(request: FastifyRequest): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !request.arrival.hasCredential && prefersPage(request);
}

/** Waits for room for the body, which the request keeps until the answer is sent or the caller has gone. */
async function findRoom(
  room: BodyRoom,
  { requestContext: { scope }, ip }: FastifyRequest,
  { raw }: FastifyReply,
  bytes: number,
): Promise<void> {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  const leave = await room.enter(scope ? callerName(scope.principal) : ip, bytes, gone.signal);
  if (raw.closed) leave();
  else raw.once('close', leave);
}

/** How many members the body of a request may have. */
export function bodyShapeFor(request: FastifyRequest, limits: Pick<BodyLimits, 'maxMembers'>): BodyShape {
  const isSmall = takesLittle(request) || request.routeOptions.config.body === 'parameters';
  return bodyShape(isSmall ? 'small' : 'large', limits.maxMembers);
}

function takesLittle(request: FastifyRequest): boolean {
  return request.requestContext.scope === undefined || request.routeOptions.config.body === 'small';
}

function bounded(maxBytes: number, refusal: () => ServiceError): Transform {
  let receivedBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) done(refusal());
      else done(null, chunk);
    },
  });
}

/**
 * Refuses a compressed body: it could expand beyond the limits above, and a file stored compressed would not
 * be of its media type. @see RFC 9110, 15.5.16
 */
function compressed(encoding: string): ServiceError {
  return new ServiceError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body has the Content-Encoding ${JSON.stringify(encoding)}. Send it as it is, without one.`,
    { acceptEncoding: 'identity' },
  );
}

function tooLarge(maxBytes: number, setting: string): ServiceError {
  return new ServiceError(
    'TOO_LARGE',
    `The body has more than ${maxBytes} bytes, which is the limit here (${setting}).`,
  );
}
