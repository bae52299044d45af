/**
 * `$group` and `$bucket`: the values of each document are computed once, in an inner SELECT, then grouped.
 */

import type { Expression } from '../../base/model/expression.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { Prisma } from '../../generated/prisma/client.js';
import { storable, storableJson } from '../sql/storable-json.js';
import { compileExpression, NotSupported } from './expression-context.js';
import {
  type ExpressionValue,
  JSON_NULL,
  refusal,
  sqlJson,
  sqlNumber,
  toJson,
  toNumber,
} from './expression-value.js';
import type { Accumulation, BucketStage } from './mongo-pipeline.js';
import { nearestDouble } from './number-operators.js';
import { named } from './operands.js';
import { inOrder, isPart, type PipelineContext, type Rows, rowsOf, select } from './rows.js';
import { startExpressions } from './start-expressions.js';

type Sql = Prisma.Sql;

/**
 * What of a group an accumulator takes: the column its operand is computed in, and what is made of the
 * column.
 */
interface Accumulated {
  readonly column: Sql | undefined;
  /** `inOrder` is an `order by` of the documents, for those whose result depends on it. */
  readonly result: (column: Sql, inOrder: Sql) => ExpressionValue;
}

type Accumulate = (value: ExpressionValue) => Accumulated;

const ACCUMULATORS: Readonly<Record<string, Accumulate>> = {
  $sum: (value) => ({
    column: toNumber(value),
    result: (column) => sqlNumber(Prisma.sql`coalesce(sum(${column}), 0)`),
  }),
  $avg: (value) => ({
    column: toNumber(value),
    result: (column) => sqlNumber(nearestDouble(Prisma.sql`avg(${column})`)),
  }),
  $min: (value) => extreme(value, 'min'),
  $max: (value) => extreme(value, 'max'),
  $first: (value) => positioned(value, 'doc_first'),
  $last: (value) => positioned(value, 'doc_last'),
  $push: (value) => ({
    column: toJson(value),
    result: (column, order) =>
      sqlJson(
        Prisma.sql`coalesce(jsonb_agg(${column} ${order}) filter (where ${column} is not null), '[]'::jsonb)`,
      ),
  }),
  $addToSet: (value) => ({
    column: toJson(value),
    result: (column) =>
      sqlJson(
        Prisma.sql`coalesce(jsonb_agg(distinct ${column}) filter (where ${column} is not null), '[]'::jsonb)`,
      ),
  }),
  $count: () => ({ column: undefined, result: () => sqlNumber(Prisma.raw('count(*)::numeric')) }),
  $median: (value) => ({
    column: toNumber(value),
    result: (column) => sqlNumber(Prisma.sql`percentile_disc(0.5) within group (order by ${column})`),
  }),
  $stdDevPop: (value) => deviation(value, 'stddev_pop'),
  $stdDevSamp: (value) => deviation(value, 'stddev_samp'),
};

/** The accumulators the database computes. */
export const SQL_ACCUMULATORS: readonly string[] = Object.keys(ACCUMULATORS);

/** What they make depends on the order of the documents. */
const IN_ORDER: ReadonlySet<string> = new Set(['$first', '$last', '$push']);

function extreme(value: ExpressionValue, name: 'min' | 'max'): Accumulated {
  if (value.type === 'number') {
    return { column: value.sql, result: (column) => sqlNumber(Prisma.sql`${Prisma.raw(name)}(${column})`) };
  }
  return {
    column: toJson(value),
    result: (column) =>
      sqlJson(
        Prisma.sql`coalesce(${Prisma.raw(`doc_${name}`)}(${column}) filter (where ${column} <> ${JSON_NULL}),
          ${JSON_NULL})`,
      ),
  };
}

function positioned(value: ExpressionValue, name: 'doc_first' | 'doc_last'): Accumulated {
  return {
    column: toJson(value),
    result: (column, order) =>
      sqlJson(Prisma.sql`${Prisma.raw(name)}(coalesce(${column}, ${JSON_NULL}) ${order})`),
  };
}

function deviation(value: ExpressionValue, name: 'stddev_pop' | 'stddev_samp'): Accumulated {
  return {
    column: toNumber(value),
    result: (column) => sqlNumber(nearestDouble(Prisma.sql`${Prisma.raw(name)}(${column})`)),
  };
}

export interface Grouping {
  readonly rows: Rows;
  readonly members: readonly Accumulation[];
  readonly context: PipelineContext;
}

/** A document a group, in the order of the keys. @throws NotSupported */
export function compileGroup(key: Expression, grouping: Grouping): Rows {
  const { rows, context } = grouping;
  const value = compileExpression(key, startExpressions(rows.root, context));
  return grouped(Prisma.sql`coalesce(${toJson(value)}, ${JSON_NULL})`, grouping);
}

/** A document for each bucket that is not empty. Without a default, a value outside is refused. */
export function compileBucket(stage: BucketStage, grouping: Grouping): Rows {
  const { rows, context } = grouping;
  const value = toJson(compileExpression(stage.key, startExpressions(rows.root, context)));
  const cases = stage.boundaries.slice(0, -1).map((lower, index) => {
    const upper = stage.boundaries[index + 1] ?? lower;
    return Prisma.sql`when doc_compare(${value}, ${storableJson(lower)}::jsonb) >= 0
      and doc_compare(${value}, ${storableJson(upper)}::jsonb) < 0 then ${storableJson(lower)}::jsonb`;
  });
  const otherwise =
    stage.default === undefined
      ? refusal('$bucket: a value is in none of the buckets; give a `default` or wider `boundaries`.')
      : Prisma.sql`${storableJson(stage.default)}::jsonb`;
  return grouped(Prisma.sql`case ${Prisma.join(cases, ' ')} else ${otherwise} end`, grouping);
}

function grouped(key: Sql, { rows, members, context }: Grouping): Rows {
  const expressions = startExpressions(rows.root, context);
  const isOrdered = members.some(({ accumulator }) => IN_ORDER.has(accumulator));
  const columns: Sql[] = [Prisma.sql`${key} as k`];
  const inner = context.aliases.next('g');
  const results = members.map(({ name, accumulator, operand }): [string, ExpressionValue] => {
    const accumulate = Object.hasOwn(ACCUMULATORS, accumulator) ? ACCUMULATORS[accumulator] : undefined;
    if (accumulate === undefined)
      throw new NotSupported(accumulator, didYouMean(accumulator, SQL_ACCUMULATORS));
    if (isOne(accumulator, operand)) return [name, sqlNumber(Prisma.raw('count(*)::numeric'))];
    const value =
      accumulator === '$median'
        ? named('$median', operand, { required: ['input', 'method'] }).input
        : operand;
    const { column, result } = accumulate(compileExpression(value, expressions));
    if (column === undefined) return [name, result(Prisma.empty, Prisma.empty)];
    const alias = `a${columns.length}`;
    columns.push(Prisma.sql`${column} as ${Prisma.raw(alias)}`);
    return [name, result(Prisma.raw(`${inner}.${alias}`), Prisma.raw(`order by ${inner}.position`))];
  });
  const source = isOrdered ? inOrder(rows) : unordered(rows);
  const k = Prisma.raw(`${inner}.k`);
  const document = completeObject([['_id', sqlJson(k)], ...results]);
  const alias = context.aliases.next('d');
  const selected = select(Prisma.join(columns, ', '), source);
  // Grouping sorts, and keeps no order within a group.
  const values = isOrdered
    ? Prisma.sql`select n.*, row_number() over () as position from (${selected}) as n`
    : selected;
  return rowsOf(
    Prisma.sql`(
select ${document} as doc
from (${values}) as ${Prisma.raw(inner)}
group by ${k}
order by doc_rank(${k}), ${k}) as ${Prisma.raw(alias)}`,
    Prisma.raw(`${alias}.doc`),
  );
}

const MAX_MEMBERS = 45;

/** Every member is there, if only as null. `jsonb_build_object` takes 100 arguments. */
function completeObject(members: readonly (readonly [string, ExpressionValue])[]): Sql {
  const objects: Sql[] = [];
  for (let at = 0; at < members.length; at += MAX_MEMBERS) {
    const pairs = members
      .slice(at, at + MAX_MEMBERS)
      .map(([name, value]) => Prisma.sql`${storable(name)}::text, ${toJson(value)}`);
    objects.push(Prisma.sql`jsonb_build_object(${Prisma.join(pairs, ', ')})`);
  }
  return Prisma.join(objects, ' || ', '(', ')');
}

/** An order is worth nothing to sums, but decides which documents a part has. */
function unordered(rows: Rows): Rows {
  return isPart(rows) ? rows : { ...rows, orderBy: undefined };
}

/** `{ $sum: 1 }` counts. */
function isOne(accumulator: string, operand: Expression): boolean {
  return accumulator === '$sum' && operand.kind === 'literal' && operand.value === 1;
}
