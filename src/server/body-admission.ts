/**
 * Decides which bodies are read, and how much of them: none where the answer is known without it, and little
 * of callers who did not say who they are, since reading costs and they can be anybody. Who waits with a body
 * for `100 Continue` is told to send it when it will be read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type BodyShape, bodyShape } from '../body-shape.js';
import { ServiceError } from '../errors.js';
import { BodyRoom } from './body-room.js';

/** The settings that bound bodies. */
export interface BodyLimits {
  readonly limitBytes: number;
  /** The limit for callers without a credential, and for paths that need none. */
  readonly anonymousLimitBytes: number;
  readonly maxMembers: number;
  /** The bytes of large bodies that are in memory at the same time. */
  readonly roomBytes: number;
}

/** Smaller bodies need no room: what their requests take of memory beside them is more. */
const LARGE_BYTES = 65_536;
/** As long as a request waits for a connection of the database that is taken. */
const ROOM_WAIT_MS = 5000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `small`: parameters that need no credential. `streamed`: the route reads it by itself, within a limit
     * of its own.
     */
    readonly body?: 'small' | 'parameters' | 'streamed';
  }
}

/**
 * Refuses bodies before they are read. To follow the hook that finds out who asks; what is refused by hooks
 * of a route, such as a missing credential, is refused before this.
 */
export function useBodyAdmission(app: FastifyInstance, limits: BodyLimits): void {
  const room = new BodyRoom({ bytes: limits.roomBytes, waitMs: ROOM_WAIT_MS });
  const waiting = new WeakSet<IncomingMessage>();
  // Node would ask for the body before anybody has looked at the request.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return;
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
      // The HTTP parser ends a body at the length it announced; one in chunks has none.
      if (encoding === undefined) return done();
      done(null, payload.pipe(bounded(maxBytes, refusal)));
    };
    const bytes = encoding === undefined ? Number(length) : maxBytes;
    if (bytes <= LARGE_BYTES) return read();
    findRoom(room, request, reply, bytes).then(read, done);
  });
}

/** Waits for room for the body of a request, which has it until the answer is sent or the caller has gone. */
async function findRoom(
  room: BodyRoom,
  { requestContext: { scope }, ip }: FastifyRequest,
  { raw }: FastifyReply,
  bytes: number,
): Promise<void> {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  const leave = await room.enter(scope ? `${scope.domain.id}/${scope.principal.id}` : ip, bytes, gone.signal);
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
 * What is small when it comes and large when it is read would pass the limits above, and a file that is kept
 * as it comes would be no file of its media type. @see RFC 9110, 15.5.16
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
