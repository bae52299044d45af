/**
 * Validates what JSON Schema cannot express: which keys go together, and that every name in a rule is
 * declared.
 */
import type { ErrorDetail } from '../../base/errors.js';
import { isWithinBounds } from '../../base/model/bounds.js';
import { isDay } from '../../base/model/calendar.js';
import type { ScalarType } from '../../base/model/field-types/scalar-type.js';
import { findScalar, SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import { parseLinearPattern } from '../../base/model/linear-pattern.js';
import {
  type CheckDefinition,
  type CollectionDefinition,
  type FieldDefinition,
  graphqlNamesOf,
  ignoresCase,
  type RowRuleDefinition,
} from './collection-definition.js';

/**
 * The most fields in a declaration, including members of objects. A larger schema is neither readable nor
 * fast.
 */
const MAX_FIELDS = 300;

/** All faults, each with its JSON pointer, the expectation and the value. */
export function findDefinitionFaults(definition: CollectionDefinition): ErrorDetail[] {
  const { fields = [], indexes = [], checks = [], bookedOn, labelField: label } = definition;
  const faults = new Faults(definition);
  const { singular, plural } = graphqlNamesOf(definition);
  const twoNames = 'two different GraphQL names';
  faults.unless(singular !== plural, '/plural', 'singular and plural are the same', twoNames, plural);
  checkFields(faults, fields, '/fields', 'top');
  checkLinks(faults, fields, '/fields');
  const count = countFields(fields);
  const mostFields = `at most ${MAX_FIELDS}, members included`;
  faults.unless(count <= MAX_FIELDS, '/fields', `${count} fields are declared`, mostFields, count);
  const labelled = faults.fieldNamed(label);
  const isLabel = label === undefined || (labelled?.type === 'text' && !labelled.list);
  faults.unless(isLabel, '/labelField', `"${label}" cannot be a label`, 'a declared top-level text field');
  for (const [index, paths] of indexes.entries())
    for (const [position, path] of paths.entries())
      checkScalar(faults, path, `/indexes/${index}/${position}`);
  checkUniqueTogether(faults, definition);
  for (const [index, check] of checks.entries()) checkCheck(faults, check, `/checks/${index}`);
  const booked = faults.fieldNamed(bookedOn);
  const hasDay = bookedOn === undefined || (booked?.type === 'datetime' && !booked.list);
  faults.unless(hasDay, '/bookedOn', `"${bookedOn}" has no day`, 'a declared datetime field');
  checkGrants(faults, definition);
  checkStays(faults, definition);
  checkPersonal(faults, definition);
  checkAccess(faults, definition);
  return faults.found;
}

/** The faults found so far. */
class Faults {
  readonly found: ErrorDetail[] = [];
  /** The top-level fields. */
  readonly fields: readonly FieldDefinition[];
  readonly #definition: CollectionDefinition;

  constructor(definition: CollectionDefinition) {
    this.#definition = definition;
    this.fields = definition.fields ?? [];
  }

  fieldNamed(name: string | undefined): FieldDefinition | undefined {
    return fieldNamed(this.fields, name);
  }

  /** Adds the fault, unless a condition holds; what was sent stands at the pointer, unless it is given. */
  unless(holds: unknown, pointer: string, detail: string, expected: string, sent?: unknown): void {
    if (holds) return;
    this.found.push({ pointer, detail, expected, sent: sent ?? valueAt(this.#definition, pointer) });
  }
}

function valueAt(definition: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], definition);
}

function fieldNamed(fields: readonly FieldDefinition[], name: string | undefined) {
  return fields.find((field) => field.name === name);
}

type Place = 'top' | 'member';

function checkFields(
  faults: Faults,
  fields: readonly FieldDefinition[],
  pointer: string,
  place: Place,
): void {
  for (const [index, field] of fields.entries()) {
    const at = `${pointer}/${index}`;
    const isFirst = fieldNamed(fields, field.name) === field;
    faults.unless(isFirst, `${at}/name`, `"${field.name}" is declared twice`, 'a name of its own');
    checkField(faults, field, at, place);
    checkFields(faults, field.fields ?? [], `${at}/fields`, 'member');
  }
}

/** The longest text that a pattern is held against. */
const MAX_PATTERN_TEXT = 1_000;
const BOUND = 'a number with type number; a day YYYY-MM-DD or `now` with type datetime';
const PATTERN =
  `^ … $ of characters, classes and escapes with quantifiers; beside it a maxLength up to ` +
  MAX_PATTERN_TEXT;
const FORMAT = formatsByType();
const INDEXABLE = 'a top-level field that is neither a list nor an object';
const ON_DELETE = 'type reference, and "refuse" only where mustExist is not false';
const TARGET = 'a collection with type reference, nothing with any other type';
const DEFAULT = 'a value of the type of the field (`now` for a datetime)';

/** Which keys of a field go together. */
function checkField(faults: Faults, field: FieldDefinition, at: string, place: Place): void {
  const { type, enum: allowed, format, pattern, maxLength, mustExist, onDelete, target, list } = field;
  const refuse = (isWrong: unknown, key: keyof FieldDefinition, detail: string, expected: string) =>
    faults.unless(!isWrong, `${at}/${key}`, detail, expected);
  const isIndexable = place === 'top' && !list && type !== 'object';
  const isPlainText = type === 'text' && allowed === undefined && format === undefined;
  refuse(allowed && type !== 'text', 'enum', `a ${type} cannot have an enum`, 'type text');
  refuse(field.decimal && type !== 'number', 'decimal', `a ${type} is not a decimal`, 'type number');
  const isFormat = format === undefined || findScalar({ type, format }) !== undefined;
  refuse(!isFormat, 'format', `the format ${format} is not one of a ${type}`, FORMAT);
  for (const key of ['minimum', 'maximum'] as const) {
    const bound = field[key];
    const isOfDays = type === 'datetime' && (bound === 'now' || isDay(String(bound)));
    const fits = bound === undefined || (typeof bound === 'number' ? type === 'number' : isOfDays);
    refuse(!fits, key, `${JSON.stringify(bound)} is no ${key} of a ${type}`, BOUND);
  }
  for (const key of ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const)
    refuse(field[key] !== undefined && type !== 'number', key, `a ${type} takes no ${key}`, 'type number');
  for (const key of ['minLength', 'maxLength', 'pattern'] as const) {
    const isWrong = field[key] !== undefined && !isPlainText;
    refuse(isWrong, key, `only a plain text can have ${key}`, 'type text without enum and format');
  }
  const fault = pattern === undefined ? undefined : faultOfPattern(pattern, maxLength);
  refuse(fault, 'pattern', fault ?? '', PATTERN);
  for (const [key, upper] of [
    ['minimum', 'maximum'],
    ['exclusiveMinimum', 'exclusiveMaximum'],
    ['minLength', 'maxLength'],
  ] as const) {
    const { [key]: low, [upper]: high } = field;
    const isAbove = typeof low === 'number' && typeof high === 'number' && low > high;
    refuse(isAbove, key, `${low} is above the ${upper} ${high}`, `at most ${upper}`);
  }
  const isReference = type === 'reference';
  const pointless = `a ${type} is not a reference`;
  refuse(mustExist !== undefined && !isReference, 'mustExist', pointless, 'type reference');
  refuse(onDelete !== undefined && !isReference, 'onDelete', pointless, ON_DELETE);
  const isFree = isReference && onDelete === 'refuse' && mustExist === false;
  refuse(isFree, 'onDelete', 'the target need not exist, so it may be removed', ON_DELETE);
  refuse(isReference && target === undefined, 'target', 'a reference needs a target', TARGET);
  refuse(!isReference && target !== undefined, 'target', `a ${type} cannot have a target`, TARGET);
  refuse(field.fields && type !== 'object', 'fields', `a ${type} has no members`, 'type object');
  refuse(field.index && !isIndexable, 'index', 'it cannot be indexed', INDEXABLE);
  refuse(field.unique && !isIndexable, 'unique', 'it cannot be unique', INDEXABLE);
  refuse(ignoresCase(field) && type !== 'text', 'unique', 'it has no case', 'a text, for ignoreCase');
  const isSearchable = isIndexable && (type === 'text' || type === 'reference');
  const searchable = 'a top-level text or reference that is not a list';
  refuse(field.searchable && !isSearchable, 'searchable', 'it cannot be searchable', searchable);
  const isMember = field.right && place !== 'top';
  refuse(isMember, 'right', 'a member of an object is not a right', 'a top-level field');
  if (field.default === undefined) return;
  refuse(list, 'default', 'a list cannot have a default', DEFAULT);
  const isDefault = list || isDefaultOf(field, field.default);
  refuse(!isDefault, 'default', 'the default is not a value of the field', DEFAULT);
}

function faultOfPattern(pattern: string, maxLength = Number.POSITIVE_INFINITY): string | undefined {
  try {
    parseLinearPattern(pattern);
    return maxLength > MAX_PATTERN_TEXT ? 'a pattern needs a maxLength beside it' : undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

/** Fields that name records of other collections, or agree with them. */
function checkLinks(faults: Faults, fields: readonly FieldDefinition[], pointer: string): void {
  for (const [index, field] of fields.entries()) {
    const { type, enum: allowed, list, names, namedWith, agreesWith, agreesOn } = field;
    const at = `${pointer}/${index}`;
    const isText = type === 'text' && allowed === undefined;
    const isNaming = names === undefined || isText;
    faults.unless(isNaming, `${at}/names`, `a ${type} cannot name a record`, 'type text without enum');
    const first = fieldNamed(fields, namedWith);
    const isNamedWith =
      names !== undefined &&
      !list &&
      first?.names?.split('.')[0] === names.split('.')[0] &&
      first?.namedWith === undefined &&
      !first?.list;
    const beside = 'a field beside it that names a record of the same collection; neither is a list';
    if (namedWith !== undefined)
      faults.unless(isNamedWith, `${at}/namedWith`, 'they do not name a record together', beside);
    const reference = fieldNamed(fields, agreesWith?.split('.')[0]);
    const isOfOne =
      reference?.type === 'reference' && !reference.list && typeof reference.target === 'string';
    const agreeing = 'type text, and a reference to one collection beside it, e.g. `student.class`';
    const isAgreeing = agreesWith === undefined || (isText && !list && isOfOne);
    faults.unless(isAgreeing, `${at}/agreesWith`, 'there is no record to agree with', agreeing);
    const moment = fieldNamed(fields, agreesOn);
    const isMoment = (moment?.type === 'datetime' || moment?.format === 'session') && !moment.list;
    const isOnMoment = agreesOn === undefined || (agreesWith !== undefined && isMoment);
    const onMoment = 'a datetime or session beside it, and `agreesWith`';
    faults.unless(isOnMoment, `${at}/agreesOn`, `"${agreesOn}" has no day or session`, onMoment);
    checkLinks(faults, field.fields ?? [], `${at}/fields`);
  }
}

function isDefaultOf(field: FieldDefinition, value: string | number | boolean): boolean {
  if (field.type === 'reference' || field.type === 'object') return false;
  const type = scalarTypeOf(field);
  // Another rule reports an invalid type.
  if (type === undefined) return true;
  if (field.enum !== undefined && !field.enum.includes(String(value))) return false;
  const moment = { now: new Date(0), timeZone: 'UTC' };
  return type.isDefault(value) && (value === 'now' || isWithinBounds(field, value, moment));
}

/** `undefined` for references, objects and unknown types. */
function scalarTypeOf({ type, format, decimal = false }: FieldDefinition): ScalarType | undefined {
  const name = findScalar({ type, format, isDecimal: decimal });
  return name === undefined ? undefined : SCALAR_TYPES[name];
}

/** E.g. `date with type datetime, month or session with type text`. */
function formatsByType(): string {
  const formats = new Map<string, string[]>();
  for (const { declared } of Object.values(SCALAR_TYPES)) {
    const { type, format } = declared;
    if (format !== undefined) formats.set(type, [...(formats.get(type) ?? []), format]);
  }
  return [...formats].map(([type, names]) => `${names.join(' or ')} with type ${type}`).join(', ');
}

function countFields(fields: readonly FieldDefinition[]): number {
  return fields.reduce((sum, field) => sum + 1 + countFields(field.fields ?? []), 0);
}

function checkUniqueTogether(faults: Faults, { uniqueTogether: rules = [] }: CollectionDefinition): void {
  const folded = new Set(faults.fields.filter(ignoresCase).map(({ name }) => name));
  for (const [index, { name, parts, unless: excepted = [] }] of rules.entries()) {
    const at = `/uniqueTogether/${index}`;
    const isOwn = rules.findIndex((other) => other.name === name) === index && !folded.has(name);
    faults.unless(isOwn, `${at}/name`, 'it is declared twice', 'a name of its own');
    for (const [partIndex, { path, by, ignoreCase }] of parts.entries()) {
      const pointer = `${at}/parts/${partIndex}/path`;
      const field = checkScalar(faults, path, pointer);
      if (field === undefined) continue;
      const type = scalarTypeOf(field);
      const hasCase = by !== 'day' && type?.declared.type === 'text';
      const hasDay = by !== 'day' || (type !== undefined && type.periods.length > 0);
      if (ignoreCase && !hasCase) faults.unless(false, pointer, `"${path}" has no case`, 'a text');
      else faults.unless(hasDay, pointer, `"${path}" has no day`, 'a datetime field');
    }
    for (const [position, { field: name, is }] of excepted.entries()) {
      const field = faults.fieldNamed(name);
      const fits = field !== undefined && !field.list && (is === undefined || field.type === 'text');
      const expected = 'a declared top-level field that is not a list; a text if `is` has values';
      faults.unless(fits, `${at}/unless/${position}/field`, `"${name}" cannot be an exception`, expected);
    }
  }
}

/** The scalar field at the path, if there is one. */
function checkScalar(faults: Faults, path: string, at: string): FieldDefinition | undefined {
  const field = findField(faults.fields, path);
  if (field === undefined) {
    faults.unless(false, at, `"${path}" is not a declared value`, 'a declared field that is not a list');
    return undefined;
  }
  const isScalar = field.type !== 'object' && field.type !== 'reference';
  faults.unless(isScalar, at, `"${path}" is not a scalar`, 'a scalar field, e.g. `student.value`');
  return isScalar ? field : undefined;
}

function checkCheck(faults: Faults, check: CheckDefinition, pointer: string): void {
  const place = 'in' in check && check.in !== undefined ? `${check.in}.` : '';
  const fieldOf = (name: string) => findField(faults.fields, place + name, 'lists');
  if (check.kind === 'sum') {
    const parts = check.of.map((path, part) => [`${pointer}/of/${part}`, path] as const);
    for (const [at, path] of [[`${pointer}/total`, check.total] as const, ...parts]) {
      const isNumber = fieldOf(path)?.type === 'number';
      faults.unless(isNumber, at, `"${path}" is not a declared number`, 'the path of a number field');
    }
    return;
  }
  if (check.kind === 'inSession') {
    const isOfMonths = check.of.every((path) => fieldOf(path)?.format === 'month');
    const hasSession = fieldOf(check.session)?.format === 'session';
    faults.unless(isOfMonths && hasSession, pointer, 'it names other fields', 'a session and months');
    return;
  }
  if (check.kind === 'order') {
    const [lower, upper] = [fieldOf(check.lower), fieldOf(check.upper)];
    const isOrdered =
      lower?.type === upper?.type &&
      lower?.format === upper?.format &&
      lower !== undefined &&
      scalarTypeOf(lower)?.isOrdered === true;
    const expected = 'two numbers, two days, two months or two instants';
    faults.unless(isOrdered, pointer, 'the two have no order', expected);
    return;
  }
  if (check.kind === 'distinct') {
    const isText = fieldOf(check.field)?.type === 'text';
    faults.unless(isText, pointer, 'it names no declared text', 'a text of the objects in a list');
    return;
  }
  const { field: name, required: _required, absent: _absent, target: held, ...bounds } = check.holds;
  const [state, subject] = [fieldOf(check.field), fieldOf(name)];
  if (subject === undefined || (state?.type !== 'text' && state?.type !== 'boolean')) {
    const expected = 'a text or boolean as `field`, and a declared field in `holds`';
    faults.unless(false, pointer, 'it names fields that are not declared', expected);
    return;
  }
  const { type, target } = subject;
  const isTarget = held === undefined || (check.in === undefined && [target ?? []].flat().includes(held));
  const noTarget = 'it is not a target of the field';
  faults.unless(isTarget, `${pointer}/holds/target`, noTarget, 'one of its collections');
  checkField(faults, { name, type, ...(target && { target }), ...bounds }, `${pointer}/holds`, 'member');
}

function checkStays(faults: Faults, { stays }: CollectionDefinition): void {
  if (stays === undefined) return;
  const { list, session, reset = [] } = stays;
  const isDays = (field: FieldDefinition | undefined) => field?.format === 'date' && !field.list;
  const stay = faults.fieldNamed(list);
  const isList = stay?.list && ['from', 'to'].every((name) => isDays(fieldNamed(stay.fields ?? [], name)));
  const ofDays = 'a list of objects with the days `from` and `to`';
  faults.unless(isList, '/stays/list', `"${list}" has no days`, ofDays);
  for (const key of ['from', 'to'] as const) {
    const isDay = isDays(faults.fieldNamed(stays[key]));
    faults.unless(isDay, `/stays/${key}`, `"${stays[key]}" is not a day`, 'a field of days');
  }
  const isSession = session === undefined || faults.fieldNamed(session)?.format === 'session';
  faults.unless(isSession, '/stays/session', `"${session}" is not a session`, 'a field of sessions');
  checkDeclared(faults, reset, '/stays/reset');
}

/** Checks that there is a field of each name. */
function checkDeclared(
  faults: Faults,
  names: readonly string[],
  at: string,
  expected = 'a declared field',
): void {
  for (const [index, name] of names.entries())
    faults.unless(faults.fieldNamed(name), `${at}/${index}`, `"${name}" is not declared`, expected);
}

function checkGrants(faults: Faults, { grants = [] }: CollectionDefinition): void {
  for (const [index, { list: listName, caller: callerName, key }] of grants.entries()) {
    const at = `/grants/${index}`;
    const list = faults.fieldNamed(listName);
    const caller = fieldNamed(list?.fields ?? [], callerName);
    const isList = list?.type === 'object' && list.list;
    const isCaller = caller?.type === 'reference' && !caller.list;
    const isNoReference = `"${callerName}" is not a reference of an element`;
    if (!isList)
      faults.unless(false, `${at}/list`, `"${listName}" is not a list of objects`, 'a declared one');
    else if (!isCaller) faults.unless(false, `${at}/caller`, isNoReference, 'a declared one');
    else
      for (const [part, path] of key.entries()) {
        const isDeclared = findField(faults.fields, path, 'lists');
        faults.unless(isDeclared, `${at}/key/${part}`, `"${path}" is not declared`, 'a declared field');
      }
  }
}

const TOP_LEVEL = 'a declared top-level field';

function checkPersonal(faults: Faults, { labelField, personal }: CollectionDefinition): void {
  if (personal === undefined) return;
  const { about = [], identifiers = [], fields: personalFields = [], keep } = personal;
  for (const [index, name] of about.entries()) {
    const field = faults.fieldNamed(name);
    const fits = field?.type === 'reference' && !field.list;
    const expected = 'a declared reference that is not a list';
    faults.unless(fits, `/personal/about/${index}`, `"${name}" is not a reference`, expected);
  }
  for (const [index, name] of identifiers.entries()) {
    const isText = faults.fieldNamed(name)?.type === 'text';
    const at = `/personal/identifiers/${index}`;
    faults.unless(isText, at, `"${name}" is not a declared text`, 'a declared top-level text');
  }
  for (const [key, names] of Object.entries({ identifiers, fields: personalFields }))
    for (const [index, name] of names.entries()) {
      const field = faults.fieldNamed(name);
      const at = `/personal/${key}/${index}`;
      if (key === 'fields') faults.unless(field, at, `"${name}" is not declared`, TOP_LEVEL);
      const mayGo = keep === undefined || !field?.required || name === labelField || isReplaceable(field);
      const detail = `"${name}" is required, and nothing can take its place where the record is kept`;
      const expected = 'a field that is not required, or a plain text';
      faults.unless(mayGo, at, detail, expected);
    }
}

/** Whether the field accepts any text. */
function isReplaceable({ type, list, format, enum: allowed }: FieldDefinition): boolean {
  return type === 'text' && !list && format === undefined && allowed === undefined;
}

function checkAccess(faults: Faults, { access: roles = {} }: CollectionDefinition): void {
  for (const [role, access] of Object.entries(roles)) {
    const { rows, alsoReads } = access;
    const at = `/access/${role}`;
    for (const key of ['hiddenFields', 'readOnlyFields'] as const)
      checkDeclared(faults, access[key] ?? [], `${at}/${key}`, TOP_LEVEL);
    if (rows !== undefined) checkRowRule(faults, rows, `${at}/rows`);
    for (const [index, rule] of (alsoReads ?? []).entries())
      checkRowRule(faults, rule, `${at}/alsoReads/${index}`);
    const all = 'without `rows` the role reads all records already';
    faults.unless(alsoReads === undefined || rows, `${at}/alsoReads`, all, '`rows` beside it');
  }
}

/** The attribute that every caller has: each of the caller's roles. */
const ROLES = 'roles';

function checkRowRule(faults: Faults, rule: RowRuleDefinition, at: string): void {
  const isOfRoles = rule.attribute === ROLES;
  if (isOfRoles && rule.fields.length > 1) {
    faults.unless(false, `${at}/fields`, 'a role is one value', 'one field');
    return;
  }
  for (const [index, path] of rule.fields.entries()) {
    const field = findField(faults.fields, path);
    const top = faults.fieldNamed(path);
    const isTextList = isOfRoles && top?.type === 'text' && top.list;
    const fits = isTextList || path === '_id' || (field !== undefined && field.type !== 'object');
    const expected = '`_id`, or a declared field that is not a list (with `roles`, a list of texts too)';
    faults.unless(fits, `${at}/fields/${index}`, `"${path}" is not a declared value`, expected);
  }
}

/** The declared field at a path. A reference has the text members `value` and `label`. */
function findField(
  fields: readonly FieldDefinition[],
  path: string,
  crossed: 'lists' | 'no list' = 'no list',
): FieldDefinition | undefined {
  const [name, ...rest] = path.split('.');
  const field = fieldNamed(fields, name);
  if (field?.list && crossed === 'no list') return undefined;
  if (field === undefined || rest.length === 0) return field;
  const members = field.type === 'reference' ? REFERENCE_MEMBERS : (field.fields ?? []);
  return findField(members, rest.join('.'), crossed);
}

const REFERENCE_MEMBERS: readonly FieldDefinition[] = [
  { name: 'value', type: 'text' },
  { name: 'label', type: 'text' },
];
