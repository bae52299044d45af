/** A field the caller may not read is refused when it is asked for by name, never left out in silence. @see decisions 3 */
import { accessOf, assertReadable } from '../store/access.js';
import type { Catalog } from '../store/catalog.js';
import type { Scope } from '../store/scope.js';
import { listReferrersMembers, listReferrersPaths } from '../store/shape-access.js';
import { listReferrers, listShapePaths, listTargets, type Member } from '../store/sql/shape.js';

/** @throws FORBIDDEN (403) naming the field, or the collection that a reference would be followed into */
export function assertShown(
  members: readonly Member[],
  collectionName: string,
  options: { readonly scope: Scope; readonly catalog: Catalog },
): void {
  const { scope, catalog } = options;
  if (!members.some(readsField)) return;
  const collection = catalog.get(collectionName);
  const access = accessOf(scope, collection, 'read');
  assertReadable(listShapePaths(members).paths, access, collection);
  for (const target of listTargets(members)) {
    // Of a union, only the types whose fields are asked for.
    if (target.members.some(readsRecord)) accessOf(scope, catalog.get(target.collection), 'read');
    assertShown(target.members, target.collection, options);
  }
  for (const referrers of listReferrers(members)) {
    const source = catalog.get(referrers.collection);
    assertReadable(listReferrersPaths(referrers), accessOf(scope, source, 'read'), source);
    assertShown(listReferrersMembers(referrers), referrers.collection, options);
  }
}

function readsField(member: Member): boolean {
  return 'path' in member.shape;
}

function readsRecord(member: Member): boolean {
  return member.shape.kind !== 'constant';
}
