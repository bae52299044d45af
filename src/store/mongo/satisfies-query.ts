/**
 * Tests one value by a query, in memory: which elements `$pull` takes out of a list. It means what
 * `compileDocumentFilter` means in the database; a test compares the two.
 */
import { isExactNumber, isJsonObject, type JsonValue } from '../../base/json/json.js';
import { compareJson, isList, isSameJson, toDecimal } from '../../base/model/compare-json.js';
import type { Filter, JsonType, MatchTest } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';

type Found = JsonValue | undefined;

/** The filter has neither patterns nor expressions, which the database alone evaluates. */
export function satisfiesQuery(value: JsonValue, filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.every((part) => satisfiesQuery(value, part));
    case 'any':
      return filter.filters.some((part) => satisfiesQuery(value, part));
    case 'not':
      return !satisfiesQuery(value, filter.filter);
    case 'match': {
      const found = valuesAt(value, filter.path);
      // A list is looked into, but not the value that the query is about.
      return found.some((one) => matches(filter.test, one, filter.path.length > 0 ? listOf(one) : []));
    }
    default:
      throw new Error(`a ${filter.kind} is not evaluated in memory`);
  }
}

/** `undefined` for each place where the last step is missing, as the function `doc_values` has null. */
function valuesAt(value: Found, path: Path): readonly Found[] {
  const [step, ...rest] = path;
  if (step === undefined) return [value];
  if (isJsonObject(value)) return valuesAt(Object.hasOwn(value, step) ? value[step] : undefined, rest);
  if (!isList(value)) return [undefined];
  const isNumber = /^\d{1,6}$/.test(step);
  const inside = value.flatMap((element) =>
    isJsonObject(element) && (!isNumber || Object.hasOwn(element, step)) ? valuesAt(element, path) : [],
  );
  return isNumber ? [...valuesAt(value[Number(step)], rest), ...inside] : inside;
}

function matches(test: MatchTest, value: Found, elements: readonly JsonValue[]): boolean {
  const some = (holds: (one: Found) => boolean) => holds(value) || elements.some(holds);
  switch (test.kind) {
    case 'equals':
      return some((one) => isSameJson(one ?? null, test.value));
    case 'in':
      return some((one) => test.values.some((wanted) => isSameJson(one, wanted)));
    case 'greaterThan':
      return some((one) => orderOf(one, test.value) > 0);
    case 'greaterOrEqual':
      return some((one) => orderOf(one, test.value) >= 0);
    case 'lessThan':
      return some((one) => orderOf(one, test.value) < 0);
    case 'lessOrEqual':
      return some((one) => orderOf(one, test.value) <= 0);
    case 'exists':
      return value !== undefined;
    case 'type':
      return test.isWhole ? isOfType(value, test.types) : some((one) => isOfType(one, test.types));
    case 'size':
      return isList(value) && value.length === test.size;
    case 'remainder':
      return some((one) => toDecimal(one)?.trunc().mod(test.divisor).equals(test.remainder) === true);
    case 'element':
      return listOf(value).some((element) => satisfiesQuery(elementFor(test, element), test.filter));
    case 'pattern':
      throw new Error('a pattern is not evaluated in memory');
  }
}

/** A query over the members of an element takes a list for an object of its numbered elements. */
function elementFor({ isOfMembers }: { readonly isOfMembers: boolean }, element: JsonValue): JsonValue {
  return isOfMembers && isList(element) ? Object.fromEntries(element.entries()) : element;
}

/** NaN for values of different types: they are in no order. */
function orderOf(one: Found, other: JsonValue): number {
  return typeOf(one) === typeOf(other) ? compareJson(one ?? null, other) : Number.NaN;
}

function isOfType(value: Found, types: readonly JsonType[]): boolean {
  const type = typeOf(value);
  return type !== undefined && types.includes(type);
}

function typeOf(value: Found): JsonType | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'number';
  if (isList(value)) return 'array';
  return typeof value as JsonType;
}

function listOf(value: Found): readonly JsonValue[] {
  return isList(value) ? value : [];
}
