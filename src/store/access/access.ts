/**
 * What a caller may do with a collection: the union of what its roles may, within the scopes of its key.
 *
 * The check sits below every front end and its answer becomes part of the statement: the row rules are a
 * `Filter` that is compiled with the caller's own, the hidden fields never leave Postgres.
 *
 * @see decisions 3 (fields a caller may not read), 6
 */
import { ServiceError } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import { isExactNumber } from '../../json.js';
import type { Readership } from '../../languages/where-place.js';
import type { Collection, RoleAccess, RowRule } from '../../model/collection.js';
import type { Filter } from '../../model/filter.js';
import type { Path } from '../../model/path.js';
import { type Principal, type RecordVerb, type Scope, topDomainIdOf } from '../../model/scope.js';

export interface EffectiveAccess {
  /** The rows in reach, as a filter; `undefined`: all of the domain. */
  readonly rows: Filter | undefined;
  /** Top-level fields a row rule looks at: a change of one of them may move a record out of reach. */
  readonly rowFields: ReadonlySet<string>;
  /** Top-level fields that are not shown, filtered, sorted or grouped by, nor set. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Top-level fields that may not be set; the hidden ones among them. */
  readonly readOnlyFields: ReadonlySet<string>;
}

/** The role that may do everything in a collection that says nothing about it. */
const ADMIN = 'admin';
const NO_FIELDS: ReadonlySet<string> = new Set();
const FULL_ACCESS: EffectiveAccess = {
  rows: undefined,
  rowFields: NO_FIELDS,
  hiddenFields: NO_FIELDS,
  readOnlyFields: NO_FIELDS,
};

/**
 * What the caller may do with the records of a collection by one verb.
 *
 * With several roles, the rows are those of all of them. A field one role hides is shown only if another role
 * shows it in every row the first one reaches: no combination of roles gives a value that none of them gives
 * alone.
 *
 * @throws FORBIDDEN (403) when no role, or the key's scopes do not, include the verb.
 */
export function accessOf(scope: Scope, collection: Collection, verb: RecordVerb): EffectiveAccess {
  const access = findAccess(scope, collection, verb);
  if (access !== undefined) return access;
  throw forbidden(scope.principal, collection, verb);
}

/** Does as `accessOf`, with `undefined` where that throws. */
export function findAccess(
  scope: Scope,
  collection: Collection,
  verb: RecordVerb,
): EffectiveAccess | undefined {
  const { principal } = scope;
  if (!isOfDomain(scope, collection)) return undefined;
  if (!isInScopes(principal, collection.name, verb)) return undefined;
  if (principal.roles.has(ADMIN) && !collection.access.has(ADMIN)) return FULL_ACCESS;
  const granting: RoleAccess[] = [];
  for (const role of principal.roles) {
    const access = collection.access.get(role);
    if (access?.verbs.has(verb)) granting.push(access);
  }
  if (granting.length === 0) return undefined;
  return combine(granting, principal, verb);
}

/**
 * The rules of which any is to hold for a record that is in reach; `undefined`: all records are. For who says
 * it in another way than by the filter of `accessOf`, which has the caller's attributes of this moment in it.
 */
export function rowRulesOf(
  scope: Scope,
  collection: Collection,
  verb: RecordVerb,
): readonly RowRule[] | undefined {
  if (accessOf(scope, collection, verb).rows === undefined) return undefined;
  return [...scope.principal.roles].flatMap((role) => {
    const access = collection.access.get(role);
    return access?.verbs.has(verb) ? (rulesFor(access, verb) ?? []) : [];
  });
}

/** Whether the domain has the collection: one registered at run time belongs to one top domain. */
function isOfDomain({ domain }: Pick<Scope, 'domain'>, { domainId }: Collection): boolean {
  return domainId === undefined || domainId === topDomainIdOf(domain);
}

const VERBS: readonly RecordVerb[] = ['read', 'create', 'update', 'delete'];

/**
 * Whether the caller may do anything with records of the collection. If not, it is not told what the
 * collection is.
 */
export function isInReach(scope: Scope, collection: Collection): boolean {
  return VERBS.some((verb) => findAccess(scope, collection, verb) !== undefined);
}

/**
 * Refuses who may do nothing with the records of a collection.
 *
 * @throws FORBIDDEN (403)
 */
export function assertInReach(scope: Scope, collection: Collection): void {
  if (!isInReach(scope, collection)) throw forbidden(scope.principal, collection, 'read');
}

/** Whether the caller may know of a declared field: it reads it, or may set it. */
export function isFieldInReach(scope: Scope, collection: Collection, field: string): boolean {
  const isSettable = (verb: RecordVerb) =>
    findAccess(scope, collection, verb)?.readOnlyFields.has(field) === false;
  return (
    findAccess(scope, collection, 'read')?.hiddenFields.has(field) === false ||
    isSettable('create') ||
    isSettable('update')
  );
}

/**
 * What a caller may read, for a parser: of what is hidden it says neither that it is there nor what it is.
 */
export function readershipOf(scope: Scope): Readership {
  return {
    assertReadable: (field, collection) => {
      const access = findAccess(scope, collection, 'read');
      if (access !== undefined) assertReadable([[field]], access, collection);
    },
    listFields: (collection) => {
      const access = findAccess(scope, collection, 'read');
      if (access === undefined) return [];
      return collection.fields.map(({ name }) => name).filter((name) => !access.hiddenFields.has(name));
    },
  };
}

/**
 * Refuses the first of these paths that begins at a field the caller may not read. For filters, sort orders,
 * groupings.
 *
 * @throws FORBIDDEN (403) naming the field.
 */
export function assertReadable(
  paths: readonly Path[],
  access: EffectiveAccess,
  collection: Collection,
): void {
  if (access.hiddenFields.size === 0) return;
  for (const path of paths) {
    const [field] = path;
    if (field === undefined) throw wholeRecord(collection);
    if (!access.hiddenFields.has(field)) continue;
    throw new ServiceError(
      'FORBIDDEN',
      `the field "${field}" of ${collection.name} is not yours to read, so neither to filter or sort by`,
      { errors: [{ detail: `"${path.join('.')}" is hidden from your roles`, sent: path.join('.') }] },
    );
  }
}

/** A comparison of all of a record is one of its hidden fields, too. */
function wholeRecord(collection: Collection): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `not all of a record of ${collection.name} is yours to read, so neither to filter by ($$ROOT)`,
  );
}

function isInScopes(principal: Principal, collection: string, verb: RecordVerb): boolean {
  const collections = principal.scopes?.collections;
  if (collections === undefined) return true;
  return [collection, '*'].some(
    (name) => Object.hasOwn(collections, name) && collections[name]?.includes(verb),
  );
}

function forbidden(principal: Principal, collection: Collection, verb: RecordVerb): ServiceError {
  const action = `${verb} records of ${collection.name}`;
  if (!isInScopes(principal, collection.name, verb)) {
    return new ServiceError('FORBIDDEN', `the API key's scopes do not include to ${action}`);
  }
  const roles = [...collection.access].filter(([, access]) => access.verbs.has(verb)).map(([role]) => role);
  if (!collection.access.has(ADMIN)) roles.unshift(ADMIN);
  const needed = roles.length === 0 ? 'no role may' : `one of these roles is needed: ${roles.join(', ')}`;
  return new ServiceError('FORBIDDEN', `you may not ${action}; ${needed}`);
}

/** The rules of which any is to hold; `undefined`: the role reaches all records. */
function rulesFor({ rows, alsoReads }: RoleAccess, verb: RecordVerb): readonly RowRule[] | undefined {
  if (rows === undefined) return undefined;
  return verb === 'read' ? [rows, ...alsoReads] : [rows];
}

function combine(roles: readonly RoleAccess[], principal: Principal, verb: RecordVerb): EffectiveAccess {
  const rulesOfRoles = roles.map((role) => rulesFor(role, verb));
  const isLimited = rulesOfRoles.every((rules) => rules !== undefined);
  const rules = rulesOfRoles.flatMap((ofRole) => ofRole ?? []);
  return {
    rows: isLimited ? anyOf(rules.map((rule) => toFilter(rule, principal))) : undefined,
    rowFields: isLimited ? new Set(rules.flatMap(topFields)) : NO_FIELDS,
    hiddenFields: withheldFields(roles, verb, (role) => role.hiddenFields),
    readOnlyFields: withheldFields(roles, verb, (role) => role.readOnlyFields),
  };
}

/** The fields that some role withholds and no role with at least its rows gives. */
function withheldFields(
  roles: readonly RoleAccess[],
  verb: RecordVerb,
  withheldBy: (role: RoleAccess) => ReadonlySet<string>,
): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const role of roles) {
    for (const field of withheldBy(role)) {
      const isGivenByAnother = roles.some(
        (other) => !withheldBy(other).has(field) && hasRowsOf(other, role, verb),
      );
      if (!isGivenByAnother) fields.add(field);
    }
  }
  return fields;
}

/** Whether the one reaches all records, or has each rule of the other. */
function hasRowsOf(one: RoleAccess, other: RoleAccess, verb: RecordVerb): boolean {
  const own = rulesFor(one, verb)?.map((rule) => JSON.stringify(rule));
  const others = rulesFor(other, verb)?.map((rule) => JSON.stringify(rule));
  return own === undefined || (others?.every((rule) => own.includes(rule)) ?? false);
}

function topFields({ fields }: RowRule): string[] {
  return fields.flatMap(([field]) => (field === undefined ? [] : [field]));
}

function anyOf(filters: readonly Filter[]): Filter {
  const [only] = filters;
  return filters.length === 1 && only !== undefined ? only : { kind: 'any', filters };
}

/** A caller without the attribute reaches no row: `any` of nothing holds for none. */
function toFilter(rule: RowRule, principal: Principal): Filter {
  const tuples = attributeOf(principal, rule.attribute).filter(
    (tuple) => tuple.length === rule.fields.length,
  );
  return anyOf(
    tuples.flatMap((tuple): Filter[] => {
      const filters = rule.fields.flatMap((path, index): Filter[] => {
        const value = tuple[index];
        return isComparable(value) ? [{ kind: 'equals', path, value }] : [];
      });
      return filters.length === rule.fields.length ? [{ kind: 'all', filters }] : [];
    }),
  );
}

/** `self` is the caller's own `_id`, and `roles` each of its roles: both without any grant. */
function attributeOf(principal: Principal, attribute: string): readonly (readonly JsonValue[])[] {
  if (attribute === 'self') return principal.kind === 'user' ? [[principal.id]] : [];
  if (attribute === 'roles') return [...principal.roles].map((role) => [role]);
  return Object.hasOwn(principal.attributes, attribute) ? (principal.attributes[attribute] ?? []) : [];
}

function isComparable(value: JsonValue | undefined): value is string | number | boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    isExactNumber(value)
  );
}
