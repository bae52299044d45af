/** Writes an `Answer` of the REST table to the wire. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer, StreamAnswer } from '../rest/answer.js';
import { headersOf, sendText } from '../text-answer.js';
import type { Observe } from './observation.js';
import type { StreamLimits } from './stream-limits.js';

/**
 * Less than this is gathered before it is written: a write for each row would cost more than the row. An answer that ends
 * before it is sent in one piece, with its length; a longer one begins with the first batch of rows all the same.
 */
const MIN_WRITE_LENGTH = 64 * 1024;

const REVALIDATE = 'private, no-cache';
const VARY = 'Accept, Authorization, X-Domain';

export interface AnsweringOptions {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly observe: Observe;
  readonly streams: StreamLimits;
}

export async function sendAnswer(answer: Answer, o: AnsweringOptions): Promise<FastifyReply> {
  const { reply } = o;
  reply.header('cache-control', REVALIDATE);
  // CORS may have put Origin there.
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? VARY : `${vary}, ${VARY}`);
  if (answer.headers) reply.headers(answer.headers);
  const { hints } = o.request.requestContext;
  // A name may hold what no header takes.
  if (hints.length > 0) reply.header('x-hint', hints.join(' ').replace(/[^\x20-\x7e]/g, '?'));
  switch (answer.kind) {
    case 'empty':
      return reply.code(answer.status).send();
    case 'text':
      if (answer.rowCount !== undefined) o.observe({ kind: 'rowsStreamed', count: answer.rowCount });
      return sendText(reply, answer);
    case 'stream':
      if (o.request.method !== 'HEAD') return await sendStream(answer, o);
      return reply.header('content-type', answer.mediaType).send();
  }
}

/**
 * Sends what comes, as fast as it is taken. What fails before the first byte is an ordinary error; what fails after
 * it cuts the connection, because an end that is well-formed would make half an answer look whole.
 *
 * @see decisions 4
 */
async function sendStream(answer: StreamAnswer, o: AnsweringOptions): Promise<FastifyReply> {
  const { scope, address } = o.request.requestContext;
  const leave = o.streams.enter(scope?.principal.credential.id ?? address);
  try {
    return await sendChunks(answer, o);
  } finally {
    leave();
  }
}

async function sendChunks(answer: StreamAnswer, o: AnsweringOptions): Promise<FastifyReply> {
  const { reply, request } = o;
  const { signal, requestId } = request.requestContext;
  const writes = gathered(answer.open(signal));
  const first = await writes.next();
  if (first.done || first.value.isLast) {
    countRows(answer, o.observe);
    return sendText(reply, { status: 200, mediaType: answer.mediaType, text: first.value?.content ?? '' });
  }

  reply.hijack();
  const response = reply.raw;
  reply.header('content-type', answer.mediaType);
  response.writeHead(200, headersOf(reply));
  try {
    await writeAll(response, { first: first.value.content, writes, stallMs: o.streams.stallMs });
  } catch (error) {
    if (!signal.aborted) o.observe({ kind: 'streamCut', requestId, error });
    response.destroy();
  } finally {
    // Ends the query where the reader has gone.
    await writes.return(undefined).catch(() => undefined);
    countRows(answer, o.observe);
  }
  return reply;
}

function countRows(answer: StreamAnswer, observe: Observe): void {
  if (answer.countRows) observe({ kind: 'rowsStreamed', count: answer.countRows() });
}

/** Waits for a slow reader; meanwhile one more write is made ready and no further one is asked for. */
async function writeAll(
  response: ServerResponse,
  o: {
    readonly first: string | Uint8Array;
    readonly writes: AsyncGenerator<Write, void>;
    readonly stallMs: number;
  },
): Promise<void> {
  let content = o.first;
  for (;;) {
    const next = o.writes.next();
    if (!response.write(content)) {
      // Awaited below; a failure while we wait must not count as unhandled.
      next.catch(() => undefined);
      await drained(response, o.stallMs);
    }
    const { done, value } = await next;
    if (done) break;
    content = value.content;
  }
  response.end();
}

/** Resolves when the socket has taken what was written. @throws when it is closed instead, or takes nothing for too long */
function drained(response: ServerResponse, stallMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed || response.socket?.destroyed) {
      reject(new Error('the caller has gone'));
      return;
    }
    const settle = (fault?: string) => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
      if (fault === undefined) resolve();
      else reject(new Error(fault));
    };
    const onDrain = () => settle();
    const onClose = () => settle('the caller has gone');
    const timer = setTimeout(() => settle(`the reader took nothing for ${stallMs} ms`), stallMs);
    response.once('drain', onDrain);
    response.once('close', onClose);
  });
}

interface Write {
  readonly content: string | Uint8Array;
  /** Known to be the end of the answer; so a short answer gets a length instead of chunks. */
  readonly isLast: boolean;
}

async function* gathered(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Write, void> {
  let texts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string') {
      if (length > 0) yield { content: texts.join(''), isLast: false };
      yield { content: chunk, isLast: false };
      texts = [];
      length = 0;
      continue;
    }
    texts.push(chunk);
    length += chunk.length;
    if (length < MIN_WRITE_LENGTH) continue;
    yield { content: texts.join(''), isLast: false };
    texts = [];
    length = 0;
  }
  if (length > 0) yield { content: texts.join(''), isLast: true };
}
