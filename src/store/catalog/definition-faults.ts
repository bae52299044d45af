/**
 * Validates what JSON Schema cannot express: which keys go together, and that every name in a rule is
 * declared.
 */
import type { ErrorDetail } from '../../base/errors.js';
import { isWithinBounds } from '../../base/model/bounds.js';
import type { ScalarType } from '../../base/model/field-types/scalar-type.js';
import { findScalar, SCALAR_TYPES } from '../../base/model/field-types/scalar-types.js';
import { BOUND_RULES, type FieldRule } from './bound-rules.js';
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
  return [
    ...findNameFaults(definition),
    ...findFieldFaults(fields, '/fields', 'top'),
    ...findLinkFaults(fields, '/fields'),
    ...findFieldCountFaults(fields),
    ...findLabelFaults(definition),
    ...findIndexFaults(definition),
    ...findUniqueTogetherFaults(definition),
    ...findCheckFaults(definition),
    ...findBookedOnFaults(definition),
    ...findGrantFaults(definition),
    ...findStaysFaults(definition),
    ...findPersonalFaults(definition),
    ...findAccessFaults(definition),
  ];
}

function findNameFaults(definition: CollectionDefinition): ErrorDetail[] {
  const { singular, plural } = graphqlNamesOf(definition);
  if (singular !== plural) return [];
  return [fault('/plural', 'singular and plural are the same', 'two different GraphQL names', plural)];
}

function findFieldFaults(
  fields: readonly FieldDefinition[],
  pointer: string,
  place: 'top' | 'member',
): ErrorDetail[] {
  const seen = new Set<string>();
  return fields.flatMap((field, index) => {
    const at = `${pointer}/${index}`;
    const faults: ErrorDetail[] = [];
    if (seen.has(field.name)) {
      faults.push(fault(`${at}/name`, `"${field.name}" is declared twice`, 'a name of its own', field.name));
    }
    seen.add(field.name);
    for (const rule of FIELD_RULES) {
      const detail = rule.faultOf(field, place);
      if (detail !== undefined)
        faults.push(fault(`${at}/${rule.key}`, detail, rule.expected, field[rule.key]));
    }
    return [...faults, ...findFieldFaults(field.fields ?? [], `${at}/fields`, 'member')];
  });
}

/** Which keys of a field go together, one rule per reason. */
const FIELD_RULES: readonly FieldRule[] = [
  {
    key: 'enum',
    expected: 'type text',
    faultOf: (field) => (field.enum && field.type !== 'text' ? `a ${field.type} takes no enum` : undefined),
  },
  {
    key: 'decimal',
    expected: 'type number',
    faultOf: (field) =>
      field.decimal && field.type !== 'number' ? `a ${field.type} is not a decimal` : undefined,
  },
  {
    key: 'format',
    expected: formatsByType(),
    faultOf: ({ type, format }) =>
      format === undefined || findScalar({ type, format }) !== undefined
        ? undefined
        : `the format ${format} is not one of a ${type}`,
  },
  ...BOUND_RULES,
  {
    key: 'mustExist',
    expected: 'type reference',
    faultOf: (field) =>
      field.mustExist !== undefined && field.type !== 'reference'
        ? `a ${field.type} points at nothing`
        : undefined,
  },
  {
    key: 'onDelete',
    expected: 'type reference, and "refuse" only where mustExist is not false',
    faultOf: (field) => {
      if (field.onDelete === undefined) return undefined;
      if (field.type !== 'reference') return `a ${field.type} points at nothing`;
      return field.onDelete === 'refuse' && field.mustExist === false
        ? 'the target need not exist, so it may be removed'
        : undefined;
    },
  },
  {
    key: 'target',
    expected: 'a collection with type reference, nothing with any other type',
    faultOf: (field) => {
      if (field.type === 'reference' && field.target === undefined) return 'a reference needs a target';
      return field.type !== 'reference' && field.target !== undefined
        ? `a ${field.type} takes no target`
        : undefined;
    },
  },
  {
    key: 'fields',
    expected: 'type object',
    faultOf: (field) =>
      field.fields && field.type !== 'object' ? `a ${field.type} has no members` : undefined,
  },
  {
    key: 'index',
    expected: 'a top-level field that is no list and no object',
    faultOf: (field, place) =>
      field.index && !isIndexable(field, place) ? 'it cannot be indexed' : undefined,
  },
  {
    key: 'unique',
    expected: 'a top-level field that is no list and no object',
    faultOf: (field, place) =>
      field.unique && !isIndexable(field, place) ? 'it cannot be unique' : undefined,
  },
  {
    key: 'unique',
    expected: 'a text, for ignoreCase',
    faultOf: (field) => (ignoresCase(field) && field.type !== 'text' ? 'it has no case' : undefined),
  },
  {
    key: 'searchable',
    expected: 'a top-level text or reference that is no list',
    faultOf: (field, place) =>
      field.searchable &&
      !(isIndexable(field, place) && (field.type === 'text' || field.type === 'reference'))
        ? 'it cannot be searchable'
        : undefined,
  },
  {
    key: 'right',
    expected: 'a top-level field',
    faultOf: (field, place) =>
      field.right && place !== 'top' ? 'a member of an object is not a right' : undefined,
  },
  {
    key: 'default',
    expected: 'a value of the type of the field (`now` for a datetime)',
    faultOf: (field) => {
      if (field.default === undefined) return undefined;
      if (field.list) return 'a list takes no default';
      return isDefaultOf(field, field.default) ? undefined : 'the default is not a value of the field';
    },
  },
];

/** Faults of fields that name records of other collections, or agree with them. */
function findLinkFaults(fields: readonly FieldDefinition[], pointer: string): ErrorDetail[] {
  const fieldOf = (name: string | undefined) => fields.find((field) => field.name === name);
  return fields.flatMap((field, index) => {
    const { type, enum: allowed, names, namedWith, agreesWith, agreesOn } = field;
    const at = `${pointer}/${index}`;
    const isText = type === 'text' && allowed === undefined;
    const faults: ErrorDetail[] = [];
    if (names !== undefined && !isText)
      faults.push(fault(`${at}/names`, `a ${type} names no record`, 'type text without enum', names));
    if (namedWith !== undefined) {
      const first = fieldOf(namedWith);
      const isBeside =
        names !== undefined &&
        !field.list &&
        first?.names?.split('.')[0] === names.split('.')[0] &&
        first?.namedWith === undefined &&
        !first?.list;
      const expected = 'a field beside it that names a record of the same collection; neither is a list';
      if (!isBeside)
        faults.push(fault(`${at}/namedWith`, 'they name no record together', expected, namedWith));
    }
    if (agreesWith !== undefined) {
      const reference = fieldOf(agreesWith.split('.')[0]);
      const isBeside =
        reference?.type === 'reference' && !reference.list && typeof reference.target === 'string';
      const expected = 'type text, and a reference to one collection beside it, e.g. `student.class`';
      if (!isText || field.list || !isBeside)
        faults.push(fault(`${at}/agreesWith`, 'there is no record to agree with', expected, agreesWith));
    }
    if (agreesOn !== undefined) {
      const moment = fieldOf(agreesOn);
      const isMoment = moment?.type === 'datetime' || moment?.format === 'session';
      const expected = 'a datetime or session beside it, and `agreesWith`';
      if (agreesWith === undefined || !isMoment || moment.list)
        faults.push(fault(`${at}/agreesOn`, `"${agreesOn}" has no day or session`, expected, agreesOn));
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

function findFieldCountFaults(fields: readonly FieldDefinition[]): ErrorDetail[] {
  const count = countFields(fields);
  if (count <= MAX_FIELDS) return [];
  return [fault('/fields', `${count} fields are declared`, `at most ${MAX_FIELDS}, members included`, count)];
}

function countFields(fields: readonly FieldDefinition[]): number {
  return fields.reduce((sum, field) => sum + 1 + countFields(field.fields ?? []), 0);
}

function findLabelFaults(definition: CollectionDefinition): ErrorDetail[] {
  const label = definition.labelField;
  if (label === undefined) return [];
  const field = definition.fields?.find((candidate) => candidate.name === label);
  if (field?.type === 'text' && !field.list) return [];
  return [fault('/labelField', `"${label}" cannot be a label`, 'a declared top-level text field', label)];
}

function findIndexFaults(definition: CollectionDefinition): ErrorDetail[] {
  return (definition.indexes ?? []).flatMap((paths, index) =>
    paths.flatMap((path, position) => findScalarFaults(definition, path, `/indexes/${index}/${position}`)),
  );
}

function findUniqueTogetherFaults(definition: CollectionDefinition): ErrorDetail[] {
  const rules = definition.uniqueTogether ?? [];
  const folded = new Set((definition.fields ?? []).filter(ignoresCase).map(({ name }) => name));
  const twice = rules.flatMap((rule, index) =>
    rules.findIndex((other) => other.name === rule.name) === index && !folded.has(rule.name)
      ? []
      : [fault(`/uniqueTogether/${index}/name`, 'it is declared twice', 'a name of its own', rule.name)],
  );
  const parts = rules.flatMap((rule, index) =>
    rule.parts.flatMap((part, partIndex) => {
      const at = `/uniqueTogether/${index}/parts/${partIndex}/path`;
      const faults = findScalarFaults(definition, part.path, at);
      if (faults.length > 0) return faults;
      const field = findField(definition.fields ?? [], part.path);
      const type = field === undefined || field === 'list' ? undefined : scalarTypeOf(field);
      if (part.ignoreCase && (part.by === 'day' || type?.declared.type !== 'text'))
        return [fault(at, `"${part.path}" has no case`, 'a text', part.path)];
      if (part.by !== 'day') return faults;
      return type !== undefined && type.periods.length > 0
        ? []
        : [fault(at, `"${part.path}" has no day`, 'a datetime field', part.path)];
    }),
  );
  const exceptions = rules.flatMap(({ unless = [] }, index) =>
    unless.flatMap(({ field, is }, position) => {
      const declared = definition.fields?.find((candidate) => candidate.name === field);
      const fits = declared !== undefined && !declared.list && (is === undefined || declared.type === 'text');
      const expected = 'a declared top-level field that is no list; a text if `is` has values';
      const at = `/uniqueTogether/${index}/unless/${position}/field`;
      return fits ? [] : [fault(at, `"${field}" cannot be an exception`, expected, field)];
    }),
  );
  return [...twice, ...parts, ...exceptions];
}

function findScalarFaults(definition: CollectionDefinition, path: string, at: string): ErrorDetail[] {
  const field = findField(definition.fields ?? [], path);
  if (field === undefined || field === 'list') {
    return [fault(at, `"${path}" is no declared value`, 'a declared field that is no list', path)];
  }
  if (field.type === 'object' || field.type === 'reference') {
    return [fault(at, `"${path}" is not a scalar`, 'a scalar field, e.g. `student.value`', path)];
  }
  return [];
}

function findBookedOnFaults({ bookedOn, fields = [] }: CollectionDefinition): ErrorDetail[] {
  const field = fields.find(({ name }) => name === bookedOn);
  if (bookedOn === undefined || (field?.type === 'datetime' && !field.list)) return [];
  return [fault('/bookedOn', `"${bookedOn}" has no day`, 'a declared datetime field', bookedOn)];
}

function findCheckFaults(definition: CollectionDefinition): ErrorDetail[] {
  const fields = definition.fields ?? [];
  return (definition.checks ?? []).flatMap((check, index) =>
    faultsOfCheck(check, fields, `/checks/${index}`),
  );
}

function faultsOfCheck(
  check: CheckDefinition,
  fields: readonly FieldDefinition[],
  pointer: string,
): ErrorDetail[] {
  switch (check.kind) {
    case 'sum':
      return [
        { at: `${pointer}/total`, path: check.total },
        ...check.of.map((path, part) => ({ at: `${pointer}/of/${part}`, path })),
      ].flatMap(({ at, path }) =>
        findFieldThroughLists(fields, path)?.type === 'number'
          ? []
          : [fault(at, `"${path}" is no declared number`, 'the path of a number field', path)],
      );
    case 'order': {
      const prefix = check.in === undefined ? '' : `${check.in}.`;
      const lower = findFieldThroughLists(fields, prefix + check.lower);
      const upper = findFieldThroughLists(fields, prefix + check.upper);
      const isOrdered =
        lower?.type === upper?.type &&
        lower?.format === upper?.format &&
        lower !== undefined &&
        scalarTypeOf(lower)?.isOrdered === true;
      return isOrdered
        ? []
        : [
            fault(
              pointer,
              'the two have no order',
              'two numbers, two days, two months or two instants',
              check,
            ),
          ];
    }
    case 'when': {
      const prefix = check.in === undefined ? '' : `${check.in}.`;
      const state = findFieldThroughLists(fields, prefix + check.field);
      const subject = findFieldThroughLists(fields, prefix + check.holds.field);
      if (subject === undefined || (state?.type !== 'text' && state?.type !== 'boolean')) {
        const expected = 'a text or boolean as `field`, and a declared field in `holds`';
        return [fault(pointer, 'it names fields that are not declared', expected, check)];
      }
      const { field: name, required: _required, ...bounds } = check.holds;
      return findFieldFaults([{ name, type: subject.type, ...bounds }], `${pointer}/holds`, 'member').filter(
        ({ pointer: at }) => !at?.endsWith('/target'),
      );
    }
  }
}

function findStaysFaults({ stays, fields = [] }: CollectionDefinition): ErrorDetail[] {
  if (stays === undefined) return [];
  const findDay = (among: readonly FieldDefinition[], name: string) =>
    among.some((field) => field.name === name && field.format === 'date' && !field.list);
  const list = fields.find((field) => field.name === stays.list && field.list);
  const isList = findDay(list?.fields ?? [], 'from') && findDay(list?.fields ?? [], 'to');
  const at = '/stays';
  return [
    ...(isList
      ? []
      : [
          fault(
            `${at}/list`,
            `"${stays.list}" has no days`,
            'a list of objects with the days `from` and `to`',
            stays.list,
          ),
        ]),
    ...(['from', 'to'] as const).flatMap((name) =>
      findDay(fields, stays[name])
        ? []
        : [fault(`${at}/${name}`, `"${stays[name]}" is no day`, 'a field of days', stays[name])],
    ),
    ...(stays.session === undefined ||
    fields.some((field) => field.name === stays.session && field.format === 'session')
      ? []
      : [fault(`${at}/session`, `"${stays.session}" is no session`, 'a field of sessions', stays.session)]),
    ...(stays.reset ?? []).flatMap((name, index) =>
      fields.some((field) => field.name === name)
        ? []
        : [fault(`${at}/reset/${index}`, `"${name}" is not declared`, 'a declared field', name)],
    ),
  ];
}

function findGrantFaults(definition: CollectionDefinition): ErrorDetail[] {
  const fields = definition.fields ?? [];
  return (definition.grants ?? []).flatMap((grant, index) => {
    const list = fields.find((field) => field.name === grant.list);
    if (list?.type !== 'object' || !list.list) {
      return [
        fault(`/grants/${index}/list`, `"${grant.list}" is no list of objects`, 'a declared one', grant.list),
      ];
    }
    const caller = list.fields?.find((field) => field.name === grant.caller);
    if (caller?.type !== 'reference' || caller.list) {
      return [
        fault(
          `/grants/${index}/caller`,
          `"${grant.caller}" is no reference of an element`,
          'a declared one',
          grant.caller,
        ),
      ];
    }
    return grant.key.flatMap((path, part) =>
      findFieldThroughLists(fields, path) === undefined
        ? [fault(`/grants/${index}/key/${part}`, `"${path}" is not declared`, 'a declared field', path)]
        : [],
    );
  });
}

function findPersonalFaults({ fields = [], labelField, personal }: CollectionDefinition): ErrorDetail[] {
  if (personal === undefined) return [];
  const { about = [], identifiers = [], fields: told = [], keep } = personal;
  const fieldOf = (name: string) => fields.find((field) => field.name === name);
  const faults: ErrorDetail[] = [];
  for (const [index, name] of about.entries()) {
    const field = fieldOf(name);
    if (field?.type === 'reference' && !field.list) continue;
    const expected = 'a declared reference that is no list';
    faults.push(fault(`/personal/about/${index}`, `"${name}" is no reference`, expected, name));
  }
  for (const [index, name] of identifiers.entries()) {
    if (fieldOf(name)?.type === 'text') continue;
    const at = `/personal/identifiers/${index}`;
    faults.push(fault(at, `"${name}" is no declared text`, 'a declared top-level text', name));
  }
  for (const [key, names] of Object.entries({ identifiers, fields: told })) {
    for (const [index, name] of names.entries()) {
      const field = fieldOf(name);
      const at = `/personal/${key}/${index}`;
      if (field === undefined && key === 'fields') {
        faults.push(fault(at, `"${name}" is not declared`, 'a declared top-level field', name));
      }
      if (keep === undefined || !field?.required || name === labelField || isReplaceable(field)) continue;
      const detail = `"${name}" is required, and nothing can take its place where the record is kept`;
      faults.push(fault(at, detail, 'a field that is not required, or a plain text', name));
    }
  }
  return faults;
}

/** Whether the field accepts any text. */
function isReplaceable({ type, list, format, enum: allowed }: FieldDefinition): boolean {
  return type === 'text' && !list && format === undefined && allowed === undefined;
}

function findAccessFaults(definition: CollectionDefinition): ErrorDetail[] {
  const fields = definition.fields ?? [];
  const names = new Set(fields.map((field) => field.name));
  return Object.entries(definition.access ?? {}).flatMap(([role, access]) => {
    const lists = [
      { key: 'hiddenFields', fields: access.hiddenFields ?? [] },
      { key: 'readOnlyFields', fields: access.readOnlyFields ?? [] },
    ];
    const unknown = lists.flatMap((list) =>
      list.fields.flatMap((name, index) =>
        names.has(name)
          ? []
          : [
              fault(
                `/access/${role}/${list.key}/${index}`,
                `"${name}" is not declared`,
                'a declared top-level field',
                name,
              ),
            ],
      ),
    );
    const rules = [
      ...(access.rows ? [{ at: `/access/${role}/rows`, rule: access.rows }] : []),
      ...(access.alsoReads ?? []).map((rule, index) => ({ at: `/access/${role}/alsoReads/${index}`, rule })),
    ];
    const rows = rules.flatMap(({ at, rule }) => findRowRuleFaults(fields, rule, at));
    if (access.alsoReads === undefined || access.rows !== undefined) return [...unknown, ...rows];
    const all = 'without `rows` the role reads all records already';
    return [
      ...unknown,
      ...rows,
      fault(`/access/${role}/alsoReads`, all, '`rows` beside it', access.alsoReads),
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
  if (isOfRoles && rule.fields.length > 1) {
    return [fault(`${at}/fields`, 'a role is one value', 'one field', rule.fields)];
  }
  return rule.fields.flatMap((path, index) => {
    const field = path === '_id' ? 'id' : findField(fields, path);
    const isTextList =
      isOfRoles && fields.some(({ name, type, list }) => name === path && type === 'text' && list);
    const isValue = field === 'id' || (typeof field === 'object' && field.type !== 'object');
    if (isValue || isTextList) return [];
    const expected = '`_id`, or a declared field that is no list (with `roles`, a list of texts too)';
    return [fault(`${at}/fields/${index}`, `"${path}" is no declared value`, expected, path)];
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

function fault(pointer: string, detail: string, expected: string, sent: unknown): ErrorDetail {
  return { pointer, detail, expected, sent };
}
