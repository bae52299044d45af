/**
 * Keeps numbers with more digits than a JavaScript number holds: they are read from an answer and written to
 * a request unchanged. In between they are objects, so that drafts can store them as JSON.
 */

export interface LongNumber {
  readonly $number: string;
}

export function isLongNumber(value: unknown): value is LongNumber {
  return typeof value === 'object' && value !== null && typeof Object(value).$number === 'string';
}

/** Matches a text that may contain such a number. Others are parsed the quick way. */
const MANY_DIGITS = /\d[\d.]{15,}/;

/** Browsers from before 2025 do not pass the source of a number; they round it. */
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

/** A long number as `JSON.stringify` prints it. A text that looks like one has escaped quotation marks. */
const PRINTED = /\{"\$number":"(-?\d+(?:\.\d+)?)"\}/g;

/** Parses a number: as a JavaScript number if that loses no digit, else as a long number. */
export function numberOfText(text: string): number | LongNumber {
  const number = Number(text);
  return /^-?\d+(\.\d+)?$/.test(text) && withoutPadding(text) !== withoutPadding(String(number))
    ? { $number: text }
    : number;
}

/** `-007.50` → `-7.5`. A number with an exponent is returned unchanged, so it differs from every decimal. */
function withoutPadding(text: string): string {
  const [, sign = '', whole = '', part = ''] = /^(-?)0*(?!0)(\d*)(?:\.((?:0*[1-9])*)0*)?$/.exec(text) ?? [];
  if (whole === '' && part === '' && !/^-?0*(\.0*)?$/.test(text)) return text;
  const digits = `${whole === '' ? '0' : whole}${part === '' ? '' : `.${part}`}`;
  return digits === '0' ? digits : sign + digits;
}
