/**
 * Unpacks a block of LZ4 to `length` bytes. The decoders available for JavaScript trust the block, whereas a
 * forged one must neither exceed the length nor leave zeros at the end.
 *
 *   block    : sequence*                            the last one ends after its literals
 *   sequence : token literals distance             four bits of the token say the number of literals, four
 *                                                  the bytes to repeat less 4; 15: more of the number follows
 *
 * @throws RangeError if the result has another length
 * @see https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
 */
export function unpackLz4(packed: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let from = 0;
  let to = 0;
  while (from < packed.length) {
    const token = next();
    const literals = whole(token >> 4);
    assertFits(from + literals <= packed.length && to + literals <= length);
    bytes.set(packed.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === packed.length) break;
    const distance = next() | (next() << 8);
    const end = to + whole(token & 15) + 4;
    assertFits(distance > 0 && distance <= to && end <= length);
    // The repeated bytes may include those that the repetition itself writes.
    for (; to < end; to += 1) bytes[to] = bytes[to - distance] ?? 0;
  }
  assertFits(to === length);
  return bytes;

  function next(): number {
    const byte = packed[from];
    if (byte === undefined) throw new RangeError('a block of LZ4 ends within a sequence');
    from += 1;
    return byte;
  }

  function whole(begun: number): number {
    let sum = begun;
    for (let more = begun === 15 ? 255 : 0; more === 255; sum += more) more = next();
    return sum;
  }
}

function assertFits(isSo: boolean): void {
  if (!isSo) throw new RangeError('a block of LZ4 is not what it says');
}
