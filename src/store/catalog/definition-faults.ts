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
  const fields = definition.fields ?? [];
  const { singular, plural } = graphqlNamesOf(definition);
  const count = countFields(fields);
  const mostFields = `at most ${MAX_FIELDS}, members included`;
  const twoNames = 'two different GraphQL names';
  return [
    ...unless(singular !== plural, '/plural', 'singular and plural are the same', twoNames, plural),
    ...findFieldFaults(fields, '/fields', 'top'),
    ...findLinkFaults(fields, '/fields'),
    ...unless(count <= MAX_FIELDS, '/fields', `${count} fields are declared`, mostFields, count),
    ...findLabelFaults(definition),
    ...(definition.indexes ?? []).flatMap((paths, index) =>
      paths.flatMap((path, position) => findScalarFaults(fields, path, `/indexes/${index}/${position}`)),
    ),
    ...findUniqueTogetherFaults(definition),
    ...(definition.checks ?? []).flatMap((check, index) => faultsOfCheck(check, fields, `/checks/${index}`)),
    ...findBookedOnFaults(definition),
    ...findGrantFaults(definition),
    ...findStaysFaults(definition),
    ...findPersonalFaults(definition),
    ...findAccessFaults(definition),
  ];
}

/** The fault, unless a condition holds. */
function unless(
  holds: boolean | undefined,
  pointer: string,
  detail: string,
  expected: string,
  sent: unknown,
): ErrorDetail[] {
  return holds ? [] : [{ pointer, detail, expected, sent }];
}

function findFieldFaults(
  fields: readonly FieldDefinition[],
  pointer: string,
  place: 'top' | 'member',
): ErrorDetail[] {
  return fields.flatMap((field, index) => {
    const at = `${pointer}/${index}`;
    const { name } = field;
    const isFirst = fields.findIndex((other) => other.name === name) === index;
    return [
      ...unless(isFirst, `${at}/name`, `"${name}" is declared twice`, 'a name of its own', name),
      ...FIELD_RULES.flatMap(([key, expected, faultOf]) => {
        const detail = faultOf(field, place);
        return unless(!detail, `${at}/${key}`, detail || '', expected, field[key]);
      }),
      ...findFieldFaults(field.fields ?? [], `${at}/fields`, 'member'),
    ];
  });
}

/** Which keys of a field go together, one rule per reason: what is wrong with the field, if anything is. */
type FieldRule = readonly [
  key: keyof FieldDefinition,
  expected: string,
  faultOf: (field: FieldDefinition, place: 'top' | 'member') => string | false | undefined,
];

/** The longest text that a pattern is held against. */
const MAX_PATTERN_TEXT = 1_000;
const BOUND = 'a number with type number; a day YYYY-MM-DD or `now` with type datetime';
const PATTERN =
  `^ … $ of characters, classes and escapes with quantifiers; beside it a maxLength up to ` +
  MAX_PATTERN_TEXT;
const INDEXABLE = 'a top-level field that is no list and no object';

const FIELD_RULES: readonly FieldRule[] = [
  ['enum', 'type text', (field) => field.enum && field.type !== 'text' && `a ${field.type} takes no enum`],
  [
    'decimal',
    'type number',
    ({ decimal, type }) => decimal && type !== 'number' && `a ${type} is not a decimal`,
  ],
  [
    'format',
    formatsByType(),
    ({ type, format }) =>
      format !== undefined &&
      findScalar({ type, format }) === undefined &&
      `the format ${format} is not one of a ${type}`,
  ],
  ...(['minimum', 'maximum'] as const).map(
    (key): FieldRule => [
      key,
      BOUND,
      ({ type, [key]: bound }) => {
        if (bound === undefined) return undefined;
        const isOfDays = type === 'datetime' && (bound === 'now' || isDay(String(bound)));
        const fits = typeof bound === 'number' ? type === 'number' : isOfDays;
        return !fits && `${JSON.stringify(bound)} is no ${key} of a ${type}`;
      },
    ],
  ),
  ...(['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const).map(
    (key): FieldRule => [
      key,
      'type number',
      ({ type, [key]: bound }) => bound !== undefined && type !== 'number' && `a ${type} takes no ${key}`,
    ],
  ),
  ...(['minLength', 'maxLength', 'pattern'] as const).map(
    (key): FieldRule => [
      key,
      'type text without enum and format',
      ({ type, enum: allowed, format, [key]: bound }) =>
        bound !== undefined &&
        (type !== 'text' || allowed !== undefined || format !== undefined) &&
        `only a plain text takes ${key}`,
    ],
  ),
  [
    'pattern',
    PATTERN,
    ({ pattern, maxLength = Number.POSITIVE_INFINITY }) =>
      pattern !== undefined &&
      (faultOfPattern(pattern) ?? (maxLength > MAX_PATTERN_TEXT && 'a pattern needs a maxLength beside it')),
  ],
  ...(
    [
      ['minimum', 'maximum'],
      ['exclusiveMinimum', 'exclusiveMaximum'],
      ['minLength', 'maxLength'],
    ] as const
  ).map(
    ([key, upper]): FieldRule => [
      key,
      `at most ${upper}`,
      ({ [key]: low, [upper]: high }) =>
        typeof low === 'number' &&
        typeof high === 'number' &&
        low > high &&
        `${low} is above the ${upper} ${high}`,
    ],
  ),
  [
    'mustExist',
    'type reference',
    ({ mustExist, type }) => mustExist !== undefined && type !== 'reference' && `a ${type} points at nothing`,
  ],
  [
    'onDelete',
    'type reference, and "refuse" only where mustExist is not false',
    ({ onDelete, type, mustExist }) => {
      if (onDelete === undefined) return undefined;
      if (type !== 'reference') return `a ${type} points at nothing`;
      const isFree = onDelete === 'refuse' && mustExist === false;
      return isFree && 'the target need not exist, so it may be removed';
    },
  ],
  [
    'target',
    'a collection with type reference, nothing with any other type',
    ({ target, type }) => {
      if (type === 'reference') return target === undefined && 'a reference needs a target';
      return target !== undefined && `a ${type} takes no target`;
    },
  ],
  ['fields', 'type object', ({ fields, type }) => fields && type !== 'object' && `a ${type} has no members`],
  ['index', INDEXABLE, (field, place) => field.index && !isIndexable(field, place) && 'it cannot be indexed'],
  [
    'unique',
    INDEXABLE,
    (field, place) => Boolean(field.unique) && !isIndexable(field, place) && 'it cannot be unique',
  ],
  [
    'unique',
    'a text, for ignoreCase',
    (field) => ignoresCase(field) && field.type !== 'text' && 'it has no case',
  ],
  [
    'searchable',
    'a top-level text or reference that is no list',
    (field, place) =>
      field.searchable &&
      !(isIndexable(field, place) && (field.type === 'text' || field.type === 'reference')) &&
      'it cannot be searchable',
  ],
  [
    'right',
    'a top-level field',
    (field, place) => field.right && place !== 'top' && 'a member of an object is not a right',
  ],
  [
    'default',
    'a value of the type of the field (`now` for a datetime)',
    (field) => {
      if (field.default === undefined) return undefined;
      if (field.list) return 'a list takes no default';
      return !isDefaultOf(field, field.default) && 'the default is not a value of the field';
    },
  ],
];

function faultOfPattern(pattern: string): string | undefined {
  try {
    parseLinearPattern(pattern);
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

/** Faults of fields that name records of other collections, or agree with them. */
function findLinkFaults(fields: readonly FieldDefinition[], pointer: string): ErrorDetail[] {
  const fieldOf = (name: string | undefined) => fields.find((field) => field.name === name);
  return fields.flatMap((field, index) => {
    const { type, enum: allowed, names, namedWith, agreesWith, agreesOn } = field;
    const at = `${pointer}/${index}`;
    const isText = type === 'text' && allowed === undefined;
    const faults: ErrorDetail[] = [];
    if (names !== undefined)
      faults.push(
        ...unless(isText, `${at}/names`, `a ${type} names no record`, 'type text without enum', names),
      );
    if (namedWith !== undefined) {
      const first = fieldOf(namedWith);
      const isBeside =
        names !== undefined &&
        !field.list &&
        first?.names?.split('.')[0] === names.split('.')[0] &&
        first?.namedWith === undefined &&
        !first?.list;
      const expected = 'a field beside it that names a record of the same collection; neither is a list';
      faults.push(
        ...unless(isBeside, `${at}/namedWith`, 'they name no record together', expected, namedWith),
      );
    }
    if (agreesWith !== undefined) {
      const reference = fieldOf(agreesWith.split('.')[0]);
      const isBeside =
        reference?.type === 'reference' && !reference.list && typeof reference.target === 'string';
      const expected = 'type text, and a reference to one collection beside it, e.g. `student.class`';
      const fits = isText && !field.list && isBeside;
      faults.push(
        ...unless(fits, `${at}/agreesWith`, 'there is no record to agree with', expected, agreesWith),
      );
    }
    if (agreesOn !== undefined) {
      const moment = fieldOf(agreesOn);
      const isMoment = moment?.type === 'datetime' || moment?.format === 'session';
      const expected = 'a datetime or session beside it, and `agreesWith`';
      const fits = agreesWith !== undefined && isMoment && !moment.list;
      faults.push(
        ...unless(fits, `${at}/agreesOn`, `"${agreesOn}" has no day or session`, expected, agreesOn),
      );
    }
    return [...faults, ...findLinkFaults(field.fields ?? [], `${at}/fields`)];
  });
}

function isIndexable(field: FieldDefinition, place: 'top' | 'member'): boolean {
  return place === 'top' && !field.list && field.type !== 'object';
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

function findLabelFaults({ labelField: label, fields = [] }: CollectionDefinition): ErrorDetail[] {
  const isText = fields.some(({ name, type, list }) => name === label && type === 'text' && !list);
  const expected = 'a declared top-level text field';
  return unless(
    label === undefined || isText,
    '/labelField',
    `"${label}" cannot be a label`,
    expected,
    label,
  );
}

function findUniqueTogetherFaults({ fields = [], uniqueTogether }: CollectionDefinition): ErrorDetail[] {
  const rules = uniqueTogether ?? [];
  const folded = new Set(fields.filter(ignoresCase).map(({ name }) => name));
  const twice = rules.flatMap(({ name }, index) => {
    const isOwn = rules.findIndex((other) => other.name === name) === index && !folded.has(name);
    const at = `/uniqueTogether/${index}/name`;
    return unless(isOwn, at, 'it is declared twice', 'a name of its own', name);
  });
  const parts = rules.flatMap((rule, index) =>
    rule.parts.flatMap(({ path, by, ignoreCase }, partIndex) => {
      const at = `/uniqueTogether/${index}/parts/${partIndex}/path`;
      const faults = findScalarFaults(fields, path, at);
      if (faults.length > 0) return faults;
      const field = findField(fields, path);
      const type = field === undefined || field === 'list' ? undefined : scalarTypeOf(field);
      const hasCase = by !== 'day' && type?.declared.type === 'text';
      if (ignoreCase && !hasCase) return unless(false, at, `"${path}" has no case`, 'a text', path);
      const hasDay = by !== 'day' || (type !== undefined && type.periods.length > 0);
      return unless(hasDay, at, `"${path}" has no day`, 'a datetime field', path);
    }),
  );
  const exceptions = rules.flatMap(({ unless: excepted = [] }, index) =>
    excepted.flatMap(({ field, is }, position) => {
      const declared = fields.find((candidate) => candidate.name === field);
      const fits = declared !== undefined && !declared.list && (is === undefined || declared.type === 'text');
      const expected = 'a declared top-level field that is no list; a text if `is` has values';
      const at = `/uniqueTogether/${index}/unless/${position}/field`;
      return unless(fits, at, `"${field}" cannot be an exception`, expected, field);
    }),
  );
  return [...twice, ...parts, ...exceptions];
}

function findScalarFaults(fields: readonly FieldDefinition[], path: string, at: string): ErrorDetail[] {
  const field = findField(fields, path);
  if (field === undefined || field === 'list')
    return unless(false, at, `"${path}" is no declared value`, 'a declared field that is no list', path);
  const isScalar = field.type !== 'object' && field.type !== 'reference';
  return unless(isScalar, at, `"${path}" is not a scalar`, 'a scalar field, e.g. `student.value`', path);
}

function findBookedOnFaults({ bookedOn, fields = [] }: CollectionDefinition): ErrorDetail[] {
  const field = fields.find(({ name }) => name === bookedOn);
  const fits = bookedOn === undefined || (field?.type === 'datetime' && !field.list);
  return unless(fits, '/bookedOn', `"${bookedOn}" has no day`, 'a declared datetime field', bookedOn);
}

function faultsOfCheck(
  check: CheckDefinition,
  fields: readonly FieldDefinition[],
  pointer: string,
): ErrorDetail[] {
  if (check.kind === 'sum') {
    const numbers = [
      { at: `${pointer}/total`, path: check.total },
      ...check.of.map((path, part) => ({ at: `${pointer}/of/${part}`, path })),
    ];
    return numbers.flatMap(({ at, path }) => {
      const isNumber = findFieldThroughLists(fields, path)?.type === 'number';
      return unless(isNumber, at, `"${path}" is no declared number`, 'the path of a number field', path);
    });
  }
  const prefix = check.in === undefined ? '' : `${check.in}.`;
  if (check.kind === 'order') {
    const lower = findFieldThroughLists(fields, prefix + check.lower);
    const upper = findFieldThroughLists(fields, prefix + check.upper);
    const isOrdered =
      lower?.type === upper?.type &&
      lower?.format === upper?.format &&
      lower !== undefined &&
      scalarTypeOf(lower)?.isOrdered === true;
    const expected = 'two numbers, two days, two months or two instants';
    return unless(isOrdered, pointer, 'the two have no order', expected, check);
  }
  const state = findFieldThroughLists(fields, prefix + check.field);
  const subject = findFieldThroughLists(fields, prefix + check.holds.field);
  if (subject === undefined || (state?.type !== 'text' && state?.type !== 'boolean')) {
    const expected = 'a text or boolean as `field`, and a declared field in `holds`';
    return unless(false, pointer, 'it names fields that are not declared', expected, check);
  }
  const { field: name, required: _required, ...bounds } = check.holds;
  return findFieldFaults([{ name, type: subject.type, ...bounds }], `${pointer}/holds`, 'member').filter(
    ({ pointer: at }) => !at?.endsWith('/target'),
  );
}

function findStaysFaults({ stays, fields = [] }: CollectionDefinition): ErrorDetail[] {
  if (stays === undefined) return [];
  const { list, session, reset = [] } = stays;
  const hasDay = (among: readonly FieldDefinition[], name: string) =>
    among.some((field) => field.name === name && field.format === 'date' && !field.list);
  const { fields: members = [] } = fields.find((field) => field.name === list && field.list) ?? {};
  const isList = hasDay(members, 'from') && hasDay(members, 'to');
  const ofDays = 'a list of objects with the days `from` and `to`';
  const isSession = fields.some(({ name, format }) => name === session && format === 'session');
  return [
    ...unless(isList, '/stays/list', `"${list}" has no days`, ofDays, list),
    ...(['from', 'to'] as const).flatMap((key) => {
      const name = stays[key];
      return unless(hasDay(fields, name), `/stays/${key}`, `"${name}" is no day`, 'a field of days', name);
    }),
    ...unless(
      session === undefined || isSession,
      '/stays/session',
      `"${session}" is no session`,
      'a field of sessions',
      session,
    ),
    ...reset.flatMap((name, index) => {
      const isDeclared = fields.some((field) => field.name === name);
      return unless(
        isDeclared,
        `/stays/reset/${index}`,
        `"${name}" is not declared`,
        'a declared field',
        name,
      );
    }),
  ];
}

function findGrantFaults({ fields = [], grants = [] }: CollectionDefinition): ErrorDetail[] {
  return grants.flatMap(({ list: listName, caller: callerName, key }, index) => {
    const at = `/grants/${index}`;
    const list = fields.find((field) => field.name === listName);
    const isList = list?.type === 'object' && list.list;
    if (!isList)
      return unless(false, `${at}/list`, `"${listName}" is no list of objects`, 'a declared one', listName);
    const caller = list.fields?.find((field) => field.name === callerName);
    if (caller?.type !== 'reference' || caller.list) {
      const detail = `"${callerName}" is no reference of an element`;
      return unless(false, `${at}/caller`, detail, 'a declared one', callerName);
    }
    return key.flatMap((path, part) => {
      const isDeclared = findFieldThroughLists(fields, path) !== undefined;
      return unless(isDeclared, `${at}/key/${part}`, `"${path}" is not declared`, 'a declared field', path);
    });
  });
}

function findPersonalFaults({ fields = [], labelField, personal }: CollectionDefinition): ErrorDetail[] {
  if (personal === undefined) return [];
  const { about = [], identifiers = [], fields: told = [], keep } = personal;
  const fieldOf = (name: string) => fields.find((field) => field.name === name);
  const kept = Object.entries({ identifiers, fields: told }).flatMap(([key, names]) =>
    names.flatMap((name, index) => {
      const field = fieldOf(name);
      const at = `/personal/${key}/${index}`;
      const isKnown = field !== undefined || key !== 'fields';
      const mayGo = keep === undefined || !field?.required || name === labelField || isReplaceable(field);
      const detail = `"${name}" is required, and nothing can take its place where the record is kept`;
      return [
        ...unless(isKnown, at, `"${name}" is not declared`, 'a declared top-level field', name),
        ...unless(mayGo, at, detail, 'a field that is not required, or a plain text', name),
      ];
    }),
  );
  return [
    ...about.flatMap((name, index) => {
      const field = fieldOf(name);
      const fits = field?.type === 'reference' && !field.list;
      const expected = 'a declared reference that is no list';
      return unless(fits, `/personal/about/${index}`, `"${name}" is no reference`, expected, name);
    }),
    ...identifiers.flatMap((name, index) => {
      const at = `/personal/identifiers/${index}`;
      const isText = fieldOf(name)?.type === 'text';
      return unless(isText, at, `"${name}" is no declared text`, 'a declared top-level text', name);
    }),
    ...kept,
  ];
}

/** Whether the field accepts any text. */
function isReplaceable({ type, list, format, enum: allowed }: FieldDefinition): boolean {
  return type === 'text' && !list && format === undefined && allowed === undefined;
}

function findAccessFaults({ fields = [], access: roles = {} }: CollectionDefinition): ErrorDetail[] {
  const names = new Set(fields.map((field) => field.name));
  return Object.entries(roles).flatMap(([role, access]) => {
    const { rows, alsoReads } = access;
    const at = `/access/${role}`;
    const unknown = (['hiddenFields', 'readOnlyFields'] as const).flatMap((key) =>
      (access[key] ?? []).flatMap((name, index) => {
        const expected = 'a declared top-level field';
        return unless(names.has(name), `${at}/${key}/${index}`, `"${name}" is not declared`, expected, name);
      }),
    );
    const all = 'without `rows` the role reads all records already';
    const isLimited = alsoReads === undefined || rows !== undefined;
    return [
      ...unknown,
      ...(rows === undefined ? [] : findRowRuleFaults(fields, rows, `${at}/rows`)),
      ...(alsoReads ?? []).flatMap((rule, index) =>
        findRowRuleFaults(fields, rule, `${at}/alsoReads/${index}`),
      ),
      ...unless(isLimited, `${at}/alsoReads`, all, '`rows` beside it', alsoReads),
    ];
  });
}

/** The attribute that every caller has: each of the caller's roles. */
const ROLES = 'roles';

function findRowRuleFaults(
  fields: readonly FieldDefinition[],
  rule: RowRuleDefinition,
  at: string,
): ErrorDetail[] {
  const isOfRoles = rule.attribute === ROLES;
  if (isOfRoles && rule.fields.length > 1)
    return unless(false, `${at}/fields`, 'a role is one value', 'one field', rule.fields);
  return rule.fields.flatMap((path, index) => {
    const field = path === '_id' ? 'id' : findField(fields, path);
    const isTextList =
      isOfRoles && fields.some(({ name, type, list }) => name === path && type === 'text' && list);
    const isValue = field === 'id' || (typeof field === 'object' && field.type !== 'object');
    const expected = '`_id`, or a declared field that is no list (with `roles`, a list of texts too)';
    const detail = `"${path}" is no declared value`;
    return unless(isValue || isTextList, `${at}/fields/${index}`, detail, expected, path);
  });
}

/**
 * The declared field at a path; `'list'` if the path crosses a list. A reference has the text members `value`
 * and `label`.
 */
function findField(fields: readonly FieldDefinition[], path: string): FieldDefinition | 'list' | undefined {
  const [name, ...rest] = path.split('.');
  const field = fields.find((candidate) => candidate.name === name);
  if (field?.list) return 'list';
  if (field === undefined || rest.length === 0) return field;
  return findField(membersOf(field), rest.join('.'));
}

function findFieldThroughLists(
  fields: readonly FieldDefinition[],
  path: string,
): FieldDefinition | undefined {
  const [name, ...rest] = path.split('.');
  const field = fields.find((candidate) => candidate.name === name);
  if (field === undefined || rest.length === 0) return field;
  return findFieldThroughLists(membersOf(field), rest.join('.'));
}

const REFERENCE_MEMBERS: readonly FieldDefinition[] = [
  { name: 'value', type: 'text' },
  { name: 'label', type: 'text' },
];

function membersOf(field: FieldDefinition): readonly FieldDefinition[] {
  return field.type === 'reference' ? REFERENCE_MEMBERS : (field.fields ?? []);
}
