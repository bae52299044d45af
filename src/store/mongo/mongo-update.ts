/**
 * A change of a record, in Mongo's notation.
 *
 *   update      : { operator: { path: operand … } … } | replacement    the operators: UPDATE_OPERATORS
 *   replacement : an object without operators, which the record becomes
 *
 *   { "$set": { "status": "paid" }, "$inc": { "lines.0.amount": 50 },
 *     "$push": { "notes": { "$each": ["a"], "$slice": -5 } } }
 *
 * A step by a number is an element of a list. The positional `$`, `$[]` and `$[name]` are refused: which
 * elements they mean depends on the query, and one statement changes many records here.
 */
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  printExactJson,
} from '../../base/json/json.js';
import { compareJson, isList, isSameJson, toDecimal } from '../../base/model/compare-json.js';
import type { Filter, JsonType, MatchTest } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { UpdateOperation } from '../../base/model/update-operation.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { type MongoPlace, malformedMongo, mongoPathAt, startMongoPlace, withinMongo } from './mongo-place.js';
import { parseMongoSort } from './mongo-projection.js';
import { isConditionOperator, mongoValueAt, parseMongoQuery, QUERY_OPERATORS } from './mongo-query.js';

type ParseOperator = (path: Path, operand: JsonValue, place: MongoPlace) => UpdateOperation;

const OPERATORS: Readonly<Record<string, ParseOperator>> = {
  $set: (path, operand, place) => ({ kind: 'set', path, value: mongoValueAt(operand, place) }),
  $setOnInsert: (path, operand, place) => ({
    kind: 'setOnInsert',
    path,
    value: mongoValueAt(operand, place),
  }),
  $unset: (path) => ({ kind: 'unset', path }),
  $inc: (path, operand, place) => ({ kind: 'increment', path, by: numberAt(operand, place) }),
  $mul: (path, operand, place) => ({ kind: 'multiply', path, by: numberAt(operand, place) }),
  $min: (path, operand, place) => ({ kind: 'min', path, value: mongoValueAt(operand, place) }),
  $max: (path, operand, place) => ({ kind: 'max', path, value: mongoValueAt(operand, place) }),
  $push: parsePush,
  $addToSet: (path, operand, place) => {
    const each = isEach(operand) ? eachAt(operand, place, ['$each']) : [mongoValueAt(operand, place)];
    return { kind: 'addToSet', path, values: each };
  },
  $pull: (path, operand, place) => ({ kind: 'pull', path, matches: matcherOf(operand, place) }),
  $pullAll: (path, operand, place) => ({ kind: 'pull', path, matches: listAt(operand, place) }),
  $pop: (path, operand, place) => {
    if (operand !== 1 && operand !== -1)
      throw malformedMongo(place, '1 for the last element, -1 for the first', operand);
    return { kind: 'pop', path, end: operand === 1 ? 'last' : 'first' };
  },
  $rename: (path, operand, place) => {
    if (typeof operand !== 'string') throw malformedMongo(place, 'the new path', operand);
    return { kind: 'rename', path, to: updatePathAt(operand, place) };
  },
  $currentDate: (path, operand, place) => {
    const isDate = operand === true || (isJsonObject(operand) && operand.$type === 'date');
    if (!isDate) throw malformedMongo(place, 'true, or {"$type": "date"}', operand);
    return { kind: 'currentDate', path, as: 'instant' };
  },
};

/** All operators of an update, in the order of the documentation. */
export const UPDATE_OPERATORS: readonly string[] = Object.keys(OPERATORS);

/**
 * Reads an update.
 *
 * @throws MALFORMED_FILTER (400) with a JSON pointer and what would be right there
 */
export function parseMongoUpdate(
  update: JsonValue | undefined,
  place: MongoPlace = startMongoPlace('update'),
): UpdateOperation[] {
  if (Array.isArray(update)) {
    throw malformedMongo(place, 'an object, not a pipeline: read with agg, then update', update);
  }
  if (update === undefined || !isJsonObject(update)) {
    throw malformedMongo(place, 'an object of operators, or the new record', update);
  }
  const names = Object.keys(update);
  const operators = names.filter((name) => name.startsWith('$'));
  if (operators.length === 0) return [{ kind: 'replace', data: replacementOf(update, place) }];
  const field = names.find((name) => !name.startsWith('$'));
  if (field !== undefined) {
    throw malformedMongo(
      withinMongo(place, field),
      'operators alone, or a replacement without any; to set a field write $set',
      field,
    );
  }
  return operators.flatMap((name) => parseOperator(name, update[name] ?? null, withinMongo(place, name)));
}

function parseOperator(name: string, operand: JsonValue, place: MongoPlace): UpdateOperation[] {
  const parse = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
  if (parse === undefined) {
    throw malformedMongo(
      place,
      `an operator (${UPDATE_OPERATORS.join(', ')})`,
      name,
      didYouMean(name, UPDATE_OPERATORS),
    );
  }
  if (!isJsonObject(operand)) throw malformedMongo(place, 'an object of paths', operand);
  return Object.entries(operand).map(([path, value]) => {
    const inner = withinMongo(place, path);
    inner.enter();
    return parse(updatePathAt(path, inner), value, inner);
  });
}

function replacementOf(update: JsonObject, place: MongoPlace): JsonObject {
  const value = mongoValueAt(update, place);
  return isJsonObject(value) ? value : update;
}

function updatePathAt(text: string, place: MongoPlace): Path {
  const positional = text.split('.').find((step) => step.startsWith('$'));
  if (positional === undefined) return mongoPathAt(text, place);
  throw malformedMongo(
    place,
    `a path without ${positional}: write the number of the element, or read the record and set the list`,
    text,
  );
}

function isEach(operand: JsonValue): operand is JsonObject {
  return isJsonObject(operand) && operand.$each !== undefined;
}

function eachAt(operand: JsonObject, place: MongoPlace, known: readonly string[]): readonly JsonValue[] {
  const strange = Object.keys(operand).find((name) => !known.includes(name));
  if (strange !== undefined) throw malformedMongo(withinMongo(place, strange), known.join(', '), strange);
  return listAt(operand.$each ?? null, withinMongo(place, '$each'));
}

function parsePush(path: Path, operand: JsonValue, place: MongoPlace): UpdateOperation {
  if (!isEach(operand)) return { kind: 'push', path, values: [mongoValueAt(operand, place)] };
  const { $position: position, $slice: slice, $sort: sort } = operand;
  return {
    kind: 'push',
    path,
    values: eachAt(operand, place, ['$each', '$position', '$slice', '$sort']),
    position: position === undefined ? undefined : integerAt(position, withinMongo(place, '$position')),
    slice: slice === undefined ? undefined : integerAt(slice, withinMongo(place, '$slice')),
    sort: sort === undefined ? undefined : pushSortAt(sort, withinMongo(place, '$sort')),
  };
}

/** 1 and -1 order the elements themselves. */
function pushSortAt(sort: JsonValue, place: MongoPlace) {
  if (sort === 1 || sort === -1) {
    return [{ path: [], direction: sort === 1 ? ('ascending' as const) : ('descending' as const) }];
  }
  return parseMongoSort(sort, place);
}

const MEMORY_OPERATORS = QUERY_OPERATORS.filter((name) => name !== '$regex' && name !== '$options');

/** A value, operators on the element, or a query over its members. */
function matcherOf(
  operand: JsonValue,
  place: MongoPlace,
): readonly JsonValue[] | ((element: JsonValue) => boolean) {
  if (!isJsonObject(operand)) return [mongoValueAt(operand, place)];
  if (/"\$(?:regex|expr)"/.test(printExactJson(operand))) {
    throw malformedMongo(place, `a condition of ${MEMORY_OPERATORS.join(', ')}`, operand);
  }
  const names = Object.keys(operand);
  const isOfElement = names.length > 0 && names.every(isConditionOperator);
  const filter = parseMongoQuery(isOfElement ? { element: operand } : operand, place);
  if (isOfElement) return (element) => satisfiesQuery({ element }, filter);
  return (element) => isJsonObject(element) && satisfiesQuery(element, filter);
}

function listAt(operand: JsonValue, place: MongoPlace): readonly JsonValue[] {
  if (!Array.isArray(operand)) throw malformedMongo(place, 'a list', operand);
  return operand.map((value: JsonValue, index) => mongoValueAt(value, withinMongo(place, String(index))));
}

function integerAt(operand: JsonValue, place: MongoPlace): number {
  if (typeof operand === 'number' && Number.isSafeInteger(operand)) return operand;
  throw malformedMongo(place, 'a whole number', operand);
}

function numberAt(operand: JsonValue, place: MongoPlace) {
  const value = mongoValueAt(operand, place);
  if (typeof value === 'number' || isExactNumber(value)) return value;
  throw malformedMongo(place, 'a number', operand);
}

/**
 * The initial values of an upsert that finds nothing: those that the query requires a record to equal.
 *
 * `{ "class": { "$in": ["5"] }, "$and": [{ "address.city": "Pune" }], "amount": { "$gt": 5 } }` gives
 * `[['class', '5'], ['address.city', 'Pune']]`.
 */
export function equalitiesOf(filter: Filter): readonly (readonly [Path, JsonValue])[] {
  if (filter.kind === 'all' || (filter.kind === 'any' && filter.filters.length === 1))
    return filter.filters.flatMap(equalitiesOf);
  if (filter.kind !== 'match') return [];
  const { path, test } = filter;
  if (test.kind === 'equals') return [[path, test.value]];
  const [only, ...more] = test.kind === 'in' ? test.values : [];
  return only === undefined || more.length > 0 ? [] : [[path, only]];
}

/**
 * Tests one value by a query, in memory: which elements `$pull` takes out of a list. It means what
 * `compileDocumentFilter` means in the database; a test compares the two.
 */
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
