/**
 * The one walk over a filter: each condition gets its place in the collection, the test that its type makes
 * of it, and the check that the caller may read what it names. The compilers to SQL need no other facts.
 *
 * @see decisions 3, 4
 */

import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import { listExpressionPaths } from '../../base/model/expression.js';
import type { Filter, MatchCondition, RecordFilter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { type Place, placeInElement, placeInRecord } from '../../base/model/place.js';
import type { SortKey } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import type { Clock, ValueCondition } from '../../base/model/value-test.js';
import { assertReadable, type EffectiveAccess, type FindReadable } from './access.js';
import { assertFits, assertListed, testOf, unfitting } from './condition-test.js';
import { hintAtContradictions, hintAtPaths } from './hint-at-paths.js';
import type { ResolvedFilter, ResolvedRecord } from './resolved-filter.js';
import { respelled, type SpellingContext } from './respelled.js';

/** The facts, apart from the filter itself, that decide what a filter means. */
export interface ResolveContext extends Clock {
  readonly collection: Collection;
  /** For the look-up of keys that ignore case; `undefined`: case counts. */
  readonly spelling?: SpellingContext | undefined;
  /** For conditions on the targets of references. */
  readonly findTarget?: FindReadable | undefined;
}

interface Resolution {
  readonly filter: ResolvedFilter;
  /** The paths that the filter names, from the record on, without those into the targets of references. */
  readonly paths: readonly Path[];
}

type Sight = Pick<EffectiveAccess, 'hiddenFields'>;

/**
 * Resolves a filter. With `access` it is a caller's, which may name only readable fields, and compare them
 * only with values that they can have. Without, it is a rule of our own.
 *
 * @throws FORBIDDEN (403) for a field that the caller may not read; else MALFORMED_FILTER, INVALID_VALUE
 *   (400) for operators and operands that do not fit a declared type, and FORBIDDEN for what the caller may
 *   not read of the target of a reference
 */
export function resolveFilter(filter: Filter, context: ResolveContext, access?: Sight): Resolution {
  const { faults, ...resolution } = walk(filter, context, access);
  if (faults.length > 0) throw faults[0];
  return resolution;
}

/** The query of a caller. */
interface SentQuery {
  readonly filter: Filter;
  readonly sort: readonly SortKey[];
  readonly projection?: readonly Path[] | undefined;
}

/**
 * Resolves a caller's query. Hints at undeclared names, and at conditions that exclude each other.
 *
 * @throws as `resolveFilter` does; FORBIDDEN for an order by a field that the caller may not read
 */
export function resolveQuery(
  { filter, sort, projection = [] }: SentQuery,
  context: ResolveContext,
  { scope, access }: { readonly scope: Scope; readonly access: Sight },
): Resolution {
  const { collection } = context;
  const { filter: resolved, paths, faults } = walk(filter, context, access);
  const sorted = sort.map((key) => key.path);
  assertReadable(sorted, access, collection);
  const named = [...paths, ...sorted, ...projection];
  hintAtPaths(named, scope, collection);
  if (faults.length > 0) throw faults[0];
  hintAtContradictions(resolved, scope, collection);
  return { filter: resolved, paths: named };
}

interface Level {
  readonly context: ResolveContext;
  readonly access: Sight | undefined;
  readonly isSent: boolean;
  readonly paths: Path[];
  /** Reported once it is known that the caller may read all that the filter names. */
  readonly faults: unknown[];
  /** For the elements of a list: the path from the record to it, and its place. */
  readonly base: Path;
  readonly list?: Place | undefined;
}

function walk(filter: Filter, context: ResolveContext, access: Sight | undefined) {
  const level = { context, access, isSent: access !== undefined, paths: [], faults: [], base: [] };
  return { filter: resolve(filter, level), paths: level.paths, faults: level.faults };
}

function resolve(filter: Filter, level: Level): ResolvedFilter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { kind: filter.kind, filters: filter.filters.map((part) => resolve(part, level)) };
    case 'not':
      return { kind: 'not', filter: resolve(filter.filter, level) };
    case 'expression':
      for (const path of listExpressionPaths(filter.expression)) name(path, level);
      return { kind: 'document', filter };
    default:
      name([...level.base, ...filter.path], level);
  }
  const place = placeAt(filter.path, level);
  try {
    return resolveCondition(filter, place, level);
  } catch (fault) {
    level.faults.push(fault);
    return { kind: 'any', filters: [] };
  }
}

function resolveCondition(
  filter: Exclude<Filter, { readonly kind: 'all' | 'any' | 'not' | 'expression' }>,
  place: Place,
  level: Level,
): ResolvedFilter {
  const { kind, path } = filter;
  switch (kind) {
    case 'isNull':
    case 'exists':
      return { kind, path, place };
    case 'element': {
      if (place.form === 'id') throw unfitting(filter, place);
      return { kind, path, filter: resolve(filter.filter, withinList(path, place, level)) };
    }
    case 'match':
      if (level.isSent) assertMatchFits(filter, level);
      return { kind: 'document', filter };
    case 'record':
      return resolveRecord(filter, place, level);
    default:
      if (level.isSent && isDeclared(level)) assertFits(filter, declaredAt(path, level), nameOf(path, level));
      return {
        kind: 'test',
        path,
        place,
        paths: pathsOfText(filter, place),
        test: respelled(testOf(filter, place, level.context), place.path, level.context),
      };
  }
}

function resolveRecord(
  { path, collection, filter }: RecordFilter,
  place: Place,
  level: Level,
): ResolvedRecord {
  const { findTarget } = level.context;
  if (findTarget === undefined) throw new Error('no other records can be looked at here');
  const target = findTarget(collection);
  if (target === undefined) throw new ServiceError('FORBIDDEN', `you may not read records of ${collection}`);
  const context = { ...level.context, collection: target.collection };
  const inner = resolve(filter, {
    ...level,
    context,
    access: target.access,
    paths: [],
    base: [],
    list: undefined,
  });
  return { kind: 'record', path, place, target, filter: inner };
}

/** Refuses operands of MongoDB's language that are none of the declared texts. */
function assertMatchFits({ path, test }: MatchCondition, level: Level): void {
  if (!isDeclared(level)) return;
  switch (test.kind) {
    case 'equals':
    case 'in':
      for (const value of test.kind === 'in' ? test.values : [test.value])
        assertListed(value, declaredAt(path, level), nameOf(path, level));
      return;
    case 'element':
      resolve(test.filter, { ...withinList(path, declaredAt(path, level), level), paths: [] });
  }
}

function name(path: Path, { context, access, paths }: Level): void {
  paths.push(path);
  if (access !== undefined) assertReadable([path], access, context.collection);
}

function withinList(path: Path, list: Place, level: Level): Level {
  return { ...level, base: [...level.base, ...path], list };
}

/** The elements of an undeclared list may be anything. */
function isDeclared({ list }: Level): boolean {
  return list === undefined || list.field !== undefined;
}

function placeAt(path: Path, { list, context }: Level): Place {
  return list === undefined ? placeInRecord(context.collection, path) : placeInElement(list, path);
}

/** A step that is a number leads to an element of a list, which has the declaration of the list. */
function declaredAt(path: Path, level: Level): Place {
  return placeAt(
    path.filter((step) => !/^\d+$/.test(step)),
    level,
  );
}

function nameOf(path: Path, { base }: Level): string {
  return [...base, ...path].join('.');
}

/** A condition on a reference tests its id. The text operators also test its label. */
function pathsOfText({ kind, path }: ValueCondition, { type }: Place): readonly Path[] {
  if (type !== 'reference') return [path];
  const value = [...path, 'value'];
  const isAlsoLabel = kind === 'startsWith' || kind === 'contains' || kind === 'equalsInsensitive';
  return isAlsoLabel ? [value, [...path, 'label']] : [value];
}
