/**
 * Smaller chunks are gathered before they are written: a write per row would cost more than the row. An
 * answer that ends before this size is sent in one piece, with its length; a longer one still begins with the
 * first batch of rows.
 */
const MIN_WRITE_BYTES = 64 * 1024;

export interface GatheredWrite {
  readonly content: string | Uint8Array;
  /** Known to be the last write; a short answer then gets a length instead of chunks. */
  readonly isLast: boolean;
}

/** Combines the chunks of a source into writes of a useful size; the first has at least `firstBytes`. */
export async function* gatherWrites(
  chunks: AsyncIterable<string | Uint8Array>,
  firstBytes = MIN_WRITE_BYTES,
): AsyncGenerator<GatheredWrite, void> {
  let texts: string[] = [];
  let bytes: Uint8Array[] = [];
  let length = 0;
  let least = Math.max(firstBytes, MIN_WRITE_BYTES);
  const take = () => {
    if (bytes.length > 0 && texts.length > 0) bytes.push(Buffer.from(texts.join('')));
    const [only, ...others] = bytes;
    const content = only === undefined ? texts.join('') : joined(only, others);
    texts = [];
    bytes = [];
    length = 0;
    least = MIN_WRITE_BYTES;
    return content;
  };
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') texts.push(chunk);
    else {
      if (texts.length > 0) bytes.push(Buffer.from(texts.join('')));
      texts = [];
      bytes.push(chunk);
    }
    length += chunk.length;
    if (length >= least) yield { content: take(), isLast: false };
  }
  if (length > 0) yield { content: take(), isLast: true };
}

/** A single chunk is not copied. */
function joined(first: Uint8Array, others: readonly Uint8Array[]): Uint8Array {
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
