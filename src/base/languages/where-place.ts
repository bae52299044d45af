/** The position of a parser within a `where`: the limits on what it reads, its operands and its errors. */
import type { ServiceError } from '../errors.js';
import { ExactNumber, isExactNumber } from '../json/json.js';
import { isDay, isMonth } from '../model/calendar.js';
import type { Collection, Field } from '../model/collection.js';
import type { ScalarType } from '../model/field-types/scalar-type.js';
import { isScalarName, SCALAR_TYPES } from '../model/field-types/scalar-types.js';
import type { CompareCondition, EqualsCondition } from '../model/filter.js';
import type { Path } from '../model/path.js';
import { refuseSent, type SentPlace, tooManySent } from './sent-place.js';
import { findOperator, type WhereType } from './where-operators.js';

/** Limits of one `where`. */
export const WHERE_LIMITS = {
  maxDepth: 20,
  /** The most references in a row. */
  maxReferences: 3,
  /** Conditions on other records, each of which is a look-up per record. */
  maxRecordConditions: 20,
  maxConditions: 200,
  maxListedValues: 1000,
  maxTextLength: 4096,
} as const;

/** The declared names that a caller may know. */
export interface Readership {
  /** @throws FORBIDDEN (403) for a field that is hidden from the caller */
  assertReadable(field: string, collection: Collection): void;
  /** The declared fields that the caller may read; empty for a collection it may not read. */
  listFields(collection: Collection): readonly string[];
}

/** Other names for the fields of a collection or an object, and for the targets of its references. */
export interface WhereNames {
  readonly fieldsByName: ReadonlyMap<string, NamedField>;
}

export interface NamedField {
  readonly field: Field;
  /** The names within an object, and those of a reference's targets. */
  readonly value?:
    | {
        readonly kind: string;
        readonly object?: WhereNames;
        readonly targets?: readonly string[];
        readonly findTarget?: (
          collection: string,
        ) => { readonly singular: string; readonly object: WhereNames } | undefined;
      }
    | undefined;
}

/** The counters of one call of `parseWhere`. */
export interface WhereReading {
  readonly findCollection: FindCollection;
  readonly readership: Readership;
  conditions: number;
  recordConditions: number;
}

/** The position within the `where`. */
export interface WherePlace extends SentPlace {
  readonly reading: WhereReading;
  /** The collection of the records at this position: the queried one, or a reference's target. */
  readonly collection: Collection;
  /** The number of references followed so far. */
  readonly references: number;
}

/** Finds the target collection of a reference; `undefined` if it does not exist or may not be read. */
export type FindCollection = (name: string) => Collection | undefined;

export type Values = Readonly<Record<string, unknown>>;

export function objectAt(value: unknown, place: WherePlace, expected: string): Values {
  if (place.depth > WHERE_LIMITS.maxDepth) throw tooManySent(place, WHERE_LIMITS.maxDepth, 'levels');
  if (isValues(value)) return value;
  if (value === null)
    throw malformedWhere(place, `${expected}, not null (to look for null: {"isNull": true})`, value);
  throw malformedWhere(place, expected, value);
}

function isValues(value: unknown): value is Values {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !isExactNumber(value) &&
    !(value instanceof Date)
  );
}

/** A key without a value counts as not sent. */
export function entriesOf(object: Values): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}

export function countCondition(place: WherePlace): void {
  place.reading.conditions++;
  if (place.reading.conditions > WHERE_LIMITS.maxConditions) {
    throw tooManySent(place, WHERE_LIMITS.maxConditions, 'conditions');
  }
}

export function malformedWhere(place: WherePlace, expected: string, sent: unknown, hint = ''): ServiceError {
  return refuseSent('MALFORMED_FILTER', place, { expected, sent: shownInWhere(sent), hint });
}

export function invalidWhere(place: WherePlace, expected: string, sent: unknown): ServiceError {
  return refuseSent('INVALID_VALUE', place, { expected, sent: shownInWhere(sent), hint: '' });
}

function shownInWhere(sent: unknown): string {
  return JSON.stringify(sent) ?? String(sent);
}

/** A value with its operators. */
export interface Subject {
  readonly path: Path;
  readonly type: WhereType;
  /** Absent for `_id` and the members of a reference. */
  readonly field?: Field | undefined;
  readonly names?: NamedField['value'];
}

export function whereOperandAt(
  value: unknown,
  place: WherePlace,
  subject: Subject,
): EqualsCondition['value'] {
  switch (jsonOf(subject.type)) {
    case 'number':
      return numberAt(value, place, subject);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw invalidWhere(place, 'true or false', value);
    case 'string':
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? value.toISOString()
        : textAt(value, place);
  }
}

/** The JSON type of a value of the type. Ids of records are text, and so are references. */
function jsonOf(type: WhereType): ScalarType['json'] {
  return isScalarName(type) ? SCALAR_TYPES[type].json : 'string';
}

export function comparedValue(
  value: unknown,
  place: WherePlace,
  subject: Subject,
): CompareCondition['value'] {
  const compared = whereOperandAt(value, place, subject);
  if (typeof compared === 'boolean') throw invalidWhere(place, 'a value that has an order', value);
  return compared;
}

/** Exact amounts come as text from GraphQL's `Decimal`. */
function numberAt(value: unknown, place: WherePlace, { field }: Subject): number | ExactNumber {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isExactNumber(value)) return value;
  const isDigits = typeof value === 'string' && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(value);
  if (isDigits && field?.isDecimal === true) return new ExactNumber(value);
  throw invalidWhere(place, 'a number', value);
}

export function textAt(value: unknown, place: WherePlace): string {
  if (typeof value !== 'string') throw invalidWhere(place, 'a text', value);
  if (value.length > WHERE_LIMITS.maxTextLength)
    throw tooManySent(place, WHERE_LIMITS.maxTextLength, 'characters');
  return value;
}

export function dayAt(value: unknown, place: WherePlace): string {
  if (typeof value === 'string' && isDay(value)) return value;
  throw invalidWhere(place, 'a day YYYY-MM-DD', value);
}

export function monthAt(value: unknown, place: WherePlace): string {
  if (typeof value === 'string' && isMonth(value)) return value;
  throw invalidWhere(place, 'a month YYYY-MM', value);
}

export function nullOperand(place: WherePlace, { type }: Subject): ServiceError {
  const hint =
    findOperator(type, 'isNull') === undefined
      ? ''
      : ' To look for null, or for a missing field: {"isNull": true}.';
  return malformedWhere(place, 'a value, not null', null, hint);
}
