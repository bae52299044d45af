/** Writes an `Answer` of the REST table to the wire. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressChunks, contentEncodingFor } from '../../../base/http/content-encoding.js';
import { etagHeld } from '../../../base/http/etag.js';
import { isPreferred } from '../../../base/http/is-preferred.js';
import {
  acceptEncodingOf,
  replyHeaders,
  resetConnection,
  sendText,
  setEncoding,
} from '../../../base/http/text-answer.js';
import { callerName } from '../../../base/model/scope.js';
import { type Answer, isPrintedHere, type StreamAnswer, type WholeAnswer } from '../../rest/route.js';
import type { StreamLimits, StreamPermit } from '../admission/stream-limits.js';
import type { Observe } from '../observation/observation.js';
import { PacedWriter, ReaderTooSlow } from './paced-writer.js';
import { ReadAhead } from './read-ahead.js';

/** How much is read ahead of a slow reader: most answers fit, and free their connection at once. */
const READ_AHEAD_BYTES = 1024 * 1024;

/**
 * Smaller chunks are gathered before they are written: a write per row would cost more than the row. An
 * answer that ends before this size is sent in one piece, with its length; a longer one still begins with the
 * first batch of rows.
 */
const MIN_WRITE_BYTES = 64 * 1024;

/**
 * The last line that confirms that an answer is complete, for callers that ask by `Prefer: end-marker` (RFC
 * 7240): NDJSON and CSV have no end of their own, and a proxy may hide that a connection was reset. No field
 * of a record begins with `$`.
 */
const MARKERS: ReadonlyMap<string, string> = new Map([
  ['application/x-ndjson', '{"$end":true}\n'],
  ['text/csv', '#end\r\n'],
]);

const PREFERENCE = 'end-marker';

const REVALIDATE = 'private, no-cache';
const VARY = 'Accept, Accept-Encoding, Authorization, Prefer, X-Domain';

export interface SendOptions {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly observe: Observe;
  readonly streams: StreamLimits;
}

export async function sendAnswer(answer: Answer, options: SendOptions): Promise<FastifyReply> {
  const { reply } = options;
  reply.header('cache-control', REVALIDATE);
  // CORS may have set `Vary: Origin`.
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? VARY : `${vary}, ${VARY}`);
  if (answer.headers) reply.headers(answer.headers);
  const { hints } = options.request.lifecycle.notes;
  // A name may contain characters that a header cannot hold.
  if (hints.length > 0) reply.header('x-hint', hints.join(' ').replace(/[^\x20-\x7e]/g, '?'));
  switch (answer.kind) {
    case 'empty':
      if (answer.status === 304) setHeldEtag(options);
      return reply.code(answer.status).send();
    case 'text':
      observeRows(answer, options.observe);
      return sendText(reply, marked(answer, options));
    case 'stream':
      if (options.request.method !== 'HEAD') return await sendStream(answer, options);
      return reply.header('content-type', answer.mediaType).send();
  }
}

function marked(answer: WholeAnswer, { request, reply }: SendOptions): WholeAnswer {
  const marker = endMarkerFor(request.headers.prefer, answer.mediaType);
  if (marker === undefined) return answer;
  confirmMarker(reply);
  return { ...answer, text: Buffer.concat([Buffer.from(answer.text), Buffer.from(marker)]) };
}

function setHeldEtag({ request, reply }: SendOptions): void {
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string') reply.header('etag', etagHeld(request.headers['if-none-match'], etag));
}

/**
 * Sends the chunks as fast as the reader takes them. A failure before the first byte is an ordinary error; a
 * later one resets the connection, because a well-formed end would make half an answer look complete.
 *
 * @see decisions 4
 */
async function sendStream(answer: StreamAnswer, options: SendOptions): Promise<FastifyReply> {
  const { request, reply } = options;
  const marker = endMarkerFor(request.headers.prefer, answer.mediaType);
  if (marker !== undefined) confirmMarker(reply);
  const content = answer.open(request.requestContext.signal);
  const chunks = marker === undefined ? content : withEndMarker(content, marker);
  const writes = gatherWrites(chunks, answer.gatherBytes);
  const first = await writes.next();
  if (!first.done && !first.value.isLast)
    return await sendLong(answer, { content, first: first.value, writes }, options);
  observeRows(content, options.observe);
  return sendText(reply, { status: 200, mediaType: answer.mediaType, text: first.value?.content ?? '' });
}

async function sendLong(answer: StreamAnswer, begun: Begun, options: SendOptions): Promise<FastifyReply> {
  const { request, streams } = options;
  const { scope, address } = request.requestContext;
  const user = scope ? callerName(scope.principal) : address;
  const permit = await acquire(begun, user, streams);
  request.lifecycle.releasePermit();
  const write = () => writeLong(answer, { ...begun, permit }, options);
  if (!isPrintedHere(answer)) return await write();
  try {
    return await streams.printing.run(user, write);
  } catch (refusal) {
    permit.release();
    await begun.writes.return();
    throw refusal;
  }
}

/** Writes an answer that has a permit. A failure resets the connection, and is not thrown. */
async function writeLong(
  answer: StreamAnswer,
  begun: Begun & { readonly permit: StreamPermit },
  { reply, request, observe, streams }: SendOptions,
): Promise<FastifyReply> {
  const { requestId, signal, scope } = request.requestContext;
  const { permit } = begun;
  const response = reply.raw;
  const ahead = new ReadAhead(encoded(contentOf(begun), answer, reply), {
    maxBytes: READ_AHEAD_BYTES,
    onHeldBack: permit.heldBack,
    onSourceEnd: permit.release,
  });
  reply.hijack();
  reply.header('content-type', answer.mediaType);
  response.writeHead(200, replyHeaders(reply));
  const writer = new PacedWriter(response, streams.pace);
  const cut = (error: unknown) => {
    if (error instanceof ReaderTooSlow) observe({ kind: 'readerCut', requestId, reason: error.message });
    else if (!signal.aborted) observe({ kind: 'streamCut', requestId, error });
    resetConnection(response);
  };
  try {
    for (let chunk = await ahead.next(); chunk !== undefined; chunk = await ahead.next()) {
      await scope?.call.assertRights?.();
      await writer.write(chunk);
    }
    response.end();
  } catch (error) {
    cut(error);
  } finally {
    // Ends the query if the reader has gone.
    await ahead.close();
    observeRows(begun.content, observe);
  }
  return reply;
}

/** An answer whose first write is ready, with more to come. */
interface Begun {
  readonly content: ReturnType<StreamAnswer['open']>;
  readonly first: GatheredWrite;
  readonly writes: AsyncGenerator<GatheredWrite, void>;
}

/** @throws TOO_MANY_REQUESTS (429), UNAVAILABLE (503); the answer is then abandoned */
async function acquire({ writes }: Begun, user: string, streams: StreamLimits): Promise<StreamPermit> {
  try {
    return streams.acquire(user);
  } catch (refusal) {
    await writes.return();
    throw refusal;
  }
}

async function* contentOf({ first, writes }: Begun): AsyncGenerator<string | Uint8Array, void> {
  yield first.content;
  for await (const { content } of writes) yield content;
}

/** Compresses the answer if the caller accepts it, and sets the headers. */
function encoded(
  content: AsyncIterable<string | Uint8Array>,
  { mediaType }: StreamAnswer,
  reply: FastifyReply,
): AsyncIterable<string | Uint8Array> {
  const encoding = contentEncodingFor(acceptEncodingOf(reply), {
    mediaType,
    bytes: Number.POSITIVE_INFINITY,
  });
  if (encoding === undefined) return content;
  setEncoding(reply, encoding);
  return compressChunks(content, encoding);
}

function observeRows({ rowCount: count }: { readonly rowCount?: number }, observe: Observe): void {
  if (count !== undefined) observe({ kind: 'rowsStreamed', count });
}

interface GatheredWrite {
  readonly content: string | Uint8Array;
  /** Known to be the last write; a short answer then gets a length instead of chunks. */
  readonly isLast: boolean;
}

/** Combines the chunks of a source into writes of a useful size; the first has at least `firstBytes`. */
async function* gatherWrites(
  chunks: AsyncIterable<string | Uint8Array>,
  firstBytes = MIN_WRITE_BYTES,
): AsyncGenerator<GatheredWrite, void> {
  let texts: string[] = [];
  let bytes: Uint8Array[] = [];
  let length = 0;
  let least = Math.max(firstBytes, MIN_WRITE_BYTES);
  const take = () => {
    if (bytes.length > 0 && texts.length > 0) bytes.push(Buffer.from(texts.join('')));
    const [only, ...others] = bytes;
    const content = only === undefined ? texts.join('') : joined(only, others);
    texts = [];
    bytes = [];
    length = 0;
    least = MIN_WRITE_BYTES;
    return content;
  };
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') texts.push(chunk);
    else {
      if (texts.length > 0) bytes.push(Buffer.from(texts.join('')));
      texts = [];
      bytes.push(chunk);
    }
    length += chunk.length;
    if (length >= least) yield { content: take(), isLast: false };
  }
  if (length > 0) yield { content: take(), isLast: true };
}

/** A single chunk is not copied. */
function joined(first: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}

/** The marker for an answer of this type; `undefined` if it was not requested or the type needs none. */
function endMarkerFor(prefer: string | string[] | undefined, mediaType: string): string | undefined {
  if (!isPreferred(prefer, PREFERENCE)) return undefined;
  const [type = ''] = mediaType.split(';', 1);
  return MARKERS.get(type.trim());
}

/** Confirms that the marker will be sent, in addition to other applied preferences. */
function confirmMarker(reply: FastifyReply): void {
  const applied = reply.getHeader('preference-applied');
  reply.header('preference-applied', applied === undefined ? PREFERENCE : `${applied}, ${PREFERENCE}`);
}

async function* withEndMarker(
  chunks: AsyncIterable<string | Uint8Array>,
  marker: string,
): AsyncGenerator<string | Uint8Array, void> {
  yield* chunks;
  yield marker;
}
