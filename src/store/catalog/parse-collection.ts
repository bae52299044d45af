/** Parses the declaration of a collection, from a file of schema/collections or from `registerCollection`. */

import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { andMore, type ErrorDetail, ServiceError } from '../../base/errors.js';
import { boundsAmong } from '../../base/model/bounds.js';
import type {
  Check,
  Collection,
  Field,
  Grant,
  Link,
  Personal,
  RoleAccess,
  RowRule,
  UniqueTogether,
} from '../../base/model/collection.js';
import {
  assertOwnGraphqlNames,
  type CheckDefinition,
  type CollectionDefinition,
  type FieldDefinition,
  graphqlNamesOf,
  ignoresCase,
  type PersonalDefinition,
  type RoleAccessDefinition,
  type RowRuleDefinition,
} from './collection-definition.js';
import { findDefinitionFaults } from './definition-faults.js';

export interface ParseCollectionOptions {
  /** The source of the declaration, for errors: a file, or `registerCollection`. */
  readonly source: string;
  readonly isDeclared: boolean;
  readonly version: number;
  /** The top domain that registered it. Default: it belongs to all domains. */
  readonly domainId?: string | undefined;
}

/**
 * Parses a declaration to a `Collection`.
 *
 * @throws INVALID_VALUE (400) naming the source and, for every fault, the JSON pointer, the expectation and
 *   the value.
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
    uniqueTogether: toUniqueRules(parsed),
    checks: (parsed.checks ?? []).map(toCheck),
    bookedOn: parsed.bookedOn,
    grants: (parsed.grants ?? []).map(
      (grant): Grant => ({ ...grant, key: grant.key.map((path) => path.split('.')) }),
    ),
    access: new Map(
      Object.entries(parsed.access ?? {}).map(([role, access]) => [role, toRoleAccess(access)]),
    ),
    links: toLinks(parsed.fields ?? [], []),
    stays: parsed.stays && { reset: [], ...parsed.stays },
    personal: parsed.personal === undefined ? undefined : toPersonal(parsed.personal),
    isDeclared: options.isDeclared,
    domainId: options.domainId,
    version: options.version,
    ...graphqlNamesOf(parsed),
  };
}

/** Validates a declaration and returns it with its type. @throws INVALID_VALUE as `parseCollection` does */
export function parseDefinition(definition: unknown, source: string): CollectionDefinition {
  const validate = definitionValidator();
  if (!validate(definition)) throw definitionError(source, toErrorDetails(validate.errors ?? [], definition));
  const faults = findDefinitionFaults(definition);
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
    // A test validates our schema itself; otherwise every start and command would have to wait for it.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  }).compile<CollectionDefinition>(schema);
  return validator;
}

function definitionError(source: string, errors: readonly ErrorDetail[]): ServiceError {
  const [{ pointer, detail } = { detail: '' }] = errors;
  const place = pointer === '' ? 'the declaration' : pointer;
  return new ServiceError('INVALID_VALUE', `${source}: ${place}: ${detail}${andMore(errors)}`, { errors });
}

function toErrorDetails(errors: readonly ErrorObject[], definition: unknown): ErrorDetail[] {
  const details = errors
    // A failed `oneOf` repeats the errors of its branches, and those of branches with another `kind` only
    // confuse.
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
    isUnique: (definition.unique ?? false) !== false,
    isIndexed: definition.index ?? false,
    isSearchable: definition.searchable ?? false,
    isRight: definition.right ?? false,
    allowed: definition.enum,
    bounds: boundsAmong(definition),
    default: definition.default,
    isDecimal: definition.decimal ?? false,
    format: definition.format,
    targets: targetsOf(definition),
    mustExist: definition.mustExist ?? true,
    onDelete: definition.onDelete ?? (definition.mustExist === false ? 'keep' : 'refuse'),
    filledFrom: definition.required ? definition.agreesWith?.split('.')[0] : undefined,
    fields: (definition.fields ?? []).map(toField),
    example: definition.example,
    unit: definition.unit,
    deprecated: definition.deprecated,
  };
}

/** The rules of a definition over values that must be unique, those of fields that ignore case first. */
export function toUniqueRules({ fields = [], uniqueTogether = [] }: CollectionDefinition): UniqueTogether[] {
  const folded = fields
    .filter(ignoresCase)
    .map(({ name }): UniqueTogether => ({ name, parts: [{ path: [name], by: 'folded' }], unless: [] }));
  const together = uniqueTogether.map(
    ({ name, parts, unless = [] }): UniqueTogether => ({
      name,
      parts: parts.map(({ path, by = 'value', ignoreCase = false }) => {
        return { path: path.split('.'), by: ignoreCase ? 'folded' : by };
      }),
      unless: unless.map(({ field, is }) => ({ field, is })),
    }),
  );
  return [...folded, ...together];
}

/** The texts of the fields that name records of other collections, or agree with them. */
function toLinks(fields: readonly FieldDefinition[], parents: readonly string[]): readonly Link[] {
  const links = new Map<string, Link>();
  for (const { name, names, namedWith = name, agreesWith, agreesOn } of fields) {
    const add = (key: string, path: string, link: Pick<Link, 'reference' | 'on'> & { target?: string }) => {
      const [first = '', ...others] = path.split('.');
      const known = links.get(key)?.members ?? [];
      const member = { field: name, path: others };
      const members = name === key ? [member, ...known] : [...known, member];
      links.set(key, { in: parents, target: first, ...link, members });
    };
    if (names !== undefined) add(namedWith, names, { reference: undefined, on: undefined });
    if (agreesWith === undefined) continue;
    const [reference = ''] = agreesWith.split('.');
    const [target = ''] = fields.flatMap((field) => (field.name === reference ? targetsOf(field) : []));
    add(`${reference} ${agreesOn}`, agreesWith, { target, reference, on: agreesOn });
  }
  const inner = fields.flatMap((field) => toLinks(field.fields ?? [], [...parents, field.name]));
  return [...links.values(), ...inner];
}

function toCheck(check: CheckDefinition): Check {
  switch (check.kind) {
    case 'sum':
    case 'inSession':
      return { ...check, of: check.of.map((path) => path.split('.')) };
    case 'order':
    case 'distinct':
      return { ...check, in: check.in?.split('.') ?? [] };
    case 'when': {
      const { field, required: isRequired = false, absent: isAbsent = false, target } = check.holds;
      const holds = { field, isRequired, isAbsent, target, bounds: boundsAmong(check.holds) };
      return { ...check, in: check.in?.split('.') ?? [], holds };
    }
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

/** The declarations of a directory, by file name. All files are validated first. @throws INVALID_VALUE */
export async function readDefinitions(directory: string): Promise<readonly CollectionDefinition[]> {
  const files = (await readdir(directory))
    .filter((file) => file.endsWith('.json') && !file.endsWith('.schema.json'))
    .sort();
  const definitions: CollectionDefinition[] = [];
  for (const file of files) {
    const definition = parseDefinition(await readJson(path.join(directory, file), file), file);
    if (file !== `${definition.name}.json`) {
      throw new ServiceError(
        'INVALID_VALUE',
        `${file}: /name: it declares "${definition.name}"; call it ${definition.name}.json`,
      );
    }
    definitions.push(definition);
  }
  for (const definition of definitions) assertOwnGraphqlNames(definition, definitions);
  return definitions;
}

async function readJson(file: string, name: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError('INVALID_VALUE', `${name}: it is not JSON: ${reason}`, { cause });
  }
}
