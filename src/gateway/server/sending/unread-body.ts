/** Handles a body whose request was answered before all of it was read. */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * After a refusal, further input is discarded for this long, so that the sender can read the answer; then the
 * connection is cut.
 */
const LINGER_MS = 5_000;
/** Reading up to this much to its end is cheaper than a new connection. */
const MAX_WORTH_READING = 64 * 1024;

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
