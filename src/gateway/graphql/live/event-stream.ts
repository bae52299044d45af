/**
 * Subscriptions over Server-Sent Events: the "distinct connections mode" of the protocol GraphQL over SSE.
 * One HTTP answer carries one subscription. It is a connection of `LiveServer`, with its limits and checks.
 *
 * @see https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../../base/errors.js';
import { resetConnection } from '../../../base/http/text-answer.js';
import type { OperationText } from '../operation/operation-text.js';
import { CLOSE, type LiveSocket } from './live-connection.js';
import type { LiveServer } from './live-server.js';

export const EVENT_STREAM = 'text/event-stream';

/** A comment, so that proxies keep the connection and a peer that has gone is noticed. */
const KEEP_ALIVE = ':\n\n';
const KEEP_ALIVE_MS = 15_000;

const NEXT = '{"id":"1","type":"next","payload":';
const ERROR = '{"id":"1","type":"error","payload":';
const COMPLETE = 'event: complete\ndata:\n\n';

/** The part of `LiveServer` that an answer of events needs. */
export type LiveEvents = Pick<LiveServer, 'isFull' | 'open'>;

/**
 * Answers with the events of a subscription until either side ends it. A reason of ours is the last event; a
 * stop of the gateway resets the connection, so that the client connects again.
 *
 * @throws UNAVAILABLE (503) if there are too many live connections
 */
export async function streamEvents(
  live: LiveEvents,
  input: {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly operation: OperationText;
  },
): Promise<void> {
  const { request, reply, operation } = input;
  if (live.isFull)
    throw new ServiceError(
      'UNAVAILABLE',
      'This gateway has as many live connections as it takes; try again.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  const { lifecycle, headers } = request;
  const answer = reply.hijack().raw;
  // The caller went while the request waited: no `close` event would follow.
  if (answer.destroyed) return;
  // From here on the limits of live connections apply.
  lifecycle.releasePermit();
  reply.headers({
    'content-type': `${EVENT_STREAM}; charset=utf-8`,
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  answer.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders).flushHeaders();
  const alive = setInterval(() => answer.write(KEEP_ALIVE), KEEP_ALIVE_MS);
  // Nothing may be written after the end: Node.js takes that for a fault of this process.
  const end = (errors?: string) => {
    clearInterval(alive);
    if (answer.writableEnded) return;
    if (errors !== undefined) answer.write(printEvent(`{"errors":${errors}}`));
    answer.end(COMPLETE);
  };
  const socket: LiveSocket = {
    protocol: GRAPHQL_TRANSPORT_WS_PROTOCOL,
    get bufferedBytes() {
      return answer.writableLength;
    },
    send: async (message) => {
      if (answer.writableEnded) return;
      if (message.startsWith(NEXT)) {
        const event = printEvent(message.slice(NEXT.length, -1));
        await new Promise<void>((resolve) => answer.write(event, () => resolve()));
      } else if (message.startsWith(ERROR)) end(message.slice(ERROR.length, -1));
      else if (message.includes('"type":"complete"')) end();
    },
    close: (code, reason) => {
      if (code === CLOSE.goingAway) resetConnection(answer);
      else end(JSON.stringify([{ message: reason, extensions: { code } }]));
    },
  };
  const { requestId, address, askedDomain } = lifecycle;
  const { authorization } = headers;
  const { receive, closed } = live.open(socket, { requestId, address, askedDomain, authorization });
  answer.once('close', () => {
    clearInterval(alive);
    void closed(CLOSE.goingAway, '');
  });
  await receive('{"type":"connection_init"}');
  await receive(JSON.stringify({ id: '1', type: 'subscribe', payload: operation }));
}

/** Printed JSON has no line break. */
function printEvent(data: string): string {
  return `event: next\ndata: ${data}\n\n`;
}
