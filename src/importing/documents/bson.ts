/** The `bson` package, for threads that come and go: without the 17 MiB that it takes when it is loaded. */
import { createRequire } from 'node:module';
import type * as Bson from 'bson';

/**
 * The package keeps a buffer for what it writes, and makes it before anybody writes; we only read. The memory
 * is worse than idle: when a thread ends, glibc takes a block of this size that is freed for a sign that such
 * blocks come and go, and from then on keeps up to twice as much of what is freed, in each of its arenas. The
 * package makes the buffer anew where one is too small for what is to be written, so none will do.
 */
function loadBson(): typeof Bson {
  const { alloc } = Buffer;
  // Nothing else runs meanwhile: `require` does not wait.
  Buffer.alloc = (size, ...fill) => alloc(size > LARGEST_NEEDED ? 0 : size, ...fill);
  try {
    return createRequire(import.meta.url)('bson') as typeof Bson;
  } finally {
    Buffer.alloc = alloc;
  }
}

/** Smaller ones are constants of the package. */
const LARGEST_NEEDED = 64 * 1024;

export const bson = loadBson();
