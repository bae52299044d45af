/**
 * Numbers as people write them: `1,20,000.50`, `₹ 500/-`, `१२`. An ambiguous text is not a number, so that
 * nobody stores another number than they meant.
 */
import { withAsciiDigits } from '../../../base/text/ascii-digits.js';

/** Plain digits, or digits in groups: of thousands, or of lakhs and crores. */
const NUMBER = /^(-?)(\d+|\d{1,3}(?:[ ,]\d{3})+|\d{1,2}(?:[ ,]\d{2})*[ ,]\d{3})?(\.\d*)?(e[+-]?\d{1,3})?$/i;

/** The number in the notation of JSON. `undefined` if the text is not a number. */
export function parseTypedNumber(text: string, unit?: string | null): string | undefined {
  const [, sign = '', grouped = '', fraction = '', exponent = ''] = NUMBER.exec(bare(text, unit)) ?? [];
  const whole = grouped.replaceAll(/[ ,]/g, '');
  const part = fraction.slice(1);
  if (whole === '' && part === '') return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return sign + digits + (part === '' ? '' : `.${part}`) + exponent.toLowerCase();
}

/** `1234567.5` → `12,34,567.5`. All digits are kept. */
export function groupInLakhs(number: string): string {
  return number.replace(/^(-?)(\d+)(\d{3})(?!\d)/, (_all, sign: string, front: string, last: string) => {
    const pairs = front.slice(front.length % 2).match(/\d\d/g) ?? [];
    const groups = front.length % 2 === 1 ? [front.slice(0, 1), ...pairs] : pairs;
    return `${sign}${[...groups, last].join(',')}`;
  });
}

/** Removes the text around a number: spaces, a plus, a currency, `/-` and the unit. */
function bare(text: string, unit: string | null | undefined): string {
  const plain = withAsciiDigits(text).replaceAll(/\s+/g, ' ').replaceAll('−', '-').trim();
  const withoutUnit = unit && plain.endsWith(unit) ? plain.slice(0, -unit.length) : plain;
  return withoutUnit
    .trim()
    .replace(/\/[-=]$/, '')
    .replace(/^([+-]?) ?(?:₹|rs\.?|inr) ?/i, '$1')
    .replace(/^\+/, '')
    .trim();
}
