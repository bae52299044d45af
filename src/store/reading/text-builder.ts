/** Builds a byte sequence from mostly small slices of other texts, copying each once. */
export class TextBuilder {
  #bytes: Buffer;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, expectedBytes));
  }

  append(text: Uint8Array): void {
    this.appendPart(text, 0, text.length);
  }

  appendPart(text: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.#length + length > this.#bytes.length) this.#grow(length);
    const bytes = this.#bytes;
    const to = this.#length;
    if (length > LEAST_BLOCK) bytes.set(text.subarray(start, end), to);
    // A function call costs more than copying a few bytes.
    else for (let index = 0; index < length; index += 1) bytes[to + index] = text[start + index] as number;
    this.#length = to + length;
  }

  /** The result; nothing may be appended afterwards. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafe(Math.max(this.#length + more, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const LEAST_BLOCK = 128;
