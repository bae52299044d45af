/**
 * Records may hold undeclared fields, so naming one is not an error; but a filter by a typo finds nothing, a
 * write stores it, and both look like success. Such names are therefore pointed out to the caller.
 *
 * @see decisions 2, 3
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.js';
import { isDay } from '../../base/model/calendar.js';
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import { foldText } from '../../base/model/normal-text.js';
import type { Operand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';
import type { Bound, ValueTest } from '../../base/model/value-test.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { isFieldInReach } from './access.js';
import type { ResolvedFilter, ResolvedTest } from './resolved-filter.js';

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
  for (const hint of hintsAt(paths, scope, collection)) scope.call.onHint?.(hint.text);
}

/** Adds a hint for each undeclared name in the sent values that is close to a declared one. */
export function hintAtSent(sent: readonly JsonValue[], scope: Scope, collection: Collection): void {
  if (scope.call.onHint === undefined) return;
  for (const hint of hintsAt(pathsIn(sent.slice(0, MOST_RECORDS), []), scope, collection))
    if (hint.isTypo) scope.call.onHint(hint.text);
}

interface Hint {
  readonly text: string;
  /** The name is close to a declared one. */
  readonly isTypo: boolean;
}

function* hintsAt(paths: Iterable<Path>, scope: Scope, collection: Collection): Generator<Hint> {
  if (scope.call.onHint === undefined || collection.fields.length === 0) return;
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
  for (const [depth, member] of members.entries()) {
    const at = `"${field.name}" of ${collection.name}`;
    const rest = members.slice(depth).join('.');
    if (field.type === 'reference') return REFERENCE_MEMBERS.has(rest) ? undefined : ofReference(at, rest);
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

/**
 * Adds a hint for two conditions on the same field that no record satisfies together, such as
 * `status=absent,status=late`: their result is empty, and looks like an answer. Some callers take the comma
 * of oquery for "or".
 */
export function hintAtContradictions(filter: ResolvedFilter, scope: Scope, collection: Collection): void {
  if (scope.call.onHint === undefined || filter.kind !== 'all') return;
  const conditions = testsOf(filter).slice(0, MAX_CONDITIONS);
  for (const [index, { name, test }] of conditions.entries()) {
    const later = conditions.slice(index + 1);
    if (!later.some((other) => other.name === name && exclude(test, other.test))) continue;
    scope.call.onHint(
      `No record satisfies both conditions on "${name}" of ${collection.name}: all conditions of a filter ` +
        'must hold. For one or the other, use `in` or `or` in `where`, `$in` or `$or` in a script.',
    );
  }
}

/** Each condition is compared with each other one. */
const MAX_CONDITIONS = 32;

/** The tests that all must hold, of fields of which a record has one value. */
function testsOf(filter: ResolvedFilter): readonly { readonly name: string; readonly test: ValueTest }[] {
  if (filter.kind === 'all') return filter.filters.flatMap(testsOf);
  return filter.kind === 'test' && isOfOneValue(filter)
    ? [{ name: filter.path.join('.'), test: filter.test }]
    : [];
}

function isOfOneValue({ path, paths, place }: ResolvedTest): boolean {
  return paths.length === 1 && (place.form !== 'path' || (path.length === 1 && path[0] === CREATED_ON));
}

function exclude(one: ValueTest, other: ValueTest): boolean {
  if (one.kind === 'like' || other.kind === 'like') {
    const texts = [one, other].map((test) => (isWhole(test) ? test.text.toLowerCase() : undefined));
    return !texts.includes(undefined) && texts[0] !== texts[1];
  }
  const spans = spansOf(other);
  return spansOf(one).every((span) => spans.every((beside) => areApart(span, beside)));
}

function isWhole(test: ValueTest): test is Extract<ValueTest, { readonly kind: 'like' }> {
  return test.kind === 'like' && test.at === 'whole';
}

/** The values from one to another. Days and instants are texts that do not mix. */
interface Span {
  readonly among: string;
  readonly lower: Bound<Operand> | undefined;
  readonly upper: Bound<Operand> | undefined;
}

function spansOf(test: ValueTest): readonly Span[] {
  switch (test.kind) {
    case 'is':
      return [spanOf(test.value)];
    case 'in':
      return test.values.map(spanOf);
    case 'spelled':
      return test.values.map((value) => spanOf(foldText(String(value))));
    case 'either':
      return test.tests.flatMap(spansOf);
    case 'numberRange':
      return [{ ...test, among: 'all' }];
    case 'textRange':
      return [test];
    case 'like':
      return [{ among: 'all', lower: undefined, upper: undefined }];
  }
}

function spanOf(value: Operand): Span {
  const bound = { value, isIncluded: true };
  return { among: isDay(String(value)) ? 'days' : 'all', lower: bound, upper: bound };
}

function areApart(one: Span, other: Span): boolean {
  const writings = [one.among, other.among];
  if (writings.includes('days') && writings.includes('instants')) return true;
  return isBeyond(one.lower, other.upper) || isBeyond(other.lower, one.upper);
}

function isBeyond(lower: Span['lower'], upper: Span['upper']): boolean {
  if (lower === undefined || upper === undefined) return false;
  const [from, to] = [comparable(lower.value), comparable(upper.value)];
  if (typeof from !== typeof to) return true;
  return from > to || (from === to && !(lower.isIncluded && upper.isIncluded));
}

function comparable(value: Operand): string | number | boolean {
  return typeof value === 'object' ? Number(String(value)) : value;
}
