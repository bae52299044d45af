/** The differences between two declarations of a collection, for review before saving. */
import { isDeepStrictEqual } from 'node:util';
import type { CollectionDefinition } from './collection-definition.js';

export interface DefinitionChange {
  /** A JSON pointer, with a field's name instead of its position, e.g. `/fields/motto`. */
  readonly pointer: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The present value; `undefined` if it is added. */
  readonly before: unknown;
  /** The new value; `undefined` if it is removed. */
  readonly after: unknown;
}

/**
 * Changes in the order of the new declaration, followed by removals. Fields are compared by name, and a
 * different order is a change of its own; everything else is compared by key, as a whole.
 */
export function compareDefinitions(
  before: CollectionDefinition | undefined,
  after: CollectionDefinition,
): readonly DefinitionChange[] {
  const { fields: fieldsBefore = [], ...keysBefore } = before ?? ({} as Partial<CollectionDefinition>);
  const { fields: fieldsAfter = [], ...keysAfter } = after;
  const changes = [
    ...compareMembers('', new Map(Object.entries(keysBefore)), new Map(Object.entries(keysAfter))),
    ...compareMembers(
      '/fields',
      new Map(fieldsBefore.map((field) => [field.name, field])),
      new Map(fieldsAfter.map((field) => [field.name, field])),
    ),
  ];
  const [namesBefore, namesAfter] = [fieldsBefore, fieldsAfter].map((fields) =>
    fields.map(({ name }) => name),
  );
  const kept = namesAfter?.filter((name) => namesBefore?.includes(name));
  const keptBefore = namesBefore?.filter((name) => namesAfter?.includes(name));
  if (!isDeepStrictEqual(kept, keptBefore)) {
    changes.push({ pointer: '/fields', kind: 'changed', before: namesBefore, after: namesAfter });
  }
  return changes;
}

function compareMembers(
  parent: string,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  for (const [name, value] of after) {
    const pointer = `${parent}/${name}`;
    const was = before.get(name);
    if (!before.has(name)) changes.push({ pointer, kind: 'added', before: undefined, after: value });
    else if (!isDeepStrictEqual(was, value)) {
      changes.push({ pointer, kind: 'changed', before: was, after: value });
    }
  }
  for (const [name, value] of before) {
    if (after.has(name)) continue;
    changes.push({ pointer: `${parent}/${name}`, kind: 'removed', before: value, after: undefined });
  }
  return changes;
}
