/**
 * Lists and objects. What is no list is null where Mongo fails, and an empty list where it takes it for one.
 */

import { Prisma } from '../../../generated/prisma/client.js';
import type { Expression } from '../../../model/expression.js';
import { type CompileOperator, compileExpression, type Expressions, NotInSql } from './expression-context.js';
import {
  type ExpressionValue,
  JSON_NULL,
  once,
  sqlBoolean,
  sqlJson,
  sqlNumber,
  sqlText,
  toCondition,
  toJson,
} from './expression-value.js';
import { nearestDouble } from './number-operators.js';
import { literalInteger, literalText, named, one, several, two, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

function jsonOf(operand: Expression, expressions: Expressions): Sql {
  return toJson(compileExpression(operand, expressions));
}

/** Null for what is no list. */
function ifList(value: Sql, use: (list: Sql) => Sql): Sql {
  return once(value, (list) => Prisma.sql`(case jsonb_typeof(${list}) when 'array' then ${use(list)} end)`);
}

function elementAt(operator: string, index: number): CompileOperator {
  return (operand, expressions) => sqlJson(element(jsonOf(one(operator, operand), expressions), index));
}

/** Null of what is null, missing where there is no such element. */
function element(value: Sql, index: number): Sql {
  return once(
    value,
    (list) =>
      Prisma.sql`(case coalesce(jsonb_typeof(${list}), 'null') when 'array' then ${list} -> ${index}::int
        when 'null' then ${JSON_NULL} end)`,
  );
}

function arrayElemAt(operand: Expression, expressions: Expressions): ExpressionValue {
  const [list, index] = two('$arrayElemAt', operand);
  const position = literalInteger(index);
  if (position === undefined) throw new NotInSql('$arrayElemAt at a computed position');
  return sqlJson(element(jsonOf(list, expressions), position));
}

function isIn(operand: Expression, expressions: Expressions): ExpressionValue {
  const [value, list] = two('$in', operand).map((each) => jsonOf(each, expressions));
  return sqlBoolean(
    Prisma.sql`coalesce(coalesce(${value}, ${JSON_NULL}) in (select jsonb_array_elements(doc_list(${list}))),
      false)`,
  );
}

function concatArrays(operand: Expression, expressions: Expressions): ExpressionValue {
  const lists = several('$concatArrays', operand).map((each) => {
    const list = jsonOf(each, expressions);
    return ifList(list, (value) => value);
  });
  return sqlJson(Prisma.sql`coalesce(${Prisma.join(lists, ' || ')}, ${JSON_NULL})`);
}

function slice(operand: Expression, expressions: Expressions): ExpressionValue {
  const [list, first, second] = several('$slice', operand, { least: 2, most: 3 });
  const one = literalInteger(first);
  const two = second === undefined ? undefined : literalInteger(second);
  const isComputed = one === undefined || (second !== undefined && two === undefined);
  if (list === undefined || isComputed) throw new NotInSql('$slice by computed positions');
  const value = jsonOf(list, expressions);
  const bounds = (start: Sql, end: Sql) => Prisma.sql`e.position > ${start} and e.position <= ${end}`;
  const within = (of: Sql) => {
    const length = Prisma.sql`jsonb_array_length(${of})`;
    if (two !== undefined) {
      if (two <= 0) throw wrongOperands('$slice', 'a count above 0 after a position');
      const start = one < 0 ? Prisma.sql`greatest(${length} + ${one}::int, 0)` : Prisma.sql`${one}::int`;
      return bounds(start, Prisma.sql`${start} + ${two}::int`);
    }
    if (one < 0) return bounds(Prisma.sql`${length} + ${one}::int`, length);
    return bounds(Prisma.raw('0'), Prisma.sql`${one}::int`);
  };
  return sqlJson(
    Prisma.sql`coalesce(${ifList(
      value,
      (of) =>
        Prisma.sql`(select coalesce(jsonb_agg(e.value order by e.position), '[]')
          from jsonb_array_elements(doc_list(${of})) with ordinality as e(value, position)
          where ${within(of)})`,
    )}, ${JSON_NULL})`,
  );
}

/** `$filter` and `$map`: the elements under a name, one by one. */
function eachOf(
  { input, as }: { readonly input: Expression; readonly as: Expression | undefined },
  expressions: Expressions,
  compute: (element: Sql, inner: Expressions) => { readonly value: Sql; readonly where: Sql },
): ExpressionValue {
  const name = as === undefined ? 'this' : literalText(as);
  if (name === undefined) throw wrongOperands('$map and $filter', 'a text as the name "as"');
  const alias = Prisma.raw(`l${expressions.depth}`);
  const item = Prisma.sql`${alias}.value`;
  const variables = new Map(expressions.variables).set(name, item);
  const { value, where } = compute(item, { ...expressions, variables, depth: expressions.depth + 1 });
  const list = jsonOf(input, expressions);
  return sqlJson(
    Prisma.sql`coalesce(${ifList(
      list,
      (of) =>
        Prisma.sql`(select coalesce(jsonb_agg(${value} order by ${alias}.position), '[]')
          from jsonb_array_elements(doc_list(${of})) with ordinality as ${alias}(value, position)
          where ${where})`,
    )}, ${JSON_NULL})`,
  );
}

function filterOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, as, cond } = named('$filter', operand, { required: ['input', 'cond'], optional: ['as'] });
  return eachOf({ input, as }, expressions, (element, inner) => ({
    value: element,
    where: toCondition(compileExpression(cond, inner)),
  }));
}

function mapOf(operand: Expression, expressions: Expressions): ExpressionValue {
  const { input, as, in: body } = named('$map', operand, { required: ['input', 'in'], optional: ['as'] });
  return eachOf({ input, as }, expressions, (_element, inner) => ({
    value: Prisma.sql`coalesce(${toJson(compileExpression(body, inner))}, ${JSON_NULL})`,
    where: Prisma.raw('true'),
  }));
}

type Fold = (values: Sql) => ExpressionValue;

/** Folds the elements of one list, or several operands. */
function folded(operator: string, fold: Fold): CompileOperator {
  return (operand, expressions) => {
    const operands = several(operator, operand);
    const [only] = operands;
    if (only !== undefined && operands.length === 1) {
      const value = jsonOf(only, expressions);
      const list = once(
        value,
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
const averageOf: Fold = (values) =>
  sqlNumber(nearestDouble(Prisma.sql`(select avg(to_number(e.value)) from ${values})`));
const extremeOf =
  (name: 'doc_min' | 'doc_max'): Fold =>
  (values) =>
    sqlJson(
      Prisma.sql`coalesce((select ${Prisma.raw(name)}(e.value) filter (where e.value <> ${JSON_NULL})
        from ${values}), ${JSON_NULL})`,
    );

function mergeObjects(operand: Expression, expressions: Expressions): ExpressionValue {
  const objects = several('$mergeObjects', operand);
  if (operand.kind !== 'list' && operand.kind !== 'object')
    throw new NotInSql('$mergeObjects of a computed list');
  const parts = objects.map((each) => {
    const value = jsonOf(each, expressions);
    return once(
      value,
      (of) => Prisma.sql`(case jsonb_typeof(${of}) when 'object' then ${of} else '{}'::jsonb end)`,
    );
  });
  return sqlJson(Prisma.sql`(${Prisma.join(parts, ' || ')})`);
}

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
  $filter: filterOf,
  $map: mapOf,
  $sum: folded('$sum', sumOf),
  $avg: folded('$avg', averageOf),
  $min: folded('$min', extremeOf('doc_min')),
  $max: folded('$max', extremeOf('doc_max')),
  $mergeObjects: mergeObjects,
};
