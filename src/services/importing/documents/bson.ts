/** Loads the `bson` package without the 17 MiB that it allocates by default, for short-lived threads. */
import { createRequire } from 'node:module';
import type * as Bson from 'bson';

/**
 * The package allocates a buffer for writing when it is loaded, although we only read. This wastes more than
 * the memory itself: when a thread ends and frees a block of this size, glibc concludes that such blocks are
 * common, and from then on retains up to twice as much freed memory in each of its arenas. The package
 * replaces the buffer if it is too small for a document, so an empty buffer works.
 */
function loadBson(): typeof Bson {
  const { alloc } = Buffer;
  // `require` is synchronous, so no other code runs in the meantime.
  Buffer.alloc = (size, ...fill) => alloc(size > LARGEST_NEEDED ? 0 : size, ...fill);
  try {
    return createRequire(import.meta.url)('bson') as typeof Bson;
  } finally {
    Buffer.alloc = alloc;
  }
}

/** Smaller buffers are constants of the package. */
const LARGEST_NEEDED = 64 * 1024;

export const bson = loadBson();
