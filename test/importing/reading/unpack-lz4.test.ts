import { describe, expect, it } from '@jest/globals';
import { unpackLz4 } from '../../../src/importing/reading/unpack-lz4.js';

const unpack = (bytes: readonly number[], length: number) =>
  Buffer.from(unpackLz4(Uint8Array.from(bytes), length)).toString();

describe('a block of LZ4', () => {
  it('has its literals, and repeats what came before, also what it makes by that', () => {
    expect(unpack([0x30, 97, 98, 99], 3)).toBe('abc');
    expect(unpack([0x25, 97, 98, 2, 0, 0x10, 33], 12)).toBe('ababababab' + 'a!');
    expect(unpack([0xf0, 2, ...Array.from({ length: 17 }, () => 120)], 17)).toBe('x'.repeat(17));
    expect(unpack([0x1f, 97, 1, 0, 255, 1, 0x10, 98], 277)).toBe(`${'a'.repeat(276)}b`);
  });

  it.each<[string, readonly number[], number]>([
    ['comes to more than it says', [0x30, 97, 98, 99], 2],
    ['comes to less', [0x30, 97, 98, 99], 4],
    ['comes to nothing', [], 1],
    ['ends within its literals', [0x50, 97], 5],
    ['ends within a number', [0xf0, 255, 255], 600],
    ['ends within a distance', [0x10, 97, 1], 5],
    ['repeats what is before its beginning', [0x10, 97, 2, 0, 0x10, 98], 6],
    ['repeats itself from nowhere', [0x10, 97, 0, 0, 0x10, 98], 6],
    ['repeats without end', [0x1f, 97, 1, 0, ...Array.from({ length: 100 }, () => 255), 0], 100],
  ])('is refused where it %s', (_what, bytes, length) => {
    expect(() => unpack(bytes, length)).toThrow(RangeError);
  });
});
