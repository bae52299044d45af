/** The faults that the gateway found in the fields of a record, shown at each field. */
import type { ReactNode } from 'react';
import type { Bounds } from '../../../base/model/bounds.js';
import { isLongNumber } from '../gateway/long-number';
import { ProblemWords } from '../language/problem-words';
import { formats, t, useToday } from '../language/texts';
import type { GatewayProblem } from '../session/gateway-problem';
import { type DeclaredField, sayFieldName } from './use-declared-collection';

export interface FieldFault {
  /** The path from the field to the invalid part: `['0', 'amount']` in a list of objects. */
  readonly within: readonly string[];
  /** The message of the gateway without its leading pointer. */
  readonly detail: string;
  readonly expected: string | undefined;
  readonly kind: 'missing' | 'taken' | 'takenTogether' | 'other';
}

/** The faults of an error by the field that their pointers name. Faults without a field are at ''. */
export function faultsByField(problem: GatewayProblem | null): ReadonlyMap<string, readonly FieldFault[]> {
  const errors = problem?.extensions.errors;
  if (!Array.isArray(errors)) return new Map();
  return Map.groupBy(
    errors.map((error: SentFault) => toFault(problem?.code, error)),
    ({ field }) => field,
  );
}

interface SentFault {
  readonly pointer?: string;
  readonly detail?: string;
  readonly expected?: string | undefined;
  readonly sent?: unknown;
}

function toFault(
  code: string | undefined,
  { pointer = '', detail = '', expected, sent }: SentFault,
): FieldFault & { readonly field: string } {
  const [, ...steps] = pointer.split('/');
  const [field = '', ...within] = steps[0] === 'data' ? steps.slice(1) : steps;
  const start = `${pointer}: `;
  return {
    field,
    within,
    detail: detail.startsWith(start) ? detail.slice(start.length) : detail,
    expected,
    kind: kindOf(code, { expected, sent }),
  };
}

function kindOf(code: string | undefined, { expected, sent }: SentFault): FieldFault['kind'] {
  if (expected === undefined) return 'other';
  if (code === 'INVALID_VALUE') return (sent ?? null) === null ? 'missing' : 'other';
  if (code !== 'CONFLICT') return 'other';
  return sent === undefined && expected.startsWith(ONE_FOR_EACH) ? 'takenTogether' : 'taken';
}

const ONE_FOR_EACH = 'one record for each ';
/** A field may have one fault for each entry of its list. */
const MOST_SHOWN = 3;

export function FieldFaults({ faults }: { readonly faults: readonly FieldFault[] }): ReactNode {
  return faults.slice(0, MOST_SHOWN).map((fault) => {
    const place = fault.within.map((step) =>
      /^\d+$/.test(step) ? `${Number(step) + 1}` : sayFieldName(step),
    );
    return (
      <span key={`${place} ${fault.detail}`} className="field-fault">
        {place.length > 0 && `${place.join(' · ')}: `}
        <FaultInWords fault={fault} />
      </span>
    );
  });
}

function FaultInWords({ fault: { kind, detail, expected = '' } }: { readonly fault: FieldFault }): ReactNode {
  if (kind === 'missing') return t('This field is required.');
  if (kind === 'taken') return t('Another record already has this value.');
  if (kind === 'takenTogether') {
    const fields = expected.slice(ONE_FOR_EACH.length).split(' and ');
    return t('Another record has the same {fields}.', {
      fields: fields.map((field) => sayFieldName(field.replace(/ \(.*/, ''))).join(' + '),
    });
  }
  return <ProblemWords text={detail} />;
}

/** Looser than the rules of the gateway: it refuses every text that they refuse. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/,
  month: /^\d{4}-(?:0[1-9]|1[0-2])$/,
  phone: /^\+?(?:[\s().\-/]*\d){6,15}[\s().\-/]*$/,
  session: /^\d{4}-\d{2}$/,
};

/** Returns a function that describes the fault of a value; '' for a value that may be sent. */
export function useBoundFault(): (value: unknown, field: DeclaredField) => string {
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
    const text = isLongNumber(value) ? value.$number : value;
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
