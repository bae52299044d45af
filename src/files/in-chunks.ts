/** Never to be changed: where a byte of a stored file is follows from it. */
export const CHUNK_BYTES = 256 * 1024;

/** What comes, cut anew: all of one size but the last. */
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
