/**
 * One place in a record: read, set and taken away. The record given is never changed; what comes back shares
 * what stayed.
 */
import { invalidAt, type ServiceError } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue, printExactJson } from '../json/json.js';
import { isList } from './compare-json.js';
import { type Path, pointerOf } from './path.js';

/** A list is filled up with null to the place that is set; this is as far as that goes. */
const MAX_LIST_INDEX = 9_999;
const SHOWN_LENGTH = 60;

/** The value at a path; a step into a list is the number of an element. `undefined` where nothing is. */
export function valueAtPath(record: JsonObject, path: Path): JsonValue | undefined {
  let value: JsonValue | undefined = record;
  for (const step of path) value = memberOf(value, step);
  return value;
}

/**
 * The record with this value at the path; objects that are missing on the way are made.
 *
 * @throws INVALID_VALUE (400) where something on the way is neither an object nor a list with such an element
 */
export function withValueAt(record: JsonObject, path: Path, value: JsonValue): JsonObject {
  const changed = setIn(record, { path, depth: 0, value });
  if (!isJsonObject(changed)) throw new Error('a record stays an object');
  return changed;
}

/**
 * The record without the value at the path. An element of a list becomes null, so that the others keep their
 * positions.
 */
export function withoutValueAt(record: JsonObject, path: Path): JsonObject {
  if (valueAtPath(record, path) === undefined) return record;
  const parent = path.slice(0, -1);
  const [last = ''] = path.slice(-1);
  const holder = parent.length === 0 ? record : valueAtPath(record, parent);
  if (isList(holder)) return withValueAt(record, path, null);
  if (!isJsonObject(holder)) return record;
  const { [last]: _, ...others } = holder;
  return parent.length === 0 ? others : withValueAt(record, parent, others);
}

export function unfit(path: Path, expected: string, found: JsonValue | undefined): ServiceError {
  const shown = found === undefined ? 'nothing' : printExactJson(found);
  const sent = shown.length > SHOWN_LENGTH ? `${shown.slice(0, SHOWN_LENGTH)}…` : shown;
  const detail = `${path.join('.')}: ${expected} is expected, ${sent} is there`;
  return invalidAt(detail, { pointer: pointerOf(path), expected, sent });
}

function memberOf(value: JsonValue | undefined, step: string): JsonValue | undefined {
  if (isList(value)) return isIndex(step) ? value[Number(step)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function setIn(
  holder: JsonValue | undefined,
  change: { readonly path: Path; readonly depth: number; readonly value: JsonValue },
): JsonValue {
  const { path, depth, value } = change;
  const step = path[depth];
  if (step === undefined) return value;
  const inner = () => setIn(memberOf(holder, step), { path, depth: depth + 1, value });
  if (isList(holder)) {
    if (!isIndex(step)) throw unfit(path.slice(0, depth), `an object with "${step}"`, holder);
    if (Number(step) > MAX_LIST_INDEX) {
      throw unfit(path.slice(0, depth + 1), `an element up to number ${MAX_LIST_INDEX}`, holder);
    }
    const index = Number(step);
    const filled = Array.from({ length: Math.max(holder.length, index) }, (_, at) => holder[at] ?? null);
    filled[index] = inner();
    return filled;
  }
  if (holder !== undefined && !isJsonObject(holder)) {
    throw unfit(path.slice(0, depth), `an object with "${step}"`, holder);
  }
  return { ...holder, [step]: inner() };
}

function isIndex(step: string): boolean {
  return /^(?:0|[1-9][0-9]{0,8})$/.test(step);
}
