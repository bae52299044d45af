import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldText, toNormalPart, toNormalText } from '../../../src/base/model/normal-text.js';

const PIECES = [
  ...[
    ' ',
    '\u00a0',
    '\u200b',
    '\ufeff',
    '\u202a',
    '\u202e',
    '\u2066',
    '\u00ad',
    '\u200e',
    '\u3164',
    '\u2800',
  ],
  ...[
    '\u200c',
    '\u200d',
    '\ufe0f',
    '\u0000',
    '\u0085',
    '\r',
    '\n',
    '\r\n',
    '\t',
    '\u2028',
    '\u034f',
    '\u0301',
  ],
  ...['e', 'é', 'A', '0', 'क', '\u094d', 'ष', '\u093c', 'ন', '\u09be', '👩', '🏴', '\u{e0067}', '\u{e007f}'],
  ...['İ', 'ß', 'Σ', 'ς', '\u212a', '\u0338', '\u180b', '\u{e0100}', '\u20e3', '🏽', '\ud800'],
];
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join('')),
);
const INVISIBLE = /[\s\p{Cc}\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad\u3164\u2800]/u;
const NOWHERE = /(?![\0\t\n])\p{Cc}|[\u00ad\u200b\ufeff\u202a-\u202e\u2066-\u2069]/u;

describe('toNormalText', () => {
  it('is the normal form of itself, in NFC, and without invisible ends', () => {
    fc.assert(
      fc.property(text, (sent) => {
        const normal = toNormalText(sent.replaceAll('\0', ''));
        expect(toNormalText(normal)).toBe(normal);
        expect(normal.normalize('NFC')).toBe(normal);
        expect([...normal].at(0) ?? 'x').not.toMatch(INVISIBLE);
        expect([...normal].at(-1)?.replace(/\u200c$/, 'x') ?? 'x').not.toMatch(INVISIBLE);
        expect(normal).not.toMatch(NOWHERE);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['GV-01600 ', 'GV-01600'],
    ['\u00a0GV-01600\u200b', 'GV-01600'],
    ['GV\u200d-0\u200e16\u00ad00', 'GV-01600'],
    ['Asha\u00a0Rao\u202c', 'Asha Rao'],
    ['e\u0301cole', 'école'],
    ['one\r\ntwo\rthree\u2028four', 'one\ntwo\nthree\nfour'],
    ['A\ufe0f', 'A'],
    ['\u200b\u3164\u2800 ', ''],
    ['Asha\u200d', 'Asha'],
  ])('of %j is %j', (sent, normal) => {
    expect(toNormalText(sent)).toBe(normal);
  });

  it.each([
    ['क्\u200dष', 'a conjunct of Devanagari'],
    ['അവന്\u200d', 'an old chillu of Malayalam'],
    ['می\u200cخواهم', 'a Persian verb'],
    ['👩\u200d⚕️', 'an emoji'],
    ['👩🏽\u200d🚀', 'an emoji with a tone'],
    ['❤️', 'a heart in colour'],
    ['5️⃣', 'a keycap'],
    ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 'a flag'],
    ['a line\n\tanother', 'lines and tabs'],
  ])('keeps %j, %s', (sent) => {
    expect(toNormalText(sent)).toBe(sent);
  });

  it('leaves the blanks at the ends of a part', () => {
    expect(toNormalPart(' Rao\u00a0\u200b')).toBe(' Rao ');
  });
});

describe('foldText', () => {
  it.each([
    ['gv-01600 ', 'GV-01600'],
    ['Tuition\u200b', 'TUITION'],
    ['Computer  Lab', 'computer lab'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['E\u0301cole', 'école'],
  ])('of %j is that of %j', (one, other) => {
    expect(foldText(one)).toBe(foldText(other));
  });

  it('is the key of itself, and of the text in capitals', () => {
    fc.assert(
      fc.property(text, (sent) => {
        expect(foldText(foldText(sent))).toBe(foldText(sent));
        expect(foldText(toNormalText(sent))).toBe(foldText(sent));
      }),
      { numRuns: 3000 },
    );
  });
});
