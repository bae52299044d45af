/** Must never change: the position of a byte in storage follows from it. */
export const CHUNK_BYTES = 256 * 1024;

/** Splits the bytes into chunks of one size; only the last may be shorter. */
export async function* inChunks(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    let rest = part;
    while (length + rest.length >= CHUNK_BYTES) {
      const needed = CHUNK_BYTES - length;
      yield Buffer.concat([...parts, rest.subarray(0, needed)], CHUNK_BYTES);
      rest = rest.subarray(needed);
      parts = [];
      length = 0;
    }
    if (rest.length === 0) continue;
    parts.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(parts, length);
}
