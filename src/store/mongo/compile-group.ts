/**
 * `$group` and `$bucket`: the values of each document are computed once, in an inner SELECT, then grouped.
 */
import type { Expression } from '../../base/model/expression.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { storable, storableJson } from '../sql/storable-json.js';
import { type Sql, sql } from '../sql.js';
import { startExpressions } from './expression-operators.js';
import {
  compileExpression,
  double,
  type ExpressionValue,
  fill,
  jsonOf,
  named,
  notSupported,
  orNull,
  resultOf,
  toJson,
  toNumber,
} from './expression-value.js';
import type { Accumulation, BucketStage } from './mongo-pipeline.js';
import { inOrder, isPart, type PipelineContext, type Rows, rowsOf, select } from './rows.js';

/**
 * The type of the result; how the column of values is read; the aggregate, of the column `$1` and the
 * `$2` position of the document.
 */
type Accumulator = readonly [result: 'number' | 'value', column: 'number' | 'json', aggregate: string];

const NOT_NULL = `filter (where $1 <> 'null')`;
const NOT_MISSING = 'filter (where $1 is not null)';
const ACCUMULATORS: Readonly<Record<string, Accumulator>> = {
  $sum: ['number', 'number', 'coalesce(sum($1), 0)'],
  $avg: ['number', 'number', double('avg($1)')],
  $min: ['value', 'json', `doc_min($1) ${NOT_NULL}`],
  $max: ['value', 'json', `doc_max($1) ${NOT_NULL}`],
  $first: ['value', 'json', `doc_first(coalesce($1, 'null') order by $2)`],
  $last: ['value', 'json', `doc_last(coalesce($1, 'null') order by $2)`],
  $push: ['value', 'json', `coalesce(jsonb_agg($1 order by $2) ${NOT_MISSING}, '[]')`],
  $addToSet: ['value', 'json', `coalesce(jsonb_agg(distinct $1) ${NOT_MISSING}, '[]')`],
  $count: ['number', 'json', 'count(*)::numeric'],
  $median: ['number', 'number', 'percentile_disc(0.5) within group (order by $1)'],
  $stdDevPop: ['number', 'number', double('stddev_pop($1)')],
  $stdDevSamp: ['number', 'number', double('stddev_samp($1)')],
};

/** The accumulators the database computes. */
export const SQL_ACCUMULATORS: readonly string[] = Object.keys(ACCUMULATORS);

interface Grouping {
  readonly rows: Rows;
  readonly members: readonly Accumulation[];
  readonly context: PipelineContext;
}

/** A document a group, in the order of the keys. @throws MALFORMED_FILTER */
export function compileGroup(key: Expression, grouping: Grouping): Rows {
  const { rows, context } = grouping;
  return grouped(orNull(jsonOf(key, startExpressions(rows.root, context))), grouping);
}

/** A document for each bucket that is not empty. Without a default, a value outside is refused. */
export function compileBucket(stage: BucketStage, grouping: Grouping): Rows {
  const { rows, context } = grouping;
  const value = jsonOf(stage.key, startExpressions(rows.root, context));
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
  return grouped(sql`case ${sql.join(cases, ' ')} else ${otherwise} end`, grouping);
}

function grouped(key: Sql, { rows, members, context }: Grouping): Rows {
  const expressions = startExpressions(rows.root, context);
  const columns: Sql[] = [sql`${key} as k`];
  const inner = context.aliases.next('g');
  let isOrdered = false;
  const results = members.map(({ name, accumulator, operand }): [string, ExpressionValue] => {
    const found = Object.hasOwn(ACCUMULATORS, accumulator) ? ACCUMULATORS[accumulator] : undefined;
    if (found === undefined) throw notSupported(accumulator, didYouMean(accumulator, SQL_ACCUMULATORS));
    const [result, type, aggregate] = found;
    if (accumulator === '$count' || isOne(accumulator, operand))
      return [name, resultOf('number', sql.raw('count(*)::numeric'))];
    const { input } =
      accumulator === '$median'
        ? named({ name: accumulator, operand }, { required: ['input', 'method'] })
        : { input: operand };
    const value = compileExpression(input, expressions);
    const alias = `a${columns.length}`;
    columns.push(sql`${type === 'number' ? toNumber(value) : toJson(value)} as ${sql.raw(alias)}`);
    isOrdered ||= aggregate.includes('$2');
    const places = [alias, 'position'].map((column) => sql.raw(`${inner}.${column}`));
    return [name, resultOf(result, fill(aggregate, places))];
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

/** `{ $sum: 1 }` counts. */
function isOne(accumulator: string, operand: Expression): boolean {
  return accumulator === '$sum' && operand.kind === 'literal' && operand.value === 1;
}
