/** Delegates a part of a caller's rights to a separate token. */
import type { KeyScopes, Principal, RecordVerb } from '../../base/model/scope.js';

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
