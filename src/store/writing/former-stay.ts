/** Keeps the former stay of a person who comes back, whichever way the record is written. */
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../../base/json/json.js';
import { addDays, isDay } from '../../base/model/calendar.js';
import type { Collection } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import type { StoredChange } from './validation.js';

/**
 * The change, with what follows from it if it starts a new stay: the former one is added to the list, and the
 * last day and the `reset` fields of the former one do not stay. `after` is the record as the change leaves
 * it. A change of the list itself is taken as it is.
 *
 * @see Collection.stays
 */
export function withFormerStay(
  collection: Collection,
  change: StoredChange,
  { before, after }: { readonly before: JsonObject; readonly after: JsonObject },
): StoredChange {
  const { stays } = collection;
  if (stays === undefined) return change;
  const [start, end, next] = [before[stays.from], before[stays.to], after[stays.from]];
  if (!isStoredDay(start) || !isStoredDay(end) || !isStoredDay(next)) return change;
  if (next <= end || start > end) return change;
  const isKept = (name: string) => isSameJson(memberOf(before, name), memberOf(after, name));
  if (!isKept(stays.list) && after[stays.list] !== undefined) return change;
  const earlier = listOf(before[stays.list]);
  const set: Record<string, JsonValue> = {
    ...change.data,
    [stays.list]: [...earlier, formerStay(collection, stays, { record: before, end })],
  };
  const removed = change.removed.filter((name) => name !== stays.list);
  for (const name of [stays.to, ...stays.reset].filter(isKept)) {
    const { default: initial } = collection.fieldsByName.get(name) ?? {};
    if (initial === undefined) {
      delete set[name];
      removed.push(name);
    } else set[name] = initial;
  }
  return { ...change, data: set, removed };
}

/** The present stay of a record as one of its list, up to a day. It begins after the last earlier one. */
export function formerStay(
  { fieldsByName }: Pick<Collection, 'fieldsByName'>,
  { list, from }: NonNullable<Collection['stays']>,
  { record, end }: { readonly record: JsonObject; readonly end: string },
): JsonObject {
  const names = fieldsByName.get(list)?.fields.map(({ name }) => name) ?? [];
  const place = names.flatMap((name) =>
    fieldsByName.has(name) && record[name] !== undefined ? [[name, record[name]]] : [],
  );
  const ends = listOf(record[list]).map((stay) => (isJsonObject(stay) ? stay.to : undefined));
  const starts = [record[from], ...ends.filter(isStoredDay).map((day) => addDays(day, 1))];
  return { ...Object.fromEntries(place), from: starts.filter(isStoredDay).toSorted().at(-1) ?? end, to: end };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function isStoredDay(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && isDay(value);
}
