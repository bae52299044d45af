/** The declared bounds of a field, checked in a form before the gateway refuses the value. */
import { isExactNumber } from '../gateway/exact-number';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { useToday } from '../language/use-today';
import type { DeclaredField } from './declared-field';

interface Bounds {
  readonly minimum?: number | string;
  readonly maximum?: number | string;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** Looser than what the gateway accepts: whatever they refuse, it refuses too. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/,
  month: /^\d{4}-(?:0[1-9]|1[0-2])$/,
  phone: /^\+?(?:[\s().\-/]*\d){6,15}[\s().\-/]*$/,
  session: /^\d{4}-\d{2}$/,
};

/** Returns a function that says what is wrong with a value; '' for a value that may be sent. */
export function useBoundFault(): (value: unknown, field: DeclaredField) => string {
  const t = useTexts();
  const formats = useFormats();
  const today = useToday();

  function faultOfNumber(text: string, bounds: Bounds): string {
    const number = Number(text);
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = bounds;
    const limit = (value: number) => ({ limit: formats.number(value) });
    if (typeof minimum === 'number' && number < minimum) return t('At least {limit}.', limit(minimum));
    if (typeof maximum === 'number' && number > maximum) return t('At most {limit}.', limit(maximum));
    if (exclusiveMinimum !== undefined && number <= exclusiveMinimum)
      return t('More than {limit}.', limit(exclusiveMinimum));
    if (exclusiveMaximum !== undefined && number >= exclusiveMaximum)
      return t('Less than {limit}.', limit(exclusiveMaximum));
    const most = decimalsOf(multipleOf);
    if (most !== undefined && decimalsIn(text) > most)
      return t('{count, plural, =0 {A whole number.} one {At most # decimal.} other {At most # decimals.}}', {
        count: most,
      });
    return '';
  }

  function faultOfMoment(text: string, { minimum, maximum }: Bounds): string {
    const isDay = text.length === 10;
    const now = isDay ? today : new Date().toISOString();
    const momentOf = (bound: string) => (bound === 'now' ? now : bound);
    const say = (bound: string) => ({ limit: isDay ? formats.day(bound) : formats.instant(bound) });
    if (typeof minimum === 'string' && text < momentOf(minimum))
      return minimum === 'now' ? t('Not in the past.') : t('Not before {limit}.', say(minimum));
    if (typeof maximum === 'string' && text > momentOf(maximum))
      return maximum === 'now' ? t('Not in the future.') : t('Not after {limit}.', say(maximum));
    return '';
  }

  function faultOfText(text: string, { minLength = 0, maxLength, pattern }: Bounds, field: DeclaredField) {
    const { length } = [...text];
    if (length < minLength)
      return t('At least {count, plural, one {# character} other {# characters}}.', { count: minLength });
    if (maxLength !== undefined && length > maxLength)
      return t('At most {count, plural, one {# character} other {# characters}}.', { count: maxLength });
    const form =
      FORMATS[field.format ?? ''] ?? (pattern === undefined ? undefined : new RegExp(pattern, 'u'));
    if (form === undefined || form.test(text)) return '';
    return field.example === null
      ? t('This is not of the expected form.')
      : t('Write it like {example}.', { example: String(field.example) });
  }

  return (value, field) => {
    const bounds = (field.bounds ?? {}) as Bounds;
    const text = isExactNumber(value) ? value.$number : value;
    if (typeof text === 'number' || (field.type === 'number' && typeof text === 'string' && text !== ''))
      return Number.isNaN(Number(text)) ? '' : faultOfNumber(String(text), bounds);
    if (typeof text !== 'string' || text.trim() === '') return '';
    if (field.type === 'datetime') return faultOfMoment(text, bounds);
    return field.type === 'text' && !field.allowed ? faultOfText(text.trim(), bounds, field) : '';
  };
}

/** 2 for 0.01; `undefined` for other steps, which the gateway checks. */
function decimalsOf(step: number | undefined): number | undefined {
  if (step === 1) return 0;
  return /^0\.0*1$/.test(String(step)) ? String(step).length - 2 : undefined;
}

function decimalsIn(text: string): number {
  const [, digits = ''] = /\.(\d*)$/.exec(text) ?? [];
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}
