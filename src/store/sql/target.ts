/**
 * Resolves a path of a filter by the declaration of its collection: the type of the value, and how to reach
 * it.
 */

import type { Collection, Field } from '../../base/model/collection.js';
import { type ValueKind, valueKindOf } from '../../base/model/field-types/scalar-types.js';
import type { Path } from '../../base/model/path.js';

/** `id` is the `_id` of the record. `any` is an undeclared value. */
type LeafType = 'id' | ValueKind | 'any';

/**
 * `column`: the path is declared and passes no list, so that it has one value, which an index on its
 * expression finds. `path`: any other path. A jsonpath evaluates it and looks into lists.
 */
export interface Target {
  readonly form: 'id' | 'column' | 'path';
  readonly type: LeafType;
  /** The declared members of an object. */
  readonly members: readonly Field[];
  /** The declared path from the record on. */
  readonly path?: Path;
}

const ANYTHING: Target = { form: 'path', type: 'any', members: [] };
const RECORD_ID: Target = { form: 'id', type: 'id', members: [] };

export function targetInRecord(collection: Collection, path: Path): Target {
  if (path.length === 1 && path[0] === '_id') return RECORD_ID;
  const [name] = path;
  const field = name === undefined ? undefined : collection.fieldsByName.get(name);
  return field === undefined ? ANYTHING : targetInField(field, path, 'column');
}

/**
 * Resolves a path that starts at an element of `list`. The empty path is the element itself. The form is
 * always `path`.
 */
export function targetInElement(list: Target, path: Path): Target {
  if (path.length === 0) return { ...list, form: 'path' };
  if (list.type === 'reference') return { ...referenceMember(path), form: 'path' };
  const field = list.members.find((member) => member.name === path[0]);
  if (field === undefined) return ANYTHING;
  return { ...targetInField(field, path, 'path'), path: [...(list.path ?? []), ...path] };
}

function targetInField(first: Field, path: Path, start: 'column' | 'path'): Target {
  let field = first;
  let form = start;
  for (let step = 1; ; step++) {
    if (field.isList) form = 'path';
    if (step === path.length) return { form, type: valueKindOf(field), members: field.fields, path };
    if (field.type === 'reference') {
      const member = referenceMember(path.slice(step));
      return member === ANYTHING ? ANYTHING : { ...member, form };
    }
    const next = field.fields.find((member) => member.name === path[step]);
    if (next === undefined) return ANYTHING;
    field = next;
  }
}

function referenceMember(path: Path): Target {
  const isMember = path.length === 1 && (path[0] === 'value' || path[0] === 'label');
  return isMember ? { form: 'column', type: 'text', members: [] } : ANYTHING;
}
