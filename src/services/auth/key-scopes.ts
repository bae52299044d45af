/** The scopes of an API key: the most it may do, parsed from its owner's request. */
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { isJsonObject } from '../../base/json/json.js';
import { pointerStep } from '../../base/model/path.js';
import type { KeyScopes, Principal, RecordVerb } from '../../base/model/scope.js';

/** The names a scope may use. */
export interface ScopeNames {
  readonly isCollection: (name: string) => boolean;
  readonly isReport: (name: string) => boolean;
}

const VERBS: readonly RecordVerb[] = ['read', 'create', 'update', 'delete'];
const MEMBERS = ['collections', 'reports', 'scripts', 'accounts'];
const SCRIPT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST_NAMES = 200;

/**
 * Reads the scopes of an API key.
 *
 *   { collections: { <name> | "*": [<verb> …] | ["*"] },
 *     reports: [<name> …] | ["*"],
 *     scripts: [<name> …] | ["*"],
 *     accounts: true }
 *
 * Verbs are read, create, update, delete. A member that is absent allows nothing. With `accounts`, an admin's
 * key may change who may log in and with which rights, which no verb and no `*` includes.
 *
 * @throws INVALID_VALUE (400) naming every fault by its JSON pointer, below `/scopes`
 */
export function parseKeyScopes(written: unknown, names: ScopeNames): KeyScopes {
  const faults: ErrorDetail[] = [];
  if (!isJsonObject(written)) {
    faults.push({ pointer: '/scopes', detail: 'Scopes are an object.', expected: MEMBERS.join(', ') });
    throw invalidScopes(faults);
  }
  for (const member of Object.keys(written))
    if (!MEMBERS.includes(member))
      faults.push({
        pointer: `/scopes/${pointerStep(member)}`,
        detail: `There is no scope "${member}".`,
        expected: MEMBERS.join(', '),
      });
  const scopes: KeyScopes = {
    collections: parseCollections(written.collections, names, faults),
    reports: parseNames('reports', written.reports, names.isReport, faults),
    scripts: parseNames('scripts', written.scripts, (name) => SCRIPT_NAME.test(name), faults),
    ...(written.accounts === true && { accounts: true }),
  };
  if (written.accounts !== undefined && typeof written.accounts !== 'boolean')
    faults.push({
      pointer: '/scopes/accounts',
      detail: 'The scope "accounts" is true or false.',
      expected: 'true or false',
      sent: written.accounts,
    });
  if (faults.length > 0) throw invalidScopes(faults);
  return scopes;
}

function parseCollections(
  written: unknown,
  names: ScopeNames,
  faults: ErrorDetail[],
): KeyScopes['collections'] {
  if (written === undefined) return {};
  if (!isJsonObject(written) || Object.keys(written).length > MOST_NAMES) {
    faults.push({
      pointer: '/scopes/collections',
      detail: `Collections are an object of at most ${MOST_NAMES} names, each with its verbs.`,
      expected: '{"<collection>": ["read"]}',
    });
    return {};
  }
  const verbsByCollection = new Map<string, readonly RecordVerb[]>();
  for (const [name, verbs] of Object.entries(written)) {
    const pointer = `/scopes/collections/${pointerStep(name)}`;
    if (name !== '*' && !names.isCollection(name))
      faults.push({ pointer, detail: `There is no collection "${name}".`, expected: 'a collection, or *' });
    verbsByCollection.set(name, parseVerbs(pointer, verbs, faults));
  }
  return Object.fromEntries(verbsByCollection);
}

function parseVerbs(pointer: string, written: unknown, faults: ErrorDetail[]): readonly RecordVerb[] {
  const isList = Array.isArray(written) && written.length > 0;
  if (isList && written.length === 1 && written[0] === '*') return VERBS;
  if (!isList || !written.every((verb) => VERBS.includes(verb))) {
    faults.push({
      pointer,
      detail: 'Verbs are a list of at least one.',
      expected: [...VERBS, '*'].join(', '),
      sent: written,
    });
    return [];
  }
  return VERBS.filter((verb) => written.includes(verb));
}

function parseNames(
  member: 'reports' | 'scripts',
  written: unknown,
  isName: (name: string) => boolean,
  faults: ErrorDetail[],
): readonly string[] {
  if (written === undefined) return [];
  if (!Array.isArray(written) || written.length > MOST_NAMES) {
    faults.push({
      pointer: `/scopes/${member}`,
      detail: `The ${member} are a list of at most ${MOST_NAMES} names.`,
      expected: '["*"]',
    });
    return [];
  }
  const accepted = new Set<string>();
  written.forEach((name: unknown, index) => {
    if (typeof name === 'string' && (name === '*' || isName(name))) accepted.add(name);
    else
      faults.push({
        pointer: `/scopes/${member}/${index}`,
        detail: `This is none of the ${member}.`,
        expected: `the name of one of the ${member}, or *`,
        sent: name,
      });
  });
  return [...accepted];
}

function invalidScopes(faults: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('INVALID_VALUE', 'The scopes of the API key are not valid.', { errors: faults });
}

export interface Delegation {
  readonly roles: readonly string[];
  readonly scopes: KeyScopes;
}

/**
 * Restricts a principal to the roles and scopes that both allow. When the principal loses a right, so does
 * the result. `part` distinguishes it from other parts of the same principal.
 */
export function narrowPrincipal(
  principal: Principal,
  { roles, scopes, part }: Delegation & { readonly part: string },
): Principal {
  return {
    ...principal,
    credential: { ...principal.credential, part },
    roles: new Set(roles.filter((role) => principal.roles.has(role))),
    scopes: principal.scopes === undefined ? scopes : intersectScopes(principal.scopes, scopes),
  };
}

/** The intersection of two scopes. */
export function intersectScopes(one: KeyScopes, other: KeyScopes): KeyScopes {
  const names = new Set([...Object.keys(one.collections), ...Object.keys(other.collections)]);
  const collections = [...names].map((name): [string, readonly RecordVerb[]] => {
    const allowed = verbsOf(other, name);
    return [name, verbsOf(one, name).filter((verb) => allowed.includes(verb))];
  });
  return {
    collections: Object.fromEntries(collections.filter(([, verbs]) => verbs.length > 0)),
    reports: intersectNames(one.reports, other.reports),
    scripts: intersectNames(one.scripts, other.scripts),
    ...(one.accounts === true && other.accounts === true && { accounts: true }),
  };
}

function verbsOf({ collections }: KeyScopes, name: string): readonly RecordVerb[] {
  const own = Object.hasOwn(collections, name) ? collections[name] : undefined;
  const every = Object.hasOwn(collections, '*') ? collections['*'] : undefined;
  return [...new Set([...(own ?? []), ...(every ?? [])])];
}

function intersectNames(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one.includes('*')) return other;
  if (other.includes('*')) return one;
  return one.filter((name) => other.includes(name));
}
