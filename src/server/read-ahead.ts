/** What a source gives, fetched ahead of whoever takes it. */

export interface ReadAheadOptions {
  /** The bytes that may wait; with more, nothing further is fetched. */
  readonly maxBytes: number;
  /** The source waits for the one who takes (true), or works again (false). */
  readonly onHeldBack: (isHeldBack: boolean) => void;
  /** The source has given everything, or failed, or was left: what it held is free. */
  readonly onSourceEnd: () => void;
}

/**
 * A source that is ended by itself lets go of what it holds, however slowly its content is taken. To be left
 * by `close`.
 */
export class ReadAhead {
  readonly #options: ReadAheadOptions;
  readonly #chunks: Uint8Array[] = [];
  readonly #pumping: Promise<void>;
  #bytes = 0;
  #hasEnded = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  #onChunk: () => void = () => {};
  #onRoom: () => void = () => {};

  constructor(source: AsyncIterable<string | Uint8Array>, options: ReadAheadOptions) {
    this.#options = options;
    this.#pumping = this.#pump(source);
  }

  /**
   * The next chunk; `undefined`: there is none. @throws what the source threw, once everything before it was
   * taken
   */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#onChunk = resolve;
      });
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#bytes -= chunk.length;
      this.#onRoom();
      return chunk;
    }
    if (this.#failure) throw this.#failure.error;
    return undefined;
  }

  /** Leaves the source, and waits until it has let go. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onRoom();
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
        this.#onChunk();
        if (this.#isFull) await this.#room();
        if (this.#isClosed) return;
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#hasEnded = true;
      onSourceEnd();
      this.#onChunk();
    }
  }

  get #isFull(): boolean {
    return this.#bytes >= this.#options.maxBytes && !this.#isClosed;
  }

  async #room(): Promise<void> {
    const { onHeldBack } = this.#options;
    onHeldBack(true);
    while (this.#isFull) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
    }
    onHeldBack(false);
  }
}
