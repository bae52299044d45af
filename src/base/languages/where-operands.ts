/** Parses the operands of `where` operators by the type they are compared with. */

import type { ServiceError } from '../errors.js';
import { ExactNumber, isExactNumber } from '../json/json.js';
import { isDay, isMonth } from '../model/calendar.js';
import type { Field } from '../model/collection.js';
import type { ScalarType } from '../model/field-types/scalar-type.js';
import { isScalarName, SCALAR_TYPES } from '../model/field-types/scalar-types.js';
import type { CompareCondition, EqualsCondition } from '../model/filter.js';
import type { Path } from '../model/path.js';
import { tooManySent } from './sent-place.js';
import { findOperator, type WhereType } from './where-operators.js';
import {
  invalidWhere,
  malformedWhere,
  type NamedField,
  WHERE_LIMITS,
  type WherePlace,
} from './where-place.js';

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

/** What a value of the type is in JSON; the id of a record is text, and so is what a reference holds. */
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
