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

/** The options that each kind of function accepts. */
const ACCEPTED = {
  read: ['sort', 'limit', 'skip', 'projection', 'fields'],
  count: ['limit', 'skip'],
  update: ['upsert', 'sort', 'multi', 'allowAll'],
  modify: ['new', 'returnDocument', 'upsert', 'remove', 'force', 'projection', 'fields', 'allowAll'],
  none: [],
} as const;

interface Check {
  readonly expected: string;
  readonly allows: (value: JsonValue) => boolean;
}

const FLAG: Check = {
  expected: 'true or false',
  allows: (value) => value === null || typeof value === 'boolean',
};
const COUNT: Check = {
  expected: 'a whole number from 0 on',
  allows: (value) => value === null || (Number.isSafeInteger(value) && Number(value) >= 0),
};
const CHECKS: Readonly<Record<string, Check>> = {
  ...{ limit: COUNT, skip: COUNT },
  ...{ upsert: FLAG, multi: FLAG, allowAll: FLAG, new: FLAG, remove: FLAG, force: FLAG },
  returnDocument: {
    expected: '"before" or "after"',
    allows: (value) => value === 'before' || value === 'after',
  },
};

/**
 * The options of a function that accepts those of this kind; several lists are merged. `fields` is an alias
 * of `projection`, and a list of names selects these fields. A `limit` of 0 is none, as for drivers.
 */
export function dbOptions(kind: keyof typeof ACCEPTED, ...sent: readonly (JsonValue | undefined)[]) {
  const known: readonly string[] = ACCEPTED[kind];
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
      const check = CHECKS[name];
      if (check?.allows(value) === false) throw malformedMongo(at, check.expected, value);
      values[name] = value;
    }
  }
  const isAfter = values.returnDocument === 'after' || values.new === true;
  if (values.remove === true && (isAfter || values.upsert === true)) {
    const expected = 'remove without new, returnDocument and upsert: what is removed is given as it was';
    throw malformedMongo(place, expected, values);
  }
  return {
    sort: values.sort ?? undefined,
    limit: Number(values.limit ?? 0) || undefined,
    skip: Number(values.skip ?? 0),
    projection: projectionOf(values, place),
    returning: isAfter ? ('after' as const) : ('before' as const),
    upsert: values.upsert === true,
    multi: values.multi === true,
    allowAll: values.allowAll === true,
    remove: values.remove === true,
    force: values.force === true,
  };
}

export function sortOf(sort: JsonValue | undefined, place = startMongoPlace('sort')): readonly SortKey[] {
  const isEmpty =
    sort === undefined || sort === null || (isJsonObject(sort) && Object.keys(sort).length === 0);
  return isEmpty ? [] : parseMongoSort(sort, place);
}

function projectionOf(values: JsonObject, place: MongoPlace): JsonValue | undefined {
  if (values.projection !== undefined && values.fields !== undefined) {
    throw malformedMongo(place, 'projection or fields, which mean the same', values);
  }
  const projection = values.projection ?? values.fields ?? undefined;
  if (isJsonObject(projection) && Object.keys(projection).length === 0) return undefined;
  if (!Array.isArray(projection)) return projection;
  const names = projection.filter((name) => typeof name === 'string');
  if (names.length === projection.length) return Object.fromEntries(names.map((name) => [name, 1]));
  const expected = 'an object such as {"name": 1}, or a list of names';
  throw malformedMongo(withinMongo(place, 'projection'), expected, projection);
}
