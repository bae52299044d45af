/**
 * A field the caller may not read is refused if it is selected by name; it is never omitted silently.
 *
 * @see decisions 3
 */

import type { Scope } from '../../../base/model/scope.js';
import { accessOf, assertReadable, findAccess } from '../../../store/access/access.js';
import { assertFittingOperands } from '../../../store/access/fitting-operands.js';
import type { Catalog } from '../../../store/catalog/catalog.js';
import { listReferrersMembers, listReferrersPaths } from '../../../store/reading/assert-members-readable.js';
import { listReferrers, listShapePaths, listTargets, type Member } from '../../../store/sql/shape.js';

/** @throws FORBIDDEN (403) naming the field, or the collection that a reference would lead to */
export function assertShownFields(
  members: readonly Member[],
  collectionName: string,
  options: { readonly scope: Scope; readonly catalog: Catalog },
): void {
  const { scope, catalog } = options;
  if (!members.some(readsField)) return;
  const collection = catalog.get(collectionName, scope);
  const access = accessOf(scope, collection, 'read');
  assertReadable(listShapePaths(members).paths, access, collection);
  for (const target of listTargets(members)) {
    // Only the union members whose fields are selected count.
    if (target.members.some(readsRecord)) accessOf(scope, catalog.get(target.collection, scope), 'read');
    assertShownFields(target.members, target.collection, options);
  }
  for (const referrers of listReferrers(members)) {
    const source = catalog.get(referrers.collection, scope);
    assertReadable(listReferrersPaths(referrers), accessOf(scope, source, 'read'), source);
    assertFittingOperands(referrers.filter, source, (name) => {
      const target = catalog.find(name);
      const access = target && findAccess(scope, target, 'read');
      return access && { collection: target, access };
    });
    assertShownFields(listReferrersMembers(referrers), referrers.collection, options);
  }
}

function readsField(member: Member): boolean {
  return 'path' in member.shape;
}

function readsRecord(member: Member): boolean {
  return member.shape.kind !== 'constant';
}
