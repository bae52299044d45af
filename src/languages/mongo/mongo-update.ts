/**
 * What a change does to a record, in Mongo's writing.
 *
 *   update      : { operator: { path: operand … } … } | replacement      which operators there are: UPDATE_OPERATORS
 *   replacement : an object without operators, which the record becomes
 *
 *   { "$set": { "status": "paid" }, "$inc": { "lines.0.amount": 50 }, "$push": { "notes": { "$each": ["a"], "$slice": -5 } } }
 *
 * A step by a number is an element of a list. The positional `$`, `$[]` and `$[name]` are refused: which
 * elements they mean depends on the query, and one statement changes many records here.
 */
import { Context } from 'mingo';
import * as queryOperators from 'mingo/operators/query';
import { Query } from 'mingo/query';
import { didYouMean } from '../../did-you-mean.js';
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue, printExactJson } from '../../json.js';
import type { Path } from '../../model/path.js';
import type { UpdateOperation } from '../../model/record-update.js';
import { malformed, type Place, pathAt, startAt, within } from './mongo-place.js';
import { isConditionOperator, parseMongoQuery, QUERY_OPERATORS, valueAt } from './mongo-query.js';
import { parseMongoSort } from './mongo-sort.js';

type ParseOperator = (path: Path, operand: JsonValue, place: Place) => UpdateOperation;

const OPERATORS: Readonly<Record<string, ParseOperator>> = {
  $set: (path, operand, place) => ({ kind: 'set', path, value: valueAt(operand, place) }),
  $setOnInsert: (path, operand, place) => ({ kind: 'setOnInsert', path, value: valueAt(operand, place) }),
  $unset: (path) => ({ kind: 'unset', path }),
  $inc: (path, operand, place) => ({ kind: 'increment', path, by: numberAt(operand, place) }),
  $mul: (path, operand, place) => ({ kind: 'multiply', path, by: numberAt(operand, place) }),
  $min: (path, operand, place) => ({ kind: 'min', path, value: valueAt(operand, place) }),
  $max: (path, operand, place) => ({ kind: 'max', path, value: valueAt(operand, place) }),
  $push: parsePush,
  $addToSet: (path, operand, place) => {
    const each = isEach(operand) ? eachAt(operand, place, ['$each']) : [valueAt(operand, place)];
    return { kind: 'addToSet', path, values: each };
  },
  $pull: (path, operand, place) => ({ kind: 'pull', path, matches: matcherOf(operand, place) }),
  $pullAll: (path, operand, place) => ({ kind: 'pull', path, matches: listAt(operand, place) }),
  $pop: (path, operand, place) => {
    if (operand !== 1 && operand !== -1)
      throw malformed(place, '1 for the last element, -1 for the first', operand);
    return { kind: 'pop', path, end: operand === 1 ? 'last' : 'first' };
  },
  $rename: (path, operand, place) => {
    if (typeof operand !== 'string') throw malformed(place, 'the new path', operand);
    return { kind: 'rename', path, to: updatePathAt(operand, place) };
  },
  $currentDate: (path, operand, place) => {
    const isDate = operand === true || (isJsonObject(operand) && operand.$type === 'date');
    if (!isDate) throw malformed(place, 'true, or {"$type": "date"}', operand);
    return { kind: 'currentDate', path, as: 'instant' };
  },
};

/** The operators an update may hold, in the order of the documentation. */
export const UPDATE_OPERATORS: readonly string[] = Object.keys(OPERATORS);

/**
 * Reads an update.
 *
 * @throws MALFORMED_FILTER (400) with a JSON pointer and what would be right there
 */
export function parseMongoUpdate(
  update: JsonValue | undefined,
  place: Place = startAt('update'),
): UpdateOperation[] {
  if (Array.isArray(update)) {
    throw malformed(place, 'an object: a pipeline is no update here; read with agg, then update', update);
  }
  if (update === undefined || !isJsonObject(update)) {
    throw malformed(place, 'an object of operators, or the new record', update);
  }
  const names = Object.keys(update);
  const operators = names.filter((name) => name.startsWith('$'));
  if (operators.length === 0) return [{ kind: 'replace', data: replacementOf(update, place) }];
  const field = names.find((name) => !name.startsWith('$'));
  if (field !== undefined) {
    throw malformed(
      within(place, field),
      'operators alone, or a replacement without any; to set a field write $set',
      field,
    );
  }
  return operators.flatMap((name) => parseOperator(name, update[name] ?? null, within(place, name)));
}

function parseOperator(name: string, operand: JsonValue, place: Place): UpdateOperation[] {
  const parse = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
  if (parse === undefined) {
    throw malformed(
      place,
      `an operator (${UPDATE_OPERATORS.join(', ')})`,
      name,
      didYouMean(name, UPDATE_OPERATORS),
    );
  }
  if (!isJsonObject(operand)) throw malformed(place, 'an object of paths', operand);
  return Object.entries(operand).map(([path, value]) => {
    const inner = within(place, path);
    inner.enter();
    return parse(updatePathAt(path, inner), value, inner);
  });
}

function replacementOf(update: JsonObject, place: Place): JsonObject {
  const value = valueAt(update, place);
  return isJsonObject(value) ? value : update;
}

function updatePathAt(text: string, place: Place): Path {
  const positional = text.split('.').find((step) => step.startsWith('$'));
  if (positional === undefined) return pathAt(text, place);
  throw malformed(
    place,
    `a path without ${positional}: write the number of the element, or read the record and set the list`,
    text,
  );
}

function isEach(operand: JsonValue): operand is JsonObject {
  return isJsonObject(operand) && operand.$each !== undefined;
}

function eachAt(operand: JsonObject, place: Place, known: readonly string[]): readonly JsonValue[] {
  const strange = Object.keys(operand).find((name) => !known.includes(name));
  if (strange !== undefined) throw malformed(within(place, strange), known.join(', '), strange);
  return listAt(operand.$each ?? null, within(place, '$each'));
}

function parsePush(path: Path, operand: JsonValue, place: Place): UpdateOperation {
  if (!isEach(operand)) return { kind: 'push', path, values: [valueAt(operand, place)] };
  const { $position: position, $slice: slice, $sort: sort } = operand;
  return {
    kind: 'push',
    path,
    values: eachAt(operand, place, ['$each', '$position', '$slice', '$sort']),
    position: position === undefined ? undefined : integerAt(position, within(place, '$position')),
    slice: slice === undefined ? undefined : integerAt(slice, within(place, '$slice')),
    sort: sort === undefined ? undefined : pushSortAt(sort, within(place, '$sort')),
  };
}

/** 1 and -1 order the elements themselves. */
function pushSortAt(sort: JsonValue, place: Place) {
  if (sort === 1 || sort === -1) {
    return [{ path: [], direction: sort === 1 ? ('ascending' as const) : ('descending' as const) }];
  }
  return parseMongoSort(sort, place);
}

/** Regular expressions are for the database, which runs them in bounded time; this runs in memory. */
const { $regex: _refused, ...QUERIES } = queryOperators;
const CONTEXT = Context.init({ query: QUERIES });
const MEMORY_OPERATORS = QUERY_OPERATORS.filter((name) => name !== '$regex' && name !== '$options');

/** A value, operators on the element, or a query over its members. */
function matcherOf(
  operand: JsonValue,
  place: Place,
): readonly JsonValue[] | ((element: JsonValue) => boolean) {
  if (!isJsonObject(operand)) return [valueAt(operand, place)];
  if (/"\$(?:regex|expr)"/.test(printExactJson(operand))) {
    throw malformed(place, `a condition of ${MEMORY_OPERATORS.join(', ')}`, operand);
  }
  const names = Object.keys(operand);
  const isOfElement = names.length > 0 && names.every(isConditionOperator);
  const query: JsonObject = isOfElement ? { element: operand } : operand;
  // For its refusals, which say where.
  parseMongoQuery(query, place);
  const compiled = new Query(plain(query) as object, { context: CONTEXT, scriptEnabled: false });
  if (isOfElement) return (element) => compiled.test({ element: plain(element) });
  return (element) => isJsonObject(element) && compiled.test(plain(element) as Record<string, never>);
}

/** With floats for numbers, as mingo has them. */
function plain(value: JsonValue): unknown {
  return JSON.parse(printExactJson(value));
}

function listAt(operand: JsonValue, place: Place): readonly JsonValue[] {
  if (!Array.isArray(operand)) throw malformed(place, 'a list', operand);
  return operand.map((value: JsonValue, index) => valueAt(value, within(place, String(index))));
}

function integerAt(operand: JsonValue, place: Place): number {
  if (typeof operand === 'number' && Number.isSafeInteger(operand)) return operand;
  throw malformed(place, 'a whole number', operand);
}

function numberAt(operand: JsonValue, place: Place) {
  const value = valueAt(operand, place);
  if (typeof value === 'number' || isExactNumber(value)) return value;
  throw malformed(place, 'a number', operand);
}

/**
 * What an upsert that finds nothing starts with: the values that the query says a record equals.
 *
 * `{ "class": "5", "$and": [{ "address.city": "Pune" }], "amount": { "$gt": 5 } }` gives `[['class', '5'],
 * ['address.city', 'Pune']]`.
 */
export function equalitiesOf(query: JsonValue): readonly (readonly [Path, JsonValue])[] {
  if (!isJsonObject(query)) return [];
  return Object.entries(query).flatMap(([name, operand]): (readonly [Path, JsonValue])[] => {
    if (name === '$and' && Array.isArray(operand)) return operand.flatMap(equalitiesOf);
    if (name.startsWith('$')) return [];
    const path = name.split('.');
    if (!isJsonObject(operand) || !Object.keys(operand).some((one) => one.startsWith('$')))
      return [[path, operand]];
    return operand.$eq === undefined ? [] : [[path, operand.$eq]];
  });
}
