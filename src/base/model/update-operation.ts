/**
 * A change of a record as plain values: `UpdateOperation`s, applied in order to the current record. This
 * module does not depend on collections, callers or the database. Numbers are added and multiplied as exact
 * decimals.
 *
 * @see matching-writes.ts (it applies them to the records that match)
 */
import { invalidAt, ServiceError } from '../errors.js';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json.js';
import { dayOf } from './calendar.js';
import { compareJson, Exact, isList, isSameJson, toDecimal } from './compare-json.js';
import { type Path, pointerOf } from './path.js';
import { unfit, valueAtPath, withoutValueAt, withValueAt } from './value-at-path.js';

/** A step of a path into a list is the number of an element: `['lines', '0', 'amount']`. */
export type UpdateOperation =
  /** `setOnInsert` counts only for a record that an upsert makes. */
  | { readonly kind: 'set' | 'setOnInsert'; readonly path: Path; readonly value: JsonValue }
  | { readonly kind: 'unset'; readonly path: Path }
  | ArithmeticOperation
  | BoundOperation
  | PushOperation
  | AddToSetOperation
  | PullOperation
  | { readonly kind: 'pop'; readonly path: Path; readonly end: 'first' | 'last' }
  | { readonly kind: 'rename'; readonly path: Path; readonly to: Path }
  /** The instant of the write as UTC text, or its day in the domain's time zone. */
  | { readonly kind: 'currentDate'; readonly path: Path; readonly as: 'instant' | 'day' }
  /** The record becomes this; the only operation then. */
  | { readonly kind: 'replace'; readonly data: JsonObject };

/**
 * A missing number counts as 0. `by` is a number or the text of a decimal, exact either way. A product is
 * rounded to a multiple of `step`, half of it away from 0.
 */
interface ArithmeticOperation {
  readonly kind: 'increment' | 'multiply';
  readonly path: Path;
  readonly by: number | string | ExactNumber;
  readonly step?: number | undefined;
}

/**
 * `min` sets the value if it is less than the present one, or there is none; `max` if it is greater.
 * @see compareJson
 */
interface BoundOperation {
  readonly kind: 'min' | 'max';
  readonly path: Path;
  readonly value: JsonValue;
}

/**
 * Puts values into a list, at its end or at `position` (negative: counted from the end), then sorts, then
 * keeps `slice` of it.
 */
interface PushOperation {
  readonly kind: 'push';
  readonly path: Path;
  readonly values: readonly JsonValue[];
  readonly position?: number | undefined;
  /** The number of first elements that are kept; negative: of last ones. */
  readonly slice?: number | undefined;
  /** The elements are ordered by their members; an empty path is the element itself. */
  readonly sort?:
    | readonly { readonly path: Path; readonly direction: 'ascending' | 'descending' }[]
    | undefined;
}

/** Puts in what the list does not hold yet. */
interface AddToSetOperation {
  readonly kind: 'addToSet';
  readonly path: Path;
  readonly values: readonly JsonValue[];
  /** Default: the same JSON. */
  readonly isSame?: ((one: JsonValue, other: JsonValue) => boolean) | undefined;
}

/** Takes out each element that is one of the values, or that the function picks. */
interface PullOperation {
  readonly kind: 'pull';
  readonly path: Path;
  readonly matches: readonly JsonValue[] | ((element: JsonValue) => boolean);
}

export interface UpdateMoment {
  /** The instant of the write. */
  readonly now: Date;
  /** IANA name of the zone of `day`. */
  readonly timeZone: string;
  /** The record is being made by an upsert: `setOnInsert` counts. */
  readonly isInsert?: boolean | undefined;
}

/** Bounds of one update. */
export const UPDATE_LIMITS = { maxOperations: 200, maxPathLength: 32, maxPushedValues: 1_000 } as const;

/**
 * The record after all operations; the one given is not changed. Check the operations once with
 * `assertUpdate` first.
 *
 * @throws INVALID_VALUE (400) with the path, the value that the operation needs, and the present value
 */
export function applyUpdate(
  record: JsonObject,
  operations: readonly UpdateOperation[],
  moment: UpdateMoment,
): JsonObject {
  return operations.reduce((soFar, operation) => apply(soFar, operation, moment), record);
}

/**
 * Refuses operations that cannot be applied to any record: an empty list, two on the same or on nested paths,
 * a path without or with too many steps, a replacement among others, an amount that is not a number.
 *
 * @throws INVALID_VALUE, LIMIT_EXCEEDED (400)
 */
export function assertUpdate(operations: readonly UpdateOperation[]): void {
  const { maxOperations, maxPathLength, maxPushedValues } = UPDATE_LIMITS;
  if (operations.length === 0) throw invalid('the update has no changes');
  if (operations.length > maxOperations) throw tooMany(maxOperations, 'changes');
  if (operations.length > 1 && operations.some((operation) => operation.kind === 'replace')) {
    throw invalid('a replacement is the whole of an update; nothing goes with it');
  }
  for (const operation of operations) {
    if (pathsOf(operation).some((path) => path.length > maxPathLength)) {
      throw tooMany(maxPathLength, 'steps in a path');
    }
    if ('values' in operation && operation.values.length > maxPushedValues) {
      throw tooMany(maxPushedValues, 'values for a list');
    }
    if ('by' in operation) toAmount(operation);
  }
  assertApart(operations.flatMap(pathsOf));
}

/** The places an operation writes; the record itself for a replacement. */
export function pathsOf(operation: UpdateOperation): readonly Path[] {
  switch (operation.kind) {
    case 'replace':
      return [];
    case 'rename':
      return [operation.path, operation.to];
    default:
      return [operation.path];
  }
}

function apply(record: JsonObject, operation: UpdateOperation, moment: UpdateMoment): JsonObject {
  switch (operation.kind) {
    case 'replace':
      return operation.data;
    case 'set':
      return withValueAt(record, operation.path, operation.value);
    case 'setOnInsert':
      return moment.isInsert ? withValueAt(record, operation.path, operation.value) : record;
    case 'unset':
      return withoutValueAt(record, operation.path);
    case 'increment':
    case 'multiply':
      return withValueAt(record, operation.path, calculated(record, operation));
    case 'min':
    case 'max':
      return bounded(record, operation);
    case 'push':
      return withValueAt(record, operation.path, pushed(listAt(record, operation.path), operation));
    case 'addToSet':
      return withValueAt(record, operation.path, united(listAt(record, operation.path), operation));
    case 'pull':
      return withList(record, operation.path, (list) =>
        list.filter((element) => !isPulled(element, operation)),
      );
    case 'pop':
      return withList(record, operation.path, (list) =>
        operation.end === 'first' ? list.slice(1) : list.slice(0, -1),
      );
    case 'rename': {
      const value = valueAtPath(record, operation.path);
      if (value === undefined) return record;
      return withValueAt(withoutValueAt(record, operation.path), operation.to, value);
    }
    case 'currentDate':
      return withValueAt(
        record,
        operation.path,
        operation.as === 'day' ? dayOf(moment.now, moment.timeZone) : moment.now.toISOString(),
      );
  }
}

function calculated(record: JsonObject, operation: ArithmeticOperation): JsonValue {
  const { kind, path } = operation;
  const value = valueAtPath(record, path);
  const present = value === undefined ? new Exact(0) : toDecimal(value);
  if (present === undefined) throw unfit(path, 'a number', value);
  const amount = toAmount(operation);
  const counted = kind === 'increment' ? present.plus(amount) : present.times(amount);
  const { step } = operation;
  return toNumber((step === undefined ? counted : counted.toNearest(step, Exact.ROUND_HALF_UP)).toString());
}

function toAmount({ path, by }: ArithmeticOperation): InstanceType<typeof Exact> {
  const text = by.toString();
  if (/^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(text)) return new Exact(text);
  throw invalid(`${path.join('.')}: a number to count by is expected, "${text.slice(0, 60)}" was sent`, path);
}

/** A number that a float holds to the digit is one; any other keeps its digits. */
function toNumber(digits: string): number | ExactNumber {
  const float = Number(digits);
  return Number.isFinite(float) && new Exact(digits).equals(float) && String(float) === digits
    ? float
    : new ExactNumber(digits);
}

function bounded(record: JsonObject, { kind, path, value }: BoundOperation): JsonObject {
  const present = valueAtPath(record, path);
  if (present === undefined) return withValueAt(record, path, value);
  const order = compareJson(value, present);
  return (kind === 'min' ? order < 0 : order > 0) ? withValueAt(record, path, value) : record;
}

function pushed(list: readonly JsonValue[], { values, position, slice, sort }: PushOperation): JsonValue[] {
  const at = position ?? list.length;
  const place = at < 0 ? Math.max(0, list.length + at) : at;
  const joined = [...list.slice(0, place), ...values, ...list.slice(place)];
  const sorted = sort === undefined ? joined : joined.sort((one, other) => compareBy(sort, one, other));
  if (slice === undefined) return sorted;
  if (slice === 0) return [];
  return slice > 0 ? sorted.slice(0, slice) : sorted.slice(slice);
}

function compareBy(sort: NonNullable<PushOperation['sort']>, one: JsonValue, other: JsonValue): number {
  for (const { path, direction } of sort) {
    const order = compareJson(memberAt(one, path), memberAt(other, path));
    if (order !== 0) return direction === 'ascending' ? order : -order;
  }
  return 0;
}

/** A missing member counts as null. */
function memberAt(element: JsonValue, path: Path): JsonValue {
  return valueAtPath({ element }, ['element', ...path]) ?? null;
}

function united(
  list: readonly JsonValue[],
  { values, isSame = isSameJson }: AddToSetOperation,
): readonly JsonValue[] {
  const set = [...list];
  for (const value of values) {
    if (!set.some((element) => isSame(element, value))) set.push(value);
  }
  return set;
}

function isPulled(element: JsonValue, { matches }: PullOperation): boolean {
  return typeof matches === 'function'
    ? matches(element)
    : matches.some((value) => isSameJson(value, element));
}

/** The list at a path; a missing one is empty. */
function listAt(record: JsonObject, path: Path): readonly JsonValue[] {
  const value = valueAtPath(record, path);
  if (value === undefined) return [];
  if (isList(value)) return value;
  throw unfit(path, 'a list', value);
}

/** Changes the list at the path; returns the record unchanged if there is none. */
function withList(
  record: JsonObject,
  path: Path,
  change: (list: readonly JsonValue[]) => readonly JsonValue[],
): JsonObject {
  if (valueAtPath(record, path) === undefined) return record;
  return withValueAt(record, path, change(listAt(record, path)));
}

function assertApart(paths: readonly Path[]): void {
  const keyed = paths.map((path) => ({ path, key: path.map((step) => JSON.stringify(step)).join() }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : 1));
  for (const [index, { path, key }] of keyed.entries()) {
    const next = keyed[index + 1]?.key;
    if (path.length === 0) throw invalid('a change needs the path of a field');
    if (next === undefined || (next !== key && !next.startsWith(`${key},`))) continue;
    throw invalid(`${path.join('.')} is changed twice by one update; change it once`, path);
  }
}

function invalid(detail: string, path?: Path): ServiceError {
  return invalidAt(detail, { ...(path !== undefined && { pointer: pointerOf(path) }) });
}

function tooMany(most: number, what: string): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `an update has at most ${most} ${what}`);
}
