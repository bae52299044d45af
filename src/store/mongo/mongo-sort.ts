/**
 * An order in Mongo's writing: `{ "class": 1, "name": -1 }`, the first key first. Also `[["class", 1],
 * ["name", "desc"]]` and `"class"` alone, as drivers take it.
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { tooManySent } from '../../base/languages/sent-place.js';
import type { SortKey } from '../../base/model/record-query.js';
import { type MongoPlace, malformedMongo, mongoPathAt, withinMongo } from './mongo-place.js';

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
  const entries = entriesOf(sort, place);
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

function entriesOf(sort: JsonValue, place: MongoPlace): readonly (readonly [string, JsonValue])[] {
  if (typeof sort === 'string') return [[sort, 1]];
  if (isJsonObject(sort)) return Object.entries(sort);
  if (!Array.isArray(sort)) throw malformedMongo(place, 'an object of paths and 1 or -1', sort);
  return sort.map((pair: JsonValue, index) => {
    const [name, direction] = Array.isArray(pair) ? pair : [pair, 1];
    if (typeof name === 'string' && direction !== undefined) return [name, direction];
    throw malformedMongo(withinMongo(place, String(index)), 'a pair such as ["name", 1]', pair);
  });
}
