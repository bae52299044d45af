/** Writes an `Answer` of the REST table to the wire. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressChunks, contentEncodingFor } from '../../../base/http/content-encoding.js';
import { etagHeld } from '../../../base/http/etag.js';
import { isPreferred } from '../../../base/http/is-preferred.js';
import { resetConnection, sendText, setEncoding, writeHead } from '../../../base/http/text-answer.js';
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
      return sendText(reply, withEndMarker(answer, options));
    case 'stream':
      if (options.request.method !== 'HEAD') return await sendStream(answer, options);
      return reply.header('content-type', answer.mediaType).send();
  }
}

function withEndMarker(answer: WholeAnswer, options: SendOptions): WholeAnswer {
  const marker = confirmedMarker(answer, options);
  if (marker === undefined) return answer;
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
  const { request, reply, streams } = options;
  const { scope, address, signal } = request.requestContext;
  const marker = confirmedMarker(answer, options);
  const source = answer.open(signal);
  const chunks = marker === undefined ? source : withLast(source, marker);
  const writes = gatherWrites(chunks, answer.gatherBytes);
  const first = await writes.next();
  if (first.done || first.value.isLast) {
    observeRows(source, options.observe);
    return sendText(reply, { status: 200, mediaType: answer.mediaType, text: first.value?.content ?? '' });
  }
  const user = scope ? callerName(scope.principal) : address;
  let permit: StreamPermit | undefined;
  try {
    permit = streams.acquire(user);
    request.lifecycle.releasePermit();
    const long = { source, content: contentOf(first.value, writes), permit };
    const write = () => writeLong(answer, long, options);
    return await (isPrintedHere(answer) ? streams.printing.run(user, write) : write());
  } catch (refusal) {
    permit?.release();
    await writes.return();
    throw refusal;
  }
}

/** Writes an answer that has a permit. A failure resets the connection, and is not thrown. */
async function writeLong(
  answer: StreamAnswer,
  { source, content, permit }: LongContent,
  { reply, request, observe, streams }: SendOptions,
): Promise<FastifyReply> {
  const { requestId, signal, scope } = request.requestContext;
  const response = reply.raw;
  const ahead = new ReadAhead(encoded(content, answer, reply), {
    maxBytes: READ_AHEAD_BYTES,
    onHeldBack: permit.heldBack,
    onSourceEnd: permit.release,
  });
  reply.hijack();
  reply.header('content-type', answer.mediaType);
  writeHead(reply, 200);
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
    observeRows(source, observe);
  }
  return reply;
}

type Content = AsyncGenerator<string | Uint8Array, void>;

interface LongContent {
  /** Counts its rows. */
  readonly source: ReturnType<StreamAnswer['open']>;
  /** The writes of the source. */
  readonly content: Content;
  readonly permit: StreamPermit;
}

async function* contentOf(first: GatheredWrite, writes: AsyncIterable<GatheredWrite>): Content {
  yield first.content;
  for await (const { content } of writes) yield content;
}

/** Compresses the answer if the caller accepts it, and sets the headers. */
function encoded(
  content: AsyncIterable<string | Uint8Array>,
  { mediaType }: StreamAnswer,
  reply: FastifyReply,
): AsyncIterable<string | Uint8Array> {
  const bytes = Number.POSITIVE_INFINITY;
  const encoding = contentEncodingFor(reply.request.headers['accept-encoding'], { mediaType, bytes });
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
  let parts: (string | Uint8Array)[] = [];
  let length = 0;
  let least = Math.max(firstBytes, MIN_WRITE_BYTES);
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length < least) continue;
    const content = joined(parts);
    parts = [];
    length = 0;
    least = MIN_WRITE_BYTES;
    yield { content, isLast: false };
  }
  if (length > 0) yield { content: joined(parts), isLast: true };
}

/** Texts stay one text, and a single chunk is not copied. */
function joined(parts: readonly (string | Uint8Array)[]): string | Uint8Array {
  const [first = ''] = parts;
  if (parts.length === 1) return first;
  if (parts.every((part) => typeof part === 'string')) return parts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/**
 * The marker for an answer of this type, which is then confirmed, in addition to other applied preferences;
 * `undefined` if it was not requested or the type needs none.
 */
function confirmedMarker(
  { mediaType }: { mediaType: string },
  { request, reply }: SendOptions,
): string | undefined {
  if (!isPreferred(request.headers.prefer, PREFERENCE)) return undefined;
  const [type = ''] = mediaType.split(';', 1);
  const marker = MARKERS.get(type.trim());
  if (marker === undefined) return undefined;
  const applied = reply.getHeader('preference-applied');
  reply.header('preference-applied', applied === undefined ? PREFERENCE : `${applied}, ${PREFERENCE}`);
  return marker;
}

async function* withLast(chunks: AsyncIterable<string | Uint8Array>, last: string): Content {
  yield* chunks;
  yield last;
}
