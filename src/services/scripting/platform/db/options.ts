/** The options of `platform.db`, validated strictly, so that misspelt ones are reported. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../base/json/json.js';
import type { SortKey } from '../../../../base/model/record-query.js';
import { didYouMean } from '../../../../base/text/did-you-mean.js';
import {
  type MongoPlace,
  malformedMongo,
  startMongoPlace,
  withinMongo,
} from '../../../../store/mongo/mongo-place.js';
import { parseMongoSort } from '../../../../store/mongo/mongo-projection.js';

const READ_OPTIONS = ['sort', 'limit', 'skip', 'projection', 'fields'] as const;
const COUNT_OPTIONS = ['limit', 'skip'] as const;
const UPDATE_OPTIONS = ['upsert', 'sort', 'multi', 'allowAll'] as const;
const MODIFY_OPTIONS = [
  'new',
  'returnDocument',
  'upsert',
  'remove',
  'force',
  'projection',
  'fields',
  'allowAll',
] as const;

export interface DbReadOptions {
  readonly sort: JsonValue | undefined;
  readonly limit: number | undefined;
  readonly skip: number;
  readonly projection: JsonValue | undefined;
}

/**
 * `{ sort, limit, skip, projection }`; `fields` is an alias of `projection`, and a list of names selects
 * these fields.
 */
export function readOptions(options: JsonValue | undefined): DbReadOptions {
  const { values, place } = optionsOf([options], READ_OPTIONS);
  const limit = countOf(values, 'limit', place);
  return {
    sort: orNothing(values.sort),
    // Drivers take 0 for no limit.
    limit: limit === 0 ? undefined : limit,
    skip: countOf(values, 'skip', place) ?? 0,
    projection: projectionOf(values, place),
  };
}

export function countOptions(options: JsonValue | undefined): { limit: number | undefined; skip: number } {
  const { values, place } = optionsOf([options], COUNT_OPTIONS);
  const limit = countOf(values, 'limit', place);
  return { limit: limit === 0 ? undefined : limit, skip: countOf(values, 'skip', place) ?? 0 };
}

export interface DbUpdateOptions {
  readonly upsert: boolean;
  readonly sort: readonly SortKey[];
  readonly multi: boolean;
  readonly allowAll: boolean;
}

/** The last two parameters of `update` and `updateMany` are both options, and are merged. */
export function updateOptions(
  options2: JsonValue | undefined,
  options3: JsonValue | undefined,
): DbUpdateOptions {
  const { values, place } = optionsOf([options2, options3], UPDATE_OPTIONS);
  return {
    upsert: flagOf(values, 'upsert', place),
    sort: sortOf(values.sort, withinMongo(place, 'sort')),
    multi: flagOf(values, 'multi', place),
    allowAll: flagOf(values, 'allowAll', place),
  };
}

export interface DbModifyOptions {
  readonly returning: 'before' | 'after';
  readonly upsert: boolean;
  readonly remove: boolean;
  readonly force: boolean;
  readonly allowAll: boolean;
  readonly projection: JsonValue | undefined;
}

export function modifyOptions(options: JsonValue | undefined): DbModifyOptions {
  const { values, place } = optionsOf([options], MODIFY_OPTIONS);
  const { returnDocument } = values;
  if (returnDocument !== undefined && returnDocument !== 'before' && returnDocument !== 'after') {
    throw malformedMongo(withinMongo(place, 'returnDocument'), '"before" or "after"', returnDocument);
  }
  const isAfter = returnDocument === 'after' || flagOf(values, 'new', place);
  const remove = flagOf(values, 'remove', place);
  if (remove && (isAfter || values.upsert === true)) {
    throw malformedMongo(
      place,
      'remove without new, returnDocument and upsert: what is removed is given as it was',
      values,
    );
  }
  return {
    returning: isAfter ? 'after' : 'before',
    upsert: flagOf(values, 'upsert', place),
    remove,
    force: flagOf(values, 'force', place),
    allowAll: flagOf(values, 'allowAll', place),
    projection: projectionOf(values, place),
  };
}

/** For functions that accept options only for compatibility. */
export function assertNoOptions(options: JsonValue | undefined): void {
  optionsOf([options], []);
}

export function sortOf(
  sort: JsonValue | undefined,
  place: MongoPlace = startMongoPlace('sort'),
): readonly SortKey[] {
  const isEmpty =
    sort === undefined || sort === null || (isJsonObject(sort) && Object.keys(sort).length === 0);
  return isEmpty ? [] : parseMongoSort(sort, place);
}

function optionsOf(
  sent: readonly (JsonValue | undefined)[],
  known: readonly string[],
): { readonly values: JsonObject; readonly place: MongoPlace } {
  const place = startMongoPlace('options');
  const values: Record<string, JsonValue> = {};
  for (const options of sent) {
    if (options === undefined || options === null) continue;
    if (!isJsonObject(options)) throw malformedMongo(place, 'an object of options', options);
    for (const [name, value] of Object.entries(options)) {
      const at = withinMongo(place, name);
      if (!known.includes(name)) {
        const expected = known.length === 0 ? 'no options' : `an option (${known.join(', ')})`;
        throw malformedMongo(at, expected, name, didYouMean(name, known));
      }
      if (values[name] !== undefined) throw malformedMongo(at, 'each option once', name);
      values[name] = value;
    }
  }
  return { values, place };
}

function projectionOf(values: JsonObject, place: MongoPlace): JsonValue | undefined {
  if (values.projection !== undefined && values.fields !== undefined) {
    throw malformedMongo(place, 'projection or fields, which mean the same', values);
  }
  const projection = orNothing(values.projection ?? values.fields);
  if (isJsonObject(projection) && Object.keys(projection).length === 0) return undefined;
  if (!Array.isArray(projection)) return projection;
  return Object.fromEntries(
    projection.map((name: JsonValue) => {
      if (typeof name === 'string') return [name, 1];
      throw malformedMongo(
        withinMongo(place, 'projection'),
        'an object such as {"name": 1}, or a list of names',
        projection,
      );
    }),
  );
}

function countOf(values: JsonObject, name: string, place: MongoPlace): number | undefined {
  const value = orNothing(values[name]);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw malformedMongo(withinMongo(place, name), 'a whole number from 0 on', value);
}

function flagOf(values: JsonObject, name: string, place: MongoPlace): boolean {
  const value = orNothing(values[name]) ?? false;
  if (typeof value === 'boolean') return value;
  throw malformedMongo(withinMongo(place, name), 'true or false', value);
}

function orNothing(value: JsonValue | undefined): JsonValue | undefined {
  return value === null ? undefined : value;
}
