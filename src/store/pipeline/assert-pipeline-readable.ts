/** Lists what a pipeline reads: the paths into the records of its collections. */
import { ServiceError } from '../../base/errors.js';
import type { Stage } from '../../base/languages/mongo/mongo-pipeline.js';
import type { FieldTree } from '../../base/languages/mongo/mongo-projection.js';
import type { Collection } from '../../base/model/collection.js';
import { type Expression, listExpressionPaths } from '../../base/model/expression.js';
import type { Path } from '../../base/model/path.js';
import type { Scope } from '../../base/model/scope.js';
import { assertReadable, type EffectiveAccess } from '../access/access.js';
import { assertFittingOperands } from '../access/fitting-operands.js';
import { hintAtPaths } from '../access/hint-at-paths.js';
import { listPaths } from '../sql/compile-filter.js';

/** A collection, with the fields that the caller may read. */
export interface ReadableCollection {
  readonly collection: Collection;
  readonly access: EffectiveAccess;
}

/**
 * Rejects a pipeline that names a field which the caller may not read, in its own collection or in one that
 * it looks up. No stage sees hidden fields in any case. The error keeps callers from mistaking a hidden
 * field for an absent one. Undeclared names are pointed out to the caller.
 *
 * @throws FORBIDDEN (403) naming the field, or the collection, as `findReadable` does
 */
export function assertPipelineReadable(
  stages: readonly Stage[],
  start: ReadableCollection,
  findReadable: (collection: string) => ReadableCollection,
  scope: Scope,
): void {
  /** Fields that hold values made by a stage or found by a `$lookup`. */
  const own = new Map<string, ReadableCollection | undefined>();
  for (const stage of stages) {
    const isAllWritten = stage.kind === 'facet' || stage.kind === 'lookup';
    const paths = isAllWritten ? [] : pathsOf(stage);
    assertPathsReadable(paths, { start, own, scope });
    // Values made by a stage are not of a declared field.
    if (stage.kind === 'match' && !paths.some(([name = '']) => own.has(name))) {
      assertFittingOperands(stage.filter, start.collection, findReadable);
    }
    if (stage.kind === 'facet') {
      for (const facet of stage.facets) assertPipelineReadable(facet.stages, start, findReadable, scope);
    }
    if (stage.kind === 'lookup') {
      const foreign = findReadable(stage.collection);
      const local = [
        ...(stage.fields === undefined ? [] : [stage.fields.local]),
        ...stage.variables.flatMap(({ value }) => listExpressionPaths(value)),
      ];
      assertPathsReadable(local, { start, own, scope });
      if (stage.fields !== undefined) assertNamed([stage.fields.foreign], foreign, scope);
      assertPipelineReadable(stage.stages, foreign, findReadable, scope);
      own.set(stage.as[0] ?? '', foreign);
    }
    if (stage.kind === 'set') for (const { path } of stage.members) own.set(path[0] ?? '', undefined);
    if (stage.kind === 'project' && stage.projection.kind === 'only') {
      for (const { path } of stage.projection.computed) own.set(path[0] ?? '', undefined);
    }
    if (makesOtherDocuments(stage)) return;
  }
}

function assertPathsReadable(
  paths: readonly Path[],
  {
    start,
    own,
    scope,
  }: { start: ReadableCollection; own: ReadonlyMap<string, ReadableCollection | undefined>; scope: Scope },
): void {
  for (const path of paths) {
    const [name, ...rest] = path;
    if (name === undefined) continue;
    if (!own.has(name)) {
      assertNamed([path], start, scope);
      continue;
    }
    const found = own.get(name);
    // A step that is the number of an element leads into the record that was found.
    const inner = rest.filter((step) => !/^\d+$/.test(step));
    if (found !== undefined && inner.length > 0) assertNamed([inner], found, scope);
  }
}

function assertNamed(paths: readonly Path[], { collection, access }: ReadableCollection, scope: Scope): void {
  assertReadable(paths, access, collection);
  hintAtPaths(paths, scope, collection);
}

function makesOtherDocuments({ kind }: Stage): boolean {
  return ['group', 'bucket', 'count', 'facet', 'replaceRoot'].includes(kind);
}

function pathsOf(stage: Stage): readonly Path[] {
  switch (stage.kind) {
    case 'match':
      return listPaths(stage.filter);
    case 'sort':
      return stage.keys.map(({ path }) => path);
    case 'unwind':
      return [stage.path];
    case 'project':
      if (stage.projection.kind === 'all but') return [];
      return [...topsOf(stage.projection.fields), ...expressionsOf(stage).flatMap(listExpressionPaths)];
    default:
      return expressionsOf(stage).flatMap(listExpressionPaths);
  }
}

function topsOf(fields: FieldTree): readonly Path[] {
  return [...fields.keys()].map((name) => [name]);
}

/** The expressions of the stage itself, without those of its inner pipelines. */
function expressionsOf(stage: Stage): readonly Expression[] {
  switch (stage.kind) {
    case 'project':
      return stage.projection.kind === 'only' ? stage.projection.computed.map(({ value }) => value) : [];
    case 'set':
      return stage.members.map(({ value }) => value);
    case 'group':
    case 'bucket':
      return [stage.key, ...stage.members.map(({ operand }) => operand)];
    case 'replaceRoot':
      return [stage.root];
    case 'lookup':
      return stage.variables.map(({ value }) => value);
    default:
      return [];
  }
}

/** @throws FORBIDDEN */
export function refuseCollection(name: string): never {
  throw new ServiceError('FORBIDDEN', `you may not read records of ${name}, so not look them up either`);
}
