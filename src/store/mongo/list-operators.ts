/**
 * Lists. What is no list is null where Mongo fails, and an empty list where it takes it for one.
 */

import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import { type CompileOperator, compileExpression, type Expressions } from './expression-context.js';
import {
  type ExpressionValue,
  JSON_NULL,
  once,
  onceEach,
  orNull,
  refusal,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  sqlText,
  toCondition,
  toInteger,
  toJson,
} from './expression-value.js';
import { nearestDouble } from './number-operators.js';
import {
  jsonOf,
  literalInteger,
  literalText,
  named,
  one,
  several,
  two,
  variableName,
  wrongOperands,
} from './operands.js';

type Sql = Prisma.Sql;

/** Null for what is no list. */
function ifList(value: Sql, use: (list: Sql) => Sql): Sql {
  return once(value, (list) => Prisma.sql`(case jsonb_typeof(${list}) when 'array' then ${use(list)} end)`);
}

/** The elements of a list as `e(value, position)`, the first at 1. */
function elementsOf(list: Sql): Sql {
  return Prisma.sql`jsonb_array_elements(doc_list(${list})) with ordinality as e(value, position)`;
}

/** The elements that satisfy a condition over `e`, as a list, in their order or another one. */
function gathered(
  list: Sql,
  { where = Prisma.raw('true'), order = Prisma.raw('e.position') }: { where?: Sql; order?: Sql },
): Sql {
  return Prisma.sql`(select coalesce(jsonb_agg(e.value order by ${order}), '[]')
    from ${elementsOf(list)} where ${where})`;
}

/** An operator of one list that is null for anything else. */
function ofList(operator: string, compute: (list: Sql) => Sql): CompileOperator {
  return (operand, expressions) =>
    sqlJson(orNull(ifList(jsonOf(one(operator, operand), expressions), compute)));
}

/** Null of what is no list, missing where there is no such element. */
function element(value: Sql, index: Sql): Sql {
  return onceEach(
    [value, index],
    (list, at) => Prisma.sql`case when jsonb_typeof(${list}) = 'array' and ${at} is not null
      then ${list} -> ${at} else ${JSON_NULL} end`,
  );
}

function elementAt(operator: string, index: number): CompileOperator {
  return (operand, expressions) =>
    sqlJson(element(jsonOf(one(operator, operand), expressions), Prisma.sql`${index}::int`));
}

function arrayElemAt(operand: Expression, expressions: Expressions): ExpressionValue {
  const [list, index] = two('$arrayElemAt', operand);
  return sqlJson(element(jsonOf(list, expressions), toInteger(compileExpression(index, expressions))));
}

function isIn(operand: Expression, expressions: Expressions): ExpressionValue {
  const [value, list] = two('$in', operand).map((each) => jsonOf(each, expressions));
  return sqlBoolean(
    Prisma.sql`coalesce(${value} in (select jsonb_array_elements(doc_list(${list}))), false)`,
  );
}

function concatArrays(operand: Expression, expressions: Expressions): ExpressionValue {
  const lists = several('$concatArrays', operand).map((each) =>
    ifList(jsonOf(each, expressions), (value) => value),
  );
  return sqlJson(orNull(Prisma.join(lists, ' || ', '(', ')')));
}

function slice(operand: Expression, expressions: Expressions): ExpressionValue {
  const [list, first, second] = several('$slice', operand, { least: 2, most: 3 });
  if (list === undefined || first === undefined) throw wrongOperands('$slice', 'a list and a count');
  if ((literalInteger(second) ?? 1) <= 0) throw wrongOperands('$slice', 'a count above 0 after a position');
  const [one, two] = [first, second].map((each) =>
    each === undefined ? Prisma.raw('0') : toInteger(compileExpression(each, expressions)),
  );
  return sqlJson(
    orNull(
      sliced(jsonOf(list, expressions), [one ?? Prisma.empty, two ?? Prisma.empty], (length, from, count) =>
        second === undefined
          ? Prisma.sql`case when ${from} < 0 then e.position > ${length} + ${from}
              else e.position <= ${from} end`
          : Prisma.sql`e.position
              - case when ${from} < 0 then greatest(${length} + ${from}, 0) else ${from} end
              between 1 and ${count}`,
      ),
    ),
  );
}

/** The elements at some positions; null where a number is no whole one. */
function sliced(
  value: Sql,
  numbers: readonly [Sql, Sql],
  where: (length: Sql, one: Sql, other: Sql) => Sql,
): Sql {
  return onceEach(
    [value, ...numbers],
    (list = JSON_NULL, one = JSON_NULL, other = JSON_NULL) =>
      Prisma.sql`case when jsonb_typeof(${list}) = 'array' and ${one} is not null and ${other} is not null
      then ${gathered(list, { where: where(Prisma.sql`jsonb_array_length(${list})`, one, other) })} end`,
  );
}

/** `$firstN`, `$lastN`, and by the order of values `$minN`, `$maxN`, which leave null out. */
function ofMany(operator: '$firstN' | '$lastN' | '$minN' | '$maxN'): CompileOperator {
  return (operand, expressions) => {
    const { input, n } = named(operator, operand, { required: ['input', 'n'] });
    const count = toInteger(compileExpression(n, expressions));
    const list = jsonOf(input, expressions);
    const isOrdered = operator === '$minN' || operator === '$maxN';
    const order = orderOfValues(Prisma.raw('e.value'), operator === '$maxN' ? 'desc' : 'asc');
    const source = isOrdered
      ? ifList(list, (of) => gathered(of, { where: Prisma.sql`e.value <> ${JSON_NULL}`, order }))
      : list;
    return sqlJson(
      orNull(
        sliced(source, [Prisma.sql`nullif(greatest(${count}, 0), 0)`, Prisma.raw('0')], (length, most) =>
          operator === '$lastN'
            ? Prisma.sql`e.position > ${length} - ${most}`
            : Prisma.sql`e.position <= ${most}`,
        ),
      ),
    );
  };
}

/** By type, then by value, what is missing or null first; lists and objects by how much is in them first. */
function orderOfValues(value: Sql, way: 'asc' | 'desc'): Sql {
  const to = Prisma.raw(way);
  return Prisma.sql`doc_rank(${value}) ${to}, doc_text(${value}) collate "C" ${to}, ${value} ${to}`;
}

function sortArray(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, sortBy } = named('$sortArray', operand, { required: ['input', 'sortBy'] });
  const keys = sortBy.kind === 'object' ? sortBy.members : [{ name: undefined, value: sortBy }];
  const items = keys.map(({ name, value }) => {
    const way = literalInteger(value);
    if (way !== 1 && way !== -1)
      throw wrongOperands('$sortArray', '1, -1, or an object of paths and 1 or -1');
    const key =
      name === undefined ? Prisma.raw('e.value') : Prisma.sql`doc_value(e.value, ${name.split('.')}::text[])`;
    return orderOfValues(key, way === 1 ? 'asc' : 'desc');
  });
  const order = Prisma.join([...items, Prisma.raw('e.position')], ', ');
  return sqlJson(orNull(ifList(jsonOf(input, expressions), (of) => gathered(of, { order }))));
}

function indexOfArray(operand: Expression, expressions: Expressions): ExpressionValue {
  const [list, wanted, ...range] = several('$indexOfArray', operand, { least: 2, most: 4 });
  if (list === undefined || wanted === undefined) throw wrongOperands('$indexOfArray', 'a list and a value');
  const [from = Prisma.raw('0'), to = Prisma.raw('1000000000')] = range.map((each) =>
    toInteger(compileExpression(each, expressions)),
  );
  const value = onceEach(
    [jsonOf(list, expressions), jsonOf(wanted, expressions), from, to],
    (of = JSON_NULL, one = JSON_NULL, start = JSON_NULL, end = JSON_NULL) =>
      Prisma.sql`case when jsonb_typeof(${of}) = 'array' and ${start} >= 0 and ${end} >= 0 then
        coalesce((select min(e.position) - 1 from ${elementsOf(of)}
          where e.value = ${one} and e.position > ${start} and e.position <= ${end}), -1)::numeric end`,
  );
  return sqlNumber(value);
}

/** The most elements of a `$range`, and of one inside another operator over a list. */
const LONGEST_RANGE = { outside: 100_000, inside: 100 };

function range(operand: Expression, expressions: Expressions): ExpressionValue {
  const [start, end, step] = several('$range', operand, { least: 2, most: 3 });
  if (literalInteger(step) === 0) throw wrongOperands('$range', 'a step other than 0');
  const numbers = [start, end, step].map((each) =>
    each === undefined ? Prisma.raw('1') : toInteger(compileExpression(each, expressions)),
  );
  const most = expressions.depth > (expressions.context.depth ?? 0) ? 'inside' : 'outside';
  const longest = LONGEST_RANGE[most];
  const tooLong = refusal(
    `$range: a list has at most ${LONGEST_RANGE.outside} elements, and ${LONGEST_RANGE.inside} inside ` +
      'another operator over a list.',
  );
  const list = onceEach(
    numbers,
    (from = JSON_NULL, to = JSON_NULL, by = JSON_NULL) =>
      Prisma.sql`case when ${from} is null or ${to} is null or coalesce(${by}, 0) = 0 then ${JSON_NULL}
        when (${to} - ${from})::numeric / ${by} > ${Prisma.raw(String(longest))} then ${tooLong}
        else (select coalesce(jsonb_agg(n.value), '[]')
          from generate_series(${from}, ${to} - sign(${by})::int, ${by}) as n(value)) end`,
  );
  return sqlJson(list);
}

interface Loop {
  readonly input: Expression;
  readonly as: Expression | undefined;
  readonly limit?: Expression | undefined;
}

/** `$filter` and `$map`: the elements under a name, one by one. */
function eachOf(
  { input, as, limit }: Loop,
  expressions: Expressions,
  compute: (element: Sql, inner: Expressions) => { readonly value: Sql; readonly where: Sql },
): ExpressionValue {
  const name = as === undefined ? 'this' : variableName(literalText(as) ?? '');
  const alias = Prisma.raw(`l${expressions.depth}`);
  const item = Prisma.sql`${alias}.value`;
  const variables = new Map(expressions.variables).set(name, item);
  const { value, where } = compute(item, { ...expressions, variables, depth: expressions.depth + 1 });
  const most = limit === undefined ? Prisma.raw('null') : Prisma.sql`${atLeastOne(limit)}::int`;
  return sqlJson(
    orNull(
      ifList(
        jsonOf(input, expressions),
        (of) =>
          Prisma.sql`(select coalesce(jsonb_agg(f.value order by f.position), '[]')
          from (select ${value} as value, ${alias}.position
            from jsonb_array_elements(doc_list(${of})) with ordinality as ${alias}(value, position)
            where ${where} order by ${alias}.position limit ${most}) as f)`,
      ),
    ),
  );
}

function atLeastOne(limit: Expression): number {
  const count = literalInteger(limit);
  if (count === undefined || count < 1) throw wrongOperands('$filter', 'a whole number from 1 on as limit');
  return count;
}

function filterOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, as, limit, cond } = named('$filter', operand, {
    required: ['input', 'cond'],
    optional: ['as', 'limit'],
  });
  return eachOf({ input, as, limit }, expressions, (element, inner) => ({
    value: element,
    where: toCondition(compileExpression(cond, inner)),
  }));
}

function mapOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, as, in: body } = named('$map', operand, { required: ['input', 'in'], optional: ['as'] });
  return eachOf({ input, as }, expressions, (_element, inner) => ({
    value: orNull(toJson(compileExpression(body, inner))),
    where: Prisma.raw('true'),
  }));
}

/** As a document of MongoDB. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A recursion over the elements; it ends where what it makes takes more than a document may. */
function reduce(operand: Expression, expressions: Expressions): ExpressionValue {
  const {
    input,
    initialValue,
    in: body,
  } = named('$reduce', operand, {
    required: ['input', 'initialValue', 'in'],
  });
  const [list, fold] = [`l${expressions.depth}`, `f${expressions.depth}`];
  const variables = new Map(expressions.variables)
    .set('this', Prisma.raw(`(${list}.list -> ${fold}.position)`))
    .set('value', Prisma.raw(`${fold}.value`));
  const next = jsonOf(body, { ...expressions, variables, depth: expressions.depth + 1 });
  const [source, state] = [Prisma.raw(list), Prisma.raw(fold)];
  const tooLarge = refusal('$reduce: the value takes more than 16 MiB.');
  const bounded = Prisma.sql`(select case when pg_column_size(n.value) > ${Prisma.raw(String(MOST_BYTES))}
    then ${tooLarge} else n.value end from (select ${next} as value offset 0) as n)`;
  return sqlJson(Prisma.sql`(
  select case when jsonb_typeof(${source}.list) = 'array' then (
    with recursive ${state}(position, value) as (
      select 0, ${source}.start
      union all
      select ${state}.position + 1, ${bounded} from ${state}
      where ${state}.position < jsonb_array_length(${source}.list)
    )
    select ${state}.value from ${state} order by ${state}.position desc limit 1
  ) else ${JSON_NULL} end
  from (select ${jsonOf(input, expressions)} as list, ${jsonOf(initialValue, expressions)} as start offset 0)
    as ${source}
)`);
}

type Fold = (values: Sql) => ExpressionValue;

/** Folds the elements of one list, or several operands. */
function folded(operator: string, fold: Fold): CompileOperator {
  return (operand, expressions) => {
    const operands = several(operator, operand);
    const [only] = operands;
    if (only !== undefined && operands.length === 1) {
      const list = once(
        jsonOf(only, expressions),
        (of) =>
          Prisma.sql`(case jsonb_typeof(${of}) when 'array' then ${of} else jsonb_build_array(${of}) end)`,
      );
      return fold(Prisma.sql`jsonb_array_elements(${list}) as e(value)`);
    }
    const values = operands.map((each) => Prisma.sql`(${jsonOf(each, expressions)})`);
    return fold(Prisma.sql`(values ${Prisma.join(values, ', ')}) as e(value)`);
  };
}

const sumOf: Fold = (values) =>
  sqlNumber(Prisma.sql`(select coalesce(sum(to_number(e.value)), 0) from ${values})`);
const realOf =
  (name: 'avg' | 'stddev_pop' | 'stddev_samp'): Fold =>
  (values) =>
    sqlNumber(nearestDouble(Prisma.sql`(select ${Prisma.raw(name)}(to_number(e.value)) from ${values})`));
const extremeOf =
  (name: 'doc_min' | 'doc_max'): Fold =>
  (values) =>
    sqlJson(
      orNull(
        Prisma.sql`(select ${Prisma.raw(name)}(e.value) filter (where e.value <> ${JSON_NULL})
          from ${values})`,
      ),
    );

/** An operator of lists that are taken for sets; null if one of them is no list. */
function ofSets(
  operator: string,
  [least, most]: readonly [number, number],
  compute: (first: Sql, others: readonly Sql[]) => Sql,
) {
  return (operand: Expression, expressions: Expressions): ExpressionValue => {
    const lists = several(operator, operand, { least, most });
    const value = onceEach(
      lists.map((list) => jsonOf(list, expressions)),
      (first = JSON_NULL, ...others) => {
        const areLists = [first, ...others].map((list) => Prisma.sql`jsonb_typeof(${list}) = 'array'`);
        return Prisma.sql`case when ${Prisma.join(areLists, ' and ')} then ${compute(first, others)} end`;
      },
    );
    return sqlJson(orNull(value));
  };
}

const isElementOf = (list: Sql) => Prisma.sql`e.value in (select jsonb_array_elements(${list}))`;

/** Each value once. */
function setOf(list: Sql, where = Prisma.raw('true')): Sql {
  return Prisma.sql`(select coalesce(jsonb_agg(distinct e.value), '[]')
    from ${elementsOf(list)} where ${where})`;
}

function isSubset(one: Sql, other: Sql): Sql {
  return Prisma.sql`not exists (select from ${elementsOf(one)} where not ${isElementOf(other)})`;
}

const MANY = Number.POSITIVE_INFINITY;

const TYPE_NAMES = Prisma.raw(
  `'{"string": "string", "number": "double", "boolean": "bool", "object": "object", "array": ` +
    `"array", "null": "null"}'::jsonb`,
);

export const LIST_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $arrayElemAt: arrayElemAt,
  $first: elementAt('$first', 0),
  $last: elementAt('$last', -1),
  $size: (operand, expressions) => {
    const list = jsonOf(one('$size', operand), expressions);
    return sqlNumber(Prisma.sql`${ifList(list, (of) => Prisma.sql`jsonb_array_length(${of})`)}::numeric`);
  },
  $isArray: (operand, expressions) =>
    sqlBoolean(
      Prisma.sql`coalesce(jsonb_typeof(${jsonOf(one('$isArray', operand), expressions)}) = 'array', false)`,
    ),
  $isNumber: (operand, expressions) =>
    sqlBoolean(
      Prisma.sql`coalesce(jsonb_typeof(${jsonOf(one('$isNumber', operand), expressions)}) = 'number', false)`,
    ),
  $type: (operand, expressions) =>
    sqlText(
      Prisma.sql`coalesce(${TYPE_NAMES} ->> jsonb_typeof(${jsonOf(one('$type', operand), expressions)}),
        'missing')`,
    ),
  $in: isIn,
  $concatArrays: concatArrays,
  $slice: slice,
  $firstN: ofMany('$firstN'),
  $lastN: ofMany('$lastN'),
  $minN: ofMany('$minN'),
  $maxN: ofMany('$maxN'),
  $reverseArray: ofList('$reverseArray', (list) => gathered(list, { order: Prisma.raw('e.position desc') })),
  $sortArray: sortArray,
  $indexOfArray: indexOfArray,
  $range: range,
  $filter: filterOf,
  $map: mapOf,
  $reduce: reduce,
  $sum: folded('$sum', sumOf),
  $avg: folded('$avg', realOf('avg')),
  $stdDevPop: folded('$stdDevPop', realOf('stddev_pop')),
  $stdDevSamp: folded('$stdDevSamp', realOf('stddev_samp')),
  $min: folded('$min', extremeOf('doc_min')),
  $max: folded('$max', extremeOf('doc_max')),
  $setUnion: ofSets('$setUnion', [1, MANY], (first, others) =>
    setOf(Prisma.join([first, ...others], ' || ', '(', ')')),
  ),
  $setIntersection: ofSets('$setIntersection', [1, MANY], (first, others) =>
    setOf(first, others.length === 0 ? undefined : Prisma.join(others.map(isElementOf), ' and ')),
  ),
  $setDifference: ofSets('$setDifference', [2, 2], (first, [other = JSON_NULL]) =>
    setOf(first, Prisma.sql`not ${isElementOf(other)}`),
  ),
  $setIsSubset: ofSets(
    '$setIsSubset',
    [2, 2],
    (first, [other = JSON_NULL]) => Prisma.sql`to_jsonb(${isSubset(first, other)})`,
  ),
  $setEquals: ofSets('$setEquals', [2, MANY], (first, others) => {
    const same = others.map((other) => Prisma.sql`${setOf(first)} = ${setOf(other)}`);
    return Prisma.sql`to_jsonb(${Prisma.join([Prisma.raw('true'), ...same], ' and ', '(', ')')})`;
  }),
  $allElementsTrue: ofList(
    '$allElementsTrue',
    (list) =>
      Prisma.sql`(select to_jsonb(coalesce(bool_and(doc_is_true(e.value)), true)) from ${elementsOf(list)})`,
  ),
  $anyElementTrue: ofList(
    '$anyElementTrue',
    (list) =>
      Prisma.sql`(select to_jsonb(coalesce(bool_or(doc_is_true(e.value)), false)) from ${elementsOf(list)})`,
  ),
};
