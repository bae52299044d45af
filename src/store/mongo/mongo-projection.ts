/**
 * What of a document is returned, in Mongo's writing: `{ "name": 1, "address.city": 1, "_id": 0 }` some
 * fields, `{ "phone": 0 }` all but some, `{ "total": { "$sum": "$lines.amount" } }` what is computed. `_id`
 * comes along unless it says 0.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Expression } from '../../base/model/expression.js';
import type { Path } from '../../base/model/path.js';
import { parseMongoExpression } from './mongo-expression.js';
import { type MongoPlace, malformedMongo, mongoPathAt, withinMongo } from './mongo-place.js';

/** Names of members, `true` for a whole one, else what of it is meant. */
export type FieldTree = ReadonlyMap<string, true | FieldTree>;

export type Projection =
  | { readonly kind: 'all but'; readonly fields: FieldTree }
  | {
      readonly kind: 'only';
      readonly fields: FieldTree;
      readonly computed: readonly { readonly path: Path; readonly value: Expression }[];
    };

/** @throws MALFORMED_FILTER (400) with the pointer and what would be right */
export function parseMongoProjection(projection: JsonValue, place: MongoPlace): Projection {
  if (!isJsonObject(projection) || Object.keys(projection).length === 0) {
    throw malformedMongo(place, 'an object of fields and 1, 0 or an expression', projection);
  }
  const entries = entriesOf(projection, [], place);
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
    return {
      kind: 'all but',
      fields: treeOf(
        left.map(({ path }) => path),
        place,
      ),
    };
  }
  const isIdComputed = id !== undefined && typeof id.value !== 'string';
  const withId = id === undefined || id.value === 'in' ? [['_id']] : [];
  const all = isIdComputed ? [...computed, { path: id.path, value: id.value as Expression }] : computed;
  // Refuses a path that is another one's beginning.
  treeOf(
    [...included, ...all].map(({ path }) => path),
    place,
  );
  return {
    kind: 'only',
    fields: treeOf([...withId, ...included.map(({ path }) => path)], place),
    computed: all,
  };
}

interface Entry {
  readonly path: Path;
  readonly value: 'in' | 'out' | Expression;
}

/** `{ "address": { "city": 1 } }` is `{ "address.city": 1 }`. */
function entriesOf(object: JsonObject, base: Path, place: MongoPlace): Entry[] {
  return Object.entries(object).flatMap(([name, written]): Entry[] => {
    const inner = withinMongo(place, name);
    const path = [...base, ...mongoPathAt(name, inner)];
    if (typeof written === 'number') return [{ path, value: written === 0 ? 'out' : 'in' }];
    if (typeof written === 'boolean') return [{ path, value: written ? 'in' : 'out' }];
    if (isNestedFields(written)) return entriesOf(written, path, inner);
    return [{ path, value: parseMongoExpression(written, inner) }];
  });
}

/** An object of fields, not an expression. */
export function isNestedFields(written: JsonValue): written is JsonObject {
  if (!isJsonObject(written)) return false;
  const names = Object.keys(written);
  return names.length > 0 && !names.some((name) => name.startsWith('$'));
}

/** @throws MALFORMED_FILTER (400) for a path that is the beginning of another */
export function treeOf(paths: readonly Path[], place: MongoPlace): FieldTree {
  const tree = new Map<string, true | FieldTree>();
  for (const path of paths)
    insert(tree, path, () =>
      malformedMongo(place, 'no path that is another one, or its beginning', path.join('.')),
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
