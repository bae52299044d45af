/**
 * Encodes a text message for SMPP and divides it into segments: in the GSM 7-bit alphabet if that suffices,
 * else in UTF-16.
 *
 * @see 3GPP TS 23.038, 6.2.1 (alphabet and its extension), 23.040 9.2.3.24.1 (messages of several parts),
 *   reports 6
 */

type SmsEncoding = 'gsm7' | 'ucs2';

export interface SmsText {
  readonly encoding: SmsEncoding;
  /** The bytes of each segment as SMPP carries them: an octet a septet, or UTF-16 big-endian. */
  readonly segments: readonly Buffer[];
}

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
const ROOM = { gsm7: { alone: 160, part: 153 }, ucs2: { alone: 140, part: 134 } } as const;

/**
 * Never divides a character: a pair of the extension, or of surrogates, moves to the next segment as a whole.
 */
export function encodeSms(text: string): SmsText {
  const septets = [...text].map((character) => (character === '\u001b' ? undefined : SEPTETS.get(character)));
  const isGsm = septets.every((codes) => codes !== undefined);
  const encoding = isGsm ? 'gsm7' : 'ucs2';
  const characters = isGsm
    ? septets.map((codes) => Buffer.from(codes ?? []))
    : [...text].map((character) => Buffer.from(character, 'utf16le').swap16());
  const whole = Buffer.concat(characters);
  if (whole.length <= ROOM[encoding].alone) return { encoding, segments: [whole] };
  return { encoding, segments: fill(characters, ROOM[encoding].part) };
}

function fill(characters: readonly Buffer[], room: number): Buffer[] {
  const segments: Buffer[] = [];
  let segment: Buffer[] = [];
  let length = 0;
  for (const character of characters) {
    if (length + character.length > room) {
      segments.push(Buffer.concat(segment));
      segment = [];
      length = 0;
    }
    segment.push(character);
    length += character.length;
  }
  segments.push(Buffer.concat(segment));
  return segments;
}
