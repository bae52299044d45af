import { describe, expect, it } from '@jest/globals';
import { withAsciiDigits } from '../../../src/base/text/ascii-digits.js';

describe('a digit', () => {
  it.each([
    ['Devanagari', '०१२३४५६७८९'],
    ['Bengali', '০১২৩৪৫৬৭৮৯'],
    ['Tamil', '௦௧௨௩௪௫௬௭௮௯'],
    ['Arabic-Indic', '٠١٢٣٤٥٦٧٨٩'],
    ['Thai', '๐๑๒๓๔๕๖๗๘๙'],
    ['wide', '０１２３４５６７８９'],
    ['bold', '𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗'],
    ['monospaced', '𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿'],
  ])('that is %s is the one of ASCII', (_name, digits) => {
    expect(withAsciiDigits(`${digits} ₹`)).toBe('0123456789 ₹');
  });

  it('of ASCII stays, and so does what is no decimal digit', () => {
    expect(withAsciiDigits('12 Ⅻ ½ ³')).toBe('12 Ⅻ ½ ³');
  });
});
