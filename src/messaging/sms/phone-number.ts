import { ServiceError } from '../../errors.js';

const LONGEST_NATIONAL = 10;
const E164 = /^\+[1-9]\d{6,14}$/;

/**
 * Parses a telephone number as people write it into E.164 (`+915123456789`). It may have spaces, dots,
 * hyphens and brackets, `00` for `+`, or no country code, which is then that of the school. A trunk zero
 * before a national number is removed.
 *
 * @throws INVALID_VALUE
 */
export function toE164PhoneNumber(written: string, countryCode: string): string {
  const digits = written.trim().replace(/(?<=.)[\s().\u00a0-]+|^\(/g, '');
  const number = withCountry(digits, countryCode);
  if (E164.test(number)) return number;
  const expected = `a telephone number, e.g. +${countryCode}5123456789`;
  throw new ServiceError(
    'INVALID_VALUE',
    `"${written.slice(0, 40)}" is no number to send to: expected ${expected}`,
    {
      errors: [{ parameter: 'to', detail: 'not a telephone number', expected, sent: written.slice(0, 40) }],
    },
  );
}

function withCountry(digits: string, countryCode: string): string {
  if (digits.startsWith('+')) return digits;
  if (digits.startsWith('00')) return `+${digits.slice(2)}`;
  // `915123456789` has more digits than any national number, so it begins with the country code.
  if (digits.length > LONGEST_NATIONAL && digits.startsWith(countryCode)) return `+${digits}`;
  return `+${countryCode}${digits.replace(/^0/, '')}`;
}
