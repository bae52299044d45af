/** Knows where in a `where` its reader is, what is counted on the way, and how to say what is wrong there. */
import type { ServiceError } from '../errors.js';
import { isExactNumber } from '../json.js';
import type { Collection } from '../model/collection.js';
import { refuseSent, type SentPlace, tooManySent } from './sent-place.js';

/** Bounds of one `where`. */
export const WHERE_LIMITS = {
  maxDepth: 20,
  /** References that lead to references. */
  maxReferences: 3,
  /** Conditions on other records, each a look-up for every record asked about. */
  maxRecordConditions: 20,
  maxConditions: 200,
  maxListedValues: 1000,
  maxTextLength: 4096,
} as const;

/** What of declarations a caller may be told. */
export interface Readership {
  /** @throws FORBIDDEN (403) for a field that is hidden from the caller */
  assertReadable(field: string, collection: Collection): void;
  /** The names of the declared fields the caller may read; none of a collection it may not read. */
  listFields(collection: Collection): readonly string[];
}

/** The one call of `parseWhere`: what is counted over all of it. */
export interface WhereReading {
  readonly findCollection: FindCollection;
  readonly readership: Readership;
  conditions: number;
  recordConditions: number;
}

/** The place in the `where` that is being read. */
export interface WherePlace extends SentPlace {
  readonly reading: WhereReading;
  /** The collection whose records are meant: the one asked about, or one that its references point to. */
  readonly collection: Collection;
  /** The number of references that were followed up to here. */
  readonly references: number;
}

/**
 * A collection that references point to; `undefined` where there is none of the name, or none may be looked
 * at.
 */
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

/** A key without a value is a key that was not sent. */
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
