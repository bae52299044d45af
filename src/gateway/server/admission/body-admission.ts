/**
 * Decides whether a body is read, and how much of it. It is not read if the answer is known without it, and
 * anonymous callers may send only a little, because reading costs and they can be anybody. A client that
 * waits for `100 Continue` gets it only when its body will be read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import { type BodyShape, bodyShape } from '../../../base/json/body-shape.js';
import { callerName, type Scope } from '../../../base/model/scope.js';
import { FairQueue } from '../../../store/database/fair-queue.js';
import type { Config } from '../../config/config.js';
import type { Pace } from '../sending/paced-writer.js';
import { hasBody } from './request-admission.js';

/** The settings that limit bodies. */
export interface BodyLimits
  extends Pick<Config, 'bodyLimitBytes' | 'anonymousBodyLimitBytes' | 'bodyMaxMembers' | 'bodyRoomBytes'> {
  /** Whether the caller may write records of any collection. */
  readonly mayWrite: (scope: Scope) => boolean;
}

/** Smaller bodies reserve no memory: their requests take more than they do. */
const LARGE_BYTES = 65_536;
/** Memory is reserved in steps of this size. */
const STEP_BYTES = 262_144;
/** The same time as a request waits for a busy connection to the database. */
const MEMORY_WAIT_MS = 5000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `small`: parameters that need no credential. `streamed`: the route reads the body itself, within its
     * own limit. `operations`: the operation is known only after the body is read, so only callers who may
     * write records may send a large one.
     */
    readonly body?: 'small' | 'parameters' | 'streamed' | 'operations';
  }
}

/**
 * Refuses bodies before they are read. Register it after the hook that authenticates; refusals by route
 * hooks, such as a missing credential, come before it.
 */
export function useBodyAdmission(app: FastifyInstance, limits: BodyLimits, pace: Pace): void {
  const memory = createBodyMemoryLimit({ bytes: limits.bodyRoomBytes, waitMs: MEMORY_WAIT_MS });
  const waiting = new WeakSet<IncomingMessage>();
  // By default Node would ask for the body before we have seen the request.
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length } = request.headers;
    const admit = () => {
      if (waiting.delete(request.raw)) reply.raw.writeContinue();
    };
    if (!hasBody(request)) return done();
    const encoded = request.headers['content-encoding'];
    if (encoded !== undefined && !/^(?:identity)?$/i.test(encoded.trim())) return done(compressed(encoded));
    if (request.routeOptions.config.body === 'streamed') {
      admit();
      return done();
    }
    const { scope } = request.requestContext;
    const isSmall = takesLittle(request);
    const { bodyLimitBytes: limitBytes } = limits;
    const isOfReader =
      request.routeOptions.config.body === 'operations' &&
      mayBeLarge(request) &&
      scope !== undefined &&
      !limits.mayWrite(scope);
    const smallBytes = isOfReader ? LARGE_BYTES : limits.anonymousBodyLimitBytes;
    const maxBytes = isSmall || isOfReader ? Math.min(smallBytes, limitBytes) : limitBytes;
    const setting = maxBytes < limitBytes ? 'ANONYMOUS_BODY_LIMIT_BYTES' : 'BODY_LIMIT_BYTES';
    const refusal = () =>
      tooLarge(maxBytes, isOfReader ? 'for callers who may not write records' : `here (${setting})`);
    if (length !== undefined && Number(length) > maxBytes) return done(refusal());
    admit();
    // The HTTP parser enforces an announced length; a chunked body has none.
    if (!mayBeLarge(request)) return done();
    const gone = new AbortController();
    const permit = memory.open({ tenant: scope ? callerName(scope.principal) : request.ip, caller: '' });
    reply.raw.once('close', () => {
      gone.abort(noMemoryForBody());
      permit.release();
    });
    const body = bounded({
      ...{ maxBytes, refusal, pace },
      reserve: (bytes) => memory.grow(permit, bytes - permit.amount, { signal: gone.signal }),
    });
    payload.once('error', (error) => body.destroy(error));
    done(null, payload.pipe(body));
  });
}

/** Whether the body may have more bytes than are read without reserving memory. */
export function mayBeLarge({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BYTES;
}

/** How many members the body of a request may have. */
export function bodyShapeFor(request: FastifyRequest, limits: Pick<Config, 'bodyMaxMembers'>): BodyShape {
  const isSmall = takesLittle(request) || request.routeOptions.config.body === 'parameters';
  return bodyShape(isSmall ? 'small' : 'large', limits.bodyMaxMembers);
}

function takesLittle(request: FastifyRequest): boolean {
  return request.requestContext.scope === undefined || request.routeOptions.config.body === 'small';
}

interface Bounds {
  readonly maxBytes: number;
  readonly refusal: () => ServiceError;
  /** Waits until the memory for this many bytes of the body is reserved. */
  readonly reserve: (bytes: number) => Promise<void>;
  readonly pace: Pace;
}

/** Passes a body on within its limit, its memory and the pace that a reader of an answer must keep too. */
function bounded({ maxBytes, refusal, reserve, pace }: Bounds): Transform {
  let receivedBytes = 0;
  let bytesInSpan = 0;
  let isWaiting = false;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      receivedBytes += chunk.length;
      bytesInSpan += chunk.length;
      if (receivedBytes > maxBytes) return done(refusal());
      if (receivedBytes <= LARGE_BYTES) return done(null, chunk);
      isWaiting = true;
      const reservedBytes = Math.min(maxBytes, Math.ceil(receivedBytes / STEP_BYTES) * STEP_BYTES);
      reserve(reservedBytes).then(
        () => {
          isWaiting = false;
          done(null, chunk);
        },
        (error: Error) => done(error),
      );
    },
  });
  const timer = setInterval(() => {
    const isSlow = bytesInSpan * 1000 < pace.streamMinBytesPerSecond * pace.streamStallMs;
    bytesInSpan = 0;
    if (receivedBytes > LARGE_BYTES && !isWaiting && isSlow) body.destroy(tooSlow(pace));
  }, pace.streamStallMs);
  body.once('close', () => clearInterval(timer));
  return body;
}

function tooSlow({ streamMinBytesPerSecond: rate, streamStallMs: stallMs }: Pace): ServiceError {
  return new ServiceError(
    'MALFORMED_REQUEST',
    `The body arrives more slowly than ${rate} bytes a second (STREAM_MIN_BYTES_PER_SECOND), ` +
      `measured over ${stallMs} ms (STREAM_STALL_MS). Send it faster, or in smaller parts.`,
  );
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

function tooLarge(maxBytes: number, where: string): ServiceError {
  return new ServiceError(
    'TOO_LARGE',
    `The body has more than ${maxBytes} bytes, which is the limit ${where}.`,
  );
}

/** The share of the memory that one caller may use, so that a few callers do not lock out all others. */
const PART_OF_CALLER = 1 / 2;
/** The share that is left to callers that use no memory. */
const KEPT_PART = 1 / 4;

/**
 * A body larger than the whole memory is admitted when no other body is, and one larger than a caller's share
 * when the caller has no other.
 */
export function createBodyMemoryLimit({ bytes, waitMs }: { bytes: number; waitMs: number }): FairQueue {
  return new FairQueue({
    mayHold: ({ total, ofTenant, own }, more) => {
      const hasOthers = ofTenant > own;
      if (hasOthers && ofTenant + more > bytes * PART_OF_CALLER) return false;
      if (total === own) return true;
      return total + more <= (hasOthers ? bytes * (1 - KEPT_PART) : bytes);
    },
    waitMs,
    refusal: noMemoryForBody,
  });
}

function noMemoryForBody(): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'Too many large bodies are being read at the same time (BODY_ROOM_BYTES); send them one after the other.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
