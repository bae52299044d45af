import type { Principal } from '../../model/scope.js';

/**
 * Whether a caller administers its domain. An admin's API key does not: its scopes are records, reports and
 * scripts.
 */
export function isAdmin(principal: Principal): boolean {
  return principal.roles.has('admin') && principal.scopes === undefined;
}
