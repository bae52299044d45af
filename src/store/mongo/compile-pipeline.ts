/** A pipeline to one SQL statement. A stage is a clause of the SELECT before it, or a SELECT around that. */
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { Readable } from '../access/access.js';
import { storable, storableJson } from '../sql/storable-json.js';
import { type Sql, sql } from '../sql.js';
import { compileDocumentFilter } from './document-filter.js';
import { documentRoot, recordRoot } from './document-root.js';
import { startExpressions } from './expression-operators.js';
import {
  compileExpression,
  type ExpressionValue,
  fill,
  jsonOf,
  named,
  notSupported,
  objectOf,
  orNull,
  resultOf,
  toJson,
  toNumber,
} from './expression-value.js';
import { FOLDS, type Fold } from './list-operators.js';
import type { BucketStage, LookupStage, Stage, UnwindStage } from './mongo-pipeline.js';
import {
  Aliases,
  computed,
  inOrder,
  isPart,
  onlyFields,
  orderOf,
  type PipelineContext,
  type Rows,
  rowsOf,
  select,
  shallow,
  wholeRows,
  withElement,
  withFields,
  withoutFields,
  wrapped,
} from './rows.js';

export interface PipelineOptions {
  readonly context: Omit<PipelineContext, 'aliases'>;
  /** The fields of a collection that a `$lookup` may read. @throws FORBIDDEN, NOT_FOUND */
  readonly lookUp: (collection: string) => Readable;
}

/**
 * Selects the documents as JSON text, the column `json`.
 *
 * @throws MALFORMED_FILTER, INVALID_VALUE (400); FORBIDDEN as `lookUp` does
 */
export function compilePipeline(
  stages: readonly Stage[],
  source: Readable | { readonly documents: string },
  options: PipelineOptions,
): Sql {
  const compilation = { options, context: { ...options.context, aliases: new Aliases() } };
  const start = 'documents' in source ? rowsOfDocuments(source.documents) : rowsOfRecords(source);
  const rows = stages.reduce((soFar, stage) => compileStage(stage, soFar, compilation), start);
  return select(sql`(${rows.root.json})::text as json`, inOrder(rows));
}

type GroupStage = Extract<Stage, { readonly kind: 'group' }>;

interface Compilation {
  readonly options: PipelineOptions;
  readonly context: PipelineContext;
}

function rowsOfRecords({ collection, condition, access }: Readable): Rows {
  return {
    ...rowsOf(sql.raw('records r'), sql.raw('r.data')),
    root: recordRoot(collection, access.hiddenFields),
    where: [condition],
    naturalOrder: sql.raw('r.id'),
    isAlwaysThere: (path) => isAlwaysThere(collection, path),
  };
}

/** Documents that are sent along, as JSON text of a list. */
function rowsOfDocuments(text: string): Rows {
  return {
    ...rowsOf(
      sql`jsonb_array_elements(${text}::jsonb) with ordinality as d(doc, position)`,
      sql.raw('d.doc'),
    ),
    naturalOrder: sql.raw('d.position'),
  };
}

/** Every record is stamped with `created_on`; a required field is refused where it is missing. */
function isAlwaysThere({ fieldsByName }: Collection, [name, ...rest]: Path): boolean {
  if (name === undefined || rest.length > 0) return false;
  const field = fieldsByName.get(name);
  return field !== undefined && (field.isRequired || name === 'created_on');
}

function compileStage(stage: Stage, rows: Rows, compilation: Compilation): Rows {
  const { context } = compilation;
  switch (stage.kind) {
    case 'match': {
      const all = wholeRows(rows, context);
      const condition = compileDocumentFilter(stage.filter, all.root, context);
      return { ...all, where: [...all.where, sql`(${condition})`] };
    }
    case 'sort': {
      const all = wholeRows(rows, context);
      return { ...all, orderBy: orderOf(stage.keys, all, context) };
    }
    case 'limit':
      return { ...rows, limit: Math.min(stage.count, rows.limit ?? stage.count) };
    case 'skip': {
      const before = rows.limit === undefined ? rows : wrapped(rows, context);
      return { ...before, skip: before.skip + stage.count };
    }
    case 'sample': {
      const all = wholeRows(rows, context);
      return { ...all, orderBy: sql.raw('random()'), limit: stage.count };
    }
    case 'project': {
      const { projection } = stage;
      const base = shallow(rows, context);
      if (projection.kind === 'all but')
        return { ...base, root: withoutFields(base.root, projection.fields) };
      const expressions = startExpressions(base.root, context);
      const own = projection.computed.map(({ path, value }) => ({
        path,
        value: compileExpression(value, expressions),
      }));
      const root = onlyFields(base.root, { fields: projection.fields, computed: own });
      return computed(
        { ...base, root },
        own.map(({ value }) => value.sql),
        context,
      );
    }
    case 'set': {
      const base = shallow(rows, context);
      const expressions = startExpressions(base.root, context);
      const fields = stage.members.map(({ path, value }) => ({
        path,
        value: toJson(compileExpression(value, expressions)),
      }));
      return computed(
        { ...base, root: withFields(base.root, fields) },
        fields.map(({ value }) => value),
        context,
      );
    }
    case 'unset':
      return { ...rows, root: withoutFields(rows.root, stage.fields) };
    case 'group':
    case 'bucket':
      return compileGroups(stage, rows, context);
    case 'count':
      return compileCount(stage.field, rows, compilation);
    case 'unwind':
      return compileUnwind(stage, rows, compilation);
    case 'replaceRoot': {
      const made = toJson(compileExpression(stage.root, startExpressions(rows.root, context)));
      const inner = wrapped({ ...inOrder(rows), root: documentRoot(made) }, context);
      return { ...inner, where: [sql`jsonb_typeof(${inner.root.json}) = 'object'`] };
    }
    case 'facet':
      return compileFacet(stage.facets, rows, compilation);
    case 'lookup':
      return compileLookup(stage, rows, compilation);
  }
}

/** Nothing at all where there is nothing to count, as Mongo has it. */
function compileCount(field: string, rows: Rows, { context }: Compilation): Rows {
  const alias = context.aliases.next('d');
  const counted = context.aliases.next('c');
  const document = objectOf([[field, resultOf('number', sql.raw('count(*)::numeric'))]]);
  const source = isPart(rows) ? rows : { ...rows, orderBy: undefined };
  return rowsOf(
    sql`(
select ${document.sql} as doc
from (${select(sql.raw('1'), source)}) as ${sql.raw(counted)}
having count(*) > 0) as ${sql.raw(alias)}`,
    sql.raw(`${alias}.doc`),
  );
}

function compileUnwind(stage: UnwindStage, rows: Rows, { context }: Compilation): Rows {
  const { path, indexField, keepsEmpty } = stage;
  const [name, ...rest] = path;
  if (name === undefined) throw notSupported('$unwind without a path');
  const all = wholeRows(rows, context);
  const top = all.root.valueAt([name]);
  // It does not go through a list: there is none to unwind in each of its elements.
  const value = rest.length === 0 ? top : sql`(${top} #> ${rest.map(storable)}::text[])`;
  const alias = context.aliases.next('u');
  const nothing = keepsEmpty ? sql`jsonb_build_array(${value})` : sql.raw(`'[]'::jsonb`);
  const join = sql.raw(keepsEmpty ? 'left join lateral' : 'cross join lateral');
  const on = sql.raw(keepsEmpty ? ' on true' : '');
  const from = sql`${all.from}
${join} jsonb_array_elements(
  case coalesce(jsonb_typeof(${value}), 'missing')
    when 'array' then ${value}
    when 'null' then ${nothing}
    when 'missing' then '[]'::jsonb
    else jsonb_build_array(${value})
  end
) with ordinality as ${sql.raw(alias)}(value, position)${on}`;
  const element = withElement(all.root, path, sql.raw(`${alias}.value`));
  const index = sql`case when jsonb_typeof(${value}) = 'array' then
    coalesce(to_jsonb(${sql.raw(alias)}.position - 1), 'null'::jsonb) else 'null'::jsonb end`;
  const root =
    indexField === undefined ? element : withFields(element, [{ path: [indexField], value: index }]);
  const position = sql.raw(`${alias}.position`);
  const { orderBy, naturalOrder } = all;
  return {
    ...all,
    from,
    root,
    orderBy: orderBy === undefined ? undefined : sql`${orderBy}, ${position}`,
    naturalOrder: naturalOrder === undefined ? undefined : sql`${naturalOrder}, ${position}`,
    isAlwaysThere: (wanted) => wanted[0] !== name && wanted[0] !== indexField && all.isAlwaysThere(wanted),
  };
}

/** The documents are made once, and read by each pipeline. */
function compileFacet(
  facets: readonly { readonly name: string; readonly stages: readonly Stage[] }[],
  rows: Rows,
  compilation: Compilation,
): Rows {
  const { context } = compilation;
  const source = context.aliases.next('f');
  const input = select(sql`${rows.root.json} as doc`, inOrder(rows));
  const members = facets.map(({ name, stages }): [string, ExpressionValue] => {
    const alias = context.aliases.next('d');
    const start = rowsOf(sql.raw(`${source} as ${alias}`), sql.raw(`${alias}.doc`));
    return [name, resultOf('json', listOf(stages, start, compilation))];
  });
  const alias = context.aliases.next('d');
  return rowsOf(
    sql`(
with ${sql.raw(source)} as materialized (${input})
select ${objectOf(members).sql} as doc) as ${sql.raw(alias)}`,
    sql.raw(`${alias}.doc`),
  );
}

/** The documents of a pipeline within another, as one list. */
function listOf(stages: readonly Stage[], start: Rows, compilation: Compilation): Sql {
  const rows = stages.reduce((soFar, stage) => compileStage(stage, soFar, compilation), start);
  const alias = sql.raw(compilation.context.aliases.next('x'));
  const documents = select(sql`${rows.root.json} as doc`, inOrder(rows));
  return sql`(select coalesce(jsonb_agg(${alias}.doc), '[]'::jsonb) from (${documents}) as ${alias})`;
}

/**
 * A lateral join, by an index where the foreign field has one. What it looks for is computed outside of it:
 * inside, `r` is a record of the other collection. Nothing is found for what is missing or null.
 */
function compileLookup(stage: LookupStage, rows: Rows, compilation: Compilation): Rows {
  const { context } = compilation;
  const all = wholeRows(rows, context);
  const source = compilation.options.lookUp(stage.collection);
  const expressions = startExpressions(all.root, context);
  const outer = context.aliases.next('l');
  const columns: Sql[] = [];
  const column = (value: Sql): Sql => {
    const name = `v${columns.length}`;
    columns.push(sql`${value} as ${sql.raw(name)}`);
    return sql.raw(`${outer}.${name}`);
  };
  const variables = new Map(context.variables);
  for (const { name, value } of stage.variables) {
    variables.set(name, column(toJson(compileExpression(value, expressions))));
  }
  const foreign = rowsOfRecords(source);
  const conditions =
    stage.fields === undefined
      ? []
      : [isAmong(stage.fields.foreign, foreign, column(all.root.valueAt(stage.fields.local)))];
  const start = { ...foreign, where: [...foreign.where, ...conditions] };
  const found = listOf(stage.stages, start, {
    ...compilation,
    context: { ...context, variables },
  });
  const inner = context.aliases.next('j');
  const values = columns.length === 0 ? sql.raw('1 as v') : sql.join(columns, ', ');
  const from = sql`${all.from}
cross join lateral (select ${values} offset 0) as ${sql.raw(outer)}
cross join lateral (select ${found} as docs offset 0) as ${sql.raw(inner)}`;
  return {
    ...all,
    from,
    root: withFields(all.root, [{ path: stage.as, value: sql.raw(`${inner}.docs`) }]),
    isAlwaysThere: (path) => path[0] !== stage.as[0] && all.isAlwaysThere(path),
  };
}

/** The foreign value, or one of its elements, is the local one, or one of its elements. */
function isAmong(path: Path, { root }: Rows, local: Sql): Sql {
  const list = sql`(case jsonb_typeof(${local}) when 'array' then ${local}
    else jsonb_build_array(${local}) end)`;
  const values = sql`select e.value from jsonb_array_elements(${list}) as e(value)
    where e.value <> 'null'`;
  const target = root.targetAt(path);
  switch (target.form) {
    case 'id':
      return sql`r.id = any(array(select doc_text(i.value) from (${values}) as i))`;
    case 'column':
      return sql`${target.field.json} = any(array(${values}))`;
    case 'path':
      return sql`exists (
  select from doc_values(${target.json}, ${target.path.map(storable)}::text[]) as v(value)
  where v.value = any(array(${values}))
    or exists (select from jsonb_array_elements(doc_list(v.value)) as e(value)
    where e.value = any(array(${values})))
)`;
  }
}

const NOT_MISSING = 'filter (where $1 is not null)';
/** `$2` is the position of the document. */
const ACCUMULATORS: Readonly<Record<string, Fold>> = {
  ...FOLDS,
  $first: ['value', `doc_first(coalesce($1, 'null') order by $2)`],
  $last: ['value', `doc_last(coalesce($1, 'null') order by $2)`],
  $push: ['value', `coalesce(jsonb_agg($1 order by $2) ${NOT_MISSING}, '[]')`],
  $addToSet: ['value', `coalesce(jsonb_agg(distinct $1) ${NOT_MISSING}, '[]')`],
  $count: ['number', 'count(*)::numeric'],
  $median: ['number', 'percentile_disc(0.5) within group (order by $1)'],
};

/** The accumulators the database computes. */
export const SQL_ACCUMULATORS: readonly string[] = Object.keys(ACCUMULATORS);

/** Without a default, a value outside the buckets is refused. */
function bucketOf(value: Sql, stage: BucketStage): Sql {
  const cases = stage.boundaries.slice(0, -1).map((lower, index) => {
    const [from, to] = [lower, stage.boundaries[index + 1] ?? lower].map(
      (bound) => sql`${storableJson(bound)}::jsonb`,
    ) as [Sql, Sql];
    return sql`when doc_compare(${value}, ${from}) >= 0 and doc_compare(${value}, ${to}) < 0
      then ${from}`;
  });
  const otherwise =
    stage.default === undefined
      ? sql.raw(
          `doc_refuse('$bucket: a value is in none of the buckets; give a "default" or wider ' ||
            '"boundaries".')`,
        )
      : sql`${storableJson(stage.default)}::jsonb`;
  return sql`case ${sql.join(cases, ' ')} else ${otherwise} end`;
}

/** A document for each group or bucket that is not empty, in the order of the keys. */
function compileGroups(stage: GroupStage | BucketStage, rows: Rows, context: PipelineContext): Rows {
  const expressions = startExpressions(rows.root, context);
  const value = jsonOf(stage.key, expressions);
  const key = stage.kind === 'bucket' ? bucketOf(value, stage) : orNull(value);
  const columns: Sql[] = [sql`${key} as k`];
  const inner = context.aliases.next('g');
  let isOrdered = false;
  const results = stage.members.map(({ name, accumulator, operand }): [string, ExpressionValue] => {
    const found = Object.hasOwn(ACCUMULATORS, accumulator) ? ACCUMULATORS[accumulator] : undefined;
    if (found === undefined) throw notSupported(accumulator, didYouMean(accumulator, SQL_ACCUMULATORS));
    const [type, aggregate] = found;
    // `{ $sum: 1 }` counts.
    const isOne = accumulator === '$sum' && operand.kind === 'literal' && operand.value === 1;
    if (accumulator === '$count' || isOne) return [name, resultOf('number', sql.raw('count(*)::numeric'))];
    const { input } =
      accumulator === '$median'
        ? named({ name: accumulator, operand }, { required: ['input', 'method'] })
        : { input: operand };
    const value = compileExpression(input, expressions);
    const alias = `a${columns.length}`;
    columns.push(sql`${type === 'number' ? toNumber(value) : toJson(value)} as ${sql.raw(alias)}`);
    isOrdered ||= aggregate.includes('$2');
    const places = [alias, 'position'].map((column) => sql.raw(`${inner}.${column}`));
    return [name, resultOf(type, fill(aggregate, places))];
  });
  // An order is worth nothing to sums, but decides which documents a part has.
  const unordered = isPart(rows) ? rows : { ...rows, orderBy: undefined };
  const k = sql.raw(`${inner}.k`);
  const alias = context.aliases.next('d');
  const selected = select(sql.join(columns, ', '), isOrdered ? inOrder(rows) : unordered);
  // Grouping sorts, and keeps no order within a group.
  const values = isOrdered
    ? sql`select n.*, row_number() over () as position from (${selected}) as n`
    : selected;
  return rowsOf(
    sql`(
select ${completeObject([['_id', resultOf('json', k)], ...results])} as doc
from (${values}) as ${sql.raw(inner)}
group by ${k}
order by doc_rank(${k}), ${k}) as ${sql.raw(alias)}`,
    sql.raw(`${alias}.doc`),
  );
}

const MAX_MEMBERS = 45;

/** Every member is there, if only as null. `jsonb_build_object` takes 100 arguments. */
function completeObject(members: readonly (readonly [string, ExpressionValue])[]): Sql {
  const objects: Sql[] = [];
  for (let at = 0; at < members.length; at += MAX_MEMBERS) {
    const pairs = members
      .slice(at, at + MAX_MEMBERS)
      .map(([name, value]) => sql`${storable(name)}::text, ${toJson(value)}`);
    objects.push(sql`jsonb_build_object(${sql.join(pairs, ', ')})`);
  }
  return sql.join(objects, ' || ', '(', ')');
}
