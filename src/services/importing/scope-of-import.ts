/** The caller as whom an import writes, at any moment of its work. */

import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import type { Principals } from '../auth/principals.js';
import { type DomainDirectory, resolveScope } from '../auth/resolve-scope.js';
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
  const principal = await principals.ofWork(one.principal);
  if (principal === undefined) {
    throw new ServiceError(
      'FORBIDDEN',
      'The user who started this import may not log in any more, or its key has ended.',
    );
  }
  await domains.assureKnown(one.domainId);
  const scope = resolveScope(domains, { principal, askedDomain: one.domainId, requestId: one.id });
  rights.assertMayImport(scope, one.collection);
  return { ...scope, operation: 'import' };
}
