import { withAsciiDigits } from '../text/ascii-digits.js';

const LONGEST_NATIONAL = 10;
const E164 = /^\+[1-9]\d{7,14}$/;
/** India, the one country whose numbers all have the same length. */
const INDIAN = /^\+91[1-9]\d{9}$/;
/** The calling code of a school that has not set its own. */
export const DEFAULT_CALLING_CODE = '91';
const MAX_WRITTEN = 60;

/**
 * Parses a telephone number as people write it into E.164 (`+915123456789`). It may have white space, dots,
 * hyphens, brackets and the invisible characters of a copied number, `00` for `+`, or no country code, which
 * is then that of the school. A trunk zero before a national number is removed. `undefined` if it is no
 * telephone number.
 */
export function toE164PhoneNumber(written: string, callingCode: string): string | undefined {
  if (written.length > MAX_WRITTEN) return undefined;
  const plain = withAsciiDigits(written).replace(/[\s\p{Cf}]+/gu, '');
  if (/^[.)\p{Pd}]/u.test(plain)) return undefined;
  const number = withCountry(plain.replace(/[().\p{Pd}]+/gu, ''), callingCode);
  return E164.test(number) && (!number.startsWith('+91') || INDIAN.test(number)) ? number : undefined;
}

function withCountry(digits: string, callingCode: string): string {
  if (digits.startsWith('+')) return digits;
  if (digits.startsWith('00')) return `+${digits.slice(2)}`;
  // `915123456789` has more digits than any national number, so it begins with the country code.
  if (digits.length > LONGEST_NATIONAL && digits.startsWith(callingCode)) return `+${digits}`;
  return `+${callingCode}${digits.replace(/^0/, '')}`;
}
