/** Checks that a caller may read everything a shape prints. */

import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { assertReadable, type EffectiveAccess } from '../access/access.js';
import { assertFittingOperands } from '../access/fitting-operands.js';
import { listPaths } from '../sql/compile-filter.js';
import { recordMembers } from '../sql/compile-page.js';
import { listReferrers, type Member, type ReferrersShape, type Shape, targetsWithin } from '../sql/shape.js';

/** The readable part of a collection; `undefined` if the caller may read nothing of it. */
type FindReadableCollection = (
  collection: string,
) => { readonly collection: Collection; readonly access: EffectiveAccess } | undefined;

/**
 * Refuses members that print a hidden field, of the record or of a reference's target. A target collection
 * the caller may not read is not an error: its records count as absent. A collection whose records point here
 * is selected by name, and is refused.
 *
 * @throws FORBIDDEN (403) naming the field, or that collection
 */
export function assertMembersReadable(
  members: readonly Member[],
  readable: { readonly collection: Collection; readonly access: EffectiveAccess },
  findReadable: FindReadableCollection,
): void {
  const shapes = members.map((member) => member.shape);
  assertReadable(shapes.flatMap(pathsOf), readable.access, readable.collection);
  for (const target of shapes.flatMap(targetsWithin)) {
    const found = findReadable(target.collection);
    if (found !== undefined) assertMembersReadable(target.members, found, findReadable);
  }
  for (const referrers of listReferrers(members)) {
    const found = findReadable(referrers.collection);
    if (found === undefined) {
      throw new ServiceError('FORBIDDEN', `you may not read records of ${referrers.collection}`);
    }
    assertReadable(listReferrersPaths(referrers), found.access, found.collection);
    assertFittingOperands(referrers.filter, found.collection, findReadable);
    assertMembersReadable(listReferrersMembers(referrers), found, findReadable);
  }
}

/** The paths by which the referring records are filtered and ordered. */
export function listReferrersPaths({ path, filter, sort }: ReferrersShape): readonly Path[] {
  return [path, ...listPaths(filter), ...sort.map((key) => key.path)];
}

/** The printed members of the referring records. */
export function listReferrersMembers({ page }: Pick<ReferrersShape, 'page'>): readonly Member[] {
  return page.members.flatMap(recordMembers);
}

/** The paths at which a shape begins to read; a hidden field is hidden from its first step on. */
function pathsOf(shape: Shape): readonly Path[] {
  switch (shape.kind) {
    case 'constant':
    case 'id':
    case 'version':
    case 'createdAt':
    case 'updatedAt':
    case 'nodeId':
    case 'fields':
    case 'referrers':
      return [];
    case 'text':
    case 'number':
    case 'decimal':
    case 'boolean':
    case 'json':
    case 'enum':
    case 'target':
      return [shape.path];
    case 'object':
      return shape.path.length > 0 ? [shape.path] : shape.members.flatMap((member) => pathsOf(member.shape));
    case 'list':
      return shape.path.length > 0 ? [shape.path] : pathsOf(shape.element);
  }
}
