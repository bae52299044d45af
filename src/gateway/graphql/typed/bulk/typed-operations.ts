/** Converts the inputs of a typed bulk update to operations of the store, by stored names. */

import { isExactNumber, type JsonValue } from '../../../../base/json/json.js';
import type { Path } from '../../../../base/model/path.js';
import type { UpdateOperation } from '../../../../base/model/update-operation.js';
import { type InputValues, toStoredInput } from '../stored-input.js';
import type { TypedObject } from '../typed-model.js';

/** The arguments of `updateTasks`; null counts as not sent. */
export interface BulkChanges {
  readonly set?: InputValues | null | undefined;
  readonly increment?: InputValues | null | undefined;
  readonly multiply?: InputValues | null | undefined;
  readonly min?: InputValues | null | undefined;
  readonly max?: InputValues | null | undefined;
  readonly push?: InputValues | null | undefined;
  readonly addToSet?: InputValues | null | undefined;
  readonly pull?: InputValues | null | undefined;
}

export function toTypedOperations(changes: BulkChanges, object: TypedObject): readonly UpdateOperation[] {
  const leaves = (values: InputValues | null | undefined) => (values ? leavesOf(values, object) : []);
  return [
    ...(changes.set ? setOperations(changes.set, object) : []),
    ...leaves(changes.increment).map(({ path, value }) => arithmetic('increment', path, value)),
    ...leaves(changes.multiply).map(({ path, value }) => arithmetic('multiply', path, value)),
    ...leaves(changes.min).map(({ path, value }): UpdateOperation => ({ kind: 'min', path, value })),
    ...leaves(changes.max).map(({ path, value }): UpdateOperation => ({ kind: 'max', path, value })),
    ...leaves(changes.push).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'push',
        path,
        values: toList(value),
      }),
    ),
    ...leaves(changes.addToSet).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'addToSet',
        path,
        values: toList(value),
      }),
    ),
    ...leaves(changes.pull).map(
      ({ path, value }): UpdateOperation => ({
        kind: 'pull',
        path,
        matches: toList(value),
      }),
    ),
  ];
}

/** Replaces whole fields, objects too; null removes one. */
function setOperations(values: InputValues, object: TypedObject): readonly UpdateOperation[] {
  return object.fields.flatMap(({ name, field, value }): UpdateOperation[] => {
    const sent = values[name];
    if (sent === undefined) return [];
    const path = [field.name];
    return [
      sent === null ? { kind: 'unset', path } : { kind: 'set', path, value: toStoredInput(sent, value) },
    ];
  });
}

interface Leaf {
  readonly path: Path;
  readonly value: JsonValue;
}

/** The values, with their paths through objects. */
function leavesOf(values: InputValues, object: TypedObject, base: Path = []): readonly Leaf[] {
  return object.fields.flatMap(({ name, field, value }): readonly Leaf[] => {
    const sent = values[name];
    if (sent === undefined || sent === null) return [];
    const path = [...base, field.name];
    if (value.kind === 'object' && !field.isList && isInput(sent)) return leavesOf(sent, value.object, path);
    return [{ path, value: toStoredInput(sent, value) }];
  });
}

function arithmetic(kind: 'increment' | 'multiply', path: Path, value: JsonValue): UpdateOperation {
  if (typeof value === 'number' || isExactNumber(value)) return { kind, path, by: value };
  throw new Error('the schema lets numbers through alone');
}

function toList(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

function isInput(sent: unknown): sent is InputValues {
  return typeof sent === 'object' && sent !== null;
}
