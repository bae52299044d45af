/**
 * Compiles a `Filter` to SQL. All front ends share this compiler.
 *
 * A declared path without a list compiles to the form that a b-tree or trigram index supports
 * (`column-test.ts`), `_id` to its column, and any other path to a jsonpath (`jsonpath-test.ts`). Operands
 * and undeclared names are parameters. The SQL text therefore depends only on the shape of the filter, and
 * Postgres can prepare it.
 *
 * @see decisions 3, design "Storage that makes JSONB fast"
 */

import type { Collection } from '../../base/model/collection.js';
import { listExpressionPaths } from '../../base/model/expression.js';
import type { Condition, ElementCondition, Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import type { ValueCondition } from '../../base/model/value-test.js';
import { compileDocumentFilter } from '../mongo/document-filter.js';
import { recordRoot } from '../mongo/document-root.js';
import { type Sql, sql } from '../sql.js';
import { columnTest, needsByteOrder } from './column-test.js';
import {
  compileElementRows,
  compileRecordFilter,
  type FilterCompilers,
  type FilterTarget,
  hasRecordFilter,
} from './compile-record-filter.js';
import { testOf, unfitting } from './condition-test.js';
import { idTest } from './id-test.js';
import { ALWAYS, jsonpathTest, NEVER } from './jsonpath-test.js';
import { fieldExpression } from './names.js';
import { compileJsonpath, respelled, type SpellingContext } from './spellings.js';
import { jsonpathSteps } from './storable-json.js';
import { type Target, targetInElement, targetInRecord } from './target.js';

/** The facts, apart from the filter itself, that decide what a filter means. */
export interface CompileContext {
  readonly collection: Collection;
  /** The time zone of the domain. Days and months in a filter are in this zone. */
  readonly timeZone: string;
  readonly now: Date;
  /** @see Clock */
  readonly callingCode?: string | undefined;
  /** Where keys that ignore case are looked up; `undefined`: case counts. */
  readonly spelling?: SpellingContext | undefined;
  /** Whether the database compares text by bytes, so that prefixes and ranges of text can use its order. */
  readonly isByteOrdered: boolean;
  /**
   * The records and fields of another collection that the caller may read, for conditions on the targets of
   * references. `undefined` if the caller may read none.
   */
  readonly findTarget?: (collection: string) => FilterTarget | undefined;
}

/**
 * Compiles to a boolean SQL expression over the record alias `r`. If a field is missing, the expression may
 * be null instead of false, which a `where` treats alike. Below a negation it is never null, so that a
 * condition and its negation divide the records in two.
 *
 * @throws MALFORMED_FILTER, INVALID_VALUE (400) for operators and operands that do not fit a declared type;
 * FORBIDDEN (403) for a condition on a field of another record that the caller may not read
 */
export function compileFilter(filter: Filter, context: CompileContext): Sql {
  switch (filter.kind) {
    case 'all':
      return joined(filter.filters, { separator: ' and ', empty: TRUE, context });
    case 'any':
      return joined(filter.filters, { separator: ' or ', empty: FALSE, context });
    case 'not':
      return sql`not coalesce(${compileFilter(filter.filter, context)}, false)`;
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
 * Every path of a filter, from the record on. The caller needs the right to read all of them. Paths into the
 * targets of references are not included, because `compileFilter` checks those.
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

const TRUE = sql.raw('true');
const FALSE = sql.raw('false');

function joined(
  filters: readonly Filter[],
  { separator, empty, context }: { separator: ' and ' | ' or '; empty: Sql; context: CompileContext },
): Sql {
  const parts = filters.map((part) => compileFilter(part, context));
  if (parts.length === 0) return empty;
  return sql.join(parts, separator, '(', ')');
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
  const test = respelled(testOf(condition, target, context), target.path, context);
  if (target.form === 'id') return idTest(test, context);
  const paths = pathsOfText(condition, target);
  const needsJsonpath = needsByteOrder(test) && !context.isByteOrdered;
  if (target.form === 'path' || needsJsonpath) {
    // jsonpath compares text by code points under any collation. In strict mode it does not look into lists,
    // like a column.
    const root = target.form === 'path' ? '$' : 'strict $';
    return anyOf(paths.map((path) => matches(`${root}${jsonpathSteps(path)} ? ${jsonpathTest(test)}`)));
  }
  return anyOf(paths.map((path) => columnTest(test, fieldExpression(context.collection, path))));
}

/** A condition on a reference tests its id. The text operators also test its label. */
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
  if (kind === 'exists') return sql`${json} is not null`;
  return sql`(${json} is null or ${json} = 'null'::jsonb)`;
}

/**
 * The GIN index on the record supports the equalities of the path. An error of jsonpath, such as a missing
 * member, counts as no match.
 */
function matches(jsonpath: string): Sql {
  return sql`r.data @? ${compileJsonpath(jsonpath)}`;
}

function anyOf(parts: readonly Sql[]): Sql {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : sql.join([...parts], ' or ', '(', ')');
}

/** A predicate over the elements `@`. An element that is null counts as absent. */
function elementPredicate(condition: ElementCondition, list: Target, context: CompileContext): string {
  if (list.form === 'id') throw unfitting(condition, list);
  return `(@.type() != "null" && ${predicate(condition.filter, list, context)})`;
}

/**
 * Compiles a filter to a jsonpath predicate over `@`, an element of `list`. Each condition is an
 * `exists(…)`, which is never unknown, so that `!` is plain negation.
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
      // An `$elemMatch` of Mongo is a `match` as a whole. A condition on other records is no jsonpath: such
      // elements are compiled to rows.
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
      const test = respelled(testOf(condition, target, context), target.path, context);
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
  // type() of a list is "array": it does not look into the list. An empty list is not null.
  return `!(@${jsonpathSteps(path)}.type() != "null")`;
}

const COMPILERS: FilterCompilers<CompileContext> = { filter: compileFilter, predicate, paths: listPaths };
