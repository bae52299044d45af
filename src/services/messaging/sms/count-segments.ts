/**
 * How long a text message is: its alphabet, and the segments it takes. The portal shows it while one types.
 *
 * @see 3GPP TS 23.038, 6.2.1 (alphabet and its extension), 23.040 9.2.3.24.1 (messages of several parts)
 */

const ALPHABET =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ ' +
  '!"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const ESCAPE = 0x1b;
const EXTENSION: ReadonlyMap<string, number> = new Map([
  ['\f', 0x0a],
  ['^', 0x14],
  ['{', 0x28],
  ['}', 0x29],
  ['\\', 0x2f],
  ['[', 0x3c],
  ['~', 0x3d],
  [']', 0x3e],
  ['|', 0x40],
  ['€', 0x65],
]);
const SEPTETS: ReadonlyMap<string, readonly number[]> = new Map([
  ...[...ALPHABET].map((character, code): [string, number[]] => [character, [code]]),
  ...[...EXTENSION].map(([character, code]): [string, number[]] => [character, [ESCAPE, code]]),
]);

/**
 * The octets of a message in one part, and of each of several parts, of which six octets carry their order.
 */
export const ROOM = { gsm7: { alone: 160, part: 153 }, ucs2: { alone: 140, part: 134 } } as const;

/** The septets of each character; `undefined` if the text needs UTF-16. */
export function septetsOf(text: string): readonly (readonly number[])[] | undefined {
  const septets = [...text].map((character) => (character === '\u001b' ? undefined : SEPTETS.get(character)));
  return septets.every((codes) => codes !== undefined) ? septets : undefined;
}

/** The characters of each segment, of which one is never divided; `sizes` are those of the characters. */
export function segmentsOfSizes(sizes: readonly number[], room: { alone: number; part: number }): number[] {
  if (sizes.reduce((sum, size) => sum + size, 0) <= room.alone) return [sizes.length];
  const counts = [0];
  let length = 0;
  for (const size of sizes) {
    if (length + size > room.part) {
      counts.push(0);
      length = 0;
    }
    counts.push((counts.pop() ?? 0) + 1);
    length += size;
  }
  return counts;
}

/** In how many segments a text is sent. */
export function countSegments(text: string): number {
  const septets = septetsOf(text);
  const sizes = septets?.map(({ length }) => length) ?? [...text].map((character) => 2 * character.length);
  return segmentsOfSizes(sizes, septets ? ROOM.gsm7 : ROOM.ucs2).length;
}
