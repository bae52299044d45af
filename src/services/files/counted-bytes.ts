import { createHash, type Hash } from 'node:crypto';

/** Counts and hashes bytes as they pass. `assertFits` throws when there are too many. */
export class CountedBytes implements AsyncIterable<Buffer> {
  size = 0;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #hash: Hash;
  readonly #assertFits: (size: number) => void;

  constructor(bytes: AsyncIterable<Uint8Array>, algorithm: string, assertFits: (size: number) => void) {
    this.#bytes = bytes;
    this.#hash = createHash(algorithm);
    this.#assertFits = assertFits;
  }

  /** Call it when all bytes have passed. */
  get digest(): Buffer {
    return this.#hash.digest();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    for await (const chunk of this.#bytes) {
      this.size += chunk.length;
      this.#assertFits(this.size);
      this.#hash.update(chunk);
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}
