/**
 * Numbers with more digits than JavaScript keeps: read of an answer as they are written there, and written so
 * into a request. In between they are objects, which a draft outlives as JSON.
 */

export interface ExactNumber {
  readonly $number: string;
}

export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === 'object' && value !== null && typeof Object(value).$number === 'string';
}

/** What may be a number of that kind; anything shorter is read the quick way. */
const MANY_DIGITS = /\d[\d.]{15,}/;

/** A browser that does not tell the source of a number (before 2025) reads it rounded, as ever. */
type Reviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown;

export function parseExactly(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  const revive: Reviver = (_name, value, context) =>
    typeof value === 'number' && context?.source !== undefined ? numberOfText(context.source) : value;
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

export function printExactly(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('"$number"') ? text.replaceAll(PRINTED, '$1') : text;
}

/** As `JSON.stringify` prints one; the quotation marks of a text that looks like it are escaped. */
const PRINTED = /\{"\$number":"(-?\d+(?:\.\d+)?)"\}/g;

/** The number that a text is, as one of JavaScript where that loses nothing. */
export function numberOfText(text: string): number | ExactNumber {
  const number = Number(text);
  return isDecimal(text) && withoutPadding(text) !== withoutPadding(String(number))
    ? { $number: text }
    : number;
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/** `-007.50` → `-7.5`. What has an exponent stays, and so differs from any decimal. */
function withoutPadding(text: string): string {
  const [, sign = '', whole = '', part = ''] = /^(-?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (whole === '' && part === '' && !/^-?0*(\.0*)?$/.test(text)) return text;
  const digits = `${whole === '' ? '0' : whole}${part === '' ? '' : `.${part}`}`;
  return digits === '0' ? digits : sign + digits;
}
