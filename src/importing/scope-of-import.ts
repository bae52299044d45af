/** The caller as whom an import writes, at any moment of its work. */
import { narrowPrincipal } from '../auth/delegation.js';
import type { Principals } from '../auth/principals.js';
import { type DomainDirectory, resolveScope } from '../auth/resolve-scope.js';
import { ServiceError } from '../errors.js';
import { type Principal, type Scope, systemPrincipal } from '../model/scope.js';
import type { ImportRights } from './import-rights.js';
import type { StoredImport } from './stored-import.js';

/**
 * The scope of the caller of an import with the rights of this moment, and no more than it had when it asked.
 *
 * @throws FORBIDDEN where it may not import any more, or is no more; NOT_FOUND, GONE for domain or collection
 */
export async function scopeOfImport(
  one: StoredImport,
  services: {
    readonly principals: Pick<Principals, 'ofWork'>;
    readonly domains: DomainDirectory;
    readonly rights: Pick<ImportRights, 'assertMayImport'>;
  },
): Promise<Scope> {
  const { principals, domains, rights } = services;
  const principal = await principalOf(one, principals);
  await domains.assureKnown(one.domainId);
  const scope = resolveScope(domains, { principal, askedDomain: one.domainId, requestId: one.id });
  rights.assertMayImport(scope, one.collection);
  return { ...scope, operation: 'import' };
}

/**
 * The caller of an import with the rights of this moment, and no more than it had when it asked. @throws
 * FORBIDDEN where it is no more
 */
async function principalOf(
  { principal, domainId }: StoredImport,
  principals: Pick<Principals, 'ofWork'>,
): Promise<Principal> {
  const { kind, id, roles, scopes, credential } = principal;
  if (kind === 'system') return { ...systemPrincipal(id, roles, domainId), credential };
  const work = { domainId: principal.domainId, userId: id, credential };
  const present = await principals.ofWork(work);
  if (present === undefined) {
    throw new ServiceError(
      'FORBIDDEN',
      'whoever asked for this import is no user any more, or the key has ended',
    );
  }
  const kept = roles.filter((role) => present.roles.has(role));
  if (scopes === undefined) return { ...present, roles: new Set(kept) };
  return narrowPrincipal(present, { roles: kept, scopes, part: 'import' });
}
