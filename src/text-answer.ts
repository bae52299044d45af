/** The last step of an answer that is there as a whole: REST and GraphQL send it alike. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { type ContentEncoding, compressWhole, contentEncodingFor } from './content-encoding.js';
import { encodedEtag } from './etag.js';

export interface TextAnswer {
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
}

/** What the buffers on the way take is gone at once; more waits in memory for as long as its reader takes. */
const MAX_UNWATCHED_BYTES = 64 * 1024;
const STALL_MS = 30_000;

/**
 * Sends past Fastify's own sending, whose hooks and serializers have nothing to do here and cost a tenth of a
 * short answer. Headers set on the reply go with it. Compressed where the caller takes that and it pays. Node
 * leaves out the body of a HEAD.
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
      // The text itself is still there where memory to compress in is not.
      () => write(reply, answer, bytes),
    );
  }
  return reply;
}

/**
 * The header `Accept-Encoding`, if the answer to this request may be compressed: a later part of the same
 * bytes is asked for by none.
 */
export function acceptEncodingOf(reply: FastifyReply): string | undefined {
  const { 'accept-encoding': header } = reply.request.headers;
  return typeof header === 'string' ? header : undefined;
}

/** Says in the headers that what follows is compressed. */
export function setEncoding(reply: FastifyReply, encoding: ContentEncoding): void {
  reply.header('content-encoding', encoding);
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string') reply.header('etag', encodedEtag(etag, encoding));
}

/** The headers set so far, as `writeHead` takes them; those of several lines, such as cookies, as a list. */
export function replyHeaders(reply: FastifyReply): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
  }
  return headers;
}

/**
 * Ends the connection so that its reader sees a fault: a plain end would look like the end of the answer to
 * HTTP/1.0.
 */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
  response.destroy();
}

function write(reply: FastifyReply, { status, text }: TextAnswer, bytes: number): void {
  const response = reply.raw;
  reply.header('content-length', String(bytes));
  if (bytes > MAX_UNWATCHED_BYTES) response.setTimeout(STALL_MS, () => resetConnection(response));
  response.writeHead(status, replyHeaders(reply));
  response.end(text);
}
