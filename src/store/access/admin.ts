import type { Principal, Scope } from '../../base/model/scope.js';

/**
 * Whether a caller administers its domain. An admin's API key does not: its scopes are records, reports and
 * scripts.
 */
export function isAdmin(principal: Principal): boolean {
  return principal.roles.has('admin') && principal.scopes === undefined;
}

/**
 * Whether a caller may change who may log in, as whom, and with which rights. An API key may if its scopes
 * say so. A script may not, whoever runs it: it would give rights in the name of everybody whose write starts
 * it, and long after its author has gone.
 */
export function mayManageAccounts({
  principal: { roles, scopes },
  scriptDepth,
}: Pick<Scope, 'principal' | 'scriptDepth'>): boolean {
  return (
    scriptDepth === undefined && roles.has('admin') && (scopes === undefined || scopes.accounts === true)
  );
}
