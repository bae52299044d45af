/** The last step of an answer that is complete as text; REST and GraphQL share it. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
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
  const encoding = contentEncodingFor(reply.request.headers['accept-encoding'], { mediaType, bytes });
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

/** Sets the headers of a compressed answer. */
export function setEncoding(reply: FastifyReply, encoding: ContentEncoding): void {
  reply.header('content-encoding', encoding);
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string') reply.header('etag', encodedEtag(etag, encoding));
}

/** Writes the status and the headers set so far, past Fastify. */
export function writeHead(reply: FastifyReply, status: number): void {
  // Fastify's type has numbers for all headers, Node's for some.
  reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders);
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
  reply.header('content-length', String(bytes));
  writeHead(reply, status);
  reply.raw.end(text);
}
