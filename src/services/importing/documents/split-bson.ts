/** Finds where one BSON document ends and the next begins. */
import { ServiceError } from '../../../base/errors.js';

/** The bytes of a document and its number: its line, or its place among the documents. */
export interface NumberedBytes {
  readonly number: number;
  readonly bytes: Buffer;
}

export interface SplitBsonOptions {
  /** The most bytes of a document. */
  readonly maxLength: number;
  /** Whether there are terminators between documents. Default: no. */
  readonly isArchive?: boolean;
}

const LENGTH_BYTES = 4;
/** The length itself and the final zero. */
const SHORTEST_DOCUMENT = 5;
/** 0xFFFFFFFF, as a signed number. */
const TERMINATOR = -1;

/**
 * The BSON documents. Each batch holds the documents that end in one chunk. In an archive, a terminator may
 * take the place of a document: four bytes, which have no number.
 *
 * @throws MALFORMED_REQUEST if the length of a document is invalid, or if the bytes end within a document
 * @throws LIMIT_EXCEEDED
 */
export async function* splitBson(
  chunks: AsyncIterable<Buffer>,
  { maxLength, isArchive = false }: SplitBsonOptions,
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
      if (isArchive && size === TERMINATOR) {
        documents.push({ number, bytes: bytes.subarray(start, start + LENGTH_BYTES) });
        start += LENGTH_BYTES;
        continue;
      }
      assertSize(size, number, maxLength);
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

function assertSize(size: number, number: number, maxLength: number): void {
  if (size < SHORTEST_DOCUMENT) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Document ${number} has a length of ${size} bytes, which none has; ` +
        'the file is damaged, or no BSON.',
    );
  }
  if (size > maxLength) {
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `Document ${number} has ${size} bytes; at most ${maxLength} are read. Divide it.`,
    );
  }
}
