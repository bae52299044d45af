/** The last step of an answer that is complete as text; REST and GraphQL share it. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type ContentEncoding, compressWhole, contentEncodingFor } from './content-encoding.js';
import { encodedEtag } from './etag.js';

export interface TextAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
}

/**
 * Writes directly to the response, bypassing Fastify's send, whose hooks and serializers are not needed here
 * and cost a tenth of a short answer. Sends the headers set on the reply, compresses if the caller accepts it
 * and it pays, and leaves it to Node to omit the body of a HEAD.
 */
export function sendText(reply: FastifyReply, answer: TextAnswer): FastifyReply {
  const { mediaType, text } = answer;
  const bytes = Buffer.byteLength(text);
  const encoding = contentEncodingFor(acceptEncodingOf(reply), { mediaType, bytes });
  reply.hijack();
  reply.header('content-type', mediaType);
  if (encoding === undefined) write(reply, answer, bytes);
  else {
    compressWhole(text, encoding).then(
      (compressed) => {
        setEncoding(reply, encoding);
        write(reply, { ...answer, text: compressed }, compressed.length);
      },
      // If there is no memory to compress, the text itself is sent.
      () => write(reply, answer, bytes),
    );
  }
  return reply;
}

/** `Accept-Encoding`, if the answer may be compressed: a range of a file may not. */
export function acceptEncodingOf(reply: FastifyReply): string | undefined {
  const { 'accept-encoding': header } = reply.request.headers;
  return typeof header === 'string' ? header : undefined;
}

/** Sets the headers of a compressed answer. */
export function setEncoding(reply: FastifyReply, encoding: ContentEncoding): void {
  reply.header('content-encoding', encoding);
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string') reply.header('etag', encodedEtag(etag, encoding));
}

/** The headers set so far, as `writeHead` takes them; multi-line headers, such as cookies, as a list. */
export function replyHeaders(reply: FastifyReply): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  }
  return headers;
}

/**
 * Resets the connection so that the reader sees a failure: HTTP/1.0 would take a plain end for the end of the
 * answer.
 */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}

function write(reply: FastifyReply, { status, text }: TextAnswer, bytes: number): void {
  const response = reply.raw;
  reply.header('content-length', String(bytes));
  response.writeHead(status, replyHeaders(reply));
  response.end(text);
}
