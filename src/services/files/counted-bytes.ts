import { createHash, type Hash } from 'node:crypto';

/**
 * Counts bytes as they pass, and hashes them if an algorithm is given. `assertFits` throws when there are too
 * many.
 */
export class CountedBytes implements AsyncIterable<Buffer> {
  size = 0;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #hash: Hash | undefined;
  readonly #assertFits: (size: number) => void;

  constructor(
    bytes: AsyncIterable<Uint8Array>,
    algorithm: string | undefined,
    assertFits: (size: number) => void,
  ) {
    this.#bytes = bytes;
    this.#hash = algorithm === undefined ? undefined : createHash(algorithm);
    this.#assertFits = assertFits;
  }

  /** Call it once, when all bytes have passed. @throws if no algorithm was given */
  get digest(): Buffer {
    if (this.#hash === undefined) throw new Error('These bytes are not hashed');
    return this.#hash.digest();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const chunk of this.#bytes) {
      this.size += chunk.length;
      this.#assertFits(this.size);
      this.#hash?.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}
