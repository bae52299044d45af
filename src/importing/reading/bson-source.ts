/** Rows of BSON: documents one after the other, as `mongodump` writes a collection. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../errors.js';
import { inBatches } from './in-batches.js';
import { rowOfBsonDocument } from './row-of-document.js';
import type { NumberedBytes, RowSource, SourceFile } from './row-source.js';
import type { SourceLimits } from './source-limits.js';

const CHUNK_BYTES = 256 * 1024;
const LENGTH_BYTES = 4;
/** The length itself, and the zero at the end. */
const SHORTEST_DOCUMENT = 5;

/** Opens a file of BSON, gzipped or not. A document whose inner parts are damaged is a row with a fault. */
export function openBsonSource(file: SourceFile, packing: 'gzip' | 'none', limits: SourceLimits): RowSource {
  return {
    format: 'bson',
    warnings: [],
    rows: (signal) =>
      inBatches(
        splitBson(readBytes(file.path, packing), limits),
        ({ number, bytes }) => rowOfBsonDocument(number, bytes),
        { ...limits, signal },
      ),
  };
}

async function* readBytes(path: string, packing: 'gzip' | 'none'): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (packing === 'none') {
    yield* file;
    return;
  }
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => gunzip.destroy(error));
  try {
    yield* file.pipe(gunzip);
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

/**
 * The documents of BSON, as many at once as a chunk ends.
 *
 * @throws MALFORMED_REQUEST where the length of a document is none, or the bytes end within one
 * @throws LIMIT_EXCEEDED
 */
async function* splitBson(
  chunks: AsyncIterable<Buffer>,
  limits: SourceLimits,
): AsyncGenerator<readonly NumberedBytes[]> {
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
      assertSize(size, number, limits);
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
    `The file ends within document ${number}; it is cut, or no BSON. Send all of it.`,
  );
}

function assertSize(size: number, number: number, { maxLineLength }: SourceLimits): void {
  if (size < SHORTEST_DOCUMENT) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Document ${number} has a length of ${size} bytes, which none has; ` +
        'the file is damaged, or no BSON.',
    );
  }
  if (size > maxLineLength) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `Document ${number} has ${size} bytes; at most ${maxLineLength} are read. Divide it.`,
    );
  }
}
