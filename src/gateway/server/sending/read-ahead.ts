/** Reads a source ahead of its consumer. */

export interface ReadAheadOptions {
  /** The bytes to buffer; beyond that, the source waits. */
  readonly maxBytes: number;
  /** Called with true when the source must wait for the consumer, with false when it continues. */
  readonly onHeldBack: (isHeldBack: boolean) => void;
  /** Called when the source has ended, failed or been closed, and its resources are free. */
  readonly onSourceEnd: () => void;
}

/**
 * Consumes a source as fast as possible, so that it ends and frees its resources however slowly its content
 * is taken. The caller must call `close`.
 */
export class ReadAhead {
  readonly #options: ReadAheadOptions;
  readonly #chunks: Uint8Array[] = [];
  readonly #pumping: Promise<void>;
  #bytes = 0;
  #hasEnded = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  /** Continues the consumer, which waits for a chunk, or the source, which waits for room: one at a time. */
  #wake: () => void = () => {};

  constructor(source: AsyncIterable<string | Uint8Array>, options: ReadAheadOptions) {
    this.#options = options;
    this.#pumping = this.#pump(source);
  }

  /** The next chunk; `undefined` at the end. @throws the source's error, after all chunks before it */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#hasEnded) await this.#change();
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#bytes -= chunk.length;
      this.#wake();
      return chunk;
    }
    if (this.#failure) throw this.#failure.error;
    return undefined;
  }

  /** Closes the source and waits until it has freed its resources. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#pumping;
  }

  async #pump(source: AsyncIterable<string | Uint8Array>): Promise<void> {
    const { onSourceEnd } = this.#options;
    try {
      for await (const content of source) {
        if (this.#isClosed) return;
        const chunk = typeof content === 'string' ? Buffer.from(content) : content;
        this.#chunks.push(chunk);
        this.#bytes += chunk.length;
        this.#wake();
        if (this.#isFull) await this.#room();
        if (this.#isClosed) return;
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#hasEnded = true;
      onSourceEnd();
      this.#wake();
    }
  }

  get #isFull(): boolean {
    return this.#bytes >= this.#options.maxBytes && !this.#isClosed;
  }

  async #room(): Promise<void> {
    const { onHeldBack } = this.#options;
    onHeldBack(true);
    while (this.#isFull) await this.#change();
    onHeldBack(false);
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
