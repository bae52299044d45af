/**
 * `Shape` and `PageShape`: what JSON to print of a record, and of a page of records, as plain values.
 *
 * A front end that knows the shape of its answer hands it down and sends on the text that comes back: nothing
 * is parsed, built and printed again on the way (design, "What a GraphQL layer costs"). A value of another
 * type than the shape says, as old data may hold, is printed as null; in a list it is left out.
 */
import type { Filter } from '../../model/filter.js';
import type { Path } from '../../model/path.js';
import type { SortKey } from '../../model/record-query.js';

export type Shape =
  | ConstantShape
  | RecordPartShape
  | NodeIdShape
  | ValueShape
  | EnumShape
  | ObjectShape
  | ListShape
  | TargetShape
  | ReferrersShape;

export interface Member {
  readonly key: string;
  readonly shape: Shape;
}

/** A text that does not come from the record, such as the name of its type. */
interface ConstantShape {
  readonly kind: 'constant';
  readonly text: string;
}

/**
 * What a record has beside its fields. `fields`: all that the query's projection leaves, as one JSON object
 * without `_id`.
 */
interface RecordPartShape {
  readonly kind: 'id' | 'version' | 'createdAt' | 'updatedAt' | 'fields';
}

/** The id of the record with this before it: its name among the records of all collections. */
interface NodeIdShape {
  readonly kind: 'nodeId';
  readonly prefix: string;
}

interface ValueShape {
  readonly kind: 'text' | 'number' | 'decimal' | 'boolean' | 'json';
  readonly path: Path;
}

/** A text that is printed by another name; one without a name is null. */
export interface EnumShape {
  readonly kind: 'enum';
  readonly path: Path;
  readonly namesByValue: ReadonlyMap<string, string>;
}

interface ObjectShape {
  readonly kind: 'object';
  readonly path: Path;
  readonly members: readonly Member[];
}

/** The paths of `element` start at the element; an empty path is the element itself. */
export interface ListShape {
  readonly kind: 'list';
  readonly path: Path;
  readonly element: Shape;
}

/** The record that the reference at `path` points to: the first found among the targets. */
export interface TargetShape {
  readonly kind: 'target';
  readonly path: Path;
  readonly targets: readonly { readonly collection: string; readonly members: readonly Member[] }[];
}

/**
 * A page of the records of a collection whose reference at `path` points to this record. Of the members of a
 * record alone.
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
  /** The last of each page, not the first. */
  readonly fromEnd: boolean;
  readonly page: PageShape;
}

/** What JSON to print of a page of records, its cursors, its place in the order and the count of all. */
export interface PageShape {
  readonly members: readonly PageMember[];
}

export type PageMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  /** The records, as a list. */
  | { readonly key: string; readonly kind: 'records'; readonly members: readonly Member[] }
  /** The records with their cursors, as a list. */
  | { readonly key: string; readonly kind: 'edges'; readonly members: readonly EdgeMember[] }
  | { readonly key: string; readonly kind: 'pageInfo'; readonly members: readonly PageInfoMember[] }
  /** How many records match in all. */
  | { readonly key: string; readonly kind: 'count' };

export type EdgeMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  | { readonly key: string; readonly kind: 'record'; readonly members: readonly Member[] }
  | { readonly key: string; readonly kind: 'cursor' };

export type PageInfoMember =
  | { readonly key: string; readonly kind: 'constant'; readonly text: string }
  | {
      readonly key: string;
      readonly kind: 'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor';
    };

/** The paths into the record that a shape reads, and with `wholeRecord` whether it prints all of it. */
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

/** The records that references among the members point to, not those that these point to in turn. */
export const listTargets = remembered((members): TargetShape['targets'] =>
  members.flatMap((member) => targetsWithin(member.shape)),
);

/** The pages among the members of a record, not those within them. */
export const listReferrers = remembered((members): readonly ReferrersShape[] =>
  members.flatMap(({ shape }) => (shape.kind === 'referrers' ? [shape] : [])),
);

/** Shapes live as long as the documents they come from, and are asked the same for every request. */
function remembered<Found>(
  find: (members: readonly Member[]) => Found,
): (members: readonly Member[]) => Found {
  const known = new WeakMap<readonly Member[], { readonly found: Found }>();
  return (members) => {
    const before = known.get(members);
    if (before !== undefined) return before.found;
    const found = find(members);
    known.set(members, { found });
    return found;
  };
}

/** Whether other records are joined, in which case the rows may come out in another order. */
export function readsOthers(members: readonly Member[]): boolean {
  return listTargets(members).length > 0 || listReferrers(members).length > 0;
}

/** Does as `listTargets`, for one shape. */
export function targetsWithin(shape: Shape): TargetShape['targets'] {
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
  switch (shape.kind) {
    case 'constant':
    case 'id':
    case 'version':
    case 'createdAt':
    case 'updatedAt':
    case 'nodeId':
    case 'fields':
    case 'referrers':
      return;
    case 'text':
    case 'number':
    case 'decimal':
    case 'boolean':
    case 'json':
    case 'enum':
      paths.push([...at, ...shape.path]);
      return;
    case 'object':
      for (const member of shape.members) collectPaths(member.shape, [...at, ...shape.path], paths);
      return;
    case 'list':
      collectPaths(shape.element, [...at, ...shape.path], paths);
      return;
    case 'target':
      paths.push([...at, ...shape.path, 'value']);
      return;
  }
}
