/**
 * Numbers as people write them: `1,20,000.50`, `₹ 500/-`, `१२`. What could be read in two ways is none,
 * so that nobody keeps another number than the one that was meant.
 */

/** The zeros of the digits that are written in India, and of the wide ones that come with pasted texts. */
const ZEROS = [
  ...[0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66],
  ...[0x0660, 0x06f0, 0xff10],
];

/** Digits alone, or in groups: of thousands, or of lakhs and crores. */
const NUMBER = /^(-?)(\d+|\d{1,3}(?:[ ,]\d{3})+|\d{1,2}(?:[ ,]\d{2})*[ ,]\d{3})?(\.\d*)?(e[+-]?\d{1,3})?$/i;

/** The number as JSON writes one; `undefined` for what is none. */
export function parseTypedNumber(text: string, unit?: string | null): string | undefined {
  const [, sign = '', grouped = '', fraction = '', exponent = ''] = NUMBER.exec(bare(text, unit)) ?? [];
  const whole = grouped.replaceAll(/[ ,]/g, '');
  const part = fraction.slice(1);
  if (whole === '' && part === '') return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return sign + digits + (part === '' ? '' : `.${part}`) + exponent.toLowerCase();
}

/** `1234567.5` → `12,34,567.5`, whose digits are all kept. */
export function groupInLakhs(number: string): string {
  return number.replace(/^(-?)(\d+)(\d{3})(?!\d)/, (_all, sign: string, front: string, last: string) => {
    return `${sign}${front.replaceAll(/\B(?=(?:\d{2})+$)/g, ',')},${last}`;
  });
}

/** Without what stands around a number: blanks, a plus, a currency, `/-` and the unit. */
function bare(text: string, unit: string | null | undefined): string {
  const plain = text
    .replaceAll(/\p{Nd}/gu, asciiDigit)
    .replaceAll(/\s+/g, ' ')
    .replaceAll('−', '-')
    .trim();
  const withoutUnit = unit && plain.endsWith(unit) ? plain.slice(0, -unit.length) : plain;
  return withoutUnit
    .trim()
    .replace(/\/[-=]$/, '')
    .replace(/^([+-]?) ?(?:₹|rs\.?|inr) ?/i, '$1')
    .replace(/^\+/, '')
    .trim();
}

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const zero = ZEROS.find((one) => code >= one && code < one + 10);
  return zero === undefined ? digit : String(code - zero);
}
