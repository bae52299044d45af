/**
 * The rights of a caller to a collection: the union of what its roles allow, limited by the scopes of its
 * key.
 *
 * The check is below every front end, and its result becomes part of the statement: row rules are a `Filter`
 * compiled together with the caller's, and hidden fields never leave Postgres.
 *
 * @see decisions 3 (fields a caller may not read), 6
 */
import { faultAt, ServiceError } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import type { Readership } from '../../base/languages/where.js';
import type { Collection, Field, RoleAccess, RowRule } from '../../base/model/collection.js';
import { anyOf, type Filter } from '../../base/model/filter.js';
import { isOperand } from '../../base/model/operand.js';
import type { Path } from '../../base/model/path.js';
import {
  type Domain,
  lacksSecondFactor,
  type Principal,
  type RecordVerb,
  type Scope,
  topDomainIdOf,
} from '../../base/model/scope.js';
import type { Sql } from '../sql.js';

/** Records of a collection, for a caller. */
export interface RecordsOfScope {
  readonly scope: Scope;
  readonly collection: Collection;
}

export interface EffectiveAccess {
  /** The caller's rows as a filter; `undefined`: the whole domain. */
  readonly rows: Filter | undefined;
  /** Top-level fields used by a row rule: changing one may move a record out of the caller's rows. */
  readonly rowFields: ReadonlySet<string>;
  /** Top-level fields that may not be read, filtered, sorted, grouped by, or set. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Top-level fields that may not be set, including the hidden ones. */
  readonly readOnlyFields: ReadonlySet<string>;
}

/** A collection as far as the caller may read it. */
export interface Readable {
  readonly collection: Collection;
  readonly access: EffectiveAccess;
  /** Over the alias `r`: domain, live records, row rules. */
  readonly condition: Sql;
}

/** Finds what the caller may read of a collection; `undefined`: nothing. */
export type FindReadable = (collection: string) => Readable | undefined;

/** The role with full access to collections that do not mention it. */
const ADMIN = 'admin';
const NO_FIELDS: ReadonlySet<string> = new Set();
export const FULL_ACCESS: EffectiveAccess = {
  rows: undefined,
  rowFields: NO_FIELDS,
  hiddenFields: NO_FIELDS,
  readOnlyFields: NO_FIELDS,
};

/**
 * The rights of the caller to the records of a collection by one verb.
 *
 * With several roles, the rows are those of all of them. A field hidden by one role is visible only if
 * another role shows it in every row that the first one reaches: no combination of roles discloses a value
 * that none of them discloses alone.
 *
 * @throws FORBIDDEN (403) if no role, or not the key's scopes, include the verb.
 */
export function accessOf(scope: Scope, collection: Collection, verb: RecordVerb): EffectiveAccess {
  const access = findAccess(scope, collection, verb);
  if (access !== undefined) return access;
  throw forbidden(scope, collection, verb);
}

/** Like `accessOf`, but `undefined` where that throws. */
export function findAccess(
  scope: Scope,
  collection: Collection,
  verb: RecordVerb,
): EffectiveAccess | undefined {
  const declared = findDeclaredAccess(scope, collection, verb);
  if (declared === undefined || verb === 'read') return declared;
  const access = withinOpenBooks(declared, scope, collection);
  const rights = collection.fields.filter(({ isRight }) => isRight);
  if (rights.length === 0 || mayManageAccounts(scope)) return access;
  if (verb === 'delete') return undefined;
  const withheld = rights.filter(
    (field) => verb === 'update' || !field.isRequired || field.default !== undefined,
  );
  return {
    ...access,
    readOnlyFields: new Set([...access.readOnlyFields, ...withheld.map(({ name }) => name)]),
  };
}

/** Leaves out the records of the days for which the school has closed its books. */
function withinOpenBooks(
  access: EffectiveAccess,
  { domain: { booksClosedUntil } }: Pick<Scope, 'domain'>,
  { bookedOn }: Collection,
): EffectiveAccess {
  if (booksClosedUntil === undefined || bookedOn === undefined) return access;
  const path = [bookedOn];
  const isClosed: Filter = { kind: 'not', filter: { kind: 'greaterThan', path, value: booksClosedUntil } };
  const hasDay: Filter = { kind: 'not', filter: { kind: 'isNull', path } };
  const isOpen: Filter = { kind: 'not', filter: { kind: 'all', filters: [hasDay, isClosed] } };
  return {
    ...access,
    rows: access.rows === undefined ? isOpen : { kind: 'all', filters: [access.rows, isOpen] },
    rowFields: new Set([...access.rowFields, bookedOn]),
  };
}

function findDeclaredAccess(
  scope: Scope,
  collection: Collection,
  verb: RecordVerb,
): EffectiveAccess | undefined {
  const { principal } = scope;
  // A collection registered at run time belongs to a single top domain.
  const { domainId } = collection;
  if (domainId !== undefined && domainId !== topDomainIdOf(scope.domain)) return undefined;
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
 * The rules of which at least one must hold for a record; `undefined`: all records. For code that does not
 * use the filter of `accessOf`, which contains the caller's present attributes.
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

/** The holders of the right to change rights and accounts, for errors. */
export const RIGHTS_EXPECTATION =
  'only an admin may, after logging in, or by an API key whose scopes contain "accounts": true; ' +
  'no script may';

const VERBS: readonly RecordVerb[] = ['read', 'create', 'update', 'delete'];

/**
 * Whether the caller may do anything with records of the collection. Otherwise its declaration is not
 * disclosed.
 */
export function isInReach(scope: Scope, collection: Collection): boolean {
  return VERBS.some((verb) => findAccess(scope, collection, verb) !== undefined);
}

/**
 * Refuses a caller who may do nothing with the records of a collection.
 *
 * @throws FORBIDDEN (403)
 */
export function assertInReach(scope: Scope, collection: Collection): void {
  if (!isInReach(scope, collection)) throw forbidden(scope, collection, 'read');
}

/** Whether the caller may know a declared field, because it may read or set it. */
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
 * The rights to read, for a parser: errors disclose neither the existence nor the type of hidden fields.
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
 * Refuses the first path that begins at a field the caller may not read. For filters, sort orders, groupings.
 *
 * @throws FORBIDDEN (403) naming the field.
 */
export function assertReadable(
  paths: readonly Path[],
  access: Pick<EffectiveAccess, 'hiddenFields'>,
  collection: Collection,
): void {
  if (access.hiddenFields.size === 0) return;
  for (const path of paths) {
    const [field] = path;
    // Comparing a whole record would include its hidden fields.
    if (field === undefined)
      throw new ServiceError(
        'FORBIDDEN',
        `you may not read all fields of ${collection.name}, so you may not filter by $$ROOT`,
      );
    if (!access.hiddenFields.has(field)) continue;
    throw faultAt(
      'FORBIDDEN',
      `you may not read "${field}" of ${collection.name}, so you may not filter or sort by it`,
      { detail: `"${path.join('.')}" is hidden from your roles`, sent: path.join('.') },
    );
  }
}

function isInScopes(principal: Principal, collection: string, verb: RecordVerb): boolean {
  const collections = principal.scopes?.collections;
  if (collections === undefined) return true;
  return [collection, '*'].some(
    (name) => Object.hasOwn(collections, name) && collections[name]?.includes(verb),
  );
}

function forbidden(scope: Scope, collection: Collection, verb: RecordVerb): ServiceError {
  const { principal } = scope;
  const action = `${verb} records of ${collection.name}`;
  if (findDeclaredAccess(scope, collection, verb) !== undefined) {
    return new ServiceError('FORBIDDEN', `you may not ${action}; ${RIGHTS_EXPECTATION}`);
  }
  if (!isInScopes(principal, collection.name, verb)) {
    return refusedByScopes(principal, `the API key's scopes do not allow it to ${action}`);
  }
  return new ServiceError('FORBIDDEN', `you may not ${action}; ${describeNeededRoles(collection, verb)}`);
}

/** The roles that may do this, with all of the fields. */
export function describeNeededRoles(
  collection: Collection,
  verb: RecordVerb,
  fields: readonly string[] = [],
): string {
  const roles = [...collection.access]
    .filter(([, access]) => access.verbs.has(verb) && !fields.some((field) => access.hiddenFields.has(field)))
    .map(([role]) => role);
  if (!collection.access.has(ADMIN)) roles.unshift(ADMIN);
  return roles.length === 0 ? 'no role may' : `one of these roles is needed: ${roles.join(', ')}`;
}

/** The rules of which at least one must hold; `undefined`: the role reaches all records. */
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
    rowFields: isLimited
      ? new Set(rules.flatMap(({ fields }) => fields.flatMap(([field]) => field ?? [])))
      : NO_FIELDS,
    hiddenFields: withheldFields(roles, verb, (role) => role.hiddenFields),
    readOnlyFields: withheldFields(roles, verb, (role) => role.readOnlyFields),
  };
}

/** The fields that a role hides and no other role with at least its rows shows. */
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

/** Whether one role reaches all records, or has every rule of the other. */
function hasRowsOf(one: RoleAccess, other: RoleAccess, verb: RecordVerb): boolean {
  const own = rulesFor(one, verb)?.map((rule) => JSON.stringify(rule));
  const others = rulesFor(other, verb)?.map((rule) => JSON.stringify(rule));
  return own === undefined || (others?.every((rule) => own.includes(rule)) ?? false);
}

/** Without the attribute no row is reached: `any` of an empty list never holds. */
function toFilter(rule: RowRule, principal: Principal): Filter {
  const tuples = attributeOf(principal, rule.attribute).filter(
    (tuple) => tuple.length === rule.fields.length,
  );
  return anyOf(
    tuples.flatMap((tuple): Filter[] => {
      const filters = rule.fields.flatMap((path, index): Filter[] => {
        const value = tuple[index];
        return isOperand(value) ? [{ kind: 'equals', path, value }] : [];
      });
      return filters.length === rule.fields.length ? [{ kind: 'all', filters }] : [];
    }),
  );
}

/** `self` is the caller's `_id` and `roles` each of its roles; both need no grant. */
function attributeOf(principal: Principal, attribute: string): readonly (readonly JsonValue[])[] {
  if (attribute === 'self') return principal.kind === 'user' ? [[principal.id]] : [];
  if (attribute === 'roles') return [...principal.roles].map((role) => [role]);
  return Object.hasOwn(principal.attributes, attribute) ? (principal.attributes[attribute] ?? []) : [];
}

/**
 * Whether a caller administers its domain. An admin's API key does not: its scopes are records, reports and
 * scripts.
 */
export function isAdmin(principal: Principal): boolean {
  return principal.roles.has('admin') && principal.scopes === undefined;
}

/**
 * Whether a caller may change who may log in, as whom, and with which rights. An API key may if its scopes
 * include it. A script never may: it would give rights in the name of everybody whose write starts it, even
 * long after its author has left.
 */
export function mayManageAccounts({
  principal: { roles, scopes },
  call,
}: Pick<Scope, 'principal' | 'call'>): boolean {
  return (
    call.scriptDepth === undefined && roles.has('admin') && (scopes === undefined || scopes.accounts === true)
  );
}

/**
 * Whether the caller may change what all domains share (domains, collections): an admin whose credential
 * belongs to the top domain, wherever it acts. API keys may not: their scopes are records, reports and
 * scripts.
 */
export function isTopDomainAdmin(scope: Scope, top: Domain | undefined): boolean {
  const { principal } = scope;
  if (!isAdmin(principal)) return false;
  return principal.kind === 'system' || principal.domainId === top?.id;
}

/** FORBIDDEN, with `detail` unless all is refused until the user has set up a second factor. */
export function refusedByScopes(principal: Principal, detail: string): ServiceError {
  const isDue = lacksSecondFactor(principal);
  const setUp =
    'Your role needs a second factor, which you have not set up (SECOND_FACTOR_ROLES). Until then you may ' +
    'only set it up: beginSecondFactor, then confirmSecondFactor.';
  return new ServiceError('FORBIDDEN', isDue ? setUp : detail);
}

/** A caller's rights on a collection, for a contract generated for that caller. */
export interface CollectionInReach {
  readonly collection: Collection;
  /** The visible fields; `undefined`: no record may be read. */
  readonly readable: readonly Field[] | undefined;
  /** The fields of a new record; `undefined`: none may be created. */
  readonly creatable: readonly Field[] | undefined;
  /** The fields that may be changed; `undefined`: none. */
  readonly updatable: readonly Field[] | undefined;
  readonly mayDelete: boolean;
}

/** A collection without any restriction. */
export function wholeCollection(collection: Collection): CollectionInReach {
  const { fields } = collection;
  return { collection, readable: fields, creatable: fields, updatable: fields, mayDelete: true };
}

/** The collections with which the caller may do anything, including those registered at run time. */
export function listCollectionsInReach(
  catalog: { list(): readonly Collection[] },
  scope: Scope,
): readonly CollectionInReach[] {
  const shown = catalog.list().filter((collection) => isInReach(scope, collection));
  const names = new Set(shown.map(({ name }) => name));
  return shown.map((collection) => {
    const fieldsFor = (verb: 'read' | 'create' | 'update') => {
      const access = findAccess(scope, collection, verb);
      if (access === undefined) return undefined;
      const withheld = verb === 'read' ? access.hiddenFields : access.readOnlyFields;
      return collection.fields
        .filter(({ name }) => !withheld.has(name))
        .map((field) => withoutUnknownTargets(field, names));
    };
    return {
      collection,
      readable: fieldsFor('read'),
      creatable: fieldsFor('create'),
      updatable: fieldsFor('update'),
      mayDelete: findAccess(scope, collection, 'delete') !== undefined,
    };
  });
}

/** Removes targets of a reference that the caller may not know. */
function withoutUnknownTargets(field: Field, known: ReadonlySet<string>): Field {
  return {
    ...field,
    targets: field.targets.filter((target) => known.has(target)),
    fields: field.fields.map((member) => withoutUnknownTargets(member, known)),
  };
}
