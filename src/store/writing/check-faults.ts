/**
 * The rules of a declaration over several values of one record: its checks, and the keys of its
 * `uniqueTogether` rules.
 */
import { createHash } from 'node:crypto';
import type { ErrorDetail } from '../../base/errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
  memberOf,
} from '../../base/json/json.js';
import { describeBounds, isWithinBounds } from '../../base/model/bounds.js';
import { dayOf } from '../../base/model/calendar.js';
import type { Check, Collection, UniqueTogether } from '../../base/model/collection.js';
import { Exact, toDecimal } from '../../base/model/compare-json.js';
import type { Path } from '../../base/model/path.js';

/** A longer key is stored as its hash: a b-tree entry must fit a third of a page. */
const MAX_KEY_LENGTH = 500;

/**
 * The violations of a record against its collection's checks, without the values of `secret` fields.
 * `pointer` is the position of the record in the body. Only checks of a `changed` field apply, so that a rule
 * that is newer than the record does not prevent other changes. Default: all.
 */
export function findCheckFaults(
  collection: Collection,
  data: JsonObject,
  told: {
    readonly pointer: string;
    readonly secret: { has(field: string): boolean };
    readonly changed?: { has(field: string): boolean };
  },
): ErrorDetail[] {
  const { changed } = told;
  return collection.checks.flatMap((check) => {
    if (changed && !fieldsOfCheck(check).some((field) => changed.has(field))) return [];
    const faults = faultsOf(check, data, told.pointer);
    if (faults.length === 0 || !fieldsOfCheck(check).some((field) => told.secret.has(field))) return faults;
    return [{ pointer: told.pointer, detail: `a rule of ${collection.name} does not hold` }];
  });
}

/**
 * The value of `records.keys`: one text per `uniqueTogether` rule whose values are all present; `undefined`
 * if there is none. A `day` part is the day in the domain's time zone.
 */
export function keysOf(collection: Collection, data: JsonObject, timeZone: string): JsonObject | undefined {
  let keys: Record<string, string> | undefined;
  for (const rule of collection.uniqueTogether) {
    const key = keyOf(rule, data, timeZone);
    if (key === undefined) continue;
    keys ??= {};
    keys[rule.name] = key;
  }
  return keys;
}

/** The top-level fields that each check, each `uniqueTogether` rule and the stays of a person use. */
export function fieldsTogether(collection: Collection): readonly (readonly string[])[] {
  const { stays } = collection;
  return [
    ...(stays === undefined ? [] : [[stays.from, stays.to, stays.list]]),
    ...collection.checks.map(fieldsOfCheck),
    ...collection.uniqueTogether.map(fieldsOfUniqueRule),
  ];
}

/** The top-level fields of a `uniqueTogether` rule, those of its exceptions included. */
export function fieldsOfUniqueRule({ parts, unless }: UniqueTogether): readonly string[] {
  return [...parts.flatMap(({ path }) => path.slice(0, 1)), ...unless.map(({ field }) => field)];
}

function fieldsOfCheck(check: Check): readonly string[] {
  switch (check.kind) {
    case 'sum':
      return [check.total, ...check.of.flatMap((path) => path.slice(0, 1))];
    case 'order':
      return check.in.length === 0 ? [check.lower, check.upper] : check.in.slice(0, 1);
    case 'when':
      return check.in.length === 0 ? [check.field, check.holds.field] : check.in.slice(0, 1);
  }
}

function faultsOf(check: Check, data: JsonObject, pointer: string): ErrorDetail[] {
  switch (check.kind) {
    case 'sum': {
      const total = toDecimal(data[check.total]);
      if (total === undefined) return [];
      const sum = check.of
        .flatMap((path) => valuesAt(data, path))
        .reduce((soFar, { value }) => soFar.plus(toDecimal(value) ?? 0), new Exact(0));
      if (sum.equals(total)) return [];
      const addends = check.of.map((path) => path.join('.')).join(' and ');
      return [
        {
          pointer: `${pointer}/${check.total}`,
          detail: `${check.total} is ${total.toFixed()}, and the sum of ${addends} is ${sum.toFixed()}`,
          expected: sum.toFixed(),
          sent: total.toFixed(),
        },
      ];
    }
    case 'order':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) => {
        if (!isJsonObject(value)) return [];
        const lower = value[check.lower];
        const upper = value[check.upper];
        if (!isAbove(lower, upper)) return [];
        return [
          {
            pointer: `${pointer}${at}/${check.lower}`,
            detail: `${check.lower} ${String(lower)} is above ${check.upper} ${String(upper)}`,
            expected: `at most ${String(upper)}`,
            sent: String(lower),
          },
        ];
      });
    case 'when':
      return valuesAt(data, check.in).flatMap(({ value, pointer: at }) =>
        isJsonObject(value) ? faultsOfWhen(check, value, `${pointer}${at}`) : [],
      );
  }
}

function faultsOfWhen(
  { field, is, holds }: Extract<Check, { readonly kind: 'when' }>,
  data: JsonObject,
  pointer: string,
): ErrorDetail[] {
  const state = memberOf(data, field);
  if ((typeof state !== 'string' && typeof state !== 'boolean') || !is.includes(state)) return [];
  const value = memberOf(data, holds.field) ?? null;
  const when = `where ${field} is ${state}`;
  const at = `${pointer}/${holds.field}`;
  if (value === null) {
    if (!holds.isRequired) return [];
    return [
      { pointer: at, detail: `${holds.field} is missing; it is required ${when}`, expected: 'a value' },
    ];
  }
  if (holds.bounds === undefined || isWithinBounds(holds.bounds, value, NO_MOMENT)) return [];
  const expected = describeBounds(holds.bounds);
  const sent = isJsonObject(value) || Array.isArray(value) ? 'a value' : String(value);
  return [
    { pointer: at, detail: `${holds.field} is ${sent}; ${expected} is expected ${when}`, expected, sent },
  ];
}

/** The bounds of a check never depend on the time. */
const NO_MOMENT = { now: new Date(0), timeZone: 'UTC' };

/** Stored instants, days and months compare as texts; numbers by their exact value. */
function isAbove(lower: JsonValue | undefined, upper: JsonValue | undefined): boolean {
  if (typeof lower === 'string' && typeof upper === 'string') return lower > upper;
  const low = toDecimal(lower);
  const high = toDecimal(upper);
  return low !== undefined && high !== undefined && low.greaterThan(high);
}

function keyOf(rule: UniqueTogether, data: JsonObject, timeZone: string): string | undefined {
  if (rule.unless.some((exception) => isExcepted(exception, data))) return undefined;
  const values: string[] = [];
  for (const part of rule.parts) {
    const value = scalarAt(data, part.path);
    if (value === undefined || value === null) return undefined;
    values.push(part.by === 'day' ? dayIn(String(value), timeZone) : canonicalText(value));
  }
  const key = JSON.stringify(values);
  return key.length <= MAX_KEY_LENGTH ? key : createHash('sha256').update(key).digest('base64url');
}

function isExcepted({ field, is }: UniqueTogether['unless'][number], data: JsonObject): boolean {
  const value = memberOf(data, field) ?? null;
  return is === undefined ? value !== null : typeof value === 'string' && is.includes(value);
}

function dayIn(text: string, timeZone: string): string {
  return text.length === 10 ? text : dayOf(text, timeZone);
}

/** The number 1.0 equals 1, and neither equals the text "1". */
function canonicalText(value: Exclude<JsonScalar, null>): string {
  const number = toDecimal(value);
  return number === undefined ? String(value) : `#${number.toFixed()}`;
}

function scalarAt(data: JsonObject, path: Path): JsonScalar | undefined {
  let value: JsonValue | undefined = data;
  for (const name of path) {
    if (Array.isArray(value)) return firstScalarAt(data, path);
    if (!isJsonObject(value)) return undefined;
    value = memberOf(value, name);
  }
  if (Array.isArray(value)) return firstScalarAt(data, path);
  return value === undefined || isJsonObject(value) ? undefined : toScalar(value);
}

/** Descends into lists. */
function firstScalarAt(data: JsonObject, path: Path): JsonScalar | undefined {
  const [found] = valuesAt(data, path);
  const value = found?.value;
  return value === undefined || Array.isArray(value) || isJsonObject(value) ? undefined : toScalar(value);
}

function toScalar(value: JsonValue): JsonScalar | undefined {
  if (value === null || typeof value !== 'object') return value;
  return isExactNumber(value) ? value : undefined;
}

/** The values at a path, through every list on the way, each with its JSON pointer. */
function valuesAt(
  value: JsonValue | undefined,
  path: Path,
  pointer = '',
): { readonly value: JsonValue; readonly pointer: string }[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((element: JsonValue, index) => valuesAt(element, path, `${pointer}/${index}`));
  }
  const [name, ...rest] = path;
  if (name === undefined) return [{ value, pointer }];
  return isJsonObject(value) && Object.hasOwn(value, name)
    ? valuesAt(value[name], rest, `${pointer}/${name}`)
    : [];
}
