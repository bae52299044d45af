import type { Domain, Scope } from '../../base/model/scope.js';
import { isAdmin } from './admin.js';

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
