/**
 * `Shape` and `PageShape`: the JSON to print of a record, and of a page of records, as plain values.
 *
 * A front end that knows the shape of its answer passes it to the store and forwards the text that Postgres
 * returns. No value is parsed, rebuilt and printed on the way (design, "What a GraphQL layer costs"). A
 * value whose type differs from the shape, as in old records, prints as null. In a list it is left out.
 */

import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { SortKey } from '../../base/model/record-query.js';
import { getOrMake } from '../../base/process/get-or-make.js';

export type Shape =
  /** A constant text, such as the name of the record's type. */
  | { readonly kind: 'constant'; readonly text: string }
  /**
   * The values that a record has in addition to its fields. `fields`: all fields within the projection of the
   * query, as one JSON object without `_id`.
   */
  | { readonly kind: 'id' | 'version' | 'createdAt' | 'updatedAt' | 'fields' }
  /** The id of the record with this prefix: an id that is unique among all collections. */
  | { readonly kind: 'nodeId'; readonly prefix: string }
  | { readonly kind: 'text' | 'number' | 'decimal' | 'boolean' | 'json'; readonly path: Path }
  | EnumShape
  | { readonly kind: 'object'; readonly path: Path; readonly members: readonly Member[] }
  | ListShape
  | TargetShape
  | ReferrersShape;

export interface Member {
  readonly key: string;
  readonly shape: Shape;
}

/** A text that is printed under another name. A text without such a name prints as null. */
export interface EnumShape {
  readonly kind: 'enum';
  readonly path: Path;
  readonly namesByValue: ReadonlyMap<string, string>;
}

/** The paths of `element` start at the element. An empty path is the element itself. */
export interface ListShape {
  readonly kind: 'list';
  readonly path: Path;
  readonly element: Shape;
}

/** The record that the reference at `path` points to: the first of the targets that contains it. */
export interface TargetShape {
  readonly kind: 'target';
  readonly path: Path;
  readonly targets: readonly { readonly collection: string; readonly members: readonly Member[] }[];
}

/**
 * A page of the records of a collection whose reference at `path` points to this record. It is only allowed
 * among the members of a record.
 */
export interface ReferrersShape {
  readonly kind: 'referrers';
  readonly collection: string;
  readonly path: Path;
  readonly filter: Filter;
  readonly sort: readonly SortKey[];
  readonly limit: number;
  readonly after: string | undefined;
  readonly before: string | undefined;
  /** Whether each page holds the last records instead of the first. */
  readonly fromEnd: boolean;
  readonly page: PageShape;
}

/** The JSON to print of a page of records: its records, cursors, pageInfo and total count. */
export interface PageShape {
  readonly members: readonly PageMember[];
}

interface ConstantMember {
  readonly key: string;
  readonly kind: 'constant';
  readonly text: string;
}

export type PageMember =
  | ConstantMember
  /** The records, as a list. */
  | { readonly key: string; readonly kind: 'records'; readonly members: readonly Member[] }
  /** The records with their cursors, as a list. */
  | { readonly key: string; readonly kind: 'edges'; readonly members: readonly EdgeMember[] }
  | { readonly key: string; readonly kind: 'pageInfo'; readonly members: readonly PageInfoMember[] }
  /** The number of all matching records. */
  | { readonly key: string; readonly kind: 'count' };

export type EdgeMember =
  | ConstantMember
  | { readonly key: string; readonly kind: 'record'; readonly members: readonly Member[] }
  | { readonly key: string; readonly kind: 'cursor' };

export type PageInfoMember =
  | ConstantMember
  | {
      readonly key: string;
      readonly kind: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
    };

/** The paths into the record that a shape reads. `wholeRecord`: whether it prints the whole record. */
export interface ShapePaths {
  readonly paths: readonly Path[];
  readonly isWholeRecord: boolean;
}

export const listShapePaths = remembered((members): ShapePaths => {
  const paths: Path[] = [];
  let isWholeRecord = false;
  for (const { shape } of members) {
    if (shape.kind === 'fields') isWholeRecord = true;
    else collectPaths(shape, [], paths);
  }
  return { paths, isWholeRecord };
});

/** The records that references among the members point to, without the targets of those records. */
export const listTargets = remembered((members): TargetShape['targets'] =>
  members.flatMap((member) => targetsWithin(member.shape)),
);

/** The pages among the members of a record, without the pages within them. */
export const listReferrers = remembered((members): readonly ReferrersShape[] =>
  members.flatMap(({ shape }) => (shape.kind === 'referrers' ? [shape] : [])),
);

/** A shape lives as long as its cached document, and every request needs the same facts about it. */
function remembered<Found>(
  find: (members: readonly Member[]) => Found,
): (members: readonly Member[]) => Found {
  const known = new WeakMap<readonly Member[], { readonly found: Found }>();
  return (members) => getOrMake(known, members, () => ({ found: find(members) })).found;
}

/** Whether the statement joins other records. The order of its rows is then undefined. */
export function readsOthers(members: readonly Member[]): boolean {
  return listTargets(members).length > 0 || listReferrers(members).length > 0;
}

/** Does the same as `listTargets`, for one shape. */
function targetsWithin(shape: Shape): TargetShape['targets'] {
  switch (shape.kind) {
    case 'target':
      return shape.targets;
    case 'object':
      return listTargets(shape.members);
    case 'list':
      return targetsWithin(shape.element);
    default:
      return [];
  }
}

function collectPaths(shape: Shape, at: Path, paths: Path[]): void {
  // What is printed of referrers are other records.
  if (!('path' in shape) || shape.kind === 'referrers') return;
  const path = [...at, ...shape.path];
  const before = paths.length;
  if (shape.kind === 'list') collectPaths(shape.element, path, paths);
  else if (shape.kind === 'target') paths.push([...path, 'value']);
  else if (shape.kind === 'object')
    for (const member of shape.members) collectPaths(member.shape, path, paths);
  // Whether there is an object is read, too, if none of its values is.
  if (paths.length === before && shape.kind !== 'list') paths.push(path);
}
