/** Resolves a path by the declaration of its collection: the type of the value, and how to reach it. */

import type { Collection, Field } from './collection.js';
import { type ValueKind, valueKindOf } from './field-types/scalar-types.js';
import type { Path } from './path.js';

/**
 * `column`: the path is declared and passes no list, so that it has one value, which an index on its
 * expression finds. `path`: any other path, which may lead into lists. `id`: the `_id` of the record.
 */
export interface Place {
  readonly form: 'id' | 'column' | 'path';
  /** `any` is an undeclared value. */
  readonly type: 'id' | ValueKind | 'any';
  /** The declared members of an object. */
  readonly members: readonly Field[];
  /** The declared path from the record on. */
  readonly path?: Path;
  /** The declared field; `undefined` for the id, the members of a reference and undeclared values. */
  readonly field: Field | undefined;
}

const ANYTHING: Place = { form: 'path', type: 'any', members: [], field: undefined };
const RECORD_ID: Place = { form: 'id', type: 'id', members: [], field: undefined };

export function placeInRecord(collection: Collection, path: Path): Place {
  if (path.length === 1 && path[0] === '_id') return RECORD_ID;
  const [name] = path;
  const field = name === undefined ? undefined : collection.fieldsByName.get(name);
  return field === undefined ? ANYTHING : placeInField(field, path, 'column');
}

/**
 * A path that starts at an element of `list`. The empty path is the element itself. The form is always
 * `path`.
 */
export function placeInElement(list: Place, path: Path): Place {
  if (path.length === 0) return { ...list, form: 'path' };
  if (list.type === 'reference') return { ...referenceMember(path), form: 'path' };
  const field = list.members.find((member) => member.name === path[0]);
  if (field === undefined) return ANYTHING;
  return { ...placeInField(field, path, 'path'), path: [...(list.path ?? []), ...path] };
}

function placeInField(first: Field, path: Path, start: 'column' | 'path'): Place {
  let field = first;
  let form = start;
  for (let step = 1; ; step++) {
    if (field.isList) form = 'path';
    if (step === path.length) return { form, type: valueKindOf(field), members: field.fields, field, path };
    if (field.type === 'reference') {
      const member = referenceMember(path.slice(step));
      return member === ANYTHING ? ANYTHING : { ...member, form };
    }
    const next = field.fields.find((member) => member.name === path[step]);
    if (next === undefined) return ANYTHING;
    field = next;
  }
}

function referenceMember(path: Path): Place {
  const isMember = path.length === 1 && (path[0] === 'value' || path[0] === 'label');
  return isMember ? { form: 'column', type: 'text', members: [], field: undefined } : ANYTHING;
}
