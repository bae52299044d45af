/** The bounds of a declared field, which limit its values beyond its type, in the words of JSON Schema. */
import type { JsonValue } from '../json/json.js';
import { today } from './calendar.js';
import { toDecimal } from './compare-json.js';
import { type LinearPattern, matchesPattern, parseLinearPattern } from './linear-pattern.js';

/** Each may be absent. `minimum` and `maximum` of a datetime are a day or an instant as stored, or `now`. */
export interface Bounds {
  readonly minimum?: number | string;
  readonly maximum?: number | string;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  /** 0.01: at most two decimals. */
  readonly multipleOf?: number;
  /** Counted in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** @see parseLinearPattern */
  readonly pattern?: string;
  /** The pattern, parsed once. */
  readonly branches?: LinearPattern;
}

const BOUND_NAMES: readonly (keyof Bounds)[] = [
  ...(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const),
  ...(['minLength', 'maxLength', 'pattern'] as const),
];

/** The bounds among the keys of a declaration; `undefined` if it has none. */
export function boundsAmong(declared: Bounds): Bounds | undefined {
  const names = BOUND_NAMES.filter((name) => declared[name] !== undefined);
  if (names.length === 0) return undefined;
  const bounds: Bounds = Object.fromEntries(names.map((name) => [name, declared[name]]));
  return bounds.pattern === undefined ? bounds : { ...bounds, branches: parseLinearPattern(bounds.pattern) };
}

/** The bounds as the declaration writes them. */
export function declaredBounds({ branches: _, ...declared }: Bounds): Omit<Bounds, 'branches'> {
  return declared;
}

export interface BoundsMoment {
  readonly now: Date;
  readonly timeZone: string;
}

/** Whether a stored value of the field's type is within the bounds. */
export function isWithinBounds(bounds: Bounds, value: JsonValue, moment: BoundsMoment): boolean {
  if (typeof value === 'string') return isTextWithin(bounds, value, moment);
  const number = toDecimal(value);
  if (number === undefined) return true;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = bounds;
  return (
    (minimum === undefined || number.greaterThanOrEqualTo(minimum)) &&
    (maximum === undefined || number.lessThanOrEqualTo(maximum)) &&
    (exclusiveMinimum === undefined || number.greaterThan(exclusiveMinimum)) &&
    (exclusiveMaximum === undefined || number.lessThan(exclusiveMaximum)) &&
    (multipleOf === undefined || number.modulo(multipleOf).isZero())
  );
}

function isTextWithin(bounds: Bounds, text: string, moment: BoundsMoment): boolean {
  const { minimum, maximum, minLength = 0, maxLength, pattern, branches } = bounds;
  if (typeof minimum === 'string' && text < momentOf(minimum, text, moment)) return false;
  if (typeof maximum === 'string' && text > momentOf(maximum, text, moment)) return false;
  if (maxLength !== undefined && text.length > 2 * maxLength) return false;
  if (minLength > 0 || maxLength !== undefined) {
    const length = [...text].length;
    if (length < minLength || (maxLength !== undefined && length > maxLength)) return false;
  }
  return pattern === undefined || matchesPattern(branches ?? parseLinearPattern(pattern), text);
}

/** A stored day is compared with the school's day, an instant with the instant. */
function momentOf(bound: string, text: string, { now, timeZone }: BoundsMoment): string {
  if (bound !== 'now') return bound;
  return text.length === 10 ? today(timeZone, now) : now.toISOString();
}

/** The bounds in words, e.g. `at least 0, at most 100, with at most 2 decimals`. */
export function describeBounds(bounds: Bounds): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = bounds;
  const { minLength, maxLength, pattern } = bounds;
  const words = [
    minimum !== undefined && (minimum === 'now' ? 'not in the past' : `at least ${minimum}`),
    exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
    maximum !== undefined && (maximum === 'now' ? 'not in the future' : `at most ${maximum}`),
    exclusiveMaximum !== undefined && `below ${exclusiveMaximum}`,
    multipleOf !== undefined && stepWords(multipleOf),
    minLength !== undefined && `of at least ${minLength} characters`,
    maxLength !== undefined && `of at most ${maxLength} characters`,
    pattern !== undefined && `of the pattern ${pattern}`,
  ];
  return words.filter((word) => word !== false).join(', ');
}

function stepWords(step: number): string {
  if (step === 1) return 'a whole number';
  const decimals = /^0\.(0*)1$/.exec(String(step));
  return decimals === null
    ? `a multiple of ${step}`
    : `with at most ${(decimals[1]?.length ?? 0) + 1} decimals`;
}

/** The keywords of JSON Schema; it has none for days and instants. */
export function jsonSchemaOfBounds(bounds: Bounds): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(declaredBounds(bounds)).filter(
      ([name, value]) => !(name.endsWith('imum') && typeof value === 'string'),
    ),
  );
}
