/**
 * Records may hold undeclared fields, so naming one is not an error; but a filter by a typo finds nothing, a
 * write stores it, and both look like success. Such names are therefore pointed out to the caller.
 *
 * @see decisions 2, 3
 */

import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { isFieldInReach } from './access.js';

/** The members of every record beside its fields. */
const STANDARD_NAMES: ReadonlySet<string> = new Set(['_id', CREATED_ON]);
const REFERENCE_MEMBERS: ReadonlySet<string> = new Set(['value', 'label']);
const MAX_NAME_LENGTH = 64;
/** Limited, because each name is compared with every declared one, and a request may name thousands. */
const MAX_COMPARED = 20;
/** The first records of a write nearly always represent all. */
const MOST_RECORDS = 20;
const DEEPEST_SENT = 3;

/**
 * Adds a hint for each path of a read that leads to nothing declared: an unknown field, a member that an
 * object or a reference does not have, or a member of a plain value.
 */
export function hintAtPaths(paths: readonly Path[], scope: Scope, collection: Collection): void {
  for (const hint of hintsAt(paths, scope, collection)) scope.onHint?.(hint.text);
}

/** Adds a hint for each undeclared name in the sent values that is close to a declared one. */
export function hintAtSent(sent: readonly JsonValue[], scope: Scope, collection: Collection): void {
  if (scope.onHint === undefined) return;
  const paths = sent.slice(0, MOST_RECORDS).flatMap((value) => [...pathsIn(value, [])]);
  for (const hint of hintsAt(paths, scope, collection)) if (hint.isTypo) scope.onHint(hint.text);
}

interface Hint {
  readonly text: string;
  /** The name is close to a declared one. */
  readonly isTypo: boolean;
}

function* hintsAt(paths: readonly Path[], scope: Scope, collection: Collection): Generator<Hint> {
  if (scope.onHint === undefined || collection.fields.length === 0) return;
  let compared = 0;
  for (const path of paths) {
    const hint = hintAt(path, scope, collection);
    if (hint === undefined) continue;
    yield hint;
    compared += 1;
    if (compared === MAX_COMPARED) return;
  }
}

/** `undefined` if every step is declared, or may be anything. */
function hintAt(path: Path, scope: Scope, collection: Collection): Hint | undefined {
  // A number leads to an element of a list.
  const [first = '', ...members] = path.filter((step) => !/^\d+$/.test(step));
  if (first === '' || STANDARD_NAMES.has(first)) return undefined;
  const isInReach = ({ name }: Field) => isFieldInReach(scope, collection, name);
  let field = collection.fieldsByName.get(first);
  if (field === undefined) {
    const known = () => collection.fields.filter(isInReach);
    return unknown(first, { at: collection.name, known });
  }
  if (members.length > 0 && !isInReach(field)) return undefined;
  for (const member of members) {
    const at = `"${field.name}" of ${collection.name}`;
    if (field.type === 'reference')
      return REFERENCE_MEMBERS.has(member) ? undefined : ofReference(at, member);
    if (field.type !== 'object')
      return { text: `${at} is a ${field.type}; it has no members.`, isTypo: false };
    const { fields }: Field = field;
    if (fields.length === 0) return undefined;
    field = fields.find(({ name }) => name === member);
    if (field === undefined) return unknown(member, { at, known: () => fields });
  }
  return undefined;
}

function unknown(
  name: string,
  { at, known }: { readonly at: string; readonly known: () => readonly Field[] },
): Hint {
  const shown = name.slice(0, MAX_NAME_LENGTH);
  const suggestion = didYouMean(
    name,
    known().map((field) => field.name),
  );
  return { text: `No field "${shown}" is declared on ${at}.${suggestion}`, isTypo: suggestion !== '' };
}

function ofReference(at: string, member: string): Hint {
  const shown = member.slice(0, MAX_NAME_LENGTH);
  const text =
    `${at} is a reference: it holds only "value" and "label", not "${shown}". A condition on the record ` +
    'that it points to is written as `record` in `where`, or after a $lookup in a script.';
  return { text, isTypo: false };
}

/** The paths of the members of a value. */
function* pathsIn(value: JsonValue, base: Path): Generator<Path> {
  if (Array.isArray(value)) {
    for (const element of value.slice(0, MOST_RECORDS)) yield* pathsIn(element, base);
  } else if (isJsonObject(value) && base.length < DEEPEST_SENT) {
    for (const [name, member] of Object.entries(value)) {
      yield [...base, name];
      yield* pathsIn(member, [...base, name]);
    }
  }
}
