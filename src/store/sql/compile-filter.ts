/**
 * `Filter` to SQL: the one compiler behind every front end.
 *
 * A declared path without a list compiles to the form a b-tree or trigram index serves (`column-test.ts`),
 * `_id` to its column, everything else to a jsonpath (`jsonpath-test.ts`). Operands and undeclared names are
 * parameters, so the SQL text is that of the filter's shape and can be prepared.
 *
 * @see decisions 3, design "Storage that makes JSONB fast"
 */

import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import { listExpressionPaths } from '../../model/expression.js';
import type { Condition, ElementCondition, Filter } from '../../model/filter.js';
import type { Path } from '../../model/path.js';
import type { ValueCondition, ValueTest } from '../../model/value-test.js';
import { columnTest, needsByteOrder } from './column-test.js';
import {
  compileElementRows,
  compileRecordFilter,
  type FilterCompilers,
  type FilterTarget,
  hasRecordFilter,
} from './compile-record-filter.js';
import { testOf, unfitting } from './condition-test.js';
import { compileDocumentFilter } from './document/document-filter.js';
import { recordRoot } from './document/document-root.js';
import { idTest } from './id-test.js';
import { ALWAYS, jsonpathTest, NEVER } from './jsonpath-test.js';
import { fieldExpression } from './names.js';
import { jsonpathSteps } from './storable-json.js';
import { type Target, targetInElement, targetInRecord } from './target.js';

type Sql = Prisma.Sql;

/** What the meaning of a filter depends on beside itself. */
export interface CompileContext {
  readonly collection: Collection;
  /** The time zone of the domain: its days and months are meant. */
  readonly timeZone: string;
  readonly now: Date;
  /**
   * Whether the database compares text by bytes, so that its order may stand for that of prefixes and ranges.
   */
  readonly isByteOrdered: boolean;
  /**
   * What of another collection the asker may read; `undefined`: nothing. For conditions on what references
   * point to.
   */
  readonly findTarget?: (collection: string) => FilterTarget | undefined;
}

/**
 * A boolean SQL expression over the record alias `r`. Where a field is missing it may be null instead of
 * false, which a `where` takes the same way; below a negation it never is, so negation is two-valued: what
 * does not hold is not held.
 *
 * @throws MALFORMED_FILTER, INVALID_VALUE (400) for operators and operands that do not fit a declared type;
 * FORBIDDEN (403) for a condition on another record by what the asker may not read of it
 */
export function compileFilter(filter: Filter, context: CompileContext): Sql {
  switch (filter.kind) {
    case 'all':
      return joined(filter.filters, { separator: ' and ', empty: TRUE, context });
    case 'any':
      return joined(filter.filters, { separator: ' or ', empty: FALSE, context });
    case 'not':
      return Prisma.sql`not coalesce(${compileFilter(filter.filter, context)}, false)`;
    case 'match':
    case 'expression':
      return compileDocumentFilter(filter, recordRoot(context.collection), context);
    case 'record':
      return compileRecordFilter(filter, context, COMPILERS);
    case 'element':
      if (hasRecordFilter(filter.filter)) return compileElementRows(filter, context, COMPILERS);
      return compileCondition(filter, context);
    default:
      return compileCondition(filter, context);
  }
}

/**
 * Every path a filter looks at, from the record on: what a caller must be allowed to read to ask it. What it
 * looks at in the records that references point to is not among them: `compileFilter` sees to that.
 */
export function listPaths(filter: Filter): Path[] {
  const paths: Path[] = [];
  collectPaths(filter, [], paths);
  return paths;
}

function collectPaths(filter: Filter, base: Path, paths: Path[]): void {
  switch (filter.kind) {
    case 'all':
    case 'any':
      for (const part of filter.filters) collectPaths(part, base, paths);
      return;
    case 'not':
      collectPaths(filter.filter, base, paths);
      return;
    case 'element':
      paths.push([...base, ...filter.path]);
      collectPaths(filter.filter, [...base, ...filter.path], paths);
      return;
    case 'expression':
      paths.push(...listExpressionPaths(filter.expression));
      return;
    default:
      paths.push([...base, ...filter.path]);
  }
}

const TRUE = Prisma.raw('true');
const FALSE = Prisma.raw('false');

function joined(
  filters: readonly Filter[],
  { separator, empty, context }: { separator: ' and ' | ' or '; empty: Sql; context: CompileContext },
): Sql {
  const parts = filters.map((part) => compileFilter(part, context));
  if (parts.length === 0) return empty;
  return Prisma.join(parts, separator, '(', ')');
}

function compileCondition(condition: Condition, context: CompileContext): Sql {
  const target = targetInRecord(context.collection, condition.path);
  switch (condition.kind) {
    case 'isNull':
    case 'exists':
      return compilePresence(condition.kind, { path: condition.path, target, context });
    case 'element':
      return matches(`$${jsonpathSteps(condition.path)} ? ${elementPredicate(condition, target, context)}`);
    default:
      return compileValueCondition(condition, target, context);
  }
}

function compileValueCondition(condition: ValueCondition, target: Target, context: CompileContext): Sql {
  const test = testOf(condition, target, context);
  if (target.form === 'id') return idTest(test, context);
  const paths = pathsOfText(condition, target);
  const needsJsonpath = needsByteOrder(test) && !context.isByteOrdered;
  if (target.form === 'path' || needsJsonpath) {
    // jsonpath compares text by code points under any collation; in its strict mode it looks into no list, as
    // a column.
    const root = target.form === 'path' ? '$' : 'strict $';
    return anyOf(paths.map((path) => matches(`${root}${jsonpathSteps(path)} ? ${jsonpathTest(test)}`)));
  }
  return anyOf(paths.map((path) => columnTest(test, fieldExpression(context.collection, path))));
}

/** A reference is looked at by its id, by the text operators also by its label. */
function pathsOfText({ kind, path }: ValueCondition, { type }: Target): readonly Path[] {
  if (type !== 'reference') return [path];
  const value = [...path, 'value'];
  const isAlsoLabel = kind === 'startsWith' || kind === 'contains' || kind === 'equalsInsensitive';
  return isAlsoLabel ? [value, [...path, 'label']] : [value];
}

function compilePresence(
  kind: 'isNull' | 'exists',
  { path, target, context }: { path: Path; target: Target; context: CompileContext },
): Sql {
  if (target.form === 'id') return kind === 'exists' ? TRUE : FALSE;
  if (target.form === 'path') return matches(`$ ? (${presencePredicate(kind, path)})`);
  const { json } = fieldExpression(context.collection, path);
  if (kind === 'exists') return Prisma.sql`${json} is not null`;
  return Prisma.sql`(${json} is null or ${json} = 'null'::jsonb)`;
}

/**
 * Served by the GIN index on the record as far as the path asks for equality. jsonpath's own errors, such as
 * a missing member, are no match.
 */
function matches(jsonpath: string): Sql {
  return Prisma.sql`r.data @? ${jsonpath}::jsonpath`;
}

function anyOf(parts: readonly Sql[]): Sql {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Prisma.join([...parts], ' or ', '(', ')');
}

/** A predicate over the elements `@`. An element that is null counts as none. */
function elementPredicate(condition: ElementCondition, list: Target, context: CompileContext): string {
  if (list.form === 'id') throw unfitting(condition, list);
  return `(@.type() != "null" && ${predicate(condition.filter, list, context)})`;
}

/**
 * A filter as a jsonpath predicate over `@`, an element of `list`. Each condition is an `exists(…)`, which is
 * never unknown, so `!` is plain negation.
 */
function predicate(filter: Filter, list: Target, context: CompileContext): string {
  switch (filter.kind) {
    case 'all':
      return joinedPredicates(filter.filters, { operator: ' && ', empty: ALWAYS, list, context });
    case 'any':
      return joinedPredicates(filter.filters, { operator: ' || ', empty: NEVER, list, context });
    case 'not':
      return `(!${predicate(filter.filter, list, context)})`;
    case 'match':
    case 'expression':
    case 'record':
      // Mongo's own `$elemMatch` is a match itself; what looks at other records is no jsonpath.
      throw new Error(`a ${filter.kind} stands in no jsonpath on list elements`);
    default:
      return conditionPredicate(filter, list, context);
  }
}

interface PredicateList {
  readonly operator: ' && ' | ' || ';
  readonly empty: string;
  readonly list: Target;
  readonly context: CompileContext;
}

function joinedPredicates(
  filters: readonly Filter[],
  { operator, empty, list, context }: PredicateList,
): string {
  if (filters.length === 0) return empty;
  return `(${filters.map((part) => predicate(part, list, context)).join(operator)})`;
}

function conditionPredicate(condition: Condition, list: Target, context: CompileContext): string {
  const target = targetInElement(list, condition.path);
  switch (condition.kind) {
    case 'isNull':
    case 'exists':
      return `(${presencePredicate(condition.kind, condition.path)})`;
    case 'element':
      return `(${exists(condition.path, elementPredicate(condition, target, context))})`;
    default: {
      const test: ValueTest = testOf(condition, target, context);
      const paths = pathsOfText(condition, target);
      return `(${paths.map((path) => exists(path, jsonpathTest(test))).join(' || ')})`;
    }
  }
}

function exists(path: Path, inner: string): string {
  return `exists(@${jsonpathSteps(path)} ? ${inner})`;
}

function presencePredicate(kind: 'isNull' | 'exists', path: Path): string {
  if (kind === 'exists') return `exists(@${jsonpathSteps(path)})`;
  // type() of a list is "array", it is not looked into: an empty list is not null.
  return `!(@${jsonpathSteps(path)}.type() != "null")`;
}

const COMPILERS: FilterCompilers<CompileContext> = { filter: compileFilter, predicate, paths: listPaths };
