/**
 * Reads the declaration of a collection (a file of schema/collections, or what `registerCollection` was
 * sent).
 *
 * The shape of a declaration is schema/collections/collection.schema.json, key by key with its meaning; this
 * file adds what a JSON Schema cannot say: which keys go together, and that every name a rule refers to is
 * declared.
 */
import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type ErrorDetail, ServiceError } from '../../errors.js';
import type {
  Check,
  Collection,
  Field,
  Grant,
  Personal,
  RoleAccess,
  RowRule,
  UniqueTogether,
} from '../../model/collection.js';
import type { ScalarType } from '../../model/field-types/scalar-type.js';
import {
  type FieldFormat,
  type FieldType,
  findScalar,
  SCALAR_TYPES,
} from '../../model/field-types/scalar-types.js';
import type { RecordVerb } from '../../model/scope.js';

/** A declaration as it is written. Lists keep their order, so `fields` is a list and not an object. */
export interface CollectionDefinition {
  readonly $schema?: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly singular?: string;
  readonly plural?: string;
  readonly labelField?: string;
  readonly fields?: readonly FieldDefinition[];
  readonly indexes?: readonly (readonly string[])[];
  readonly uniqueTogether?: readonly {
    readonly name: string;
    readonly parts: readonly { readonly path: string; readonly by?: 'value' | 'day' }[];
  }[];
  readonly checks?: readonly CheckDefinition[];
  readonly grants?: readonly {
    readonly attribute: string;
    readonly list: string;
    readonly caller: string;
    readonly key: readonly string[];
  }[];
  readonly personal?: PersonalDefinition;
  readonly access?: Readonly<Record<string, RoleAccessDefinition>>;
}

interface PersonalDefinition {
  readonly person?: boolean;
  readonly about?: readonly string[];
  readonly identifiers?: readonly string[];
  readonly fields?: readonly string[];
  readonly keep?: string;
}

type CheckDefinition =
  | { readonly kind: 'sum'; readonly total: string; readonly of: readonly string[] }
  | { readonly kind: 'order'; readonly in?: string; readonly lower: string; readonly upper: string };

export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  readonly description?: string;
  readonly list?: boolean;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly index?: boolean;
  readonly searchable?: boolean;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly decimal?: boolean;
  readonly format?: FieldFormat;
  readonly target?: string | readonly string[];
  readonly mustExist?: boolean;
  readonly fields?: readonly FieldDefinition[];
  readonly example?: unknown;
  readonly unit?: string;
  readonly deprecated?: string;
}

interface RoleAccessDefinition {
  readonly verbs: readonly RecordVerb[];
  readonly hiddenFields?: readonly string[];
  readonly readOnlyFields?: readonly string[];
  readonly rows?: RowRuleDefinition;
  readonly alsoReads?: readonly RowRuleDefinition[];
}

interface RowRuleDefinition {
  readonly fields: readonly string[];
  readonly attribute: string;
}

export interface ParseCollectionOptions {
  /** The source of the declaration, for errors: a file, or `registerCollection`. */
  readonly source: string;
  readonly isDeclared: boolean;
  readonly version: number;
  /** The top domain that registered it. Default: every domain has it. */
  readonly domainId?: string | undefined;
}

/**
 * The most fields a declaration may have, members of objects included. Beyond it a schema is no longer read
 * by people, nor quickly by machines.
 */
const MAX_FIELDS = 300;

/**
 * Reads a declaration as a `Collection`.
 *
 * @throws INVALID_VALUE (400) that names the source and, for every fault, the JSON pointer, what was expected
 * and what was sent.
 */
export function parseCollection(definition: unknown, options: ParseCollectionOptions): Collection {
  const parsed = parseDefinition(definition, options.source);
  const fields = (parsed.fields ?? []).map(toField);
  return {
    name: parsed.name,
    title: parsed.title ?? parsed.name,
    description: parsed.description ?? '',
    labelField: parsed.labelField,
    fields,
    fieldsByName: new Map(fields.map((field) => [field.name, field])),
    indexes: (parsed.indexes ?? []).map((paths) => paths.map((path) => path.split('.'))),
    uniqueTogether: (parsed.uniqueTogether ?? []).map(
      (rule): UniqueTogether => ({
        name: rule.name,
        parts: rule.parts.map((part) => ({ path: part.path.split('.'), by: part.by ?? 'value' })),
      }),
    ),
    checks: (parsed.checks ?? []).map(toCheck),
    grants: (parsed.grants ?? []).map(
      (grant): Grant => ({ ...grant, key: grant.key.map((path) => path.split('.')) }),
    ),
    access: new Map(
      Object.entries(parsed.access ?? {}).map(([role, access]) => [role, toRoleAccess(access)]),
    ),
    personal: parsed.personal === undefined ? undefined : toPersonal(parsed.personal),
    isDeclared: options.isDeclared,
    domainId: options.domainId,
    version: options.version,
    ...graphqlNamesOf(parsed),
  };
}

/** What its records are called in GraphQL, one and many. */
export function graphqlNamesOf({
  name,
  singular = toCamelCase(name),
  plural = `${singular}s`,
}: CollectionDefinition): Pick<Collection, 'singular' | 'plural'> {
  return { singular, plural };
}

/** Checks a declaration and gives it back with its type. @throws INVALID_VALUE as `parseCollection` does */
export function parseDefinition(definition: unknown, source: string): CollectionDefinition {
  const validate = definitionValidator();
  if (!validate(definition)) throw definitionError(source, toErrorDetails(validate.errors ?? [], definition));
  const faults = findFaults(definition);
  if (faults.length > 0) throw definitionError(source, faults);
  return definition;
}

let validator: ValidateFunction<CollectionDefinition> | undefined;

function definitionValidator(): ValidateFunction<CollectionDefinition> {
  if (validator !== undefined) return validator;
  const schema = JSON.parse(
    readFileSync(new URL('../../../schema/collections/collection.schema.json', import.meta.url), 'utf8'),
  );
  validator = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    verbose: true,
    // A test holds our schema to the rules of schemas; every start and command would wait for it.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  }).compile<CollectionDefinition>(schema);
  return validator;
}

function definitionError(source: string, errors: readonly ErrorDetail[]): ServiceError {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new ServiceError(
    'INVALID_VALUE',
    `${source}: ${first?.pointer === '' ? 'the declaration' : first?.pointer}: ${first?.detail}${more}`,
    { errors },
  );
}

function toErrorDetails(errors: readonly ErrorObject[], definition: unknown): ErrorDetail[] {
  const details = errors
    // A failed `oneOf` repeats what its branches say; the branches that do not fit by `kind` only confuse.
    .filter((error) => error.keyword !== 'if' && error.keyword !== 'not')
    .map((error): ErrorDetail => {
      const pointer =
        error.keyword === 'additionalProperties'
          ? `${error.instancePath}/${error.params.additionalProperty}`
          : error.instancePath;
      return {
        pointer,
        detail: describeSchemaError(error),
        expected: expectationOf(error),
        sent: error.data,
      };
    });
  if (details.length > 0) return details.slice(0, 50);
  return errors.map((error) => ({
    pointer: error.instancePath,
    detail: `${JSON.stringify(error.data)} is a name the record itself uses`,
    expected: 'another name',
    sent: error.data ?? definition,
  }));
}

function describeSchemaError(error: ErrorObject): string {
  if (error.keyword === 'additionalProperties') return `unknown key "${error.params.additionalProperty}"`;
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.join(', ')}`;
  return error.message ?? error.keyword;
}

function expectationOf(error: ErrorObject): string {
  const description: unknown = error.parentSchema?.description;
  if (error.keyword === 'additionalProperties') {
    return `one of ${Object.keys(error.parentSchema?.properties ?? {}).join(', ')}`;
  }
  return typeof description === 'string' ? description : describeSchemaError(error);
}

function toField(definition: FieldDefinition): Field {
  return {
    name: definition.name,
    type: definition.type,
    description: definition.description ?? '',
    isList: definition.list ?? false,
    isRequired: definition.required ?? false,
    isUnique: definition.unique ?? false,
    isIndexed: definition.index ?? false,
    isSearchable: definition.searchable ?? false,
    allowed: definition.enum,
    default: definition.default,
    isDecimal: definition.decimal ?? false,
    format: definition.format,
    targets: targetsOf(definition),
    mustExist: definition.mustExist ?? true,
    fields: (definition.fields ?? []).map(toField),
    example: definition.example,
    unit: definition.unit,
    deprecated: definition.deprecated,
  };
}

function toCheck(check: CheckDefinition): Check {
  switch (check.kind) {
    case 'sum':
      return { kind: 'sum', total: check.total, of: check.of.map((path) => path.split('.')) };
    case 'order':
      return {
        kind: 'order',
        in: check.in === undefined ? [] : check.in.split('.'),
        lower: check.lower,
        upper: check.upper,
      };
  }
}

function toRoleAccess(access: RoleAccessDefinition): RoleAccess {
  const hiddenFields = new Set(access.hiddenFields);
  return {
    verbs: new Set(access.verbs),
    hiddenFields,
    readOnlyFields: new Set([...hiddenFields, ...(access.readOnlyFields ?? [])]),
    rows: access.rows === undefined ? undefined : toRowRule(access.rows),
    alsoReads: (access.alsoReads ?? []).map(toRowRule),
  };
}

function toRowRule({ fields, attribute }: RowRuleDefinition): RowRule {
  return { fields: fields.map((path) => path.split('.')), attribute };
}

function toPersonal(personal: PersonalDefinition): Personal {
  return {
    isPerson: personal.person ?? false,
    about: personal.about ?? [],
    identifiers: personal.identifiers ?? [],
    fields: personal.fields ?? [],
    keptBecause: personal.keep,
  };
}

function targetsOf(definition: FieldDefinition): readonly string[] {
  if (definition.target === undefined) return [];
  return typeof definition.target === 'string' ? [definition.target] : definition.target;
}

function toCamelCase(name: string): string {
  return name.replace(/_+([a-z0-9])?/g, (_match, letter: string | undefined) => letter?.toUpperCase() ?? '');
}

/** What a JSON Schema cannot say. */
function findFaults(definition: CollectionDefinition): ErrorDetail[] {
  const fields = definition.fields ?? [];
  return [
    ...findNameFaults(definition),
    ...findFieldFaults(fields, '/fields', 'top'),
    ...findFieldCountFaults(fields),
    ...findLabelFaults(definition),
    ...findIndexFaults(definition),
    ...findUniqueTogetherFaults(definition),
    ...findCheckFaults(definition),
    ...findGrantFaults(definition),
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

interface FieldRule {
  readonly key: keyof FieldDefinition;
  readonly expected: string;
  readonly faultOf: (field: FieldDefinition, place: 'top' | 'member') => string | undefined;
}

/** Which keys of a field go together, one rule a line of reasoning. */
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
  {
    key: 'mustExist',
    expected: 'type reference',
    faultOf: (field) =>
      field.mustExist !== undefined && field.type !== 'reference'
        ? `a ${field.type} points at nothing`
        : undefined,
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
    key: 'searchable',
    expected: 'a top-level text or reference that is no list',
    faultOf: (field, place) =>
      field.searchable &&
      !(isIndexable(field, place) && (field.type === 'text' || field.type === 'reference'))
        ? 'it cannot be searchable'
        : undefined,
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

function isIndexable(field: FieldDefinition, place: 'top' | 'member'): boolean {
  return place === 'top' && !field.list && field.type !== 'object';
}

function isDefaultOf(field: FieldDefinition, value: string | number | boolean): boolean {
  if (field.type === 'reference' || field.type === 'object') return false;
  const type = scalarTypeOf(field);
  // What is wrong with the type itself is told by another rule.
  if (type === undefined) return true;
  if (field.enum !== undefined && !field.enum.includes(String(value))) return false;
  return type.isDefault(value);
}

/** `undefined` for references, objects, and types that no declaration may say. */
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
  const twice = rules.flatMap((rule, index) =>
    rules.findIndex((other) => other.name === rule.name) === index
      ? []
      : [fault(`/uniqueTogether/${index}/name`, 'it is declared twice', 'a name of its own', rule.name)],
  );
  const parts = rules.flatMap((rule, index) =>
    rule.parts.flatMap((part, partIndex) => {
      const at = `/uniqueTogether/${index}/parts/${partIndex}/path`;
      const faults = findScalarFaults(definition, part.path, at);
      if (faults.length > 0 || part.by !== 'day') return faults;
      const field = findField(definition.fields ?? [], part.path);
      const type = field === undefined || field === 'list' ? undefined : scalarTypeOf(field);
      return type !== undefined && type.periods.length > 0
        ? []
        : [fault(at, `"${part.path}" has no day`, 'a datetime field', part.path)];
    }),
  );
  return [...twice, ...parts];
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
  }
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

/** Whether any text may stand there. */
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

/** The attribute that every caller has: one role of the caller's at a time. */
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
 * The declared field at a path that crosses no list; `'list'` when it does. A reference has the text members
 * `value` and `label`.
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
