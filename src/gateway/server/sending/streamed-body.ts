/** Reads bodies as streams, and ends those whose requests were answered before all of them was read. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../base/errors.js';

/**
 * After a refusal, further input is discarded for this long, so that the sender can read the answer; then the
 * connection is cut.
 */
const LINGER_MS = 5_000;
/** Reading up to this much to its end is cheaper than a new connection. */
const MAX_WORTH_READING = 64 * 1024;

/** The options of a route that reads its body itself, within a limit of its own. */
export const STREAMED_BODY = { bodyLimit: Number.MAX_SAFE_INTEGER, config: { body: 'streamed' } } as const;

/** In this Fastify scope, bodies are raw bytes, whatever their type, and only its routes read them. */
export function leaveBodiesToRoutes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/**
 * Does work that reads the body. Its sender may pause for `stallMs`; if the work fails, what is still sent is
 * discarded.
 */
export async function whileReceiving<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { stallMs, work }: { readonly stallMs: number; readonly work: () => Promise<T> },
): Promise<T> {
  request.raw.setTimeout(stallMs);
  try {
    return await work();
  } catch (error) {
    endWithUnreadBody(request.raw, reply);
    throw error;
  }
}

/** The bytes of a body. @throws MALFORMED_REQUEST if it is cut off */
export async function* readCompleteBody(body: IncomingMessage): AsyncGenerator<Buffer, void> {
  yield* body;
  if (!body.complete) throw brokenOff();
}

export function brokenOff(): ServiceError {
  return new ServiceError('MALFORMED_REQUEST', 'The upload was broken off.');
}

/**
 * Ends a refusal. A long remainder of the body ends the connection; a short one is discarded, and the
 * connection is reused.
 */
export function leaveUnreadBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const isShort =
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_WORTH_READING;
  if (!isShort) endWithUnreadBody(raw, reply);
}

/** Discards the rest of the body, but does not wait for it indefinitely. */
function endWithUnreadBody(body: IncomingMessage, reply: FastifyReply): void {
  if (body.complete) return;
  reply.header('connection', 'close');
  body.unpipe();
  body.on('error', () => {});
  body.resume();
  reply.raw.once('finish', () => {
    const timer = setTimeout(() => body.destroy(), LINGER_MS);
    timer.unref();
    body.once('close', () => clearTimeout(timer));
  });
}
