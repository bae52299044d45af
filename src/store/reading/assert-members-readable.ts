/** Checks that a caller may read everything a shape prints. */

import type { Scope } from '../../base/model/scope.js';
import { accessOf, assertReadable, findAccess } from '../access/access.js';
import { resolveFilter } from '../access/resolve-filter.js';
import type { Catalog } from '../catalog/catalog.js';
import { recordMembers } from '../sql/compile-page.js';
import {
  listReferrers,
  listShapePaths,
  listTargets,
  type Member,
  type ReferrersShape,
} from '../sql/shape.js';
import { sql } from '../sql.js';

interface Reader {
  readonly scope: Scope;
  readonly catalog: Catalog;
}

/**
 * Refuses members that print a hidden field, of the record, of a reference's target or of a record that
 * points here. A field the caller may not read is refused if it is selected by name; it is never omitted
 * silently.
 *
 * @throws FORBIDDEN (403) naming the field, or the collection that a reference would lead to; as
 *   `resolveFilter` does for the filter of the records that point here
 * @see decisions 3
 */
export function assertMembersReadable(
  members: readonly Member[],
  name: string,
  { scope, catalog }: Reader,
): void {
  if (!members.some(({ shape }) => 'path' in shape)) return;
  const collection = catalog.get(name, scope);
  assertReadable(listShapePaths(members).paths, accessOf(scope, collection, 'read'), collection);
  for (const target of listTargets(members)) {
    // Only the union members whose fields are selected count.
    if (target.members.some(({ shape }) => shape.kind !== 'constant'))
      accessOf(scope, catalog.get(target.collection, scope), 'read');
    assertMembersReadable(target.members, target.collection, { scope, catalog });
  }
  for (const referrers of listReferrers(members)) assertReferrersReadable(referrers, { scope, catalog });
}

function assertReferrersReadable(referrers: ReferrersShape, { scope, catalog }: Reader): void {
  const collection = catalog.get(referrers.collection, scope);
  const access = accessOf(scope, collection, 'read');
  const { timeZone, callingCode } = scope.domain;
  const findTarget = (name: string) => {
    const target = catalog.find(name);
    const readable = target && findAccess(scope, target, 'read');
    // The filter is not compiled here, so the condition is never read.
    return readable && { collection: target, access: readable, condition: sql.empty };
  };
  const context = { collection, timeZone, callingCode, now: new Date(), findTarget };
  resolveFilter(referrers.filter, context, access);
  assertReadable([referrers.path, ...referrers.sort.map(({ path }) => path)], access, collection);
  assertMembersReadable(listReferrersMembers(referrers), collection.name, { scope, catalog });
}

/** The printed members of the referring records. */
export function listReferrersMembers({ page }: Pick<ReferrersShape, 'page'>): readonly Member[] {
  return page.members.flatMap(recordMembers);
}
