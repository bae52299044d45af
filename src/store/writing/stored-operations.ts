/**
 * The operations of an update as they apply to one collection: checked against the caller's rights, their
 * values as they are stored.
 */
import { type ErrorDetail, invalidAt } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { isSameJson } from '../../base/model/compare-json.js';
import { type Path, pointerOf } from '../../base/model/path.js';
import { pathsOf, type UpdateOperation } from '../../base/model/update-operation.js';
import { assertReadable, type EffectiveAccess, type RecordsOfScope } from '../access/access.js';
import { assertNoProbing } from './check-faults.js';
import { assertWritable } from './record-refusals.js';
import { assertNoFaults, type ToStoredOptions, toStoredValue } from './validation.js';

/** Records of a collection that a caller may read, and change. */
export interface RightsToChange extends RecordsOfScope {
  readonly readable: EffectiveAccess;
  readonly writable: EffectiveAccess;
}

/**
 * Refuses operations on fields that the caller may not set, and those whose outcome would disclose fields
 * that it may not read.
 *
 * @throws FORBIDDEN (403), INVALID_VALUE for the `_id`
 */
export function assertMayApply(
  operations: readonly UpdateOperation[],
  { scope, collection, readable, writable }: RightsToChange,
): void {
  for (const operation of operations) {
    const fields: JsonObject = operation.kind === 'replace' ? operation.data : fieldsAt(pathsOf(operation));
    if (operation.kind !== 'replace' && Object.hasOwn(fields, '_id') && !isNaming(operation)) {
      const detail = 'the _id of a record never changes';
      throw invalidAt(detail, { pointer: '/_id' });
    }
    assertWritable([fields], writable, collection);
    assertNoProbing([fields], scope, collection);
    if (operation.kind !== 'replace' && !isBlind(operation)) {
      assertReadable(pathsOf(operation), readable, collection);
    }
  }
}

/** Says the `_id` that an upsert gives the record it makes. A record that exists must have it already. */
function isNaming({ kind, path }: Exclude<UpdateOperation, { kind: 'replace' }>): boolean {
  return (kind === 'set' || kind === 'setOnInsert') && path.length === 1;
}

/** The top-level fields that an operation is about. */
export function sentFieldsOf(operation: UpdateOperation): readonly string[] {
  return Object.keys(operation.kind === 'replace' ? operation.data : fieldsAt(pathsOf(operation)));
}

/** The values that an operation sends, each at its path. */
export function sentDataOf(operation: UpdateOperation): readonly JsonObject[] {
  if (operation.kind === 'replace') return [operation.data];
  const value = 'value' in operation ? operation.value : null;
  const sent = ('values' in operation ? operation.values : value) as JsonObject;
  return pathsOf(operation).map((path) =>
    path.reduceRight<JsonObject>((inner, step) => ({ [step]: inner }), sent),
  );
}

/**
 * The operations with the values of declared fields as they are stored. @throws INVALID_VALUE (400) with
 * every fault
 */
export function toStoredOperations(
  operations: readonly UpdateOperation[],
  collection: Collection,
  moment: Pick<ToStoredOptions, 'timeZone' | 'callingCode' | 'now'>,
): readonly UpdateOperation[] {
  const errors: ErrorDetail[] = [];
  const stored = operations.map((operation) => {
    if (operation.kind === 'replace') return operation;
    const declared = findDeclared(collection.fields, operation.path);
    if (declared === undefined) return operation;
    const options = { ...moment, errors, pointer: pointerOf(operation.path) };
    return toStoredOperation(operation, declared, (value, of) =>
      toStoredValue(value, { field: declared.field, of }, options),
    );
  });
  assertNoFaults(errors);
  return stored;
}

interface Declared {
  readonly field: Field;
  /** `element`: the path leads to one of the list. */
  readonly of: 'field' | 'element';
}

function toStoredOperation(
  operation: Exclude<UpdateOperation, { kind: 'replace' }>,
  { field, of }: Declared,
  convert: (value: JsonValue, of: Declared['of']) => JsonValue,
): UpdateOperation {
  switch (operation.kind) {
    case 'set':
    case 'setOnInsert':
    case 'min':
    case 'max':
      return { ...operation, value: convert(operation.value, of) };
    case 'push':
      return { ...operation, values: operation.values.map((value) => convert(value, 'element')) };
    case 'addToSet': {
      const values = operation.values.map((value) => convert(value, 'element'));
      return field.type === 'reference'
        ? { ...operation, values, isSame: isSameReference }
        : { ...operation, values };
    }
    case 'pull': {
      if (typeof operation.matches === 'function') return operation;
      const values = operation.matches.map((value) => convert(value, 'element'));
      if (field.type !== 'reference') return { ...operation, matches: values };
      return { ...operation, matches: (element) => values.some((value) => isSameReference(value, element)) };
    }
    case 'currentDate':
      return field.format === 'date' ? { ...operation, as: 'day' } : operation;
    case 'multiply':
      return { ...operation, step: field.bounds?.multipleOf };
    default:
      return operation;
  }
}

/** References to one record are the same, whatever it is called in them. */
function isSameReference(one: JsonValue, other: JsonValue): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return isSameJson(one, other);
  return isSameJson(one.value, other.value);
}

/** The declared field a path leads to, the steps into lists being numbers. */
function findDeclared(fields: readonly Field[], path: Path): Declared | undefined {
  const [name, ...rest] = path;
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined) return undefined;
  const [step] = rest;
  const isIntoList = field.isList && step !== undefined && /^\d+$/.test(step);
  const inner = isIntoList ? rest.slice(1) : rest;
  if (inner.length === 0) return { field, of: isIntoList ? 'element' : 'field' };
  return field.type === 'object' && field.isList === isIntoList
    ? findDeclared(field.fields, inner)
    : undefined;
}

/** Tells nothing of what was there. */
function isBlind(operation: UpdateOperation): boolean {
  const isOnTop = pathsOf(operation).every((path) => path.length === 1);
  return isOnTop && ['set', 'setOnInsert', 'unset', 'currentDate'].includes(operation.kind);
}

function fieldsAt(paths: readonly Path[]): Record<string, true> {
  return Object.fromEntries(paths.map(([field = '']) => [field, true as const]));
}
