/** The references within a record, and the errors for dangling ones. */
import type { ErrorDetail } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { pointerStep } from '../../base/model/path.js';

/** A reference within a record. */
export interface HeldReference {
  /** JSON pointer within the record. */
  readonly pointer: string;
  /** The path of its field, without list positions. */
  readonly field: string;
  readonly targets: readonly string[];
  readonly value: string;
  /** Whether the write holds the target until its commit, because a removal of it is refused afterwards. */
  readonly holds: boolean;
}

/** The references in stored data whose targets must exist according to the declaration. */
export function listReferences(collection: Collection, data: JsonObject): readonly HeldReference[] {
  const references: HeldReference[] = [];
  for (const name of Object.keys(data)) {
    const field = collection.fieldsByName.get(name);
    const value = data[name];
    if (field === undefined || value === undefined || !HOLDS_REFERENCES.has(field.type)) continue;
    references.push(...referencesIn(value, field, { pointer: `/${pointerStep(name)}`, path: name }));
  }
  return references;
}

const HOLDS_REFERENCES: ReadonlySet<Field['type']> = new Set<Field['type']>(['reference', 'object']);

/** Whether values of the field contain references whose targets a write holds. */
export function holdsReferences(field: Field | undefined): boolean {
  if (field === undefined) return false;
  return (field.targets.length > 0 && field.onDelete === 'refuse') || field.fields.some(holdsReferences);
}

interface Place {
  readonly pointer: string;
  readonly path: string;
}

function referencesIn(value: JsonValue, field: Field, place: Place): readonly HeldReference[] {
  if (field.isList && Array.isArray(value)) {
    const element = { ...field, isList: false };
    return value.flatMap((one: JsonValue, index) =>
      referencesIn(one, element, { ...place, pointer: `${place.pointer}/${index}` }),
    );
  }
  if (!isJsonObject(value)) return [];
  if (field.type === 'reference') {
    const { value: id } = value;
    if (!field.mustExist || typeof id !== 'string') return [];
    const { targets, onDelete } = field;
    return [{ pointer: place.pointer, field: place.path, targets, value: id, holds: onDelete === 'refuse' }];
  }
  if (field.type !== 'object') return [];
  return field.fields.flatMap((member) => {
    const held = value[member.name];
    if (held === undefined) return [];
    const inner = {
      pointer: `${place.pointer}/${pointerStep(member.name)}`,
      path: `${place.path}.${member.name}`,
    };
    return referencesIn(held, member, inner);
  });
}

/**
 * Leaves out references that the record already had in the same field: an old dangling reference does not
 * block other changes.
 */
export function withoutHeld(
  references: readonly HeldReference[],
  before: readonly HeldReference[],
): readonly HeldReference[] {
  const held = new Set(before.map(({ field, value }) => `${field} ${value}`));
  return references.filter(({ field, value }) => !held.has(`${field} ${value}`));
}

/** The error for a dangling reference; `pointer` is the position of the record in the body. */
export function deadReferenceDetail(
  { pointer, targets, value }: HeldReference,
  recordPointer = '',
): ErrorDetail {
  const where = `${recordPointer}${pointer}`;
  const expected = `the _id of a record of ${targets.join(' or ')}`;
  return {
    pointer: where,
    detail: `${where}: ${expected} is expected, and there is none "${value}"`,
    expected,
    sent: value,
  };
}
