/**
 * Conditions on the records that references point to: `exists` over those records, as far as the asker may
 * read them. A single reference becomes a semi-join, which Postgres begins at either side: by the primary key
 * of what is pointed to, or by the index of the reference. A jsonpath cannot look at other records, so where
 * such a condition stands in one on list elements, the elements become rows.
 */
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import type { Collection } from '../../model/collection.js';
import type { ElementCondition, Filter, RecordFilter } from '../../model/filter.js';
import type { Path } from '../../model/path.js';
import { assertReadable, type EffectiveAccess } from '../access/access.js';
import { unfitting } from './condition-test.js';
import { fieldExpression } from './names.js';
import { jsonpathSteps } from './storable-json.js';
import { type Target, targetInElement, targetInRecord } from './target.js';

type Sql = Prisma.Sql;

/** A collection that references point to. */
export interface FilterTarget {
  readonly collection: Collection;
  readonly access: EffectiveAccess;
  /** Over the alias `r`: domain, live records and row rules. */
  readonly condition: Sql;
}

/** What of a `CompileContext` is needed here. */
interface Context {
  readonly collection: Collection;
  readonly findTarget?: (collection: string) => FilterTarget | undefined;
}

/** The rest of the compiler, which is above this file. */
export interface FilterCompilers<C extends Context> {
  readonly filter: (filter: Filter, context: C) => Sql;
  /** A jsonpath predicate over `@`, an element of `list`. */
  readonly predicate: (filter: Filter, list: Target, context: C) => string;
  readonly paths: (filter: Filter) => readonly Path[];
}

/** @throws FORBIDDEN (403) for a collection, or a field of it, that the asker may not read */
export function compileRecordFilter<C extends Context>(
  filter: RecordFilter,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  const { form } = targetInRecord(context.collection, filter.path);
  if (form === 'path') return pointsToOne(filter, idsIn(RECORD_DATA, filter.path), context, compilers);
  const { json, text } = fieldExpression(context.collection, [...filter.path, 'value']);
  // Outside of `pointed`, `r` is the record that points. Said twice: the one serves a look-up by the primary
  // key, the other, which holds for texts alone, the index on the reference where few records satisfy the
  // inner condition.
  return Prisma.sql`exists (
  select 1
  from (${recordsThat(filter, context, compilers)}) as pointed
  where pointed.id = ${text} and ${json} = to_jsonb(pointed.id)
)`;
}

/** Compiles to the jsonpath of an element condition, where a condition on other records is in it. */
export function compileElementRows<C extends Context>(
  condition: ElementCondition,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  const list = targetInRecord(context.collection, condition.path);
  return elementRows(condition, { root: RECORD_DATA, list, context, compilers });
}

/** Whether records other than the one asked about are looked at. */
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

const RECORD_DATA = Prisma.raw('r.data');
/** The nearest list element, where rows of elements are nested. */
const ELEMENT = Prisma.raw('element.value');

/** Serves several ids: `select` them, from the record that points or an element of it. */
function pointsToOne<C extends Context>(
  filter: RecordFilter,
  ids: Sql,
  context: C,
  compilers: FilterCompilers<C>,
): Sql {
  return Prisma.sql`exists (
  select 1
  from (${ids}) as held(id)
  join (${recordsThat(filter, context, compilers)}) as pointed on pointed.id = held.id
)`;
}

/**
 * `select` the ids of the records that satisfy the inner condition, as far as the asker may read them. Says
 * nothing of what points there.
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
  return Prisma.sql`select r.id from records r where ${target.condition} and ${satisfied}`;
}

/** Every id that references at the path hold, lists looked into. */
function idsIn(root: Sql, path: Path): Sql {
  const steps = `$${jsonpathSteps([...path, 'value'])}[*]`;
  return Prisma.sql`select found #>> '{}'
    from jsonb_path_query(${root}, ${steps}::jsonpath, '{}', true) as found
    where jsonb_typeof(found) = 'string'`;
}

interface Rows<C extends Context> {
  /** What the path starts at, a jsonb expression. */
  readonly root: Sql;
  readonly list: Target;
  readonly context: C;
  readonly compilers: FilterCompilers<C>;
}

function elementRows<C extends Context>(condition: ElementCondition, rows: Rows<C>): Sql {
  if (rows.list.form === 'id') throw unfitting(condition, rows.list);
  return Prisma.sql`exists (
  select 1
  from jsonb_path_query(${rows.root}, ${`$${jsonpathSteps(condition.path)}[*]`}::jsonpath,
    '{}', true) as element(value)
  where jsonb_typeof(element.value) <> 'null' and ${elementTest(condition.filter, rows)}
)`;
}

function elementTest<C extends Context>(filter: Filter, rows: Rows<C>): Sql {
  const { list, context, compilers } = rows;
  if (!hasRecordFilter(filter)) {
    // The element is wrapped in a list of one: a filter looks into a list once, and the element may be one.
    const jsonpath = `$ ? ${compilers.predicate(filter, list, context)}`;
    return Prisma.sql`jsonb_build_array(element.value) @? ${jsonpath}::jsonpath`;
  }
  switch (filter.kind) {
    case 'all':
    case 'any':
      return Prisma.join(
        filter.filters.map((part) => elementTest(part, rows)),
        filter.kind === 'all' ? ' and ' : ' or ',
        '(',
        ')',
      );
    case 'not':
      return Prisma.sql`not coalesce(${elementTest(filter.filter, rows)}, false)`;
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
