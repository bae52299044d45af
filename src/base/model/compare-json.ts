/** Compares JSON values for equality and order. Numbers are compared by their exact value. */
import { Decimal } from 'decimal.js';
import { isExactNumber, isJsonObject, type JsonValue } from '../json/json.js';

/** Enough digits for any sum or product of stored numbers. */
export const Exact = Decimal.clone({ precision: 1200 });

/** The number as a decimal; `undefined` for anything else. */
export function toDecimal(value: JsonValue | undefined): Decimal | undefined {
  if (typeof value !== 'number' && !isExactNumber(value)) return undefined;
  return new Exact(value.toString());
}

/** The same JSON value: 1.0 is 1, the members of an object have no order, those of a list do. */
export function isSameJson(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === other) return true;
  const number = toDecimal(one);
  if (number !== undefined) return toDecimal(other)?.equals(number) === true;
  if (isList(one)) {
    return (
      isList(other) && one.length === other.length && one.every((element, i) => isSameJson(element, other[i]))
    );
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}

/**
 * Negative if `one` comes first. Across types: null, numbers, texts, objects, lists, false, true (as in
 * MongoDB); texts by code points, as in Postgres.
 */
export function compareJson(one: JsonValue, other: JsonValue): number {
  const rank = rankOf(one) - rankOf(other);
  if (rank !== 0) return rank;
  if (typeof one === 'string' && typeof other === 'string') {
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  const number = toDecimal(one);
  if (number !== undefined) return number.comparedTo(toDecimal(other) ?? 0);
  if (isList(one) && isList(other)) return compareLists(one, other);
  if (isJsonObject(one) && isJsonObject(other)) {
    return compareLists(Object.entries(one).flat(), Object.entries(other).flat());
  }
  return Number(one) - Number(other);
}

function compareLists(one: readonly JsonValue[], other: readonly JsonValue[]): number {
  for (const [index, element] of one.entries()) {
    const opposite = other[index];
    if (opposite === undefined) return 1;
    const order = compareJson(element, opposite);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function rankOf(value: JsonValue): number {
  if (value === null) return 0;
  if (typeof value === 'number' || isExactNumber(value)) return 1;
  if (typeof value === 'string') return 2;
  if (typeof value === 'boolean') return 5;
  return isList(value) ? 4 : 3;
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
