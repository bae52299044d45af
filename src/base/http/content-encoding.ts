/** Compression of answers, for callers that accept it. @see RFC 9110, 8.4 and 12.5.3 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import Negotiator from 'negotiator';
import { rememberLatest } from '../process/remember-latest.js';

export type ContentEncoding = 'br' | 'gzip';

/** In our order of preference: at these levels Brotli takes as long as gzip and produces a fifth less. */
const ENCODINGS: readonly ContentEncoding[] = ['br', 'gzip'];
const BROTLI = {
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: 19 },
};
const GZIP = { level: 5 };

/** Compressing a shorter text would take longer than sending it, and save a packet at most. */
const MIN_BYTES = 2048;
/** Workbooks and pictures are compressed already. */
const COMPRESSIBLE = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|x-ndjson|ndjson|jsonl|xml|javascript)\b)/;

const MAX_REMEMBERED = 256;

const compressBrotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const compressGzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip);

/**
 * The encoding for an answer of this type; `undefined` if the caller accepts none or compression does not
 * pay.
 */
export function contentEncodingFor(
  acceptEncoding: string | undefined,
  answer: { readonly mediaType: string; readonly bytes: number },
): ContentEncoding | undefined {
  if (acceptEncoding === undefined || answer.bytes < MIN_BYTES) return undefined;
  return COMPRESSIBLE.test(answer.mediaType) ? preferredEncoding(acceptEncoding) : undefined;
}

/** Whether a caller accepts this encoding: one named with `q=0` is refused, one not named is not assumed. */
export function accepts(acceptEncoding: string | string[] | undefined, encoding: ContentEncoding): boolean {
  if (acceptEncoding === undefined) return false;
  return new Negotiator({ headers: { 'accept-encoding': String(acceptEncoding).toLowerCase() } })
    .encodings([encoding])
    .includes(encoding);
}

/** Off the main thread. */
export function compressWhole(content: string | Uint8Array, encoding: ContentEncoding): Promise<Buffer> {
  return encoding === 'br' ? compressBrotli(content, BROTLI) : compressGzip(content, GZIP);
}

/**
 * The same content compressed. What belongs to a chunk is given out with it, so that a reader sees rows when
 * they come; one chunk is worked on at a time.
 */
export async function* compressChunks(
  chunks: AsyncIterable<string | Uint8Array>,
  encoding: ContentEncoding,
): AsyncGenerator<Buffer, void> {
  const compressor = encoding === 'br' ? zlib.createBrotliCompress(BROTLI) : zlib.createGzip(GZIP);
  let ready: Buffer[] = [];
  compressor.on('data', (part: Buffer) => ready.push(part));
  try {
    for await (const chunk of chunks) {
      await new Promise<void>((resolve, reject) => {
        compressor.once('error', reject);
        compressor.write(chunk);
        compressor.flush(() => {
          compressor.off('error', reject);
          resolve();
        });
      });
      if (ready.length > 0) yield Buffer.concat(ready);
      ready = [];
    }
    await new Promise<void>((resolve, reject) => {
      compressor.once('error', reject).once('end', resolve);
      compressor.end();
    });
    yield Buffer.concat(ready);
  } finally {
    compressor.destroy();
  }
}

const preferredEncoding = rememberLatest((header): ContentEncoding | undefined => {
  const best = new Negotiator({ headers: { 'accept-encoding': inOurOrder(header) } }).encoding([
    ...ENCODINGS,
    'identity',
  ]);
  return ENCODINGS.find((known) => known === best);
}, MAX_REMEMBERED);

/** Puts our preferred encodings first: among equally welcome ones, the negotiator picks the first. */
function inOurOrder(header: string): string {
  const parts = header.split(',').map((part) => part.trim().toLowerCase());
  const ours = ENCODINGS.flatMap((encoding) => parts.filter((part) => part.startsWith(encoding)));
  return [...new Set([...ours, ...parts])].join(',');
}
