/** A part of a caller's rights, put into a token of its own. */
import type { KeyScopes, Principal, RecordVerb } from '../model/scope.js';

export interface Delegation {
  readonly roles: readonly string[];
  readonly scopes: KeyScopes;
}

/**
 * What is left of a principal: the roles both have, and the scopes both allow. What it loses meanwhile is
 * lost here too. `part` tells this part of its rights from others.
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

/** What both scopes allow. */
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
