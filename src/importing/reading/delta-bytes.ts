import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readVarInt } from 'hyparquet/src/thrift.js';

/**
 * The size of the decoded texts of a page in DELTA_BYTE_ARRAY. Each text is stored as the length of the
 * prefix that it shares with the previous text, and the rest. A repeated text takes two bytes, so that a
 * page may decode to any size.
 *
 * @throws RangeError if a text shares a longer prefix than the previous text has, or is longer than the page
 */
export function deltaBytes(page: DataView, start: number, count: number): number {
  const reader = { view: page, offset: start };
  const [shared, added] = [unpacked(), unpacked()];
  let left = page.byteLength - reader.offset;
  let sum = 0;
  let before = 0;
  for (let index = 0; index < count; index += 1) {
    const [same = 0, more = 0] = [shared[index], added[index]];
    left -= more;
    if (same < 0 || more < 0 || same > before || left < 0) {
      throw new RangeError('a text of a page is not as long as it says');
    }
    before = same + more;
    sum += before;
  }
  return sum;
  function unpacked(): Int32Array {
    assertDeltas(page, reader.offset);
    const numbers = new Int32Array(count);
    deltaBinaryUnpack(reader, count, numbers);
    return numbers;
  }
}

/**
 * Checks the header of delta-encoded numbers. With blocks of zero or fewer parts, the decoder would loop
 * forever.
 *
 * @throws RangeError
 */
export function assertDeltas(page: DataView, start: number): void {
  const reader = { view: page, offset: start };
  const inBlock = readVarInt(reader);
  const parts = readVarInt(reader);
  if (inBlock > 0 && parts > 0 && inBlock % parts === 0) return;
  throw new RangeError('the numbers of a page stand in no blocks');
}
