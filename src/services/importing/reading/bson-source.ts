/** Reads files of BSON, gzipped or not. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { deserialize } from 'bson';
import { ServiceError } from '../../../base/errors.js';
import { reasonOfDamage } from '../../../base/text/reason-of-damage.js';
import { rowOfDocument } from './document-source.js';
import { startOfFile } from './encoding.js';
import {
  inBatches,
  type NumberedBytes,
  type RowSource,
  SOURCE_LIMITS,
  type SourceFile,
  type SourceRow,
} from './row-source.js';

/** 64-bit integers stay exact, and binary values keep their subtype. */
const DECODED = { promoteLongs: false, promoteBuffers: false, bsonRegExp: true } as const;

/** Opens a file of BSON. A document whose inner parts are damaged is a row with a fault. */
export function openBsonSource(file: SourceFile): RowSource {
  return {
    format: 'bson',
    warnings: [],
    rows: (signal, batchRows) =>
      inBatches(
        splitBson(readUnpacked(file.path)),
        ({ number, bytes }) => rowOfBsonDocument(number, bytes),
        signal,
        batchRows,
      ),
  };
}

/** The row of a document of BSON. */
export function rowOfBsonDocument(number: number, bytes: Uint8Array): SourceRow {
  try {
    return rowOfDocument(number, deserialize(bytes, DECODED));
  } catch (error) {
    const fault = `document ${number} is not BSON (${reasonOfDamage(error)}); dump it again`;
    return { number, values: {}, fault };
  }
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads a file chunk by chunk, and decompresses it if it begins as gzip does.
 *
 * @throws MALFORMED_REQUEST if compressed data is damaged or incomplete
 */
export async function* readUnpacked(path: string): AsyncGenerator<Buffer> {
  const first = await startOfFile(path, 2);
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* file;
    return;
  }
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => gunzip.destroy(error));
  try {
    yield* file.pipe(gunzip);
  } catch (cause) {
    if (!isZlibError(cause)) throw cause;
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `The file is gzip that is damaged or cut (${cause.message}); send all of it, or unpack it first.`,
      { cause },
    );
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

function isZlibError(cause: unknown): cause is Error {
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_');
}

const LENGTH_BYTES = 4;
/** The length itself and the final zero. */
const SHORTEST_DOCUMENT = 5;

/**
 * The BSON documents. Each batch holds the documents that end in one chunk.
 *
 * @throws MALFORMED_REQUEST if the length of a document is invalid, or if the bytes end within a document
 * @throws LIMIT_EXCEEDED
 */
async function* splitBson(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly NumberedBytes[]> {
  let carried: Buffer[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of chunks) {
    carried.push(chunk);
    length += chunk.length;
    const [first] = carried;
    // Parts are joined only once there are enough of them: a large document comes in many chunks.
    if (first && first.length >= LENGTH_BYTES && length < first.readInt32LE()) continue;
    const bytes = carried.length > 1 ? Buffer.concat(carried) : chunk;
    const documents: NumberedBytes[] = [];
    let start = 0;
    while (bytes.length - start >= LENGTH_BYTES) {
      const size = bytes.readInt32LE(start);
      assertSize(size, number);
      if (bytes.length - start < size) break;
      documents.push({ number, bytes: bytes.subarray(start, start + size) });
      start += size;
      number += 1;
    }
    carried = start < bytes.length ? [bytes.subarray(start)] : [];
    length = bytes.length - start;
    yield documents;
  }
  if (length === 0) return;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    `The file ends within document ${number}; it is incomplete, or not BSON. Send all of it.`,
  );
}

function assertSize(size: number, number: number): void {
  const { maxLineLength } = SOURCE_LIMITS;
  if (size < SHORTEST_DOCUMENT) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Document ${number} has a length of ${size} bytes, which is too short; ` +
        'the file is damaged, or not BSON.',
    );
  }
  if (size > maxLineLength) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `Document ${number} has ${size} bytes; at most ${maxLineLength} are read. Divide it.`,
    );
  }
}
