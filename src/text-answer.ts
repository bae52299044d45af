/** The last step of an answer that is there as a whole: REST and GraphQL send it alike. */
import type { FastifyReply } from 'fastify';

export interface TextAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
}

/**
 * Past Fastify's own sending, whose hooks and serializers have nothing to do here and cost a tenth of a short answer. Headers set on the
 * reply go with it. Node leaves out the body of a HEAD.
 */
export function sendText(reply: FastifyReply, answer: TextAnswer): FastifyReply {
  reply.hijack();
  reply.header('content-type', answer.mediaType);
  reply.header('content-length', String(Buffer.byteLength(answer.text)));
  reply.raw.writeHead(answer.status, headersOf(reply));
  reply.raw.end(answer.text);
  return reply;
}

/** The headers set so far, as `writeHead` takes them. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = String(value);
  }
  return headers;
}
