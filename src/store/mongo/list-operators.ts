/** Operators of lists and sets. What is no list is null where Mongo fails, or an empty list as in Mongo. */
import type { Expression } from '../../base/model/expression.js';
import { type Sql, sql } from '../sql.js';
import {
  byTemplate,
  type CompileOperator,
  compileExpression,
  double,
  type Expressions,
  type ExpressionValue,
  fill,
  JSON_NULL,
  joined,
  jsonOf,
  listOf,
  literalInteger,
  literalText,
  named,
  type Operation,
  type Operators,
  orNull,
  resultOf,
  severalOf,
  toCondition,
  variableName,
  wrongOperands,
} from './expression-value.js';

/** The elements of a list as `e(value, position)`, the first at 1. */
const elementsOf = (list: string) =>
  `jsonb_array_elements(doc_list(${list})) with ordinality as e(value, position)`;

/** The elements that satisfy a condition over `e`, as a list, in their order or another one. */
const gathered = (list: string, where = 'true', order = 'e.position') =>
  `(select coalesce(jsonb_agg(e.value order by ${order}), '[]') from ${elementsOf(list)} where ${where})`;

/** By type, then by value, what is missing or null first; lists and objects by how much is in them first. */
const orderOf = (value: string, way: string) =>
  `doc_rank(${value}) ${way}, doc_text(${value}) collate "C" ${way}, ${value} ${way}`;

/** Null of what is no list, missing where there is no such element. */
const elementAt = (position: string) =>
  `case when jsonb_typeof($1) = 'array' and ${position} is not null then $1 -> ${position} else 'null' end`;

/** Some elements by their position, null where the list is none or a number no whole one. */
const part = (where: string, isGiven = '$2 is not null') =>
  `case when $1 is not null and ${isGiven} then ${gathered('$1', where)} end`;

const SLICE = byTemplate(
  'value',
  'list whole',
  part('case when $2 < 0 then e.position > jsonb_array_length($1) + $2 else e.position <= $2 end'),
);
const SLICE_FROM = byTemplate(
  'value',
  'list whole whole',
  `case when $3 <= 0 then doc_refuse('$slice: the count after a position is not above 0.') else
    ${part(
      `e.position - case when $2 < 0 then greatest(jsonb_array_length($1) + $2, 0) else $2 end
        between 1 and $3`,
      '$2 is not null and $3 is not null',
    )} end`,
);

/** `$minN`, `$maxN`: by the order of values, without null. */
const ofOrdered = (way: 'asc' | 'desc') =>
  byTemplate(
    'value',
    'input:json n:whole',
    `case when jsonb_typeof($1) = 'array' and $2 > 0 then (
      select coalesce(jsonb_agg(n.value order by n.place), '[]')
      from (select e.value, row_number() over (order by ${orderOf('e.value', way)}) as place
        from ${elementsOf('$1')} where e.value <> 'null') as n
      where n.place <= $2) end`,
  );

function sortArray(operation: Operation): ExpressionValue {
  const { input, sortBy } = named(operation, { required: ['input', 'sortBy'] });
  const keys = sortBy.kind === 'object' ? sortBy.members : [{ name: undefined, value: sortBy }];
  const order = keys.map(({ name, value }) => {
    const way = literalInteger(value);
    if (way !== 1 && way !== -1)
      throw wrongOperands(operation, 'as sortBy 1, -1, or an object of paths and 1 or -1');
    const key = name === undefined ? sql.raw('e.value') : sql`doc_value(e.value, ${name.split('.')}::text[])`;
    return fill(orderOf('$1', way === 1 ? 'asc' : 'desc'), [key]);
  });
  return resultOf(
    'value',
    sql`select case jsonb_typeof(s.list) when 'array' then (
      select coalesce(jsonb_agg(e.value order by ${sql.join(order, ', ')}, e.position), '[]')
      from ${sql.raw(elementsOf('s.list'))}) end
    from (select ${jsonOf(input, operation.expressions)} as list offset 0) as s`,
  );
}

/** The most elements of a `$range`, and of one inside another operator over a list. */
const LONGEST_RANGE = { outside: 100_000, inside: 100 };

function range(operation: Operation): ExpressionValue {
  const { expressions } = operation;
  const most = expressions.depth > (expressions.context.depth ?? 0) ? 'inside' : 'outside';
  return RANGES[most](operation);
}

const rangeOf = (longest: number) =>
  byTemplate(
    'value',
    'whole whole whole=1',
    `case when $1 is null or $2 is null or $3 is null then null
      when $3 = 0 then doc_refuse('$range: the step is 0.')
      when ($2 - $1)::numeric / nullif($3, 0) > ${longest} then doc_refuse('$range: a list has at most ${
        LONGEST_RANGE.outside
      } elements, and ${LONGEST_RANGE.inside} inside another operator over a list.')
      else (select coalesce(jsonb_agg(n.value), '[]')
        from generate_series($1, $2 - sign($3)::int, nullif($3, 0)) as n(value)) end`,
  );
const RANGES = { outside: rangeOf(LONGEST_RANGE.outside), inside: rangeOf(LONGEST_RANGE.inside) };

/** `$filter` and `$map`: the elements under a name, one by one. */
function eachOf(
  operation: Operation,
  { input, as, limit }: { input: Expression; as?: Expression | undefined; limit?: Expression | undefined },
  compute: (element: Sql, inner: Expressions) => { readonly value: Sql; readonly where: Sql },
): ExpressionValue {
  const { expressions } = operation;
  const name = as === undefined ? 'this' : variableName(operation, literalText(as) ?? '');
  const alias = sql.raw(`i${expressions.depth}`);
  const item = sql`${alias}.value`;
  const variables = new Map(expressions.variables).set(name, item);
  const { value, where } = compute(item, { ...expressions, variables, depth: expressions.depth + 1 });
  const most = limit === undefined ? undefined : literalInteger(limit);
  if (limit !== undefined && (most === undefined || most < 1))
    throw wrongOperands(operation, 'a whole number from 1 on as limit');
  return resultOf(
    'value',
    sql`select case when s.list is not null then (
      select coalesce(jsonb_agg(f.value order by f.position), '[]')
      from (select ${value} as value, ${alias}.position
        from jsonb_array_elements(s.list) with ordinality as ${alias}(value, position)
        where ${where} order by ${alias}.position limit ${most ?? null}::int) as f) end
      from (select ${listOf(input, expressions)} as list offset 0) as s`,
  );
}

function filterOf(operation: Operation): ExpressionValue {
  const { cond, ...loop } = named(operation, { required: ['input', 'cond'], optional: ['as', 'limit'] });
  return eachOf(operation, loop, (element, inner) => ({
    value: element,
    where: toCondition(compileExpression(cond, inner)),
  }));
}

function mapOf(operation: Operation): ExpressionValue {
  const { in: body, ...loop } = named(operation, { required: ['input', 'in'], optional: ['as'] });
  return eachOf(operation, loop, (_element, inner) => ({
    value: orNull(jsonOf(body, inner)),
    where: sql.raw('true'),
  }));
}

/** Returns a document, like MongoDB. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A recursion over the elements; it ends where what it makes takes more than a document may. */
function reduce(operation: Operation): ExpressionValue {
  const { expressions } = operation;
  const parts = named(operation, { required: ['input', 'initialValue', 'in'] });
  const [list, fold] = [`i${expressions.depth}`, `f${expressions.depth}`];
  const variables = new Map(expressions.variables)
    .set('this', sql.raw(`(${list}.list -> ${fold}.position)`))
    .set('value', sql.raw(`${fold}.value`));
  const next = jsonOf(parts.in, { ...expressions, variables, depth: expressions.depth + 1 });
  const [source, state] = [sql.raw(list), sql.raw(fold)];
  return resultOf(
    'json',
    sql`select case when jsonb_typeof(${source}.list) = 'array' then (
      with recursive ${state}(position, value) as (
        select 0, ${source}.start
        union all
        select ${state}.position + 1, (
          select case when pg_column_size(n.value) > ${sql.raw(String(MOST_BYTES))}
            then doc_refuse('$reduce: the value takes more than 16 MiB.') else n.value end
          from (select ${next} as value offset 0) as n)
        from ${state} where ${state}.position < jsonb_array_length(${source}.list)
      )
      select ${state}.value from ${state} order by ${state}.position desc limit 1
    ) else ${JSON_NULL} end
    from (select ${jsonOf(parts.input, expressions)} as list,
      ${jsonOf(parts.initialValue, expressions)} as start offset 0) as ${source}`,
  );
}

/** Makes one value of many. The type is that of the result, and how each value `$1` is read. */
export type Fold = readonly [type: 'number' | 'value', aggregate: string];

/** What folds the values of a group, and the elements of a list. */
export const FOLDS: Readonly<Record<string, Fold>> = {
  $sum: ['number', 'coalesce(sum($1), 0)'],
  $avg: ['number', double('avg($1)')],
  $stdDevPop: ['number', double('stddev_pop($1)')],
  $stdDevSamp: ['number', double('stddev_samp($1)')],
  $min: ['value', `doc_min($1) filter (where $1 <> 'null')`],
  $max: ['value', `doc_max($1) filter (where $1 <> 'null')`],
};

/** Folds the elements of one list, or several operands. */
function folded([type, aggregate]: Fold): CompileOperator {
  const ofElements = sql.raw(
    aggregate.replaceAll('$1', type === 'number' ? 'to_number(e.value)' : 'e.value'),
  );
  return (operation) => {
    const operands = severalOf(operation).map((each) => jsonOf(each, operation.expressions));
    const [only = JSON_NULL] = operands;
    const list = `case jsonb_typeof($1) when 'array' then $1 else jsonb_build_array($1) end`;
    const values =
      operands.length === 1
        ? sql`jsonb_array_elements(${fill(list, [only])})`
        : sql`(values (${sql.join(operands, '), (')}))`;
    return resultOf(type, sql`select ${ofElements} from ${values} as e(value)`);
  };
}

/** Each value once. */
const setOf = (list: string, where = 'true') =>
  `(select coalesce(jsonb_agg(distinct e.value), '[]') from ${elementsOf(list)} where ${where})`;
const isIn = (list: string) => `e.value in (select jsonb_array_elements(${list}))`;
const ofBoth = (value: string) => `case when $1 is not null and $2 is not null then ${value} end`;

/** Takes any number of lists as sets; null if one of them is not a list. */
function ofSets(value: string): CompileOperator {
  return (operation) => {
    const lists = severalOf(operation).map((each) => listOf(each, operation.expressions));
    const [first = JSON_NULL, ...others] = lists;
    const one = fill(`case when $1 is not null then ${setOf('$1')} end`, [first]);
    return resultOf(
      'value',
      others.reduce((soFar, other) => fill(ofBoth(value), [soFar, other]), one),
    );
  };
}

export const LIST_OPERATORS: Operators = {
  $arrayElemAt: byTemplate('json', 'json whole', elementAt('$2')),
  $first: byTemplate('json', 'json', elementAt('0')),
  $last: byTemplate('json', 'json', elementAt('-1')),
  $size: byTemplate(
    'number',
    'json',
    `case jsonb_typeof($1) when 'array' then jsonb_array_length($1) end::numeric`,
  ),
  $in: byTemplate(
    'boolean',
    'json json',
    'coalesce($1 in (select jsonb_array_elements(doc_list($2))), false)',
  ),
  $concatArrays: joined('value', 'list', ' || '),
  $slice: (operation) =>
    severalOf(operation, { least: 2, most: 3 }).length === 2 ? SLICE(operation) : SLICE_FROM(operation),
  $firstN: byTemplate('value', 'input:list n:whole', part('e.position <= $2', '$2 > 0')),
  $lastN: byTemplate(
    'value',
    'input:list n:whole',
    part('e.position > jsonb_array_length($1) - $2', '$2 > 0'),
  ),
  $minN: ofOrdered('asc'),
  $maxN: ofOrdered('desc'),
  $reverseArray: byTemplate(
    'value',
    'list',
    `case when $1 is not null then ${gathered('$1', 'true', 'e.position desc')} end`,
  ),
  $sortArray: sortArray,
  $indexOfArray: byTemplate(
    'number',
    'json json whole=0 whole=1000000000',
    `case when jsonb_typeof($1) = 'array' and $3 >= 0 and $4 >= 0 then
      coalesce((select min(e.position) - 1 from ${elementsOf('$1')}
        where e.value = $2 and e.position > $3 and e.position <= $4), -1)::numeric end`,
  ),
  $range: range,
  $filter: filterOf,
  $map: mapOf,
  $reduce: reduce,
  ...Object.fromEntries(Object.entries(FOLDS).map(([name, fold]) => [name, folded(fold)])),
  $setUnion: ofSets(setOf('($1 || $2)')),
  $setIntersection: ofSets(setOf('$1', isIn('$2'))),
  $setDifference: byTemplate('value', 'list list', ofBoth(setOf('$1', `not ${isIn('$2')}`))),
  $setIsSubset: byTemplate(
    'value',
    'list list',
    ofBoth(`to_jsonb(not exists (select from ${elementsOf('$1')} where not ${isIn('$2')}))`),
  ),
  $setEquals: byTemplate('value', 'list list', ofBoth(`to_jsonb(${setOf('$1')} = ${setOf('$2')})`)),
  $allElementsTrue: byTemplate(
    'value',
    'list',
    `case when $1 is not null then
      (select to_jsonb(coalesce(bool_and(doc_is_true(e.value)), true)) from ${elementsOf('$1')}) end`,
  ),
  $anyElementTrue: byTemplate(
    'value',
    'list',
    `case when $1 is not null then
      (select to_jsonb(coalesce(bool_or(doc_is_true(e.value)), false)) from ${elementsOf('$1')}) end`,
  ),
};
