/** Reads the bytes of a file and decompresses them if needed. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../../base/errors.js';

export type Packing = 'gzip' | 'none';

const CHUNK_BYTES = 64 * 1024;

/** Whether a file is gzipped, by its first bytes. */
export async function packingOf(path: string): Promise<Packing> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return buffer[0] === 0x1f && buffer[1] === 0x8b ? 'gzip' : 'none';
}

/**
 * Reads a file chunk by chunk. `onBytes` receives the number of bytes of the file itself that were read
 * since its last call.
 *
 * @throws MALFORMED_REQUEST if compressed data is damaged or incomplete
 */
export async function* readUnpacked(
  path: string,
  packing: Packing,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (onBytes) file.on('data', (chunk) => onBytes(chunk.length));
  if (packing === 'none') {
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
