/** The keys of a record's `uniqueTogether` rules: two records with an equal key break the rule. */
import { createHash } from 'node:crypto';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
  memberOf,
} from '../json/json.js';
import { dayOf } from './calendar.js';
import type { Collection, UniqueTogether } from './collection.js';
import { toDecimal } from './compare-json.js';
import { foldText } from './normal-text.js';
import { type Path, pointerStep } from './path.js';

/** A longer key is stored as its hash: a b-tree entry must fit a third of a page. */
const MAX_KEY_LENGTH = 500;

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

/** The top-level fields of a `uniqueTogether` rule, those of its exceptions included. */
export function fieldsOfUniqueRule({ parts, unless }: UniqueTogether): readonly string[] {
  return [...parts.flatMap(({ path }) => path.slice(0, 1)), ...unless.map(({ field }) => field)];
}

function keyOf(rule: UniqueTogether, data: JsonObject, timeZone: string): string | undefined {
  if (rule.unless.some((exception) => isExcepted(exception, data))) return undefined;
  const values: string[] = [];
  for (const part of rule.parts) {
    const value = scalarAt(data, part.path);
    if (value === undefined || value === null) return undefined;
    values.push(keyTextOf(value, part.by, timeZone));
  }
  return printKey(values);
}

/** The key of a unique field that ignores case, for a record with this text. */
export function foldedKey(text: string): string {
  return printKey([foldText(text)]);
}

/** Whether a field is a key that ignores case. */
export function isKeyFolded({ uniqueTogether }: Pick<Collection, 'uniqueTogether'>, field: string): boolean {
  return uniqueTogether.some(({ name, parts }) => name === field && parts.every(({ by }) => by === 'folded'));
}

function printKey(values: readonly string[]): string {
  const key = JSON.stringify(values);
  return key.length <= MAX_KEY_LENGTH ? key : createHash('sha256').update(key).digest('base64url');
}

function keyTextOf(
  value: Exclude<JsonScalar, null>,
  by: UniqueTogether['parts'][number]['by'],
  timeZone: string,
): string {
  const text = String(value);
  if (by === 'day') return text.length === 10 ? text : dayOf(text, timeZone);
  return by === 'folded' && typeof value === 'string' ? foldText(value) : canonicalText(value);
}

function isExcepted({ field, is }: UniqueTogether['unless'][number], data: JsonObject): boolean {
  const value = memberOf(data, field) ?? null;
  return is === undefined ? value !== null : typeof value === 'string' && is.includes(value);
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
export function valuesAt(
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
    ? valuesAt(value[name], rest, `${pointer}/${pointerStep(name)}`)
    : [];
}
