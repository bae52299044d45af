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
import { ExactNumber, isExactNumber } from '../json/json.js';
import { instantFrom, isDay, isMonth } from '../model/calendar.js';
import type { Collection, Field } from '../model/collection.js';
import {
  isScalarName,
  SCALAR_TYPES,
  type ScalarName,
  valueKindOf,
} from '../model/field-types/scalar-types.js';
import {
  allOf,
  type CompareCondition,
  type Condition,
  type EqualsCondition,
  EVERYTHING,
  type Filter,
} from '../model/filter.js';
import { isNumberOperand, type Operand } from '../model/operand.js';
import type { Path } from '../model/path.js';
import { didYouMean } from '../text/did-you-mean.js';
import { hintAtOperatorName } from './operator-names.js';
import { refuseSent, type SentPlace, tooManySent, withinSent } from './sent-place.js';
import {
  findOperator,
  TEXT_MODES,
  WHERE_OPERATORS,
  type WhereOperator,
  type WhereType,
} from './where-operators.js';

/** Limits of one `where`. */
export const WHERE_LIMITS = {
  maxDepth: 20,
  /** The most references in a row. */
  maxReferences: 3,
  /** Conditions on other records, each of which is a look-up per record. */
  maxRecordConditions: 20,
  maxConditions: 200,
  maxListedValues: 1000,
  maxTextLength: 4096,
} as const;

/** The declared names that a caller may know. */
export interface Readership {
  /** @throws FORBIDDEN (403) for a field that is hidden from the caller */
  assertReadable(field: string, collection: Collection): void;
  /** The declared fields that the caller may read; empty for a collection it may not read. */
  listFields(collection: Collection): readonly string[];
}

/** Other names for the fields of a collection or an object, and for the targets of its references. */
export interface WhereNames {
  readonly fieldsByName: ReadonlyMap<string, NamedField>;
}

interface NamedField {
  readonly field: Field;
  /** The names within an object, and those of a reference's targets. */
  readonly value?:
    | {
        readonly kind: string;
        readonly object?: WhereNames;
        readonly targets?: readonly string[];
        readonly findTarget?: (
          collection: string,
        ) => { readonly singular: string; readonly object: WhereNames } | undefined;
      }
    | undefined;
}

/** The counters of one call of `parseWhere`. */
interface WhereReading {
  readonly findCollection: FindCollection;
  readonly readership: Readership;
  conditions: number;
  recordConditions: number;
}

/** The position within the `where`. */
interface WherePlace extends SentPlace {
  readonly reading: WhereReading;
  /** The collection of the records at this position: the queried one, or a reference's target. */
  readonly collection: Collection;
  /** The number of references followed so far. */
  readonly references: number;
}

/** Finds the target collection of a reference; `undefined` if it does not exist or may not be read. */
export type FindCollection = (name: string) => Collection | undefined;

type Values = Readonly<Record<string, unknown>>;

/** A value with its operators. */
interface Subject {
  readonly path: Path;
  readonly type: WhereType;
  /** Absent for `_id` and the members of a reference. */
  readonly field?: Field | undefined;
  readonly names?: NamedField['value'];
}

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
  /** An object, which has operators of its own beside its members. */
  readonly object?: Subject;
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
  const operator = row.object && findOperator('object', name);
  if (row.object && operator)
    return parseOperator(operator, { operand, place, subject: row.object, mode: 'sensitive' });
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

/** A member takes precedence over an operator of the same name. */
function parseObject(
  operand: unknown,
  place: WherePlace,
  subject: Subject & { readonly field: Field },
): Filter {
  const object = objectAt(operand, place, 'an object of members and conditions');
  const { path, field, names } = subject;
  const row = { path, fields: field.fields, isRecord: false, names: names?.object, object: subject };
  return parseFields(object, place, row);
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
  // The members of an object share its rights, and its condition was allowed.
  const members = readable.length === 0 ? [] : row.fields.map((field) => field.name);
  const known = row.isRecord ? [...readable, '_id'] : members;
  const names = known.length === 0 ? '' : ` (${known.join(', ')})`;
  const expected =
    collection.fields.length === 0
      ? `a declared field; "${collection.name}" declares none, oquery reaches the others`
      : `a declared field${row.isRecord ? ` of "${collection.name}"` : ''}${names}`;
  return malformedWhere(place, expected, name, didYouMean(name, known));
}

function unknownOperator(name: string, place: WherePlace, { type }: Subject): ServiceError {
  const known = WHERE_OPERATORS[type].map((operator) => operator.name);
  const noun = isScalarName(type) ? `a ${SCALAR_TYPES[type].noun} field` : NOUNS[type];
  const expected = `an operator of ${noun} (${known.join(', ')})`;
  return malformedWhere(withinSent(place, name), expected, name, hintAtOperatorName(name, known));
}

const NOUNS: Readonly<Record<Exclude<WhereType, ScalarName>, string>> = {
  id: 'an id',
  reference: 'a reference',
  object: 'an object',
  list: 'a list',
};

function objectAt(value: unknown, place: WherePlace, expected: string): Values {
  if (place.depth > WHERE_LIMITS.maxDepth) throw tooManySent(place, WHERE_LIMITS.maxDepth, 'levels');
  if (isValues(value)) return value;
  if (value === null)
    throw malformedWhere(place, `${expected}, not null (to look for null: {"isNull": true})`, value);
  throw malformedWhere(place, expected, value);
}

function isValues(value: unknown): value is Values {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !isExactNumber(value) &&
    !(value instanceof Date)
  );
}

/** A key without a value counts as not sent. */
function entriesOf(object: Values): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}

function countCondition(place: WherePlace): void {
  place.reading.conditions++;
  if (place.reading.conditions > WHERE_LIMITS.maxConditions) {
    throw tooManySent(place, WHERE_LIMITS.maxConditions, 'conditions');
  }
}

function malformedWhere(place: WherePlace, expected: string, sent: unknown, hint = ''): ServiceError {
  return refuseSent('MALFORMED_FILTER', place, { expected, sent: shownInWhere(sent), hint });
}

function invalidWhere(place: WherePlace, expected: string, sent: unknown): ServiceError {
  return refuseSent('INVALID_VALUE', place, { expected, sent: shownInWhere(sent), hint: '' });
}

function shownInWhere(sent: unknown): string {
  return JSON.stringify(sent) ?? String(sent);
}

function whereOperandAt(value: unknown, place: WherePlace, subject: Subject): EqualsCondition['value'] {
  const { type } = subject;
  // Ids of records are text, and so are references.
  switch (isScalarName(type) ? SCALAR_TYPES[type].json : 'string') {
    case 'number':
      return numberAt(value, place, subject);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw invalidWhere(place, 'true or false', value);
    case 'string':
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? value.toISOString()
        : textAt(value, place);
  }
}

function comparedValue(value: unknown, place: WherePlace, subject: Subject): CompareCondition['value'] {
  const compared = whereOperandAt(value, place, subject);
  if (typeof compared === 'boolean') throw invalidWhere(place, 'a value that has an order', value);
  return compared;
}

/** Exact amounts come as text from GraphQL's `Decimal`. */
function numberAt(value: unknown, place: WherePlace, { field }: Subject): number | ExactNumber {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isExactNumber(value)) return value;
  const isDigits = typeof value === 'string' && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(value);
  if (isDigits && field?.isDecimal === true) return new ExactNumber(value);
  throw invalidWhere(place, 'a number', value);
}

function textAt(value: unknown, place: WherePlace): string {
  if (typeof value !== 'string') throw invalidWhere(place, 'a text', value);
  if (value.length > WHERE_LIMITS.maxTextLength)
    throw tooManySent(place, WHERE_LIMITS.maxTextLength, 'characters');
  return value;
}

function dayAt(value: unknown, place: WherePlace): string {
  if (typeof value === 'string' && isDay(value)) return value;
  throw invalidWhere(place, 'a day YYYY-MM-DD', value);
}

function monthAt(value: unknown, place: WherePlace): string {
  if (typeof value === 'string' && isMonth(value)) return value;
  throw invalidWhere(place, 'a month YYYY-MM', value);
}

function nullOperand(place: WherePlace, { type }: Subject): ServiceError {
  const hint =
    findOperator(type, 'isNull') === undefined
      ? ''
      : ' To look for null, or for a missing field: {"isNull": true}.';
  return malformedWhere(place, 'a value, not null', null, hint);
}
