/**
 * Mongo's query language, the filter of `platform.db`.
 *
 *   query     : { [ "$and" | "$or" | "$nor": [ query … ] ] [ "$expr": expression ] [ path: condition ] … }
 *   condition : value | { operator: operand … }        the operators there are: QUERY_OPERATORS
 *   path      : field { "." field }                    through objects, the objects in lists, and by a number
 *                                                      to an element of a list
 *
 * All members of a query, and all operators of a condition, must hold.
 *
 *   { "class": "5", "fees.head": { "$in": ["Tuition", "Bus"] }, "amount": { "$gt": 1000 },
 *     "$or": [ { "left_on": null }, … ] }
 *
 * A record is JSON here, and no field's declared type changes what an operand means: 5 is not "5", a
 * comparison finds values of its operand's type alone, `null` is also what is missing, a condition on a list
 * holds when it does for an element or for the list as a whole. An instant is its text (an
 * operand for a declared datetime is read as a value written to it). What is not understood is an error, never ignored.
 *
 * @see decisions 3, platform-db "Queries"
 */

import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
} from '../../base/json/json.js';
import { tooManySent } from '../../base/languages/sent-place.js';
import {
  allOf,
  anyOf,
  type Comparison,
  EVERYTHING,
  type Filter,
  type JsonType,
  type MatchTest,
} from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { parseMongoPattern } from './mongo-pattern.js';
import {
  invalidMongo,
  MONGO_LIMITS,
  type MongoPlace,
  malformedMongo,
  mongoPathAt,
  startMongoPlace,
  withinMongo,
} from './mongo-place.js';
import { parseMongoExpression } from './mongo-projection.js';

/** `options` is the operand of an `$options` beside the operator. */
type ParseOperator = (path: Path, operand: JsonValue, place: MongoPlace, options?: JsonValue) => Filter;

const OPERATORS: Readonly<Record<string, ParseOperator>> = {
  $eq: equals,
  $ne: not(equals),
  $gt: compared('greaterThan'),
  $gte: compared('greaterOrEqual'),
  $lt: compared('lessThan'),
  $lte: compared('lessOrEqual'),
  $in: isIn,
  $nin: not(isIn),
  $not: not(parseNegated),
  $exists: (path, operand, place) => {
    const exists: Filter = { kind: 'match', path, test: { kind: 'exists' } };
    return isTrue(operand, place) ? exists : { kind: 'not', filter: exists };
  },
  $type: (path, operand, place) =>
    anyOf(parseTypes(operand, place).map((test) => ({ kind: 'match', path, test }))),
  $regex: (path, operand, place, options) => {
    const pattern = patternAt(operand, options, place);
    return { kind: 'match', path, test: { kind: 'pattern', pattern } };
  },
  $options: () => EVERYTHING,
  $all: parseAll,
  $size: matching((operand, place) => ({ kind: 'size', size: wholeNumberAt(operand, place) })),
  $elemMatch: matching(parseElement),
  $mod: matching(parseRemainder),
};

/** All operators of a condition, in the order of the documentation. */
export const QUERY_OPERATORS: readonly string[] = Object.keys(OPERATORS);

const TOP_OPERATORS = ['$and', '$or', '$nor', '$expr', '$comment'] as const;

/**
 * Parses a Mongo query. `{}` matches every record.
 *
 * @throws MALFORMED_FILTER (400) with a JSON pointer and what would be right there; INVALID_VALUE;
 *   LIMIT_EXCEEDED
 */
export function parseMongoQuery(
  query: JsonValue | undefined,
  place: MongoPlace = startMongoPlace('query'),
): Filter {
  if (query === undefined || query === null) {
    throw malformedMongo(place, 'a query; {} finds every record', query);
  }
  return parseQuery(query, place);
}

function parseQuery(query: JsonValue, place: MongoPlace): Filter {
  if (!isJsonObject(query)) throw malformedMongo(place, 'an object of paths and conditions', query);
  place.enter();
  const filters = Object.entries(query).flatMap(([name, operand]) => {
    const inner = withinMongo(place, name);
    return name.startsWith('$')
      ? parseTopOperator(name, operand, inner)
      : [parseCondition(mongoPathAt(name, inner), operand, inner)];
  });
  return allOf(filters);
}

function parseTopOperator(name: string, operand: JsonValue, place: MongoPlace): Filter[] {
  switch (name) {
    case '$and':
      return [{ kind: 'all', filters: parseQueries(operand, place) }];
    case '$or':
      return [{ kind: 'any', filters: parseQueries(operand, place) }];
    case '$nor':
      return [{ kind: 'not', filter: { kind: 'any', filters: parseQueries(operand, place) } }];
    case '$expr':
      return [{ kind: 'expression', expression: parseMongoExpression(operand, place) }];
    case '$comment':
      return [];
    default: {
      const isForFields = QUERY_OPERATORS.some((operator) => operator === name);
      const hint = isForFields
        ? ` ${name} belongs inside a condition: {"field": {"${name}": …}}.`
        : didYouMean(name, TOP_OPERATORS);
      throw malformedMongo(place, `a field, or one of ${TOP_OPERATORS.join(', ')}`, name, hint);
    }
  }
}

function parseQueries(operand: JsonValue, place: MongoPlace): Filter[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    throw malformedMongo(place, 'a list of at least one query', operand);
  }
  return operand.map((query: JsonValue, index) => parseQuery(query, withinMongo(place, String(index))));
}

function parseCondition(path: Path, operand: JsonValue, place: MongoPlace): Filter {
  place.enter();
  if (!isOperators(operand)) return equals(path, operand, place);
  const { $options: options, ...operators } = operand;
  if (options !== undefined && operand.$regex === undefined) {
    throw malformedMongo(withinMongo(place, '$options'), '$regex beside $options', operand);
  }
  const filters = Object.entries(operators).map(([name, value]) => {
    const inner = withinMongo(place, name);
    const parse = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (parse) return parse(path, value, inner, options);
    const hint = didYouMean(name, QUERY_OPERATORS);
    throw malformedMongo(inner, `an operator (${QUERY_OPERATORS.join(', ')})`, name, hint);
  });
  return allOf(filters);
}

/** An object with an operator; extended JSON such as {"$date": …} is a value. */
function isOperators(operand: JsonValue): operand is JsonObject {
  if (!isJsonObject(operand) || isExtendedJson(operand)) return false;
  return Object.keys(operand).some((name) => name.startsWith('$'));
}

function matching(parse: (operand: JsonValue, place: MongoPlace) => MatchTest): ParseOperator {
  return (path, operand, place) => ({ kind: 'match', path, test: parse(operand, place) });
}

function not(parse: ParseOperator): ParseOperator {
  return (path, operand, place) => ({ kind: 'not', filter: parse(path, operand, place) });
}

function equals(path: Path, operand: JsonValue, place: MongoPlace): Filter {
  return { kind: 'match', path, test: { kind: 'equals', value: mongoValueAt(operand, place) } };
}

function compared(kind: Comparison): ParseOperator {
  return (path, operand, place) => {
    const value = mongoValueAt(operand, place);
    if (value === null) {
      // Null is neither greater nor less than itself.
      const isOrEqual = kind === 'greaterOrEqual' || kind === 'lessOrEqual';
      return isOrEqual ? { kind: 'match', path, test: { kind: 'equals', value } } : NOTHING;
    }
    if (!isScalar(value))
      throw malformedMongo(place, 'a number, a text or a boolean to compare with', operand);
    return { kind: 'match', path, test: { kind, value } };
  };
}

const NOTHING: Filter = { kind: 'any', filters: [] };

/** Scalars become a single condition; other values one each. */
function isIn(path: Path, operand: JsonValue, place: MongoPlace): Filter {
  const values: Exclude<JsonScalar, null>[] = [];
  const filters: Filter[] = [];
  for (const [index, element] of listAt(operand, place).entries()) {
    const inner = withinMongo(place, String(index));
    if (isOperators(element)) filters.push(parsePatternValue(path, element, inner));
    else {
      const value = mongoValueAt(element, inner);
      if (value !== null && isScalar(value)) values.push(value);
      else filters.push({ kind: 'match', path, test: { kind: 'equals', value } });
    }
  }
  if (values.length > 0) filters.unshift({ kind: 'match', path, test: { kind: 'in', values } });
  return anyOf(filters);
}

/** A list of values may hold patterns as {"$regex": …}. */
function parsePatternValue(path: Path, element: JsonObject, place: MongoPlace): Filter {
  const strange = Object.keys(element).find((name) => name !== '$regex' && name !== '$options');
  if (strange !== undefined || element.$regex === undefined) {
    throw malformedMongo(place, 'a value, or {"$regex": …}', element);
  }
  return parseCondition(path, element, place);
}

function parseNegated(path: Path, operand: JsonValue, place: MongoPlace): Filter {
  if (isOperators(operand)) return parseCondition(path, operand, place);
  throw malformedMongo(place, 'operators, such as {"$gt": 5}; for a value write $ne', operand);
}

function parseAll(path: Path, operand: JsonValue, place: MongoPlace): Filter {
  const elements = listAt(operand, place);
  if (elements.length === 0) return NOTHING;
  return allOf(
    elements.map((element, index) => {
      const inner = withinMongo(place, String(index));
      if (!isOperators(element)) return equals(path, element, inner);
      const isElement = Object.keys(element).every((name) => name === '$elemMatch');
      return isElement ? parseCondition(path, element, inner) : parsePatternValue(path, element, inner);
    }),
  );
}

/** Operators apply to the element itself; anything else is a query over the element. */
function parseElement(operand: JsonValue, place: MongoPlace): MatchTest {
  if (!isJsonObject(operand)) throw malformedMongo(place, 'a query, or operators', operand);
  const names = Object.keys(operand);
  const isOfValues = names.length > 0 && names.every(isConditionOperator);
  if (isOfValues) return { kind: 'element', filter: parseCondition([], operand, place), isOfMembers: false };
  const isObject: Filter = {
    kind: 'match',
    path: [],
    test: { kind: 'type', types: ['object'], isWhole: true },
  };
  const filter: Filter = { kind: 'all', filters: [isObject, parseQuery(operand, place)] };
  return { kind: 'element', filter, isOfMembers: true };
}

/** An operator on a value, as opposed to one on the members of an object. */
export function isConditionOperator(name: string): boolean {
  return name.startsWith('$') && !TOP_OPERATORS.some((operator) => operator === name);
}

/** The names and numbers of MongoDB's types. */
const NAMES_BY_TYPE: Readonly<Record<JsonType | 'none', string>> = {
  number: 'double int long decimal number 1 16 18 19',
  string: 'string 2',
  object: 'object 3',
  array: 'array 4',
  boolean: 'bool boolean 8',
  null: 'null 10',
  // Records contain JSON, which has none of these types.
  none: 'date objectId binData regex timestamp 9',
};
const TYPES = Object.fromEntries(
  Object.entries(NAMES_BY_TYPE).flatMap(([type, names]) => names.split(' ').map((name) => [name, type])),
) as Readonly<Record<string, JsonType | 'none'>>;

/** Matches elements of a list; `array` matches the list itself. */
function parseTypes(operand: JsonValue, place: MongoPlace): MatchTest[] {
  const names = Array.isArray(operand) ? listAt(operand, place) : [operand];
  const types = names.map((name: JsonValue, index) => {
    const text = typeof name === 'string' || typeof name === 'number' ? String(name) : '';
    const type = Object.hasOwn(TYPES, text) ? TYPES[text] : undefined;
    const at = Array.isArray(operand) ? withinMongo(place, String(index)) : place;
    if (type === undefined) throw malformedMongo(at, `a type (${Object.keys(TYPES).join(', ')})`, name);
    return type;
  });
  const found = types.filter((type) => type !== 'none');
  const ofElements = found.filter((type) => type !== 'array');
  const tests: MatchTest[] =
    ofElements.length === 0 ? [] : [{ kind: 'type', types: ofElements, isWhole: false }];
  if (found.includes('array')) tests.push({ kind: 'type', types: ['array'], isWhole: true });
  return tests;
}

function patternAt(operand: JsonValue, options: JsonValue | undefined, place: MongoPlace): string {
  if (typeof operand !== 'string') throw malformedMongo(place, 'the text of a regular expression', operand);
  if (options !== undefined && typeof options !== 'string') {
    throw malformedMongo(place, 'a text as $options, of i, m, s and x', options);
  }
  return parseMongoPattern({ source: operand, options: options ?? '' }, place);
}

function parseRemainder(operand: JsonValue, place: MongoPlace): MatchTest {
  const [divisor, remainder, ...more] = listAt(operand, place);
  if (typeof divisor !== 'number' || typeof remainder !== 'number' || more.length > 0) {
    throw malformedMongo(place, 'a list of two numbers: the divisor and the remainder', operand);
  }
  if (Math.trunc(divisor) === 0) throw malformedMongo(place, 'a divisor other than 0', divisor);
  return { kind: 'remainder', divisor: Math.trunc(divisor), remainder: Math.trunc(remainder) };
}

function wholeNumberAt(operand: JsonValue, place: MongoPlace): number {
  if (typeof operand === 'number' && Number.isSafeInteger(operand) && operand >= 0) return operand;
  throw malformedMongo(place, 'a whole number from 0 on', operand);
}

function listAt(operand: JsonValue, place: MongoPlace): readonly JsonValue[] {
  if (!Array.isArray(operand)) throw malformedMongo(place, 'a list', operand);
  if (operand.length > MONGO_LIMITS.maxListedValues) {
    throw tooManySent(place, MONGO_LIMITS.maxListedValues, 'values');
  }
  return operand;
}

/** Mongo accepts 1 and 0 for true and false. */
function isTrue(operand: JsonValue, place: MongoPlace): boolean {
  if (typeof operand === 'boolean') return operand;
  if (operand === 1 || operand === 0) return operand === 1;
  throw malformedMongo(place, 'true or false', operand);
}

const EXTENDED_NAMES = ['$date', '$oid', '$numberDecimal', '$numberLong', '$numberInt', '$numberDouble'];

function isExtendedJson(value: JsonObject): boolean {
  const [name, ...more] = Object.keys(value);
  return name !== undefined && more.length === 0 && EXTENDED_NAMES.includes(name);
}

/** Converts a value to its stored form: extended JSON becomes its text or number. */
export function mongoValueAt(value: JsonValue, place: MongoPlace): JsonValue {
  if (typeof value === 'string') {
    if (value.length > MONGO_LIMITS.maxTextLength)
      throw tooManySent(place, MONGO_LIMITS.maxTextLength, 'characters');
    if (findUnstorableText(value) !== undefined)
      throw invalidMongo(place, 'a text without U+0000 and lone surrogates', value);
    return value;
  }
  if (Array.isArray(value)) {
    return listAt(value, place).map((element, index) =>
      mongoValueAt(element, withinMongo(place, String(index))),
    );
  }
  if (!isJsonObject(value)) return value;
  if (isExtendedJson(value)) return extendedValueAt(value, place);
  const operator = Object.keys(value).find((name) => name.startsWith('$'));
  if (operator !== undefined)
    throw malformedMongo(place, `a value; ${operator} has no meaning in one`, value);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mongoValueAt(member, withinMongo(place, name))]),
  );
}

function extendedValueAt(value: JsonObject, place: MongoPlace): JsonValue {
  const [[name, written] = ['', null]] = Object.entries(value);
  if ((name === '$date' || name === '$oid') && typeof written === 'string') return written;
  const digits = String(written);
  if (name.startsWith('$number') && /^-?\d+(?:\.\d+)?$/.test(digits) && Number.isFinite(Number(digits))) {
    return Number(digits);
  }
  throw malformedMongo(place, 'extended JSON such as {"$date": "2026-04-01T00:00:00.000Z"}', value);
}

function isScalar(value: JsonValue): value is JsonScalar {
  return value === null || typeof value !== 'object' || isExactNumber(value);
}
