/**
 * Conditions on the records that references point to. They compile to `exists` over the target records that
 * the caller may read. A condition on a single reference becomes a semi-join. Postgres can begin it at
 * either side: by the primary key of the target, or by the index of the reference. A jsonpath cannot read
 * other records. Therefore, a condition on list elements that contains such a condition turns the elements
 * into rows.
 */
import { ServiceError } from '../../base/errors.js';
import type { Collection } from '../../base/model/collection.js';
import type { ElementCondition, Filter, RecordFilter } from '../../base/model/filter.js';
import type { Path } from '../../base/model/path.js';
import { assertReadable, type EffectiveAccess } from '../access/access.js';
import { type Sql, sql } from '../sql.js';
import { unfitting } from './condition-test.js';
import { fieldExpression } from './names.js';
import { compileJsonpath } from './spellings.js';
import { jsonpathSteps } from './storable-json.js';
import { type Target, targetInElement, targetInRecord } from './target.js';

/** A collection that references point to. */
export interface FilterTarget {
  readonly collection: Collection;
  readonly access: EffectiveAccess;
  /** Over the alias `r`: the domain, live records and row rules. */
  readonly condition: Sql;
}

/** The part of a `CompileContext` that this file needs. */
interface Context {
  readonly collection: Collection;
  readonly findTarget?: (collection: string) => FilterTarget | undefined;
}

/**
 * The functions of the filter compiler that this file calls. They are passed in, because that compiler
 * imports this file.
 */
export interface FilterCompilers<C extends Context> {
  readonly filter: (filter: Filter, context: C) => Sql;
  /** A jsonpath predicate over `@`, an element of `list`. */
  readonly predicate: (filter: Filter, list: Target, context: C) => string;
  readonly paths: (filter: Filter) => readonly Path[];
}

/** @throws FORBIDDEN (403) for a collection or a field that the caller may not read */
export function compileRecordFilter<C extends Context>(
  filter: RecordFilter,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  const { form } = targetInRecord(context.collection, filter.path);
  if (form === 'path') return pointsToOne(filter, idsIn(RECORD_DATA, filter.path), context, compilers);
  const { json, text } = fieldExpression(context.collection, [...filter.path, 'value']);
  // Outside of `pointed`, `r` is the referencing record. The condition is stated twice for two plans: the
  // first form allows a look-up by the primary key. The second form holds for texts alone and allows the
  // index on the reference, which is faster if few targets satisfy the inner condition.
  return sql`exists (
  select 1
  from (${recordsThat(filter, context, compilers)}) as pointed
  where pointed.id = ${text} and ${json} = to_jsonb(pointed.id)
)`;
}

/** Compiles a condition on list elements that contains a condition on other records. */
export function compileElementRows<C extends Context>(
  condition: ElementCondition,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  const list = targetInRecord(context.collection, condition.path);
  return elementRows(condition, { root: RECORD_DATA, list, context, compilers });
}

/** Whether the filter tests other records than its own. */
export function hasRecordFilter(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.filters.some(hasRecordFilter);
    case 'not':
    case 'element':
      return hasRecordFilter(filter.filter);
    case 'record':
      return true;
    default:
      return false;
  }
}

const RECORD_DATA = sql.raw('r.data');
/** The nearest list element, if rows of elements are nested. */
const ELEMENT = sql.raw('element.value');

/** Tests several ids. `ids` selects them from the referencing record or from an element of it. */
function pointsToOne<C extends Context>(
  filter: RecordFilter,
  ids: Sql,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  return sql`exists (
  select 1
  from (${ids}) as held(id)
  join (${recordsThat(filter, context, compilers)}) as pointed on pointed.id = held.id
)`;
}

/**
 * Selects the ids of the records that satisfy the inner condition and that the caller may read. It does not
 * depend on the referencing record.
 */
function recordsThat<C extends Context>(
  { collection, filter }: RecordFilter,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  if (context.findTarget === undefined) throw new Error('no other records can be looked at here');
  const target = context.findTarget(collection);
  if (target === undefined) throw new ServiceError('FORBIDDEN', `you may not read records of ${collection}`);
  assertReadable(compilers.paths(filter), target.access, target.collection);
  const satisfied = compilers.filter(filter, { ...context, collection: target.collection });
  return sql`select r.id from records r where ${target.condition} and ${satisfied}`;
}

/** All ids of the references at the path. It looks into lists. */
function idsIn(root: Sql, path: Path): Sql {
  const steps = `$${jsonpathSteps([...path, 'value'])}[*]`;
  return sql`select found #>> '{}'
    from jsonb_path_query(${root}, ${steps}::jsonpath, '{}', true) as found
    where jsonb_typeof(found) = 'string'`;
}

interface Rows<C extends Context> {
  /** The value that the path starts at, a jsonb expression. */
  readonly root: Sql;
  readonly list: Target;
  readonly context: C;
  readonly compilers: FilterCompilers<C>;
}

function elementRows<C extends Context>(condition: ElementCondition, rows: Rows<C>): Sql {
  if (rows.list.form === 'id') throw unfitting(condition, rows.list);
  return sql`exists (
  select 1
  from jsonb_path_query(${rows.root}, ${`$${jsonpathSteps(condition.path)}[*]`}::jsonpath,
    '{}', true) as element(value)
  where jsonb_typeof(element.value) <> 'null' and ${elementTest(condition.filter, rows)}
)`;
}

function elementTest<C extends Context>(filter: Filter, rows: Rows<C>): Sql {
  const { list, context, compilers } = rows;
  if (!hasRecordFilter(filter)) {
    // A filter looks into one level of lists. The element may itself be a list, so it is wrapped in a list of
    // one.
    const jsonpath = `$ ? ${compilers.predicate(filter, list, context)}`;
    return sql`jsonb_build_array(element.value) @? ${compileJsonpath(jsonpath)}`;
  }
  switch (filter.kind) {
    case 'all':
    case 'any':
      return sql.join(
        filter.filters.map((part) => elementTest(part, rows)),
        filter.kind === 'all' ? ' and ' : ' or ',
        '(',
        ')',
      );
    case 'not':
      return sql`not coalesce(${elementTest(filter.filter, rows)}, false)`;
    case 'element': {
      const inner = targetInElement(list, filter.path);
      return elementRows(filter, { ...rows, root: ELEMENT, list: inner });
    }
    case 'record':
      return pointsToOne(filter, idsIn(ELEMENT, filter.path), context, compilers);
    default:
      throw new Error(`a ${filter.kind} looks at no other record`);
  }
}
