/**
 * The returned part of a document, in Mongo's notation: `{ "name": 1, "address.city": 1, "_id": 0 }` returns
 * some fields, `{ "phone": 0 }` all but some, `{ "total": { "$sum": "$lines.amount" } }` a computed value.
 * `_id` is included unless it is 0.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import { tooManySent } from '../../base/languages/sent-place.js';
import type { Expression } from '../../base/model/expression.js';
import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { type MongoPlace, malformedMongo, mongoPathAt, withinMongo } from './mongo-place.js';

/** Names of members, `true` for a whole one, else what of it is meant. */
export type FieldTree = ReadonlyMap<string, true | FieldTree>;

export type Projection =
  | { readonly kind: 'all but'; readonly fields: FieldTree }
  | {
      readonly kind: 'only';
      readonly fields: FieldTree;
      readonly computed: readonly FieldValue<Expression>[];
    };

/** @throws MALFORMED_FILTER (400) with the pointer and what would be right */
export function parseMongoProjection(projection: JsonValue, place: MongoPlace): Projection {
  if (!isJsonObject(projection) || Object.keys(projection).length === 0) {
    throw malformedMongo(place, 'an object of fields and 1, 0 or an expression', projection);
  }
  const entries = fieldValuesAt(projection, place, projectedAt);
  const id = entries.find(({ path }) => path.length === 1 && path[0] === '_id');
  const others = entries.filter((entry) => entry !== id);
  const excluded = others.filter(({ value }) => value === 'out');
  const included = others.filter(({ value }) => value === 'in');
  const computed = others.flatMap(({ path, value }) => (typeof value === 'string' ? [] : [{ path, value }]));
  const isExclusion = excluded.length > 0 || (others.length === 0 && id?.value === 'out');
  if (isExclusion) {
    if (included.length + computed.length > 0) {
      throw malformedMongo(
        place,
        'fields to return or fields to leave out, not both (_id may be left out of either)',
        projection,
      );
    }
    const left = id?.value === 'out' ? [...excluded, id] : excluded;
    return { kind: 'all but', fields: treeOf(left, place) };
  }
  const isIdComputed = id !== undefined && typeof id.value !== 'string';
  const withId = id === undefined || id.value === 'in' ? [{ path: ['_id'] }] : [];
  const all = isIdComputed ? [...computed, { path: id.path, value: id.value as Expression }] : computed;
  // Refuses a path that is another one's beginning.
  treeOf([...included, ...all], place);
  return { kind: 'only', fields: treeOf([...withId, ...included], place), computed: all };
}

function projectedAt(written: JsonValue, place: MongoPlace): 'in' | 'out' | Expression {
  if (typeof written === 'number' || typeof written === 'boolean') return written ? 'in' : 'out';
  return parseMongoExpression(written, place);
}

export interface FieldValue<Value> {
  readonly path: Path;
  readonly value: Value;
}

/** The values of fields: `{ "address": { "city": 1 } }` is `{ "address.city": 1 }`. */
export function fieldValuesAt<Value>(
  object: JsonObject,
  place: MongoPlace,
  parse: (written: JsonValue, place: MongoPlace) => Value,
  base: Path = [],
): readonly FieldValue<Value>[] {
  return Object.entries(object).flatMap(([name, written]): readonly FieldValue<Value>[] => {
    const inner = withinMongo(place, name);
    const path = [...base, ...mongoPathAt(name, inner)];
    return isNestedFields(written)
      ? fieldValuesAt(written, inner, parse, path)
      : [{ path, value: parse(written, inner) }];
  });
}

/** An object of fields, not an expression. */
function isNestedFields(written: JsonValue): written is JsonObject {
  if (!isJsonObject(written)) return false;
  const names = Object.keys(written);
  return names.length > 0 && !names.some((name) => name.startsWith('$'));
}

/** @throws MALFORMED_FILTER (400) for a path that is the beginning of another */
export function treeOf(fields: readonly { readonly path: Path }[], place: MongoPlace): FieldTree {
  const tree = new Map<string, true | FieldTree>();
  for (const { path } of fields)
    insert(tree, path, () =>
      malformedMongo(place, 'a path that neither equals nor begins another', path.join('.')),
    );
  return tree;
}

function insert(tree: Map<string, true | FieldTree>, [name, ...rest]: Path, clash: () => Error): void {
  if (name === undefined) return;
  const below = tree.get(name);
  if (below === true || (below !== undefined && rest.length === 0)) throw clash();
  if (rest.length === 0) {
    tree.set(name, true);
    return;
  }
  const inner = new Map(below ?? []);
  tree.set(name, inner);
  insert(inner, rest, clash);
}

/** The tree as JSON: `{ "name": true, "address": { "city": true } }`. */
export function treeJson(tree: FieldTree): JsonObject {
  return Object.fromEntries(
    [...tree].map(([name, below]) => [name, below === true ? true : treeJson(below)]),
  );
}

/**
 * The reader of expressions in Mongo's writing.
 *
 *   expression : "$path" | "$$variable" [ ".path" ] | { "$operator": operand }
 *              | { name: expression … } | [ expression … ] | scalar
 *
 * `{ "$multiply": ["$amount", 2] }` is { kind: 'operator', name: '$multiply', operand: { kind: 'list',
 * elements: [ { kind: 'field', path: ['amount'] }, { kind: 'literal', value: 2 } ] } }.
 */
const VARIABLE = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Variables of a document. */
const DOCUMENT_VARIABLES: ReadonlySet<string> = new Set(['ROOT', 'CURRENT']);

/** @throws MALFORMED_FILTER, LIMIT_EXCEEDED (400) with the pointer and what would be right */
export function parseMongoExpression(value: JsonValue, place: MongoPlace): Expression {
  place.enter();
  if (typeof value === 'string') return parseText(value, place);
  if (Array.isArray(value)) {
    const elements = value.map((element: JsonValue, index) =>
      parseMongoExpression(element, withinMongo(place, String(index))),
    );
    return { kind: 'list', elements };
  }
  if (!isJsonObject(value)) return { kind: 'literal', value };
  const entries = Object.entries(value);
  const [first] = entries;
  const operator = entries.find(([name]) => name.startsWith('$'));
  if (operator === undefined || first === undefined) {
    const members = entries.map(([name, member]) => ({
      name: memberName(name, place),
      value: parseMongoExpression(member, withinMongo(place, name)),
    }));
    return { kind: 'object', members };
  }
  if (typeof value.$regex === 'string') return { kind: 'literal', value };
  if (entries.length > 1) {
    throw malformedMongo(
      place,
      `one operator alone in an object; ${operator[0]} stands beside others`,
      value,
    );
  }
  const [name, operand] = first;
  if (name === '$literal') return { kind: 'literal', value: operand };
  return { kind: 'operator', name, operand: parseMongoExpression(operand, withinMongo(place, name)) };
}

function parseText(text: string, place: MongoPlace): Expression {
  if (!text.startsWith('$')) return { kind: 'literal', value: text };
  if (!text.startsWith('$$')) return { kind: 'field', path: mongoPathAt(text.slice(1), place) };
  const [name = '', ...path] = text.slice(2).split('.');
  if (!VARIABLE.test(name)) throw malformedMongo(place, 'a variable such as $$ROOT or $$name', text);
  const steps = path.length === 0 ? [] : mongoPathAt(path.join('.'), place);
  // `$$CURRENT.a` is `$a`.
  if (DOCUMENT_VARIABLES.has(name) && steps.length > 0) return { kind: 'field', path: steps };
  return { kind: 'variable', name: name === 'CURRENT' ? 'ROOT' : name, path: steps };
}

function memberName(name: string, place: MongoPlace): string {
  if (name !== '' && !name.includes('.')) return name;
  throw malformedMongo(withinMongo(place, name), 'a name without a dot', name);
}

/**
 * An order in Mongo's writing: `{ "class": 1, "name": -1 }`, the first key first. Also `[["class", 1],
 * ["name", "desc"]]` and `"class"` alone, as drivers take it.
 */
const MAX_KEYS = 32;
const DIRECTIONS: Readonly<Record<string, SortKey['direction']>> = {
  1: 'ascending',
  '-1': 'descending',
  asc: 'ascending',
  desc: 'descending',
  ascending: 'ascending',
  descending: 'descending',
};

/** @throws MALFORMED_FILTER (400) with the pointer and what would be right; LIMIT_EXCEEDED */
export function parseMongoSort(sort: JsonValue, place: MongoPlace): readonly SortKey[] {
  const entries = keysOfSort(sort, place);
  if (entries.length === 0) throw malformedMongo(place, 'an object of paths and 1 or -1', sort);
  if (entries.length > MAX_KEYS) throw tooManySent(place, MAX_KEYS, 'keys of an order');
  return entries.map(([name, written]) => {
    const inner = withinMongo(place, name);
    const text = typeof written === 'number' || typeof written === 'string' ? String(written) : '';
    const direction = Object.hasOwn(DIRECTIONS, text) ? DIRECTIONS[text] : undefined;
    if (direction === undefined) throw malformedMongo(inner, '1 or -1', written);
    return { path: mongoPathAt(name, inner), direction };
  });
}

function keysOfSort(sort: JsonValue, place: MongoPlace): readonly (readonly [string, JsonValue])[] {
  if (typeof sort === 'string') return [[sort, 1]];
  if (isJsonObject(sort)) return Object.entries(sort);
  if (!Array.isArray(sort)) throw malformedMongo(place, 'an object of paths and 1 or -1', sort);
  return sort.map((pair: JsonValue, index) => {
    const [name, direction] = Array.isArray(pair) ? pair : [pair, 1];
    if (typeof name === 'string' && direction !== undefined) return [name, direction];
    throw malformedMongo(withinMongo(place, String(index)), 'a pair such as ["name", 1]', pair);
  });
}
