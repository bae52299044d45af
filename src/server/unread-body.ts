/** What becomes of a body whose request was answered before all of it was read. */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * What is sent after a refusal is thrown away for so long, so that its sender may hear of it; then the
 * connection is cut.
 */
const LINGER_MS = 5_000;
/** Reading so much to its end costs less than a new connection. */
const MAX_WORTH_READING = 64 * 1024;

/**
 * Ends a refusal: a long rest of the body ends the connection, a short one is read past and the connection
 * serves on.
 */
export function leaveUnreadBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const isShort =
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_WORTH_READING;
  if (!isShort) endWithUnreadBody(raw, reply);
}

/** What still comes of the body is not kept, and not waited for without end. */
export function endWithUnreadBody(body: IncomingMessage, reply: FastifyReply): void {
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
