/**
 * `where`, the structured filter of GraphQL and JSON clients.
 *
 *   where    : { [ "and": [ where … ] ] [ "or": [ where … ] ] [ "not": where ] [ field: operators ] … }
 *   operators: { operator: operand … }                 all operators: WHERE_OPERATORS
 *
 * All members of a `where`, and all operators of a field, must hold.
 *
 *   { "status": { "equals": "absent" }, "created": { "today": true },
 *     "or": [ { "class": { "in": ["1", "2"] } },
 *             { "student": { "record": { "status": { "equals": "left" } } } } ] }
 *
 * Fields are those of the collection's declaration and `_id`, spelled also `id`; an object is entered by its
 * members, a list by `any`, `all`, `none`, the record that a reference points to by `record`. Nothing is ever
 * ignored: an unknown field or operator, a null, an empty object where a condition was to be are errors, so a
 * variable somebody forgot to fill in never means "all records".
 *
 * @see decisions 3
 */

import type { ServiceError } from '../errors.js';
import { instantFrom, isDay } from '../model/calendar.js';
import type { Collection, Field } from '../model/collection.js';
import {
  isScalarName,
  SCALAR_TYPES,
  type ScalarName,
  valueKindOf,
} from '../model/field-types/scalar-types.js';
import { allOf, type Condition, EVERYTHING, type Filter } from '../model/filter.js';
import { isNumberOperand, type Operand } from '../model/operand.js';
import type { Path } from '../model/path.js';
import { didYouMean } from '../text/did-you-mean.js';
import { hintAtOperatorName } from './operator-names.js';
import { tooManySent, withinSent } from './sent-place.js';
import {
  findOperator,
  TEXT_MODES,
  WHERE_OPERATORS,
  type WhereOperator,
  type WhereType,
} from './where-operators.js';
import {
  comparedValue,
  countCondition,
  dayAt,
  entriesOf,
  type FindCollection,
  invalidWhere,
  malformedWhere,
  monthAt,
  type NamedField,
  nullOperand,
  objectAt,
  type Readership,
  type Subject,
  textAt,
  type Values,
  WHERE_LIMITS,
  type WhereNames,
  type WherePlace,
  type WhereReading,
  whereOperandAt,
} from './where-place.js';

/**
 * Parses a structured `where` against a collection's declaration. `{}` matches every record.
 *
 * @throws MALFORMED_FILTER (400) for its form, INVALID_VALUE (400) for an operand, LIMIT_EXCEEDED (400); each
 *   with a JSON pointer.
 */
export function parseWhere(
  value: unknown,
  options: {
    readonly collection: Collection;
    /** Finds the targets of references, for conditions on their records. Default: there are none. */
    readonly findCollection?: FindCollection | undefined;
    /** Default: everything may be read. The store checks the rights in any case. */
    readonly readership?: Readership | undefined;
    /** Default: fields have the names of the declaration. */
    readonly names?: WhereNames | undefined;
  },
): Filter {
  const { collection, findCollection = () => undefined, readership = EVERYTHING_READ, names } = options;
  const reading: WhereReading = { findCollection, readership, conditions: 0, recordConditions: 0 };
  const place: WherePlace = {
    what: 'where',
    reading,
    collection,
    pointer: '',
    depth: 0,
    references: 0,
  };
  const object = objectAt(value, place, 'an object of fields and conditions');
  if (entriesOf(object).length === 0) return EVERYTHING;
  return parseFields(object, place, { path: [], fields: collection.fields, isRecord: true, names });
}

const EVERYTHING_READ: Readership = {
  assertReadable: () => undefined,
  listFields: (collection) => collection.fields.map((field) => field.name),
};

/** The record, an object in it, or an element of a list: what field names refer to. */
interface Row {
  readonly path: Path;
  readonly fields: readonly Field[];
  readonly isRecord: boolean;
  readonly names: WhereNames | undefined;
}

function parseFields(object: Values, place: WherePlace, row: Row): Filter {
  const filters = entriesOf(object).map(([name, operand]) => parseEntry({ name, operand, place, row }));
  if (filters.length === 0) throw malformedWhere(place, 'a condition; this object is empty', object);
  return allOf(filters);
}

function parseEntry(entry: { name: string; operand: unknown; place: WherePlace; row: Row }): Filter {
  const { name, operand, row } = entry;
  const place = withinSent(entry.place, name);
  switch (name) {
    case 'and':
      return { kind: 'all', filters: parseList(operand, place, row) };
    case 'or':
      return { kind: 'any', filters: parseList(operand, place, row) };
    case 'not':
      return { kind: 'not', filter: parseFields(objectAt(operand, place, 'a where'), place, row) };
  }
  const found = fieldNamed(name, row);
  if (found !== undefined) {
    const { field } = found;
    // Checked before its operators, whose errors would disclose the declaration of the field.
    if (row.isRecord) place.reading.readership.assertReadable(field.name, place.collection);
    return parseField(operand, place, { path: [...row.path, field.name], field, names: found.value });
  }
  if (row.isRecord && (name === '_id' || name === 'id')) {
    return parseSubject(operand, place, { path: ['_id'], type: 'id' });
  }
  throw unknownField(name, place, row);
}

function fieldNamed(name: string, { names, fields }: Row): NamedField | undefined {
  if (names !== undefined) return names.fieldsByName.get(name);
  const field = fields.find((candidate) => candidate.name === name);
  return field && { field };
}

function parseList(operand: unknown, place: WherePlace, row: Row): Filter[] {
  if (!Array.isArray(operand) || operand.length === 0) {
    throw malformedWhere(place, 'a list of at least one where', operand);
  }
  return operand.map((part: unknown, index) => {
    const inner = withinSent(place, String(index));
    return parseFields(objectAt(part, inner, 'a where'), inner, row);
  });
}

function parseField(
  operand: unknown,
  place: WherePlace,
  found: Omit<Subject, 'type'> & { readonly field: Field },
): Filter {
  const { field } = found;
  if (field.isList) return parseSubject(operand, place, { ...found, type: 'list' });
  if (field.type === 'object') return parseObject(operand, place, { ...found, type: 'object' });
  return parseSubject(operand, place, { ...found, type: valueKindOf(field) });
}

/**
 * An object has its own operators and its members; a member takes precedence over an operator of the same
 * name.
 */
function parseObject(
  operand: unknown,
  place: WherePlace,
  subject: Subject & { readonly field: Field },
): Filter {
  const object = objectAt(operand, place, 'an object of members and conditions');
  const { path, field, names } = subject;
  const row: Row = { path, fields: field.fields, isRecord: false, names: names?.object };
  const filters = entriesOf(object).map(([name, value]) => {
    const isMember = fieldNamed(name, row) !== undefined;
    const operator = isMember ? undefined : findOperator('object', name);
    if (operator === undefined) return parseEntry({ name, operand: value, place, row });
    return parseOperator(operator, {
      operand: value,
      place: withinSent(place, name),
      subject,
      mode: 'sensitive',
    });
  });
  if (filters.length === 0) throw malformedWhere(place, 'a condition; this object is empty', object);
  return allOf(filters);
}

type TextMode = (typeof TEXT_MODES)[number];

function parseSubject(operand: unknown, place: WherePlace, subject: Subject): Filter {
  const object = objectAt(operand, place, `an object of operators (${operatorNames(subject.type)})`);
  const mode = parseMode(object.mode, subject, withinSent(place, 'mode'));
  const filters: Filter[] = [];
  for (const [name, value] of entriesOf(object)) {
    const operator = findOperator(subject.type, name);
    if (operator === undefined) throw unknownOperator(name, place, subject);
    if (operator.operand === 'mode') continue;
    filters.push(parseOperator(operator, { operand: value, place: withinSent(place, name), subject, mode }));
  }
  if (filters.length === 0)
    throw malformedWhere(place, `an operator (${operatorNames(subject.type)})`, object);
  return allOf(filters);
}

function parseMode(value: unknown, subject: Subject, place: WherePlace): TextMode {
  if (value === undefined || findOperator(subject.type, 'mode') === undefined) return 'sensitive';
  // Variables of GraphQL have the names of its enum.
  const mode = TEXT_MODES.find((name) => name === value || name.toUpperCase() === value);
  if (mode === undefined)
    throw malformedWhere(place, TEXT_MODES.map((name) => `"${name}"`).join(' or '), value);
  return mode;
}

interface Application {
  readonly operand: unknown;
  readonly place: WherePlace;
  readonly subject: Subject;
  readonly mode: TextMode;
}

function parseOperator({ name, operand: kind }: WhereOperator, application: Application): Filter {
  const { operand, place, subject } = application;
  const { path } = subject;
  countCondition(place);
  if (operand === null) throw nullOperand(place, subject);
  switch (name) {
    case 'equals':
      return equals(application);
    case 'notEquals':
      return negated(equals(application));
    case 'in':
      return isIn(application);
    case 'notIn':
      return negated(isIn(application));
    case 'startsWith':
    case 'contains':
      return textCondition(name, application);
    case 'notStartsWith':
      return negated(textCondition('startsWith', application));
    case 'notContains':
      return negated(textCondition('contains', application));
    case 'greaterThan':
    case 'greaterOrEqual':
    case 'lessThan':
    case 'lessOrEqual':
      return { kind: name, path, value: comparedValue(operand, place, subject) };
    case 'between':
      return between(application);
    case 'on':
      return { kind: 'on', path, day: dayAt(operand, place) };
    case 'inMonth':
    case 'within':
      return { kind: 'within', path, month: monthAt(operand, place) };
    case 'today':
    case 'yesterday':
      return flagged(operand, place, { kind: 'on', path, day: { word: name } });
    case 'isNull':
    case 'exists':
      return flagged(operand, place, { kind: name, path });
    case 'id':
      return parseSubject(operand, place, { path: [...path, 'value'], type: 'id' });
    case 'label':
      return parseSubject(operand, place, { path: [...path, 'label'], type: 'text' });
    case 'record':
      return recordFilter(application);
    case 'any':
      return elementOf(application);
    case 'none':
      return negated(elementOf(application));
    case 'all':
      return negated(elementOf(application, 'violating'));
    case 'isEmpty':
      return flagged(operand, place, negated({ kind: 'element', path, filter: EVERYTHING }));
    default:
      throw new Error(`the operator ${name} (${kind}) is in WHERE_OPERATORS and not in parseOperator`);
  }
}

function equals({ operand, place, subject, mode }: Application): Condition {
  const value = whereOperandAt(operand, place, subject);
  const { path } = subject;
  if (mode === 'insensitive' && typeof value === 'string')
    return { kind: 'equalsInsensitive', path, text: value };
  return { kind: 'equals', path, value };
}

function isIn({ operand, place, subject, mode }: Application): Filter {
  if (!Array.isArray(operand)) throw malformedWhere(place, 'a list of values', operand);
  if (operand.length > WHERE_LIMITS.maxListedValues)
    throw tooManySent(place, WHERE_LIMITS.maxListedValues, 'values');
  const values = operand.map((value: unknown, index) => {
    const inner = withinSent(place, String(index));
    if (value === null) throw nullOperand(inner, subject);
    return whereOperandAt(value, inner, subject);
  });
  const { path } = subject;
  if (mode === 'sensitive') return { kind: 'in', path, values };
  return {
    kind: 'any',
    filters: values.map((value) => ({ kind: 'equalsInsensitive', path, text: String(value) })),
  };
}

function textCondition(
  kind: 'startsWith' | 'contains',
  { operand, place, subject, mode }: Application,
): Condition {
  const text = textAt(operand, place);
  // Every text contains the empty one.
  if (text === '') throw malformedWhere(place, 'a text to look for, not the empty one', text);
  const ignoringCase = mode === 'insensitive' ? { isInsensitive: true } : {};
  return { kind, path: subject.path, text, ...ignoringCase };
}

function between({ operand, place, subject }: Application): Filter {
  const range = objectAt(operand, place, 'a range {from, to}');
  const strange = Object.keys(range).find((name) => name !== 'from' && name !== 'to');
  if (strange !== undefined)
    throw malformedWhere(withinSent(place, strange), 'only "from" and "to" in a range', range[strange]);
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const inner = withinSent(place, name);
    if (range[name] === null || range[name] === undefined) throw nullOperand(inner, subject);
    return comparedValue(range[name], inner, subject);
  });
  if (from === undefined || to === undefined) throw malformedWhere(place, 'a range {from, to}', operand);
  if (isBehind(from, to)) {
    throw invalidWhere(place, '`from` not after `to`', `${String(from)} to ${String(to)}`);
  }
  const { path } = subject;
  return allOf([
    { kind: 'greaterOrEqual', path, value: from },
    { kind: 'lessOrEqual', path, value: to },
  ]);
}

/**
 * Whether a range from one value to another is empty, because its start is behind its end. False for values
 * that cannot be compared without more knowledge, such as a day and an instant.
 */
function isBehind(from: Operand, to: Operand): boolean {
  if (isNumberOperand(from) && isNumberOperand(to)) return Number(String(from)) > Number(String(to));
  if (typeof from !== 'string' || typeof to !== 'string' || isDay(from) !== isDay(to)) return false;
  const [start, end] = [timeOf(from), timeOf(to)];
  return start !== undefined && end !== undefined && start > end;
}

/** A text that orders days among each other, instants and months likewise. */
function timeOf(text: string): string | undefined {
  return /^\d{4}-\d{2}$/.test(text) ? text : instantFrom(text, 'UTC');
}

/**
 * Parses a condition on another record. If the reference has several targets, the operand names one and
 * contains its `where`: `{ "student": { … } }`.
 */
function recordFilter({ operand, place, subject }: Application): Filter {
  const { path, field, names } = subject;
  if (field === undefined) throw new Error('only a declared field is a reference');
  place.reading.recordConditions += 1;
  if (place.reading.recordConditions > WHERE_LIMITS.maxRecordConditions) {
    throw tooManySent(place, WHERE_LIMITS.maxRecordConditions, 'conditions on other records');
  }
  const references = place.references + 1;
  if (references > WHERE_LIMITS.maxReferences)
    throw tooManySent(place, WHERE_LIMITS.maxReferences, 'references in a row');
  const { name, where, at } = targetOf(operand, place, { field, names });
  const collection = place.reading.findCollection(name);
  if (collection === undefined)
    throw malformedWhere(at, 'a condition on the reference itself: its target has no filter here', where);
  const inner = { ...at, collection, references };
  const filter = parseFields(objectAt(where, inner, 'a where'), inner, {
    path: [],
    fields: collection.fields,
    isRecord: true,
    names: names?.findTarget?.(name)?.object,
  });
  return { kind: 'record', path, collection: name, filter };
}

function targetOf(
  operand: unknown,
  place: WherePlace,
  { field, names }: Pick<NamedField, 'field'> & Pick<Subject, 'names'>,
): { readonly name: string; readonly where: unknown; readonly at: WherePlace } {
  const targets = (names?.targets ?? field.targets).flatMap((name) => {
    const named = names?.findTarget?.(name);
    return names !== undefined && named === undefined ? [] : [{ name, sent: named?.singular ?? name }];
  });
  const [only] = targets;
  if (only !== undefined && targets.length === 1) return { name: only.name, where: operand, at: place };
  const known = targets.map(({ sent }) => sent);
  const expected = `one of the collections ${known.join(', ')} with a where of it`;
  const [first, ...others] = entriesOf(objectAt(operand, place, expected));
  if (first === undefined || others.length > 0) throw malformedWhere(place, expected, operand);
  const [sent, where] = first;
  const at = withinSent(place, sent);
  const target = targets.find((one) => one.sent === sent);
  if (target === undefined) throw malformedWhere(at, expected, sent, didYouMean(sent, known));
  return { name: target.name, where, at };
}

/** An element that satisfies the operand or, with `violating`, one that does not. */
function elementOf(
  { operand, place, subject }: Application,
  sense: 'satisfying' | 'violating' = 'satisfying',
): Filter {
  const { field, path, names } = subject;
  if (field === undefined) throw new Error('only a declared field is a list');
  const filter = parseElement(operand, place, { field, names });
  return { kind: 'element', path, filter: sense === 'satisfying' ? filter : negated(filter) };
}

function parseElement(
  operand: unknown,
  place: WherePlace,
  list: Pick<NamedField, 'field'> & Pick<Subject, 'names'>,
): Filter {
  const element = { ...list, path: [], type: valueKindOf(list.field) };
  return list.field.type === 'object'
    ? parseObject(operand, place, element)
    : parseSubject(operand, place, element);
}

/** True applies the condition, false its negation. */
function flagged(operand: unknown, place: WherePlace, filter: Filter): Filter {
  if (typeof operand !== 'boolean') throw malformedWhere(place, 'true or false', operand);
  return operand ? filter : negated(filter);
}

function negated(filter: Filter): Filter {
  return filter.kind === 'not' ? filter.filter : { kind: 'not', filter };
}

function operatorNames(type: WhereType): string {
  return WHERE_OPERATORS[type].map(({ name }) => name).join(', ');
}

function unknownField(name: string, place: WherePlace, row: Row): ServiceError {
  const { collection, reading } = place;
  const readable = reading.readership.listFields(collection);
  const known = row.isRecord ? [...readable, '_id'] : membersOf(row, readable);
  const expected =
    collection.fields.length === 0
      ? `a declared field; "${collection.name}" declares none, oquery reaches the others`
      : `a declared field${row.isRecord ? ` of "${collection.name}"` : ''}${listed(known)}`;
  return malformedWhere(place, expected, name, didYouMean(name, known));
}

/** The members of an object share its rights, and its condition was allowed. */
function membersOf(row: Row, readable: readonly string[]): readonly string[] {
  return readable.length === 0 ? [] : row.fields.map((field) => field.name);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}

function unknownOperator(name: string, place: WherePlace, { type }: Subject): ServiceError {
  const known = WHERE_OPERATORS[type].map((operator) => operator.name);
  const expected = `an operator of ${nounOf(type)} (${known.join(', ')})`;
  return malformedWhere(withinSent(place, name), expected, name, hintAtOperatorName(name, known));
}

/** The name of a type in error messages. */
function nounOf(type: WhereType): string {
  return isScalarName(type) ? `a ${SCALAR_TYPES[type].noun} field` : NOUNS[type];
}

const NOUNS: Readonly<Record<Exclude<WhereType, ScalarName>, string>> = {
  id: 'an id',
  reference: 'a reference',
  object: 'an object',
  list: 'a list',
};
