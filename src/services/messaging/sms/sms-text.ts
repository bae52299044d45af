/**
 * Encodes a text message for SMPP and divides it into segments: in the GSM 7-bit alphabet if that suffices,
 * else in UTF-16.
 *
 * @see reports 6
 */

import { ROOM, segmentsOfSizes, septetsOf } from './count-segments.js';

type SmsEncoding = 'gsm7' | 'ucs2';

export interface SmsText {
  readonly encoding: SmsEncoding;
  /** The bytes of each segment as SMPP carries them: an octet a septet, or UTF-16 big-endian. */
  readonly segments: readonly Buffer[];
}

/**
 * Never divides a character: a pair of the extension, or of surrogates, moves to the next segment as a whole.
 */
export function encodeSms(text: string): SmsText {
  const septets = septetsOf(text);
  const encoding = septets ? 'gsm7' : 'ucs2';
  const characters = septets
    ? septets.map((codes) => Buffer.from(codes))
    : [...text].map((character) => Buffer.from(character, 'utf16le').swap16());
  const counts = segmentsOfSizes(
    characters.map(({ length }) => length),
    ROOM[encoding],
  );
  const segments = counts.map((count) => Buffer.concat(characters.splice(0, count)));
  return { encoding, segments };
}
