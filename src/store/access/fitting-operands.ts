/**
 * Refuses conditions that compare a field with a value it can never have, or by an order its values do not
 * have: their result would be empty or arbitrary, and look like a correct one. Applies to callers' filters,
 * not to our own rules.
 *
 * @see decisions 3, 4
 */

import { ServiceError } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import { instantFrom, isDay } from '../../base/model/calendar.js';
import { type Collection, CREATED_ON, type Field } from '../../base/model/collection.js';
import { isPlainText } from '../../base/model/field-types/scalar-type.js';
import { scalarTypeOf } from '../../base/model/field-types/scalar-types.js';
import type { Condition, Filter, MatchTest } from '../../base/model/filter.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { Path } from '../../base/model/path.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { EffectiveAccess } from './access.js';

/** A collection the caller may read; others are not disclosed. */
type FindReadableCollection = (
  name: string,
) => { readonly collection: Collection; readonly access: Pick<EffectiveAccess, 'hiddenFields'> } | undefined;

/**
 * Refuses, in the filter and in its conditions on other records: equality with a text that is not in the
 * field's declared `enum` or format (month, session); greater and less of texts other than months; an empty
 * text in place of a time, which remains of `=#in2026-04` in a URL cut at `#`; and a comparison of
 * `created_on` with anything but a time.
 *
 * @throws INVALID_VALUE (400) naming the field, the value, and what would be right; MALFORMED_FILTER (400)
 *   for an operator
 */
export function assertFittingOperands(
  filter: Filter,
  collection: Collection,
  findReadable: FindReadableCollection,
): void {
  visit(filter, { fields: collection.fields, path: [], findReadable });
}

/** The record, or an element of one of its lists, at which paths start. */
interface Place {
  readonly fields: readonly Field[];
  /** The path from the record to here. */
  readonly path: Path;
  readonly findReadable: FindReadableCollection;
  /** Set for an element of a list of plain values: the list. */
  readonly list?: Field;
}

function visit(filter: Filter, place: Place): void {
  switch (filter.kind) {
    case 'all':
    case 'any':
      for (const part of filter.filters) visit(part, place);
      return;
    case 'not':
      visit(filter.filter, place);
      return;
    case 'record': {
      const target = place.findReadable(filter.collection);
      if (target === undefined) return;
      const { collection, access } = target;
      const fields = collection.fields.filter(({ name }) => !access.hiddenFields.has(name));
      visit(filter.filter, { fields, path: [], findReadable: place.findReadable });
      return;
    }
    case 'element':
      visitElement(filter.path, filter.filter, place);
      return;
    case 'match':
      visitMatch(filter.path, filter.test, place);
      return;
    case 'expression':
      return;
    default:
      assertOrdered(filter, place);
      assertTime(filter, place);
      for (const text of textsOf(filter)) assertListed(text, filter.path, { place, ...caseOf(filter) });
  }
}

function visitMatch(path: Path, test: MatchTest, place: Place): void {
  switch (test.kind) {
    case 'equals':
      assertListed(test.value, path, { place });
      return;
    case 'in':
      for (const value of test.values) assertListed(value, path, { place });
      return;
    case 'element':
      visitElement(path, test.filter, place);
  }
}

function visitElement(path: Path, filter: Filter, place: Place): void {
  const list = fieldAt(path, place);
  if (list === undefined) return;
  visit(filter, { ...place, path: [...place.path, ...path], fields: list.fields, list });
}

/** Months are compared with months; other texts have no such order. */
function assertOrdered(condition: Condition, place: Place): void {
  if (!COMPARISONS.has(condition.kind) || !('value' in condition)) return;
  const { value } = condition;
  const name = [...place.path, ...condition.path].join('.');
  const field = fieldAt(condition.path, place);
  const isId = condition.path.join() === '_id' && place.path.length === 0;
  const type = field === undefined ? undefined : scalarTypeOf(field);
  const isText =
    field === undefined ? isReferenceMember(condition.path, place) : type !== undefined && isPlainText(type);
  if (isId || isText) {
    const expected = 'equals (=), starts with (==) or contains (=*)';
    const detail = `${name} is text, which has no greater and less: ${expected} would fit it.`;
    throw new ServiceError('MALFORMED_FILTER', detail, {
      errors: [{ detail, parameter: name, expected, sent: String(value) }],
    });
  }
  if (type?.isOfFormat !== undefined && !(typeof value === 'string' && type.isOfFormat(value)))
    throw unfit(name, value, type.expectation);
  if (isStamp(name, field) && typeof value !== 'string') throw unfit(name, value, TIME_EXPECTATION);
}

/** The id or label of a reference. */
function isReferenceMember(path: Path, place: Place): boolean {
  const member = path.at(-1);
  return (
    (member === 'value' || member === 'label') && fieldAt(path.slice(0, -1), place)?.type === 'reference'
  );
}

/** The service itself sets this field of every record. */
function isStamp(name: string, field: Field | undefined): boolean {
  return field === undefined && name === CREATED_ON;
}

const COMPARISONS: ReadonlySet<string> = new Set([
  'greaterThan',
  'greaterOrEqual',
  'lessThan',
  'lessOrEqual',
]);

function assertTime(condition: Condition, place: Place): void {
  if (condition.kind !== 'looseEquals') return;
  const { text, path } = condition;
  const name = [...place.path, ...path].join('.');
  const field = fieldAt(path, place);
  if (
    text === '' &&
    (isStamp(name, field) || (field !== undefined && scalarTypeOf(field)?.isOfTime === true))
  )
    throw unfit(name, '', 'a day or a month', ' In an address "#" is written %23, as in =%23in2026-04.');
  if (isStamp(name, field) && !isDay(text) && instantFrom(text, 'UTC') === undefined)
    throw unfit(name, text, TIME_EXPECTATION);
}

const TIME_EXPECTATION = 'a day (=2026-04-01, =on2026-04-01, =today), a month (=#in2026-04) or an instant';

function unfit(name: string, value: JsonValue, expected: string, hint = ''): ServiceError {
  const sent = String(value).slice(0, 100);
  const detail = `${name}: ${expected} is expected, ${JSON.stringify(sent)} was sent.${hint}`;
  return new ServiceError('INVALID_VALUE', detail, { errors: [{ detail, parameter: name, expected, sent }] });
}

/** The texts with which the condition compares the whole value. */
function textsOf(condition: Exclude<Condition, { kind: 'element' }>): readonly JsonValue[] {
  switch (condition.kind) {
    case 'looseEquals':
    case 'equalsInsensitive':
      return [condition.text];
    case 'equals':
      return [condition.value];
    case 'in':
      return condition.values;
    case 'on':
      return [typeof condition.day === 'string' ? `on${condition.day}` : condition.day.word];
    case 'within':
      return [`#in${condition.month}`];
    default:
      return [];
  }
}

function caseOf(condition: Condition): { readonly isInsensitive?: boolean } {
  if (condition.kind === 'equalsInsensitive') return { isInsensitive: true };
  return 'isInsensitive' in condition && condition.isInsensitive === true ? { isInsensitive: true } : {};
}

function assertListed(
  operand: JsonValue,
  path: Path,
  { place, isInsensitive = false }: { readonly place: Place; readonly isInsensitive?: boolean },
): void {
  const field = fieldAt(path, place);
  if (field === undefined || typeof operand !== 'string') return;
  const value = toNormalText(operand);
  assertFormat(value, field, [...place.path, ...path].join('.'));
  const { allowed } = field;
  if (allowed === undefined) return;
  const isListed = isInsensitive
    ? allowed.some((one) => one.toLowerCase() === value.toLowerCase())
    : allowed.includes(value);
  if (isListed) return;
  const name = [...place.path, ...path].join('.');
  const expected = `one of ${allowed.join(', ')}`;
  const sent = value.slice(0, 100);
  const suggestion = didYouMean(sent, allowed);
  const detail = `${name}: ${expected} is expected, ${JSON.stringify(sent)} was sent.${suggestion}`;
  throw new ServiceError('INVALID_VALUE', detail, {
    errors: [{ detail, parameter: name, expected, sent }],
  });
}

/** `=#in2026-04` also asks for a month. */
function assertFormat(text: string, field: Field, name: string): void {
  const type = scalarTypeOf(field);
  if (type?.isOfFormat === undefined || type.isOfFormat(text.replace(/^#in/, ''))) return;
  throw unfit(name, text, type.expectation);
}

/** The declared field at the path; a numeric step leads to the list. */
function fieldAt(path: Path, { fields, list }: Place): Field | undefined {
  const names = path.filter((step) => !/^\d+$/.test(step));
  if (names.length === 0) return list;
  let field: Field | undefined;
  let known = fields;
  for (const name of names) {
    field = known.find((one) => one.name === name);
    if (field === undefined) return undefined;
    known = field.fields;
  }
  return field;
}
