/**
 * `ValueTest`: what one JSON scalar must be, once a condition has been read by the type of its field. The
 * step between `Filter`, which knows words and not types, and SQL, which knows neither days nor time zones.
 */
import type {
  Comparison,
  Condition,
  ElementCondition,
  ExistsCondition,
  IsNullCondition,
  TextCondition,
} from './filter.js';
import type { NumberOperand, Operand } from './operand.js';

export type ValueTest =
  /** Equals the value, type and all; numbers by value (5 and 5.0 are one number). */
  | { readonly kind: 'is'; readonly value: Operand }
  | InTest
  | SpelledTest
  | NumberRangeTest
  | TextRangeTest
  | LikeTest
  | { readonly kind: 'either'; readonly tests: readonly ValueTest[] };

export interface InTest {
  readonly kind: 'in';
  readonly values: readonly Operand[];
}

/** Equals one of the texts, or is spelled as the record is at `at` that has one of them as its key. */
export interface SpelledTest {
  readonly kind: 'spelled';
  readonly values: readonly Operand[];
  readonly at: {
    readonly domain: string;
    readonly isRouted: boolean;
    readonly collection: string;
    /** A unique field that ignores case, or a field with names of parts at the path `inner`. */
    readonly field: string;
    readonly inner: readonly string[];
  };
}

export interface Bound<Value> {
  readonly value: Value;
  readonly isIncluded: boolean;
}

/** The sign between a value and its lower bound, in SQL as in a jsonpath. */
export function lowerSign({ isIncluded }: Bound<unknown>): '>=' | '>' {
  return isIncluded ? '>=' : '>';
}

export function upperSign({ isIncluded }: Bound<unknown>): '<=' | '<' {
  return isIncluded ? '<=' : '<';
}

export interface NumberRangeTest {
  readonly kind: 'numberRange';
  readonly lower: Bound<NumberOperand> | undefined;
  readonly upper: Bound<NumberOperand> | undefined;
}

/**
 * Text between bounds, character by character. `among` limits the texts that can match: any; those that
 * begin with a digit, as days and instants do (a declared datetime); or, where nothing is declared, those
 * written as an instant or as a day.
 */
export interface TextRangeTest {
  readonly kind: 'textRange';
  readonly among: 'all' | 'digits' | 'instants' | 'days';
  readonly lower: Bound<string> | undefined;
  readonly upper: Bound<string> | undefined;
}

export interface LikeTest {
  readonly kind: 'like';
  readonly at: 'start' | 'anywhere' | 'whole';
  readonly text: string;
  readonly isInsensitive: boolean;
}

/** The conditions that look at a value; the others ask for its presence or its elements. */
export type ValueCondition = Exclude<Condition, IsNullCondition | ExistsCondition | ElementCondition>;

/** The values of the request that a test depends on. */
export interface Clock {
  /** IANA name of the zone a bare date is midnight in. */
  readonly timeZone: string;
  readonly now: Date;
  /** The calling code of telephone numbers that are written without one. Default: that of India. */
  readonly callingCode?: string | undefined;
  /** The month that sessions start in, 1–12. Default: April. */
  readonly sessionFirstMonth?: number | undefined;
}

export function textEquals(text: string, isInsensitive: boolean | undefined): ValueTest {
  if (isInsensitive === true) return { kind: 'like', at: 'whole', text, isInsensitive };
  return { kind: 'is', value: text };
}

export function likeTest(condition: TextCondition): ValueTest {
  const { kind, text } = condition;
  if (kind === 'equalsInsensitive') return { kind: 'like', at: 'whole', text, isInsensitive: true };
  return { kind: 'like', at: PLACES[kind], text, isInsensitive: condition.isInsensitive === true };
}

const PLACES = { startsWith: 'start', contains: 'anywhere' } as const;

export function either(...tests: readonly ValueTest[]): ValueTest {
  return { kind: 'either', tests };
}

export function numberRange(comparison: Comparison, value: NumberOperand): ValueTest {
  return { kind: 'numberRange', ...boundBy(comparison, value) };
}

function boundBy<Value>(comparison: Comparison, value: Value) {
  const bound = { value, isIncluded: comparison === 'greaterOrEqual' || comparison === 'lessOrEqual' };
  const isLower = comparison === 'greaterThan' || comparison === 'greaterOrEqual';
  return { lower: isLower ? bound : undefined, upper: isLower ? undefined : bound };
}

/** The range that an operand covers: a single text if `first` and `last` are the same. */
interface Span {
  readonly first: string;
  readonly last: string;
}

export function textRange(
  among: TextRangeTest['among'],
  comparison: Comparison,
  { first, last }: Span,
): ValueTest {
  const isBeyond = comparison === 'greaterThan' || comparison === 'lessOrEqual';
  return { kind: 'textRange', among, ...boundBy(comparison, isBeyond ? last : first) };
}

export function within(
  among: TextRangeTest['among'],
  { start, end }: { start: string; end: string },
): ValueTest {
  return {
    kind: 'textRange',
    among,
    lower: { value: start, isIncluded: true },
    upper: { value: end, isIncluded: false },
  };
}
