/**
 * Compiles a filter to SQL. All front ends share this compiler.
 *
 * A declared path without a list compiles to the form that a b-tree or trigram index supports
 * (`column-test.ts`), `_id` to its column, and any other path to a jsonpath (`jsonpath-test.ts`). Operands
 * and undeclared names are parameters. The SQL text therefore depends only on the shape of the filter, and
 * Postgres can prepare it.
 *
 * @see decisions 3, design "Storage that makes JSONB fast"
 */

import type { Filter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { type ResolveContext, resolveFilter } from '../access/resolve-filter.js';
import type {
  ResolvedElement,
  ResolvedFilter,
  ResolvedRecord,
  ResolvedTest,
} from '../access/resolved-filter.js';
import { compileDocumentFilter } from '../mongo/document-filter.js';
import { recordRoot } from '../mongo/document-root.js';
import { combined, type Sql, sql } from '../sql.js';
import { columnTest, idTest, needsByteOrder, unplanned } from './column-test.js';
import { ALWAYS, jsonpathTest, NEVER } from './jsonpath-test.js';
import { fieldExpression } from './names.js';
import { compileJsonpath } from './spellings.js';
import { jsonpathSteps } from './storable-json.js';

export interface CompileContext extends ResolveContext {
  /** Whether the database compares text by bytes, so that prefixes and ranges of text can use its order. */
  readonly isByteOrdered: boolean;
}

/** Compiles a rule of our own. @throws as `resolveFilter` does */
export function compileFilter(filter: Filter, context: CompileContext): Sql {
  return compileResolved(resolveFilter(filter, context).filter, context);
}

/**
 * Compiles to a boolean SQL expression over the record alias `r`. If a field is missing, the expression may
 * be null instead of false, which a `where` treats alike. Below a negation it is never null, so that a
 * condition and its negation divide the records in two.
 *
 * @throws INVALID_VALUE (400) for texts and numbers that no record can hold
 */
export function compileResolved(filter: ResolvedFilter, context: CompileContext): Sql {
  switch (filter.kind) {
    case 'all':
      return combined(filter, (part) =>
        isFoundByIndex(part, filter.filters, context)
          ? columnTest(part.test, fieldExpression(context.collection, part.path), unplanned)
          : compileResolved(part, context),
      );
    case 'any':
      return combined(filter, (part) => compileResolved(part, context));
    case 'not':
      return sql`not coalesce(${compileResolved(filter.filter, context)}, false)`;
    case 'test':
      return compileTest(filter, context);
    case 'isNull':
    case 'exists':
      return compilePresence(filter, context);
    case 'element':
      if (readsOthers(filter)) return elementRows(filter, RECORD_DATA, context);
      return matches(`$${jsonpathSteps(filter.path)} ? ${elementPredicate(filter)}`);
    case 'record':
      return compileRecord(filter, context);
    case 'document':
      return compileDocumentFilter(filter.filter, recordRoot(context.collection), context);
  }
}

const TRUE = sql.raw('true');
const FALSE = sql.raw('false');
const RECORD_DATA = sql.raw('r.data');
/** The nearest list element, if rows of elements are nested. */
const ELEMENT = sql.raw('element.value');

/**
 * Whether the conditions beside a span of time (a day, a month) lead to it in an index. For such a span,
 * PostgreSQL expects 0.5 % of the records if it does not know the bounds. Among the records of ten years that
 * is ten times too many: it would plan each call, which takes longer than running it. Here no other plan than
 * the index is cheaper, whatever the bounds.
 */
function isFoundByIndex(
  filter: ResolvedFilter,
  beside: readonly ResolvedFilter[],
  { collection }: CompileContext,
): filter is ResolvedTest {
  if (filter.kind !== 'test' || filter.place.form !== 'column') return false;
  const { test } = filter;
  if (test.kind !== 'textRange' || test.among === 'all' || !test.lower || !test.upper) return false;
  const isEqual = (name: string) =>
    beside.some((one) => one.kind === 'test' && one.test.kind === 'is' && one.path.join('.') === name);
  return collection.indexes.some((paths) => {
    const names = paths.map((path) => path.join('.'));
    const place = names.indexOf(filter.path.join('.'));
    return place > 0 && names.slice(0, place).every(isEqual);
  });
}

function compileTest({ place, paths, test }: ResolvedTest, context: CompileContext): Sql {
  if (place.form === 'id') return idTest(test, context);
  const needsJsonpath = needsByteOrder(test) && !context.isByteOrdered;
  if (place.form === 'path' || needsJsonpath) {
    // jsonpath compares text by code points under any collation. In strict mode it does not look into lists,
    // like a column.
    const root = place.form === 'path' ? '$' : 'strict $';
    return anyOf(paths.map((path) => matches(`${root}${jsonpathSteps(path)} ? ${jsonpathTest(test)}`)));
  }
  return anyOf(paths.map((path) => columnTest(test, fieldExpression(context.collection, path))));
}

type Presence = Extract<ResolvedFilter, { readonly kind: 'isNull' | 'exists' }>;

function compilePresence(presence: Presence, { collection }: CompileContext): Sql {
  const { kind, place, path } = presence;
  if (place.form === 'id') return kind === 'exists' ? TRUE : FALSE;
  if (place.form === 'path') return matches(`$ ? (${presencePredicate(presence)})`);
  const { json } = fieldExpression(collection, path);
  if (kind === 'exists') return sql`${json} is not null`;
  return sql`(${json} is null or ${json} = 'null'::jsonb)`;
}

/** The GIN index serves equalities. An error of jsonpath, such as a missing member, is no match. */
function matches(jsonpath: string): Sql {
  return sql`r.data @? ${compileJsonpath(jsonpath)}`;
}

function anyOf(parts: readonly Sql[]): Sql {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : sql.join([...parts], ' or ', '(', ')');
}

/** A predicate over the elements `@`. An element that is null counts as absent. */
function elementPredicate({ filter }: ResolvedElement): string {
  return `(@.type() != "null" && ${predicate(filter)})`;
}

/**
 * Compiles a filter on a list element to a jsonpath predicate over `@`. Each condition is an `exists(…)`,
 * which is never unknown, so that `!` is plain negation.
 */
function predicate(filter: ResolvedFilter): string {
  switch (filter.kind) {
    case 'all':
      return filter.filters.length === 0 ? ALWAYS : `(${filter.filters.map(predicate).join(' && ')})`;
    case 'any':
      return filter.filters.length === 0 ? NEVER : `(${filter.filters.map(predicate).join(' || ')})`;
    case 'not':
      return `(!${predicate(filter.filter)})`;
    case 'test':
      return `(${filter.paths.map((path) => exists(path, jsonpathTest(filter.test))).join(' || ')})`;
    case 'isNull':
    case 'exists':
      return `(${presencePredicate(filter)})`;
    case 'element':
      return `(${exists(filter.path, elementPredicate(filter))})`;
    default:
      // An `$elemMatch` of Mongo is a `match` as a whole. Elements with a condition on other records are
      // compiled to rows.
      throw new Error(`a ${filter.kind} stands in no jsonpath on list elements`);
  }
}

function exists(path: Path, inner: string): string {
  return `exists(@${jsonpathSteps(path)} ? ${inner})`;
}

function presencePredicate({ kind, path }: Presence): string {
  if (kind === 'exists') return `exists(@${jsonpathSteps(path)})`;
  // type() of a list is "array": it does not look into the list. An empty list is not null.
  return `!(@${jsonpathSteps(path)}.type() != "null")`;
}

/**
 * A condition on a single reference becomes a semi-join. Postgres can begin it at either side: by the primary
 * key of the target, or by the index of the reference.
 */
function compileRecord(filter: ResolvedRecord, context: CompileContext): Sql {
  if (filter.place.form === 'path') return pointsToOne(filter, RECORD_DATA, context);
  const { json, text } = fieldExpression(context.collection, [...filter.path, 'value']);
  // Outside of `pointed`, `r` is the referencing record. The condition is stated twice for two plans: the
  // first form allows a look-up by the primary key. The second form holds for texts alone and allows the
  // index on the reference, which is faster if few targets satisfy the inner condition.
  return sql`exists (
  select 1
  from (${recordsThat(filter, context)}) as pointed
  where pointed.id = ${text} and ${json} = to_jsonb(pointed.id)
)`;
}

/** Tests all ids of the references at the path in `root`. It looks into lists. */
function pointsToOne(filter: ResolvedRecord, root: Sql, context: CompileContext): Sql {
  const steps = `$${jsonpathSteps([...filter.path, 'value'])}[*]`;
  return sql`exists (
  select 1
  from (select found #>> '{}'
    from jsonb_path_query(${root}, ${steps}::jsonpath, '{}', true) as found
    where jsonb_typeof(found) = 'string') as held(id)
  join (${recordsThat(filter, context)}) as pointed on pointed.id = held.id
)`;
}

/**
 * Selects the ids of the records that satisfy the inner condition and that the caller may read. It does not
 * depend on the referencing record.
 */
function recordsThat({ target, filter }: ResolvedRecord, context: CompileContext): Sql {
  const satisfied = compileResolved(filter, { ...context, collection: target.collection });
  return sql`select r.id from records r where ${target.condition} and ${satisfied}`;
}

/** Whether the filter tests other records. A jsonpath cannot read those: the elements become rows. */
function readsOthers(filter: ResolvedFilter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.filters.some(readsOthers);
    case 'not':
    case 'element':
      return readsOthers(filter.filter);
    default:
      return filter.kind === 'record';
  }
}

function elementRows({ path, filter }: ResolvedElement, root: Sql, context: CompileContext): Sql {
  return sql`exists (
  select 1
  from jsonb_path_query(${root}, ${`$${jsonpathSteps(path)}[*]`}::jsonpath,
    '{}', true) as element(value)
  where jsonb_typeof(element.value) <> 'null' and ${elementTest(filter, context)}
)`;
}

function elementTest(filter: ResolvedFilter, context: CompileContext): Sql {
  if (!readsOthers(filter)) {
    // A filter looks into one level of lists. The element may itself be a list, so it is wrapped in a list of
    // one.
    return sql`jsonb_build_array(element.value) @? ${compileJsonpath(`$ ? ${predicate(filter)}`)}`;
  }
  switch (filter.kind) {
    case 'all':
    case 'any':
      return combined(filter, (part) => elementTest(part, context));
    case 'not':
      return sql`not coalesce(${elementTest(filter.filter, context)}, false)`;
    case 'element':
      return elementRows(filter, ELEMENT, context);
    case 'record':
      return pointsToOne(filter, ELEMENT, context);
    default:
      throw new Error(`a ${filter.kind} looks at no other record`);
  }
}
