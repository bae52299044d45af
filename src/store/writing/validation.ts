/**
 * Makes of what a caller sent what is stored: checks every declared field, converts it, stamps defaults.
 *
 * All faults of a body are reported at once. Undeclared fields are kept as they are sent.
 *
 * @see decisions 1, 2
 */

import { andMore, type ErrorDetail, ServiceError } from '../../base/errors.js';
import {
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  setMember,
} from '../../base/json/json.js';
import { describeBounds, isWithinBounds } from '../../base/model/bounds.js';
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import { DATETIME } from '../../base/model/field-types/datetime.js';
import type { ScalarType } from '../../base/model/field-types/scalar-type.js';
import { scalarTypeOf } from '../../base/model/field-types/scalar-types.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { pointerStep } from '../../base/model/path.js';
import { isRecordId } from '../../base/model/record-id.js';
import { isStorableNumber, NUMBER_EXPECTATION } from '../../base/model/storable-number.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';
import type { Clock } from '../../base/model/value-test.js';
import { findCheckFaults, NO_SECRETS } from './check-faults.js';
import type { UnlabelledReference } from './references.js';

/** `now` is the instant of the write. */
export interface ToStoredOptions extends Clock {
  /**
   * `create` and `replace` take a whole record; `merge` takes the top-level fields to change, where null
   * removes one (RFC 7386 at the top level: an object or list is replaced as a whole).
   */
  readonly mode: 'create' | 'replace' | 'merge';
  /** replace: top-level fields that keep their present value when they are not sent. */
  readonly keptFields?: ReadonlySet<string>;
  /** JSON pointer of the record in the body, for errors. */
  readonly pointer?: string;
  /** The record as it is stored: what it has already may stay, although it breaks a bound. */
  readonly before?: JsonObject | undefined;
  /** Fields whose values no error discloses. Default: none. */
  readonly secret?: { has(field: string): boolean };
}

export interface StoredChange {
  /** The fields to store, or, with `merge`, to set. */
  readonly data: JsonObject;
  /** merge: the top-level fields that go. */
  readonly removed: readonly string[];
  /** References sent without a label, to be given one where their target can be read. */
  readonly unlabelled: readonly UnlabelledReference[];
  /** Whether texts are to be filled in from the records at references; until then they are empty. */
  readonly isOpen: boolean;
}

/**
 * Deeper than any record of a school; a body nested without end would exhaust the stack of whoever reads it.
 */
const MAX_DEPTH = 32;
const MAX_ERRORS = 100;
/** A b-tree holds no entry over a third of a page; compared in UTF-8 bytes, with room for the domain. */
const MAX_INDEXED_BYTES = 2000;

/**
 * Converts a sent record to the stored form.
 *
 * @throws INVALID_VALUE (400) with every fault: its JSON pointer, what was expected and what was sent.
 */
export function toStored(collection: Collection, sent: JsonObject, options: ToStoredOptions): StoredChange {
  const { change, errors } = convert(collection, sent, options);
  assertNoFaults(errors);
  return change;
}

/**
 * Does as `toStored` for several records at once; pointers start with the record's index when there are more
 * than one.
 */
export function toStoredAll(
  collection: Collection,
  records: readonly JsonObject[],
  options: ToStoredOptions & { readonly secretsOf?: (index: number) => ToStoredOptions['secret'] },
): StoredChange[] {
  const { secretsOf, ...shared } = options;
  const results = records.map((record, index) => {
    const secret = secretsOf?.(index);
    const own = secret === undefined ? shared : { ...shared, secret };
    return convert(collection, record, records.length === 1 ? own : { ...own, pointer: `/${index}` });
  });
  assertNoFaults(results.flatMap((result) => result.errors));
  return results.map((result) => result.change);
}

/** A record that may be a new one, or change one that is there: which of them, only the store knows. */
export interface StagedChange extends Pick<StoredChange, 'unlabelled'> {
  /** All of it, with its defaults, if it is new. */
  readonly data: JsonObject;
  /** The faults of the sent record. */
  readonly faults: readonly ErrorDetail[];
  /** The required fields that it lacks if it is new. */
  readonly missing: readonly ErrorDetail[];
}

/**
 * Does as `toStored` for a record of which it is not known yet whether it is new. Of a field in `partial` the
 * members that are sent change those of the record that is there, so that a missing one is none of its
 * faults.
 */
export function toStaged(
  collection: Collection,
  sent: JsonObject,
  options: ToStoredOptions & { readonly mode: 'replace'; readonly partial: ReadonlySet<string> },
): StagedChange {
  const { change, errors } = convert(collection, sent, options);
  const { data, unlabelled } = change;
  if (errors.length === 0) {
    const missing = findCheckFaults(collection, data, { ...options, pointer: '', secret: NO_SECRETS });
    return { data, unlabelled, faults: errors, missing };
  }
  const isLacking = ({ pointer = '', ...error }: ErrorDetail) => {
    const [, name = '', ...inner] = pointer.split('/');
    return !('sent' in error) && (inner.length === 0 || options.partial.has(name));
  };
  return {
    data,
    unlabelled,
    faults: errors.filter((error) => !isLacking(error)),
    missing: errors.filter(isLacking),
  };
}

/**
 * One value for a declared field, or for an element of a list, as it is stored; what is wrong with it goes to
 * `errors`.
 */
export function toStoredValue(
  value: JsonValue,
  declared: { readonly field: Field; readonly of: 'field' | 'element' },
  options: Pick<ToStoredOptions, 'timeZone' | 'callingCode' | 'now' | 'pointer'> & {
    readonly errors: ErrorDetail[];
  },
): JsonValue {
  const { errors, pointer = '', ...others } = options;
  const conversion: Conversion = { options: { ...others, mode: 'merge' }, errors, unlabelled: [] };
  const place: Place = { conversion, parent: undefined, name: pointer, depth: 1 };
  return declared.of === 'field'
    ? toStoredField(declared.field, value, place)
    : toStoredScalar(declared.field, value, place);
}

/** The fault of a record at a position of the body. */
export function withPointer({ pointer = '', detail, ...error }: ErrorDetail, position: string): ErrorDetail {
  return { pointer: `${position}${pointer}`, detail: `${position}${detail}`, ...error };
}

/** @throws INVALID_VALUE (400) listing the faults, if there are any */
export function assertNoFaults(errors: readonly ErrorDetail[]): void {
  const [first] = errors;
  if (first === undefined) return;
  throw new ServiceError('INVALID_VALUE', `${first.detail}${andMore(errors)}`, {
    errors: errors.slice(0, MAX_ERRORS),
  });
}

/** The fields of a collection that are stamped with the instant of the create, so a replace keeps them. */
export function stampedFields(collection: Collection): string[] {
  const declared = collection.fields.filter((field) => stampOf(field) !== undefined);
  return [...new Set([CREATED_ON, ...declared.map((field) => field.name)])];
}

/** The state of one conversion. */
interface Conversion {
  readonly options: ToStoredOptions;
  readonly errors: ErrorDetail[];
  readonly unlabelled: UnlabelledReference[];
}

function convert(
  collection: Collection,
  sent: JsonObject,
  options: ToStoredOptions,
): { change: StoredChange; errors: readonly ErrorDetail[] } {
  const conversion: Conversion = { options, errors: [], unlabelled: [] };
  const pointer = options.pointer ?? '';
  const place: Place = { conversion, parent: undefined, name: pointer, depth: 1 };
  const removed: string[] = [];
  const data: Record<string, JsonValue> = {};
  for (const name in sent) {
    const value = sent[name] ?? null;
    const field = collection.fieldsByName.get(name);
    if (options.mode === 'merge' && value === null && !field?.isRequired) removed.push(name);
    else setMember(data, name, toStoredMember(field, name, value, place));
  }
  if (options.mode !== 'merge') {
    setMissingMembers(data, { fields: collection.fields, sent, parent: place });
    setCreatedOn(data, { collection, sent, options });
  }
  // A check would add nothing about values that are already wrong. If fields are kept, only the store knows
  // the whole record.
  if (options.mode === 'create' && conversion.errors.length === 0) {
    const { secret = NO_SECRETS } = options;
    conversion.errors.push(...findCheckFaults(collection, data, { ...options, pointer, secret }));
  }
  const isOpen = collection.fields.some(
    ({ name, filledFrom }) => filledFrom !== undefined && data[name] === '',
  );
  return { change: { data, removed, unlabelled: conversion.unlabelled, isOpen }, errors: conversion.errors };
}

/** The place of a conversion in the body; its JSON pointer is only made for a fault. */
interface Place {
  readonly conversion: Conversion;
  readonly parent: Place | undefined;
  /** The name of the member, or the pointer of the record if there is no parent. */
  readonly name: string;
  readonly depth: number;
}

function toStoredMember(field: Field | undefined, name: string, value: JsonValue, parent: Place): JsonValue {
  const place = inside(parent, name);
  if (field !== undefined) return toStoredField(field, value, place);
  if (findUnstorableText(name) !== undefined)
    report(place, 'a field name that is Unicode text without NUL', name);
  return checkUndeclared(value, place);
}

/** Defaults of the declared fields that were not sent; the required ones without a default are faults. */
function setMissingMembers(
  data: Record<string, JsonValue>,
  {
    fields,
    sent,
    parent,
  }: { readonly fields: readonly Field[]; readonly sent: JsonObject; readonly parent: Place },
): void {
  const { options } = parent.conversion;
  for (const field of fields) {
    if (Object.hasOwn(sent, field.name)) continue;
    if (parent.depth === 1 && (options.keptFields?.has(field.name) || isStampedAnyway(field))) continue;
    if (field.default !== undefined)
      setMember(data, field.name, stampOf(field)?.(options.now, options.timeZone) ?? field.default);
    else if (parent.depth === 1 && Object.hasOwn(sent, field.filledFrom ?? ''))
      setMember(data, field.name, '');
    else if (field.isRequired) report(inside(parent, field.name), expectationOf(field), undefined);
  }
}

/** `created_on` is stamped in every collection, so its absence is no fault, declared or not. */
function isStampedAnyway(field: Field): boolean {
  return field.name === CREATED_ON && field.default === undefined;
}

function setCreatedOn(
  data: Record<string, JsonValue>,
  {
    collection,
    sent,
    options,
  }: { readonly collection: Collection; readonly sent: JsonObject; readonly options: ToStoredOptions },
): void {
  if (Object.hasOwn(sent, CREATED_ON) || options.keptFields?.has(CREATED_ON)) return;
  const field = collection.fieldsByName.get(CREATED_ON);
  if (field?.default !== undefined) return;
  const declared = field === undefined ? undefined : scalarTypeOf(field)?.stamp;
  const stamp = declared ?? DATETIME.stamp;
  setMember(data, CREATED_ON, stamp(options.now, options.timeZone));
}

/** Tells how a field that is stamped with the instant of the write is written. */
function stampOf(field: Field): ScalarType['stamp'] {
  return field.default === 'now' ? scalarTypeOf(field)?.stamp : undefined;
}

function toStoredField(field: Field, value: JsonValue, place: Place): JsonValue {
  if (value === null) {
    if (field.isRequired) report(place, expectationOf(field), value);
    return null;
  }
  if (!field.isList) {
    const stored = toStoredScalar(field, value, place);
    return stored === '' && field.isRequired ? reportEmpty(field, value, place) : stored;
  }
  if (!Array.isArray(value)) return report(place, expectationOf(field), value);
  const stored = value.map((element: JsonValue, index) =>
    toStoredScalar(field, element, inside(place, String(index))),
  );
  const isEmpty = field.isRequired && stored.every((element) => element === '');
  return isEmpty ? reportEmpty(field, value, place) : stored;
}

/** A required value is filled: neither text without a visible character nor a list without elements. */
function reportEmpty(field: Field, value: JsonValue, place: Place): JsonValue {
  if (isHeld(value, place)) return value;
  const expected = field.isList
    ? `a list of at least one element, each ${scalarExpectationOf(field)}`
    : `${expectationOf(field)} that is not empty`;
  return report(place, expected, value);
}

function toStoredScalar(field: Field, sent: JsonValue, place: Place): JsonValue {
  const value = typeof sent === 'string' && field.type === 'text' ? toNormalText(sent) : sent;
  if (place.depth > MAX_DEPTH) return report(place, `at most ${MAX_DEPTH} levels`, sent);
  if (field.type === 'reference') return toStoredReference(field, value, place);
  if (field.type === 'object') return toStoredObject(field, value, place);
  const { options } = place.conversion;
  const converted = scalarTypeOf(field)?.toStored(value, options.timeZone, options.callingCode);
  const isValid =
    converted !== undefined &&
    (field.allowed === undefined || (typeof converted === 'string' && field.allowed.includes(converted))) &&
    (field.bounds === undefined || isWithinBounds(field.bounds, converted, options));
  if (!isValid) return isHeld(sent, place) ? sent : report(place, scalarExpectationOf(field), sent);
  const stored = converted;
  const isIndexed = field.isIndexed || field.isUnique;
  if (isIndexed && typeof stored === 'string' && Buffer.byteLength(stored) > MAX_INDEXED_BYTES) {
    return report(place, `text of at most ${MAX_INDEXED_BYTES} bytes, because the field is indexed`, sent);
  }
  return stored;
}

/** Whether the record has the value already, at this place or at another of the same list. */
function isHeld(value: JsonValue, place: Place): boolean {
  const { before } = place.conversion.options;
  return before !== undefined && heldAt(place, before).some((held) => isSameJson(held, value));
}

function heldAt({ parent, name }: Place, before: JsonObject): readonly JsonValue[] {
  if (parent === undefined) return [before];
  return heldAt(parent, before).flatMap((held) => {
    if (Array.isArray(held)) return held as readonly JsonValue[];
    const member = isJsonObject(held) ? memberOf(held, name) : undefined;
    return member === undefined ? [] : [member];
  });
}

function toStoredReference(field: Field, value: JsonValue, place: Place): JsonValue {
  const sent = typeof value === 'string' ? { value } : value;
  if (!isJsonObject(sent) || !isRecordId(sent.value)) return report(place, scalarExpectationOf(field), value);
  const { label, ...others } = sent;
  for (const name in others) {
    if (name !== 'value') checkUndeclared(others[name] ?? null, inside(place, name));
  }
  if (typeof label === 'string' && findUnstorableText(label) === undefined) {
    if (!isOfFormer(sent, place)) return { ...sent, label: toNormalText(label) };
  } else if (label !== undefined && label !== null) return report(inside(place, 'label'), 'text', label);
  const reference = { ...others, value: sent.value };
  place.conversion.unlabelled.push({ targets: field.targets, reference });
  return reference;
}

/** Whether the label is that of another record, to which the reference pointed before the change. */
function isOfFormer({ value, label }: JsonObject, place: Place): boolean {
  const held = heldAt(place, place.conversion.options.before ?? {}).filter(isJsonObject);
  return held.some((one) => one.label === label) && held.every((one) => one.value !== value);
}

function toStoredObject(field: Field, value: JsonValue, place: Place): JsonValue {
  if (!isJsonObject(value)) return report(place, scalarExpectationOf(field), value);
  const members = new Map(field.fields.map((member) => [member.name, member]));
  const data: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) {
    setMember(data, name, toStoredMember(members.get(name), name, value[name] ?? null, place));
  }
  setMissingMembers(data, { fields: field.fields, sent: value, parent: place });
  return data;
}

/** An undeclared value is kept as it is, as long as Postgres can hold it. */
function checkUndeclared(value: JsonValue, place: Place): JsonValue {
  if (place.depth > MAX_DEPTH) return report(place, `at most ${MAX_DEPTH} levels`, value);
  if (typeof value === 'string') {
    if (findUnstorableText(value) !== undefined) report(place, 'Unicode text without NUL', value);
  } else if (typeof value === 'number' || isExactNumber(value)) {
    if (!isStorableNumber(value)) report(place, NUMBER_EXPECTATION, value);
  } else if (Array.isArray(value)) {
    value.forEach((element: JsonValue, index) => {
      checkUndeclared(element, inside(place, String(index)));
    });
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) toStoredMember(undefined, name, member, place);
  }
  return value;
}

function inside(parent: Place, name: string): Place {
  return { conversion: parent.conversion, parent, name, depth: parent.depth + 1 };
}

function pointerOf({ parent, name }: Place): string {
  if (parent === undefined) return name;
  return `${pointerOf(parent)}/${pointerStep(name)}`;
}

function report(place: Place, expected: string, sent: JsonValue | undefined): null {
  const pointer = pointerOf(place);
  const where = pointer === '' ? 'the record' : pointer;
  const found = sent === undefined ? 'it is missing' : `${describe(sent)} was sent`;
  place.conversion.errors.push({
    pointer,
    detail: `${where}: ${expected} is expected, ${found}`,
    expected,
    ...(sent !== undefined && { sent: toShown(sent) }),
  });
  return null;
}

/** The values that a field accepts, in the words of an error. */
function expectationOf(field: Field): string {
  return field.isList ? `a list, each element ${scalarExpectationOf(field)}` : scalarExpectationOf(field);
}

function scalarExpectationOf(field: Field): string {
  if (field.type === 'reference') {
    const targets = field.targets.join(' or ');
    return `a reference to ${targets} ({"value": <_id>, "label": <text>}, or the _id)`;
  }
  if (field.allowed !== undefined) return `one of ${field.allowed.join(', ')}`;
  const type = scalarTypeOf(field)?.expectation ?? 'an object';
  return field.bounds === undefined ? type : `${type} (${describeBounds(field.bounds)})`;
}

function describe(sent: JsonValue): string {
  if (Array.isArray(sent)) return 'a list';
  if (isJsonObject(sent)) return 'an object';
  return typeof sent === 'string' ? JSON.stringify(toShown(sent)) : String(sent);
}

/** The sent value, short enough for a response. */
function toShown(sent: JsonValue): unknown {
  if (isExactNumber(sent)) return sent.toString().slice(0, 200);
  if (typeof sent === 'string') return sent.length > 100 ? `${sent.slice(0, 100)}…` : sent;
  if (Array.isArray(sent)) return `a list of ${sent.length}`;
  return isJsonObject(sent) ? 'an object' : sent;
}
