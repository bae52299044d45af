/**
 * `Filter`: what a caller wants of a collection, as a plain value. Three languages are parsed into it
 * (oquery strings, GraphQL `where`, Mongo-style queries) and one compiler turns it into SQL.
 *
 * A condition holds when any value found at its path satisfies it: lists are looked into on the way and at
 * the end, one level at each step (of a list in a list, the inner one is a value that satisfies nothing but
 * `exists`). A field declared as no list is not looked into: a list stored there by old data satisfies
 * nothing but `exists` either. `not` is plain negation, so a negated condition holds when no value satisfies
 * it, also when the field is missing.
 *
 * @see decisions 3
 */
import type { JsonScalar, JsonValue } from '../json/json.js';
import type { Expression } from './expression.js';
import type { Path } from './path.js';

export type Filter =
  | { readonly kind: 'all' | 'any'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | Condition
  | RecordFilter
  | MatchCondition
  /** An expression over the whole record is true. */
  | { readonly kind: 'expression'; readonly expression: Expression };

/**
 * The reference at the path, or one in a list of references, points to an existing record of the collection
 * that satisfies the filter. Paths of the filter start at that record. A record that the caller may not read
 * counts as missing.
 */
export interface RecordFilter {
  readonly kind: 'record';
  readonly path: Path;
  readonly collection: string;
  readonly filter: Filter;
}

export type Condition =
  | LooseEqualsCondition
  | EqualsCondition
  | InCondition
  | TextCondition
  | CompareCondition
  | DayCondition
  | MonthCondition
  | IsNullCondition
  | ExistsCondition
  | ElementCondition;

/**
 * oquery `=`: the text is read by the field's declared type; undeclared, it equals the string or the
 * boolean/number so written.
 */
interface LooseEqualsCondition {
  readonly kind: 'looseEquals';
  readonly path: Path;
  readonly text: string;
  readonly isInsensitive?: boolean;
}

/** Equals this JSON value, type and all. */
export interface EqualsCondition {
  readonly kind: 'equals';
  readonly path: Path;
  readonly value: Exclude<JsonScalar, null>;
}

interface InCondition {
  readonly kind: 'in';
  readonly path: Path;
  readonly values: readonly Exclude<JsonScalar, null>[];
}

/** Looks at strings only; on a reference also at its label. */
export interface TextCondition {
  readonly kind: 'startsWith' | 'contains' | 'equalsInsensitive';
  readonly path: Path;
  readonly text: string;
  readonly isInsensitive?: boolean;
}

/**
 * A range never crosses types: a number operand finds numbers, a text operand the field's own type (an
 * instant or day for datetime).
 */
export interface CompareCondition {
  readonly kind: 'greaterThan' | 'greaterOrEqual' | 'lessThan' | 'lessOrEqual';
  readonly path: Path;
  readonly value: Exclude<JsonScalar, null | boolean>;
}

export type DayWord = 'today' | 'yesterday' | 'daybeforeyesterday';

/**
 * The condition holds on a day of the domain's time zone: a `YYYY-MM-DD`, or a word counted from today. On a
 * field declared text, `text` equality with what was written.
 */
export interface DayCondition {
  readonly kind: 'on';
  readonly path: Path;
  readonly day: string | { readonly word: DayWord };
  /** It ignores case where it is text equality. */
  readonly isInsensitive?: boolean;
}

/**
 * Within a month `YYYY-MM` of the domain's time zone. On a field declared text as `DayCondition`, unless its
 * format is `month`: the month itself.
 */
export interface MonthCondition {
  readonly kind: 'within';
  readonly path: Path;
  readonly month: string;
  /** It ignores case where it is text equality. */
  readonly isInsensitive?: boolean;
}

/** Nothing but JSON null is found at the path: the field is missing or null. An empty list is not null. */
export interface IsNullCondition {
  readonly kind: 'isNull';
  readonly path: Path;
}

/** Something is found at the path, JSON null included. */
export interface ExistsCondition {
  readonly kind: 'exists';
  readonly path: Path;
}

/**
 * One and the same element of the list at the path satisfies the whole filter, whose paths start at the
 * element (an empty path is the element itself). A value that is not a list counts as the one element of a
 * list; elements that are null count as none.
 */
export interface ElementCondition {
  readonly kind: 'element';
  readonly path: Path;
  readonly filter: Filter;
}

/**
 * Compares JSON as Mongo does: the declared type of the field neither converts nor refuses an operand. A list
 * matches by its elements, one level deep, and also as a value itself. @see mongo-query.ts
 */
export interface MatchCondition {
  readonly kind: 'match';
  readonly path: Path;
  readonly test: MatchTest;
}

export type Comparison = CompareCondition['kind'];
export type JsonType = 'number' | 'string' | 'object' | 'array' | 'boolean' | 'null';

export type MatchTest =
  /** Null is found where nothing is, too. */
  | { readonly kind: 'equals'; readonly value: JsonValue }
  | { readonly kind: 'in'; readonly values: readonly Exclude<JsonScalar, null>[] }
  /** Compares only values of the operand's type; text by code points. */
  | { readonly kind: Comparison; readonly value: Exclude<JsonScalar, null> }
  | { readonly kind: 'exists' }
  | { readonly kind: 'type'; readonly types: readonly JsonType[]; readonly isWhole: boolean }
  /** `pattern` is an advanced regular expression of Postgres. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** The test is of a list. */
  | { readonly kind: 'size'; readonly size: number }
  | { readonly kind: 'remainder'; readonly divisor: number; readonly remainder: number }
  /**
   * One element of a list satisfies it; its paths start at the element. `isOfMembers`: the element is an
   * object, or a list, which then counts as an object of its numbered elements.
   */
  | { readonly kind: 'element'; readonly filter: Filter; readonly isOfMembers: boolean };

/** Satisfied by every record. */
export const EVERYTHING: Filter = { kind: 'all', filters: [] };

/** All, or any, of the filters; a single one is itself. */
export function allOf(filters: readonly Filter[], kind: 'all' | 'any' = 'all'): Filter {
  const [only] = filters;
  return only !== undefined && filters.length === 1 ? only : { kind, filters };
}

export function anyOf(filters: readonly Filter[]): Filter {
  return allOf(filters, 'any');
}

/** Whether a filter is certain to match every record. */
export function isEverything(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.every(isEverything);
    case 'any':
      return filter.filters.some(isEverything);
    case 'not':
      return isNothing(filter.filter);
    case 'exists':
      return filter.path.length === 1 && filter.path[0] === '_id';
    default:
      return false;
  }
}

function isNothing(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.some(isNothing);
    case 'any':
      return filter.filters.every(isNothing);
    case 'not':
      return isEverything(filter.filter);
    case 'in':
      return filter.values.length === 0;
    case 'isNull':
      return filter.path.length === 1 && filter.path[0] === '_id';
    default:
      return false;
  }
}
