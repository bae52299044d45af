/**
 * Arithmetic of exact numbers. What is no number makes the result null: one "N/A" must not fail a pipeline. A
 * quotient that has no end is the double nearest to it.
 */

import type { Expression } from '../../base/model/expression.js';
import { Prisma } from '../../generated/prisma/client.js';
import { type CompileOperator, compileExpression, type Expressions } from './expression-context.js';
import { once, onceEach, sqlNumber, toInteger, toNumber } from './expression-value.js';
import { one, several, two, wrongOperands } from './operands.js';

type Sql = Prisma.Sql;

const ZERO: Expression = { kind: 'literal', value: 0 };

function numbers(operands: readonly Expression[], expressions: Expressions): Sql[] {
  return operands.map((operand) => toNumber(compileExpression(operand, expressions)));
}

function ofAll(operator: string, sign: ' + ' | ' * '): CompileOperator {
  return (operand, expressions) =>
    sqlNumber(Prisma.sql`(${Prisma.join(numbers(several(operator, operand), expressions), sign)})`);
}

function ofTwo(operator: string, compute: (one: Sql, other: Sql) => Sql): CompileOperator {
  return (operand, expressions) => {
    const [first, second] = two(operator, operand);
    const [one = Prisma.empty, other = Prisma.empty] = numbers([first, second], expressions);
    return sqlNumber(compute(one, other));
  };
}

function ofOne(operator: string, name: 'abs' | 'ceil' | 'floor'): CompileOperator {
  return (operand, expressions) => {
    const value = toNumber(compileExpression(one(operator, operand), expressions));
    return sqlNumber(Prisma.sql`${Prisma.raw(name)}(${value})`);
  };
}

/** Half is rounded to the even neighbour, as Mongo does; Postgres rounds it away from zero. */
function rounded(operator: '$round' | '$trunc'): CompileOperator {
  return (operand, expressions) => {
    const [value, places = ZERO] = several(operator, operand, { least: 1, most: 2 });
    if (value === undefined) throw wrongOperands(operator, 'a number');
    const exact = toNumber(compileExpression(value, expressions));
    const digits = toInteger(compileExpression(places, expressions));
    const bounded = Prisma.sql`greatest(least(${digits}, 100), -100)`;
    const result = onceEach(
      [exact, Prisma.sql`case when ${digits} is not null then ${bounded} end`],
      (of, to) =>
        operator === '$trunc'
          ? Prisma.sql`trunc(${of}, ${to})`
          : Prisma.sql`case
            when abs(${of} - trunc(${of}, ${to})) * 2 = power(10::numeric, -${to})
              and mod(trunc(${of} * power(10::numeric, ${to})), 2) = 0
            then trunc(${of}, ${to})
            else round(${of}, ${to})
          end`,
    );
    return sqlNumber(result);
  };
}

/** The nearest double, as JSON numbers of other programs are. */
export function nearestDouble(value: Sql): Sql {
  // By way of text: the cast of a double to numeric keeps fifteen digits.
  return Prisma.sql`((${value})::float8)::text::numeric`;
}

/** Null where there is no such number: a root of -1, a logarithm of 0. */
function real(operator: string, isDefined: (of: Sql) => Sql, compute: (of: Sql) => Sql): CompileOperator {
  return (operand, expressions) => {
    const value = toNumber(compileExpression(one(operator, operand), expressions));
    return sqlNumber(
      once(value, (of) => Prisma.sql`(case when ${isDefined(of)} then ${nearestDouble(compute(of))} end)`),
    );
  };
}

/** `$pow` and `$log`: null where `isDefined` is not true. */
function realOfTwo(
  operator: string,
  isDefined: (one: Sql, other: Sql) => Sql,
  compute: (one: Sql, other: Sql) => Sql,
): CompileOperator {
  return ofTwo(operator, (first, second) =>
    onceEach(
      [first, second],
      (one, other) =>
        Prisma.sql`case when ${isDefined(one, other)} then ${nearestDouble(compute(one, other))} end`,
    ),
  );
}

const above =
  (least: number, isIncluded = false) =>
  (of: Sql) =>
    Prisma.sql`${of} ${Prisma.raw(isIncluded ? '>=' : '>')} ${Prisma.raw(String(least))}`;

export const NUMBER_OPERATORS: Readonly<Record<string, CompileOperator>> = {
  $add: ofAll('$add', ' + '),
  $multiply: ofAll('$multiply', ' * '),
  $subtract: ofTwo('$subtract', (one, other) => Prisma.sql`(${one} - ${other})`),
  $divide: ofTwo('$divide', (one, other) =>
    // Twenty digits more than a double has, then the nearest one.
    nearestDouble(Prisma.sql`(${one} * 1.00000000000000000000) / nullif(${other}, 0)`),
  ),
  $mod: ofTwo('$mod', (one, other) => Prisma.sql`mod(${one}, nullif(${other}, 0))`),
  $abs: ofOne('$abs', 'abs'),
  $ceil: ofOne('$ceil', 'ceil'),
  $floor: ofOne('$floor', 'floor'),
  $sqrt: real('$sqrt', above(0, true), (of) => Prisma.sql`sqrt(${of}::float8)`),
  $exp: real(
    '$exp',
    (of) => Prisma.sql`abs(${of}) < 700`,
    (of) => Prisma.sql`exp(${of}::float8)`,
  ),
  $ln: real('$ln', above(0), (of) => Prisma.sql`ln(${of}::float8)`),
  $log10: real('$log10', above(0), (of) => Prisma.sql`log(${of}::float8)`),
  $log: realOfTwo(
    '$log',
    (of, base) => Prisma.sql`${of} > 0 and ${base} > 0 and ${base} <> 1`,
    (of, base) => Prisma.sql`ln(${of}::float8) / ln(${base}::float8)`,
  ),
  $pow: realOfTwo(
    '$pow',
    (base, exponent) =>
      Prisma.sql`(${base} > 0 or (${base} = 0 and ${exponent} >= 0)
        or (${base} < 0 and ${exponent} = trunc(${exponent})))`,
    (base, exponent) => Prisma.sql`power(${base}::float8, ${exponent}::float8)`,
  ),
  $round: rounded('$round'),
  $trunc: rounded('$trunc'),
};
